/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the calls of a program return whose processes die: the right class of
 * error, or the difference is printed and counted.
 */
#ifndef T_RUN_EXPECT_H
#define T_RUN_EXPECT_H

#include <mpi.h>
#include <stdio.h>

static int rank, faults;

static void expect(int rc, int wanted, const char *what)
{
	int class = rc;

	if (rc)
		MPI_Error_class(rc, &class);
	if (class == wanted)
		return;
	printf("rank %d: %s: class %d, not %d\n", rank, what, class, wanted);
	faults++;
}

#endif
