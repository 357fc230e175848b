/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TAP for MPI programs: every rank reports its results, rank 0 prints.
 *
 *	int main(int argc, char **argv)
 *	{
 *		mtap_init(&argc, &argv);
 *		all_ok(got == want, "every rank got its message");
 *		return mtap_end();
 *	}
 *
 * The checks use their own communicator and only sends and receives.
 */
#ifndef MTAP_H
#define MTAP_H

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static int rank, size; /* in MPI_COMM_WORLD */
static MPI_Comm mtap_comm;

static inline void mtap_init(int *argc, char ***argv)
{
	int provided;

	MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_dup(MPI_COMM_WORLD, &mtap_comm);
}

/* Collective: a check that succeeds if it succeeds on every rank. */
static inline __attribute__((format(printf, 2, 3))) void
all_ok(bool held, const char *format, ...)
{
	char sentence[256];
	int mine = held, other, first = held ? -1 : 0;
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	if (rank != 0) {
		MPI_Send(&mine, 1, MPI_INT, 0, 0, mtap_comm);
		MPI_Recv(&other, 1, MPI_INT, 0, 0, mtap_comm,
			 MPI_STATUS_IGNORE);
		return;
	}
	for (int i = 1; i < size; i++) {
		MPI_Recv(&other, 1, MPI_INT, i, 0, mtap_comm,
			 MPI_STATUS_IGNORE);
		if (!other && first < 0)
			first = i;
	}
	ok(first < 0, "%s", sentence);
	if (first >= 0)
		diag("rank %d is the first where it did not hold", first);
	for (int i = 1; i < size; i++)
		MPI_Send(&mine, 1, MPI_INT, i, 0, mtap_comm);
}

/* Collective: the same for an error code of an MPI call. */
#define all_class(code, want, ...)                                             \
	do {                                                                   \
		int class_ = -1;                                               \
		MPI_Error_class((code), &class_);                              \
		if (class_ != (want))                                          \
			fprintf(stderr, "# rank %d: class %d, not %d\n", rank, \
				class_, (want));                               \
		all_ok(class_ == (want), __VA_ARGS__);                         \
	} while (0)

/* Collective: ends MPI and the test and returns the result of main. */
static inline int mtap_end(void)
{
	MPI_Comm_free(&mtap_comm);
	MPI_Finalize();
	return rank == 0 ? done_testing() : 0;
}

/* Waits for all ranks without MPI_Barrier. */
static inline void everybody(void)
{
	char token = 0;

	for (int i = 1; i < size; i++) {
		if (rank == 0)
			MPI_Recv(&token, 1, MPI_CHAR, i, 1, mtap_comm,
				 MPI_STATUS_IGNORE);
		else if (rank == i)
			MPI_Send(&token, 1, MPI_CHAR, 0, 1, mtap_comm);
	}
	for (int i = 1; i < size; i++) {
		if (rank == 0)
			MPI_Send(&token, 1, MPI_CHAR, i, 2, mtap_comm);
		else if (rank == i)
			MPI_Recv(&token, 1, MPI_CHAR, 0, 2, mtap_comm,
				 MPI_STATUS_IGNORE);
	}
}

#endif
