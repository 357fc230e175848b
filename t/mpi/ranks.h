/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a function as the ranks of an MPI job inside a test program.
 *
 * The ranks share the test's globals, which makes checks easy.  Errors return,
 * so that a test sees their classes.  With T_MPI_PROGRAM the test becomes a
 * program that vmpirun runs.
 */
#ifndef T_MPI_RANKS_H
#define T_MPI_RANKS_H

#ifdef T_MPI_PROGRAM
#include "ranks_program.h"
#else

#include <mpi.h>

#include "mpi/call/vars.h"
#include "tap.h"
#include "vmpi.h"

static int ranks_body(void *arg)
{
	void (*const *body)(int rank, int size) = arg;
	int rank, size;

	MPI_Init(NULL, NULL);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	(*body)(rank, size);
	MPI_Finalize();
	return 0;
}

/* Runs body as `size` ranks on `workers` workers and returns whether it did: a
 * program (ranks_program.h) only runs jobs of its own numbers of ranks and
 * workers. */
static inline bool ranks_run(int size, int workers,
			     void (*body)(int rank, int size))
{
	vmpi_config config = { .ranks = size, .workers = workers };
	int rc = vmpi_run(&config, ranks_body, &body);

	if (rc != 0)
		bail("%d ranks on %d workers: %s", size, workers,
		     vmpi_strerror(rc));
	return true;
}

/* Sums counts[n] over all ranks: nothing to do here; in a program each rank has
 * its own. */
static inline void ranks_share(_Atomic int *counts, int n)
{
	(void)counts;
	(void)n;
}

#endif /* T_MPI_PROGRAM */

#endif
