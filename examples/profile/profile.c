/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wrappers.  A rank that waits in MPI_Recv gives its core to others, so
 * wall-clock time charges MPI_Recv with what they compute; MPIX_Rtime does not.
 * Link it with any program; MPI_Finalize prints the table:
 *	vmpicc -o demo demo.c profile.c && vmpirun -n 4 --workers 1 ./demo
 */
#include "profile.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

/* One row each: function, parameters, arguments. */
#define CALLS(X)                                                               \
	X(Send,                                                                \
	  (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), \
	  (b, n, t, to, tag, c))                                               \
	X(Recv,                                                                \
	  (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c,      \
	   MPI_Status *s),                                                     \
	  (b, n, t, from, tag, c, s))                                          \
	X(Isend,                                                               \
	  (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c,  \
	   MPI_Request *r),                                                    \
	  (b, n, t, to, tag, c, r))                                            \
	X(Irecv,                                                               \
	  (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c,      \
	   MPI_Request *r),                                                    \
	  (b, n, t, from, tag, c, r))                                          \
	X(Sendrecv,                                                            \
	  (const void *b, int n, MPI_Datatype t, int to, int tag, void *rb,    \
	   int rn, MPI_Datatype rt, int from, int rtag, MPI_Comm c,            \
	   MPI_Status *s),                                                     \
	  (b, n, t, to, tag, rb, rn, rt, from, rtag, c, s))                    \
	X(Wait, (MPI_Request * r, MPI_Status * s), (r, s))                     \
	X(Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s))        \
	X(Barrier, (MPI_Comm c), (c))                                          \
	X(Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c),       \
	  (b, n, t, root, c))                                                  \
	X(Reduce,                                                              \
	  (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op,          \
	   int root, MPI_Comm c),                                              \
	  (b, rb, n, t, op, root, c))                                          \
	X(Allreduce,                                                           \
	  (const void *b, void *rb, int n, MPI_Datatype t, MPI_Op op,          \
	   MPI_Comm c),                                                        \
	  (b, rb, n, t, op, c))

enum call {
#define CALL(name, parameters, arguments) CALL_##name,
	CALLS(CALL)
#undef CALL
		CALL_COUNT
};

static const char *const names[] = {
#define NAME(name, parameters, arguments) "MPI_" #name,
	CALLS(NAME)
#undef NAME
};

/* Globals are the rank's own. */
static struct profile_times times[CALL_COUNT];

static void note(enum call call, double wall, double ran)
{
	times[call].calls++;
	times[call].rank += PMPIX_Rtime() - ran;
	times[call].wall += PMPI_Wtime() - wall;
}

#define WRAPPER(name, parameters, arguments)                     \
	int MPI_##name parameters                                \
	{                                                        \
		double wall = PMPI_Wtime(), ran = PMPIX_Rtime(); \
		int rc = PMPI_##name arguments;                  \
                                                                 \
		note(CALL_##name, wall, ran);                    \
		return rc;                                       \
	}
CALLS(WRAPPER)

struct profile_times profile_of(const char *name)
{
	struct profile_times none = { 0, 0, 0 };

	for (int i = 0; i < CALL_COUNT; i++)
		if (strcmp(names[i], name) == 0)
			return times[i];
	return none;
}

static void table_print(int rank)
{
	for (int i = 0; i < CALL_COUNT; i++)
		if (times[i].calls)
			printf("%6d  %-14s %8ld %12.3f %12.3f\n", rank,
			       names[i], times[i].calls, times[i].wall * 1e3,
			       times[i].rank * 1e3);
}

/* Rank 0 prints the tables of all, one after the other. */
int MPI_Finalize(void)
{
	int rank, size;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank != 0) {
		PMPI_Send(times, sizeof(times), MPI_BYTE, 0, 0, MPI_COMM_WORLD);
		return PMPI_Finalize();
	}
	printf("%6s  %-14s %8s %12s %12s\n", "rank", "function", "calls",
	       "wall ms", "rank ms");
	table_print(0);
	for (int i = 1; i < size; i++) {
		PMPI_Recv(times, sizeof(times), MPI_BYTE, i, 0, MPI_COMM_WORLD,
			  MPI_STATUS_IGNORE);
		table_print(i);
	}
	return PMPI_Finalize();
}
