/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool that counts calls, per rank, of any program built with vmpicc and
 * without touching it:
 *
 *	cc -shared -fPIC -o libcalls.so calls.c -lvmpi
 *	vmpirun -n 4 -x LD_PRELOAD=$PWD/libcalls.so ./program
 *
 * A wrapper of MPI functions by PMPI would have one counter for all ranks of a
 * process.  LD_PRELOAD reaches vmpirun's other children too, so the table is
 * printed only where there was a call.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <vmpi.h>

#define RANKS 4096 /* that are counted separately */

static _Atomic unsigned long *counts; /* [rank][call] */
static int calls;

static void enter(int rank, int call, void *arg)
{
	(void)arg;
	if (rank < RANKS)
		atomic_fetch_add_explicit(&counts[rank * calls + call], 1,
					  memory_order_relaxed);
}

__attribute__((constructor)) static void tool_start(void)
{
	vmpi_hook *hook;

	calls = vmpi_call_count();
	counts = calloc((size_t)RANKS * (size_t)calls, sizeof(*counts));
	if (!counts || vmpi_hook_add(&hook, enter, NULL, NULL) != 0) {
		fprintf(stderr, "calls: the calls cannot be watched\n");
		exit(2);
	}
}

__attribute__((destructor)) static void tool_end(void)
{
	for (int rank = 0; rank < RANKS; rank++)
		for (int call = 0; call < calls; call++) {
			unsigned long count = counts[rank * calls + call];

			if (count)
				fprintf(stderr, "rank %d: %s %lu\n", rank,
					vmpi_call_name(call), count);
		}
}
