/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_T in a thread outside any rank: it sees the process, with or without a
 * runtime.
 */
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

#include "tap.h"
#include "vmpi.h"

static _Atomic int strangers; /* ranks without MPI_T initialised */

static int index_of(const char *name)
{
	int index = -1;

	MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index);
	return index;
}

/* Rank 1 leaves a session behind. */
static int body(void *arg)
{
	MPI_T_pvar_session session;
	MPI_T_pvar_handle handle;
	int rank, n, token = 0, provided;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	strangers += MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED;
	for (int i = 0; i < 10 * (rank + 1); i++)
		MPI_Sendrecv(&token, 1, MPI_INT, rank, 0, &token, 1, MPI_INT,
			     rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 1) {
		MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
		MPI_T_pvar_session_create(&session);
		MPI_T_pvar_handle_alloc(session, index_of("core_sends"), NULL,
					&handle, &n);
	}
	MPI_Finalize();
	return arg ? 1 : 0;
}

static void write_workers(int want, const char *when)
{
	unsigned long long workers = 1;
	MPI_T_cvar_handle cvar;
	int index = -1;

	MPI_T_cvar_get_index("sched_workers", &index);
	MPI_T_cvar_handle_alloc(index, NULL, &cvar, NULL);
	is_int(MPI_T_cvar_write(cvar, &workers), want,
	       "what the runtime starts with is set %s", when);
	MPI_T_cvar_handle_free(&cvar);
}

int main(void)
{
	vmpi_config config = { .ranks = 2, .workers = 1 };
	MPI_T_pvar_session session;
	MPI_T_pvar_handle sends;
	unsigned long long value = 7, before;
	int provided, count = 0;

	is_int(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS,
	       "a program without a runtime");
	MPI_T_pvar_session_create(&session);
	is_int(MPI_T_pvar_handle_alloc(session, index_of("core_sends"), NULL,
				       &sends, &count),
	       MPI_SUCCESS, "has handles");
	MPI_T_pvar_read(session, sends, &value);
	ok(count == 1 && value == 0, "on what is 0 yet");
	write_workers(MPI_SUCCESS, "before");
	is_int(vmpi_start(&config), 0, "a runtime");
	write_workers(MPI_T_ERR_CVAR_SET_NOT_NOW, "not then");
	MPI_T_pvar_read(session, sends, &before);
	is_int(vmpi_run(NULL, body, NULL), 0, "two ranks");
	MPI_T_pvar_read(session, sends, &value);
	ok(value >= before + 30, "their messages are added up");
	is_int(strangers, 2, "MPI_T of the process is not theirs");
	is_int(vmpi_stop(), 0, "the runtime ends");
	is_int(MPI_T_pvar_read(session, sends, &value), MPI_SUCCESS,
	       "the handle stays");
	is_int((intmax_t)value, 0, "of nothing");
	is_int(MPI_T_finalize(), MPI_SUCCESS, "the end");
	is_int(MPI_T_pvar_read(session, sends, &value),
	       MPI_T_ERR_NOT_INITIALIZED, "of the handle too");
	return done_testing();
}
