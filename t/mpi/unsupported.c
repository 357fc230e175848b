/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that are not there yet: each returns the error that says so, and
 * none touches its arguments.  fatal.t sees to their messages.
 */
#include "mpi/unsupported.h"

#include <string.h>

#include "ranks.h"

/* All under the names that programs call, without their arguments. */
#define DECLARE(name) int call_##name(void) __asm__("MPI_" #name);
MPI_CALLS_UNSUPPORTED(DECLARE)

static const struct {
	const char *name;
	int (*call)(void);
} calls[] = {
#define ROW(name) { "MPI_" #name, call_##name },
	MPI_CALLS_UNSUPPORTED(ROW)
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static int want(const char *name)
{
	if (strncmp(name, "MPI_T_", 6) != 0)
		return MPI_ERR_UNSUPPORTED_OPERATION;
	return strcmp(name, "MPI_T_init_thread") == 0 ?
		       MPI_T_ERR_CANNOT_INIT :
		       MPI_T_ERR_NOT_INITIALIZED;
}

static void returns(int rank, int size)
{
	if (rank != 0)
		return;
	for (size_t i = 0; i < CALLS; i++)
		is_int(calls[i].call(), want(calls[i].name), "%s",
		       calls[i].name);
}

/* Under MPI_ERRORS_ARE_FATAL, before MPI_Init and after MPI_Finalize. */
static int tool(void *arg)
{
	int provided = -1, n = -1;

	is_int(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided),
	       MPI_T_ERR_CANNOT_INIT, "MPI_T before MPI_Init");
	MPI_Init(NULL, NULL);
	is_int(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED,
	       "MPI_T never ends a program");
	MPI_Finalize();
	is_int(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED,
	       "MPI_T after MPI_Finalize");
	return 0;
}

int main(void)
{
	vmpi_config config = { .ranks = 1, .workers = 1 };

	ranks_run(2, 1, returns);
	is_int(vmpi_run(&config, tool, NULL), 0, "a rank that asks for MPI_T");
	return done_testing();
}
