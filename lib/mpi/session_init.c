/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Begin and end of sessions.
 *
 * The first one begins the phase in which calls are possible, unless MPI_Init
 * has, and the last one ends it.  Neither waits for other ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "core/runtime/process.h"
#include "mpi/call/check.h"
#include "mpi/call/info.h"
#include "mpi/comm/session.h"
#include "mpi/p2p/bsend.h"
#include "mpi/phase.h"

/* Whether a process that is a rank may leave its job when it ends. */
static bool rank_is_over(void)
{
	const struct vm_mpi *mpi = vm_mpi_self();

	return !mpi || mpi->phase != VM_MPI_RUNNING;
}

static int session_new(struct vm_call *call, struct vm_errh *errh,
		       MPI_Session *session)
{
	struct vm_mpi_session *s;

	if (!vm_process_is_in_job())
		return vm_error(call, MPI_ERR_OTHER,
				"this process has left its job in "
				"MPI_Finalize");
	s = vm_object_new(call->mpi, VM_OBJECT_SESSION, sizeof(*s));
	if (!s)
		return MPI_ERR_NO_MEM;
	s->errh = vm_errh_hold(errh);
	vm_mpi_turn_begin(call->mpi);
	if (call->mpi->sessions++ == 0 && call->mpi->phase != VM_MPI_RUNNING) {
		vm_mpi_start(call->mpi, MPI_THREAD_MULTIPLE);
		vm_process_leave_at_exit(rank_is_over);
	}
	vm_mpi_turn_end(call->mpi);
	*session = (MPI_Session)s;
	return 0;
}

/* All levels are provided, but it has to be one that is asked for. */
static int check_thread_level(struct vm_call *call, MPI_Info info)
{
	static const char *const levels[] = {
		"MPI_THREAD_SINGLE",
		"MPI_THREAD_FUNNELED",
		"MPI_THREAD_SERIALIZED",
		"MPI_THREAD_MULTIPLE",
	};
	const char *level = vm_info_value(info, "thread_level");

	for (int i = 0; level && i < 4; i++)
		if (!strcmp(level, levels[i]))
			level = NULL;
	if (!level)
		return 0;
	return vm_error(call, MPI_ERR_INFO_VALUE,
			"thread_level \"%s\" is not a level like "
			"MPI_THREAD_MULTIPLE",
			level);
}

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler,
		      MPI_Session *session)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Session_init);
	struct vm_errh *errh = vm_errh_default();
	int rc = vm_errh_put(&call, &errh, VM_ERRH_OF_SESSION, errhandler);

	if (rc == 0)
		rc = vm_check_hints(&call, info);
	if (rc == 0)
		rc = check_thread_level(&call, info);
	if (rc == 0)
		rc = vm_check_pointer(&call, session, "session");
	if (rc == 0)
		rc = session_new(&call, errh, session);
	rc = vm_session_exit_errh(&call, errh, rc);
	vm_errh_drop(call.mpi, errh);
	return rc;
}

/* Whether the end of a session is that of MPI. */
static bool is_last(struct vm_mpi *mpi)
{
	bool last;

	vm_mpi_turn_begin(mpi);
	last = mpi->sessions == 1 && mpi->world_phase != VM_MPI_RUNNING;
	vm_mpi_turn_end(mpi);
	return last;
}

int PMPI_Session_finalize(MPI_Session *session)
{
	struct vm_call call = vm_call_enter_early(VM_CALL_Session_finalize);
	struct vm_mpi *mpi = call.mpi;
	struct vm_mpi_session *s;
	int rc = vm_check_pointer(&call, session, "session");

	if (rc == 0)
		rc = vm_session_enter(&call, VM_CALL_Session_finalize, *session,
				      &s);
	if (rc == 0)
		rc = vm_bsend_end(&s->bsend);
	/* With the last one, all buffers are detached. */
	if (rc == 0 && is_last(mpi))
		rc = vm_bsend_end_all(mpi);
	if (rc != 0)
		return vm_session_exit(&call, session ? *session : NULL, rc);
	vm_errh_drop(mpi, s->errh);
	vm_object_free(mpi, VM_OBJECT_SESSION, s);
	*session = MPI_SESSION_NULL;
	vm_mpi_turn_begin(mpi);
	if (--mpi->sessions == 0 && mpi->world_phase != VM_MPI_RUNNING) {
		vm_mpi_stop(mpi);
		if (mpi->world_phase == VM_MPI_AFTER)
			vm_process_leave();
	}
	vm_mpi_turn_end(mpi);
	return MPI_SUCCESS;
}

/* All levels of threads cost the same; memory is the system's. */
int PMPI_Session_get_info(MPI_Session session, MPI_Info *info_used)
{
	struct vm_call call;
	struct vm_mpi_session *s;
	int rc = vm_session_enter(&call, VM_CALL_Session_get_info, session, &s);

	if (rc == 0)
		rc = vm_check_pointer(&call, info_used, "info_used");
	if (rc == 0)
		rc = vm_info_new(call.mpi, info_used);
	if (rc == 0)
		rc = vm_info_put(*info_used, "thread_level",
				 "MPI_THREAD_MULTIPLE");
	if (rc == 0)
		rc = vm_info_put(*info_used, "mpi_memory_alloc_kinds",
				 "mpi,system");
	return vm_session_exit(&call, session, rc);
}
