/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Initialisation, finalisation and environment inquiries.
 *
 * The runtime and all ranks exist before MPI_Init, or are created by it if the
 * process is a rank (core/runtime/process.h); otherwise that call only creates
 * the rank's MPI state.  MPI_Finalize waits for all ranks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/runtime/node.h"
#include "core/runtime/process.h"
#include "mpi/call/attr.h"
#include "mpi/p2p/bsend.h"
#include "mpi/coll/algo/run.h"
#include "mpi/p2p/pending.h"
#include "mpi/dynamic/start.h"
#include "mpi/fault/agree.h"
#include "mpi/phase.h"

static int init_entry(enum vm_call_id id, int thread_level)
{
	struct vm_call call = vm_call_enter_early(id);

	if (call.mpi->world_phase == VM_MPI_AFTER)
		vm_call_outside(id);
	if (call.mpi->world_phase == VM_MPI_RUNNING)
		return vm_call_exit_self(
			&call, vm_error(&call, MPI_ERR_OTHER,
					"MPI is initialised already"));
	vm_mpi_turn_begin(call.mpi);
	if (call.mpi->phase != VM_MPI_RUNNING)
		vm_mpi_start(call.mpi, thread_level);
	call.mpi->main_task = vm_ult_origin(vm_self);
	call.mpi->world_phase = VM_MPI_RUNNING;
	vm_mpi_turn_end(call.mpi);
	return vm_call_exit_self(&call, vm_start_attach(&call));
}

int PMPI_Init(int *argc, char ***argv)
{
	return init_entry(VM_CALL_Init, MPI_THREAD_MULTIPLE);
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	/* All levels cost the same, so the highest is provided. */
	int rc = init_entry(VM_CALL_Init_thread, MPI_THREAD_MULTIPLE);

	if (rc == MPI_SUCCESS && provided)
		*provided = MPI_THREAD_MULTIPLE;
	return rc;
}

/* These two may be called at any time (MPI 4.1, 11.4.1). */
int PMPI_Initialized(int *flag)
{
	if (!flag)
		return MPI_ERR_ARG;
	*flag = vm_mpi_phase() != VM_MPI_BEFORE;
	return MPI_SUCCESS;
}

int PMPI_Finalized(int *flag)
{
	if (!flag)
		return MPI_ERR_ARG;
	*flag = vm_mpi_phase() == VM_MPI_AFTER;
	return MPI_SUCCESS;
}

/* A meeting of all ranks without work. */
static const struct vm_coll_kind kind_finalize = { .ends = true };

static int finalize_meet(struct vm_call *call)
{
	struct vm_coll coll;

	vm_coll_init(&coll, &kind_finalize, call, &call->mpi->world);
	return vm_coll_run(call, &coll);
}

/* Ends the waiting of a job whose members may fail: no survivor leaves before all
 * others are here, or have failed. */
static int finalize_without(struct vm_mpi *mpi)
{
	struct vm_comm *world = &mpi->world;
	struct vm_vote *vote = vm_vote_new(world, 0);
	int rc = -VMPI_ENOMEM;

	if (vote)
		rc = vm_vote_agree(vote, world->chan->group, world->chan->rank);
	free(vote);
	return rc;
}

