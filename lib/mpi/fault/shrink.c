/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that agree: MPIX_Comm_agree, MPIX_Comm_shrink and their nonblocking
 * forms, which a task of the rank carries out.
 */
#include <stdlib.h>

#include "core/meeting/chan_make.h"
#include "core/meeting/meet.h"
#include "core/local/req.h"
#include "core/local/task.h"
#include "core/rank/context.h"
#include "core/rank/state.h"
#include "mpi/call/calls.h"
#include "mpi/call/check.h"
#include "mpi/call/status.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/inter.h"
#include "mpi/fault/agree.h"
#include "mpi/p2p/grequest.h"

/* These functions have no entries of their own. */
#define CALL VM_CALL_Comm_call_errhandler

/* One call; of a nonblocking one it lives as long as the request. */
struct consent {
	struct vm_mpi *mpi;
	struct vm_comm *comm;
	struct vm_vote *vote;
	int *flag;	   /* agree: in and out */
	MPI_Comm *newcomm; /* shrink */
	struct vm_req *req;
	int rc;
};

/* Makes the communicator of the members that have not failed. */
static int survivors(struct consent *consent)
{
	const struct vm_vote *vote = consent->vote;
	const struct vm_comm *comm = consent->comm;
	const struct vm_group *all = comm->chan->group;
	struct vm_group *group = vm_group_new(all->size);
	int first = 0, me = 0;
	struct vm_meet *place;
	struct vm_chan *chan = NULL;
	struct vm_comm *made;

	if (!group)
		return MPI_ERR_NO_MEM;
	group->size = 0;
	for (int i = 0; i < all->size; i++) {
		if (vote->marks[i] & VM_VOTE_FAILED)
			continue;
		if (i == comm->chan->rank)
			me = group->size;
		first += i < vm_comm_first_size(comm);
		group->ranks[group->size++] = all->ranks[i];
	}
	place = vm_meet_shared(group, vote->new_context,
			       all->ranks[comm->chan->rank]);
	if (place)
		chan = vm_chan_new(all->ranks[comm->chan->rank], group, place,
				   vote->new_context, me);
	vm_meet_drop(place);
	vm_group_drop(group);
	if (!chan || vm_comm_new(consent->mpi, &made, chan, comm))
		return MPI_ERR_NO_MEM;
	if (comm->inter)
		vm_inter_set(made, first);
	*consent->newcomm = (MPI_Comm)made;
	return 0;
}

/* Whether a member has failed whose failure not all have acknowledged. */
static bool is_new(const struct vm_vote *vote, int size)
{
	for (int i = 0; i < size; i++)
		if (vote->marks[i] & VM_VOTE_UNACKED)
			return true;
	return false;
}

/* Agrees: 0, an MPI error, or a negative code of core. */
static int carry_out(struct consent *consent)
{
	const struct vm_chan *chan = consent->comm->chan;
	uint32_t own = consent->vote->new_context;
	int rc = vm_vote_agree(consent->vote, chan->group, chan->rank);

	if (rc == 0 && consent->flag) {
		*consent->flag = consent->vote->flag;
		if (is_new(consent->vote, chan->group->size))
			rc = MPIX_ERR_PROC_FAILED;
	}
	if (rc == 0 && consent->newcomm)
		rc = survivors(consent);
	if (!consent->newcomm || consent->vote->new_context != own)
		vm_context_return(own);
	free(consent->vote);
	consent->vote = NULL;
	return rc;
}

static int check(struct vm_call *call, MPI_Comm comm, struct consent *consent,
		 const void *result, const char *name)
{
	int rc = vm_check_comm(call, comm, &consent->comm);

	if (rc == 0)
		rc = vm_check_pointer(call, result, name);
	if (rc != 0)
		return rc;
	consent->mpi = call->mpi;
	consent->vote =
		vm_vote_new(consent->comm, consent->flag ? *consent->flag : 0);
	return consent->vote ? 0 : MPI_ERR_NO_MEM;
}

static int now(MPI_Comm comm, int *flag, MPI_Comm *newcomm)
{
	struct vm_call call = vm_call_enter(CALL);
	struct consent consent = { .flag = flag, .newcomm = newcomm };
	int rc = flag ? check(&call, comm, &consent, flag, "flag") :
			check(&call, comm, &consent, newcomm, "newcomm");

	if (rc == 0)
		rc = carry_out(&consent);
	return vm_call_exit(&call, comm, rc);
}

int PMPIX_Comm_agree(MPI_Comm comm, int *flag)
{
	struct vm_call call = vm_call_enter(CALL);

	if (flag)
		return now(comm, flag, NULL);
	return vm_call_exit(&call, comm, vm_check_pointer(&call, flag, "flag"));
}

int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm)
{
	vm_comm_none(newcomm);
	return now(comm, NULL, newcomm);
}

/* ---- nonblocking ---- */

static int consent_main(void *arg)
{
	struct consent *consent = arg;

	consent->rc = carry_out(consent);
	vm_req_complete(consent->req);
	return 0;
}

static int query(void *extra_state, MPI_Status *status)
{
	(void)extra_state;
	(void)status;
	return MPI_SUCCESS;
}

static int end(struct vm_call *call, void *extra_state, MPI_Status *status)
{
	const struct consent *consent = extra_state;

	(void)call;
	if (status != MPI_STATUS_IGNORE)
		vm_status_set_empty(status);
	return consent->rc;
}

static int consent_free(void *extra_state)
{
	free(extra_state);
	return MPI_SUCCESS;
}

static int cancel(void *extra_state, int complete)
{
	(void)extra_state;
	(void)complete;
	return MPI_SUCCESS;
}

/* The error handler is that of the communicator. */
static int fail(struct vm_call *call, void *object, int rc)
{
	struct vm_comm *comm = object;

	return vm_call_fail(call, vm_comm_handle(call->mpi, comm), rc);
}

static int later(MPI_Comm comm, int *flag, MPI_Comm *newcomm,
		 MPI_Request *request)
{
	struct vm_call call = vm_call_enter(CALL);
	struct consent *consent = calloc(1, sizeof(*consent));
	struct vm_grequest how = { query, consent_free, cancel, consent,
				   end,	  fail,		NULL };
	struct vm_ult *task;
	int rc = consent ? vm_check_pointer(&call, request, "request") :
			   MPI_ERR_NO_MEM;

	if (rc == 0) {
		consent->flag = flag;
		consent->newcomm = newcomm;
		rc = check(&call, comm, consent,
			   flag ? (void *)flag : (void *)newcomm,
			   flag ? "flag" : "newcomm");
	}
	if (rc == 0) {
		how.object = consent->comm;
		consent->req = vm_grequest_new(&how);
		rc = consent->req ? 0 : MPI_ERR_NO_MEM;
	}
	if (rc != 0) {
		if (consent)
			free(consent->vote);
		free(consent);
		return vm_call_exit(&call, comm, rc);
	}
	*request = (MPI_Request)consent->req;
	if (vm_task_new(&task, consent_main, consent) == 0)
		vm_ult_detach(task);
	else
		consent_main(consent);
	return MPI_SUCCESS;
}

int PMPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(CALL);

	if (flag)
		return later(comm, flag, NULL, request);
	return vm_call_exit(&call, comm, vm_check_pointer(&call, flag, "flag"));
}

int PMPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
	vm_comm_none(newcomm);
	return later(comm, NULL, newcomm, request);
}

MPIX_WEAK_ALIAS(Comm_agree)
MPIX_WEAK_ALIAS(Comm_shrink)
MPIX_WEAK_ALIAS(Comm_iagree)
MPIX_WEAK_ALIAS(Comm_ishrink)
