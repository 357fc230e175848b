/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that are not implemented yet: each returns the error for that, and
 * none touches its arguments.  fatal.t tests their messages.
 */
#include "mpi/call/unsupported.h"

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

/* Returns the expected error: functions of MPI_T first report that it is not
 * initialised. */
static int want(const char *name)
{
	return strncmp(name, "MPI_T_", 6) == 0 ? MPI_T_ERR_NOT_INITIALIZED :
						 MPI_ERR_UNSUPPORTED_OPERATION;
}

static void returns(int rank, int size)
{
	if (rank != 0)
		return;
	for (size_t i = 0; i < CALLS; i++)
		is_int(calls[i].call(), want(calls[i].name), "%s",
		       calls[i].name);
}

int main(void)
{
	ranks_run(2, 1, returns);
	return done_testing();
}
