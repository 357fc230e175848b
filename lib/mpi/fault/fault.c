/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program asks about failures, and says about them: MPIX_Comm_revoke,
 * MPIX_Comm_get_failed, MPIX_Comm_ack_failed and their older forms.
 *
 * A process is the unit that fails, with all its ranks.
 */
#include <stdlib.h>

#include "core/rank/state.h"
#include "core/comm/revoke.h"
#include "core/remote/failure.h"
#include "mpi/call/calls.h"
#include "mpi/call/check.h"
#include "mpi/comm/group.h"
#include "mpi/fault/agree.h"

/* These functions have no entries of their own. */
#define CALL VM_CALL_Comm_call_errhandler

int PMPIX_Comm_revoke(MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(CALL);
	struct vm_comm *c;
	int rc = vm_check_comm(&call, comm, &c);

	if (rc == 0)
		rc = vm_revoke(c->chan);
	return vm_call_exit(&call, comm, rc);
}

int PMPIX_Comm_is_revoked(MPI_Comm comm, int *flag)
{
	struct vm_call call = vm_call_enter(CALL);
	struct vm_comm *c;
	int rc = vm_check_comm(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, flag, "flag");
	if (rc == 0)
		*flag = vm_is_revoked(c->chan);
	return vm_call_exit(&call, comm, rc);
}

/* Makes a group of the first members that are known to have failed: of all, or
 * of those that were acknowledged. */
static int failed_group(struct vm_call *call, struct vm_comm *comm, bool acked,
			MPI_Group *out)
{
	struct vm_chan *chan = comm->chan;
	const struct vm_chan_faults *faults;
	struct vm_group *group;
	int rc, count;

	vm_lock_take(&vm_node->chans_lock);
	faults = vm_faults_look(chan);
	count = !faults ? 0 : acked ? faults->acked : faults->count;
	group = count ? vm_group_new(count) : NULL;
	for (int i = 0; group && i < count; i++)
		group->ranks[i] = chan->group->ranks[faults->members[i]];
	vm_lock_give(&vm_node->chans_lock);
	if (count && !group)
		return MPI_ERR_NO_MEM;
	if (!count) {
		*out = MPI_GROUP_EMPTY;
		return 0;
	}
	rc = vm_mpi_group_new(call->mpi, out, group, MPI_UNDEFINED);
	if (rc == 0)
		vm_mpi_group_from(*out, comm->session);
	return rc;
}

static int get(MPI_Comm comm, bool acked, MPI_Group *group)
{
	struct vm_call call = vm_call_enter(CALL);
	struct vm_comm *c;
	int rc = vm_check_comm(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, group, "failedgrp");
	if (rc == 0)
		rc = failed_group(&call, c, acked, group);
	return vm_call_exit(&call, comm, rc);
}

int PMPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failedgrp)
{
	return get(comm, false, failedgrp);
}

int PMPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failedgrp)
{
	return get(comm, true, failedgrp);
}

/* Acknowledges the first failures, or all; never takes that back. */
static int ack(struct vm_comm *comm, int wanted)
{
	struct vm_chan_faults *faults;
	int acked = 0;

	vm_lock_take(&vm_node->chans_lock);
	faults = wanted < 0 || wanted > 0 ? vm_faults_look(comm->chan) :
					    comm->chan->faults;
	if (faults) {
		if (wanted < 0 || wanted > faults->count)
			wanted = faults->count;
		if (wanted > faults->acked)
			faults->acked = wanted;
		acked = faults->acked;
	}
	vm_lock_give(&vm_node->chans_lock);
	vm_failure_acked(comm->chan->owner);
	return acked;
}

int PMPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked)
{
	struct vm_call call = vm_call_enter(CALL);
	struct vm_comm *c;
	int rc = vm_check_comm(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, num_acked, "num_acked");
	if (rc == 0 && num_to_ack < 0)
		rc = vm_error(&call, MPI_ERR_ARG, "num_to_ack %d is negative",
			      num_to_ack);
	if (rc == 0)
		*num_acked = ack(c, num_to_ack);
	return vm_call_exit(&call, comm, rc);
}

int PMPIX_Comm_failure_ack(MPI_Comm comm)
{
	struct vm_call call = vm_call_enter(CALL);
	struct vm_comm *c;
	int rc = vm_check_comm(&call, comm, &c);

	if (rc == 0)
		ack(c, -1);
	return vm_call_exit(&call, comm, rc);
}

MPIX_WEAK_ALIAS(Comm_revoke)
MPIX_WEAK_ALIAS(Comm_is_revoked)
MPIX_WEAK_ALIAS(Comm_get_failed)
MPIX_WEAK_ALIAS(Comm_ack_failed)
MPIX_WEAK_ALIAS(Comm_failure_ack)
MPIX_WEAK_ALIAS(Comm_failure_get_acked)