int PMPI_Finalize(void)
{
	struct vm_call call = vm_call_enter(VM_CALL_Finalize);
	struct vm_mpi *mpi = call.mpi;
	bool peer_failed;
	int rc;

	if (mpi->world_phase != VM_MPI_RUNNING)
		vm_call_outside(VM_CALL_Finalize);
	/* First delete the attributes of MPI_COMM_SELF (MPI 4.1, 11.2.4). */
	rc = vm_attrs_delete(mpi, &mpi->self.attrs, MPI_COMM_SELF);
	if (rc == 0)
		rc = vm_attrs_delete(mpi, &mpi->world.attrs, MPI_COMM_WORLD);
	if (rc != 0)
		return vm_call_exit(&call, MPI_COMM_SELF, rc);
	rc = finalize_meet(&call);
	/* Sessions may go on with what they have begun. */
	if (rc == 0 && mpi->sessions == 0)
		vm_pending_report(mpi);
	/* Waiting for a process that leaves is aborted, so no process leaves
	 * before all have reported. */
	if (rc == 0 && vm_node->process_count > 1)
		rc = finalize_meet(&call);
	/* Failures that a program is to survive are no error of its end. */
	if (rc == -VMPI_EPEER &&
	    (vm_node_hooks.keep_going || vm_node_hooks.apart))
		rc = finalize_without(mpi);
	/* The end is also reached without processes that have died. */
	peer_failed = rc == -VMPI_EPEER;
	/* Nobody waits for anybody in a world that was revoked. */
	if (rc == -VMPI_EREVOKED)
		rc = 0;
	rc = vm_call_exit(&call, MPI_COMM_WORLD, rc);
	if (rc != MPI_SUCCESS && !peer_failed)
		return rc;
	vm_mpi_turn_begin(mpi);
	mpi->world_phase = VM_MPI_AFTER;
	if (mpi->sessions == 0) {
		vm_bsend_abandon(mpi);
		vm_mpi_stop(mpi);
		vm_process_leave();
	}
	vm_mpi_turn_end(mpi);
	return rc;
}

int PMPI_Query_thread(int *provided)
{
	struct vm_call call = vm_call_enter(VM_CALL_Query_thread);
	int rc = vm_check_pointer(&call, provided, "provided");

	if (rc == 0)
		*provided = call.mpi->thread_level;
	return vm_call_exit_self(&call, rc);
}

int PMPI_Is_thread_main(int *flag)
{
	struct vm_call call = vm_call_enter(VM_CALL_Is_thread_main);
	int rc = vm_check_pointer(&call, flag, "flag");

	if (rc == 0)
		*flag = vm_ult_origin(vm_self) == call.mpi->main_task;
	return vm_call_exit_self(&call, rc);
}

int PMPI_Abort(MPI_Comm comm, int errorcode)
{
	struct vm_call call = vm_call_enter(VM_CALL_Abort);

	/* What a process can say is one byte, and 0 would mean success. */
	vm_node_abort(errorcode & 0xff ? errorcode & 0xff : 1,
		      "rank %d called MPI_Abort(%d)", call.mpi->rank->index,
		      errorcode);
}

double PMPI_Wtime(void)
{
	return vm_clock_seconds();
}

double PMPI_Wtick(void)
{
	vm_clock_ready();
	return vm_clock.tick_ns * 1e-9;
}

int PMPI_Get_processor_name(char *name, int *resultlen)
{
	struct vm_call call = vm_call_enter(VM_CALL_Get_processor_name);
	int rc = vm_check_pointer(&call, name, "name");

	if (rc == 0)
		rc = vm_check_pointer(&call, resultlen, "resultlen");
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	if (gethostname(name, MPI_MAX_PROCESSOR_NAME) != 0)
		snprintf(name, MPI_MAX_PROCESSOR_NAME, "localhost");
	name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
	*resultlen = (int)strlen(name);
	return MPI_SUCCESS;
}

/* These may be called at any time, so without vm_call_enter(). */
/* The ABI and what mpi.h declares are those of 5.0; MPI_VERSION is the standard
 * that the functions follow. */
int PMPI_Get_version(int *version, int *subversion)
{
	if (!version || !subversion)
		return MPI_ERR_ARG;
	*version = MPI_VERSION;
	*subversion = MPI_SUBVERSION;
	return MPI_SUCCESS;
}

int PMPI_Get_library_version(char *version, int *resultlen)
{
	if (!version || !resultlen)
		return MPI_ERR_ARG;
	*resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING,
			      "vmpi %s (MPI %d.%d, standard ABI, "
			      "MPI_ABI_VERSION %d.%d)",
			      vmpi_version(), MPI_VERSION, MPI_SUBVERSION,
			      MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
	return MPI_SUCCESS;
}

int PMPI_Abi_get_version(int *abi_major, int *abi_minor)
{
	if (!abi_major || !abi_minor)
		return MPI_ERR_ARG;
	*abi_major = MPI_ABI_VERSION;
	*abi_minor = MPI_ABI_SUBVERSION;
	return MPI_SUCCESS;
}
