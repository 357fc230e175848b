/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a test that runs its ranks inside itself (ranks.h) a program of its own,
 * which vmpirun runs as it likes, in several processes too.
 *
 * Every rank runs main(); a job of as many ranks as there are is the job itself,
 * and all others are left out.  Rank 0 prints, and what is wrong on any rank is
 * wrong.
 */
#ifndef T_MPI_RANKS_PROGRAM_H
#define T_MPI_RANKS_PROGRAM_H

#include <mpi.h>
#include <stdint.h>

#include "tap.h"

static int program_rank, program_size;

/* Variables that such tests set, and that have no meaning here. */
static struct {
	int64_t coll_share_bytes;
} mpi_cvar __attribute__((unused));

static inline void program_begin(int tests)
{
	MPI_Init(NULL, NULL);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &program_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &program_size);
	if (program_rank == 0)
		plan(tests);
}

static inline int program_end(void)
{
	MPI_Finalize();
	return program_rank == 0 ? done_testing() : 0;
}

static inline void ranks_run(int size, int workers,
			     void (*body)(int rank, int size))
{
	if (size == program_size && workers == 1)
		body(program_rank, program_size);
}

/* What all ranks have found wrong, on rank 0; by messages alone. */
static inline int program_sum(int mine)
{
	int sum = mine, other;

	if (program_rank != 0) {
		MPI_Send(&mine, 1, MPI_INT, 0, 99, MPI_COMM_WORLD);
		return 0;
	}
	for (int i = 1; i < program_size; i++) {
		MPI_Recv(&other, 1, MPI_INT, i, 99, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		sum += other;
	}
	return sum;
}

#define plan(n) program_begin(n)
#define done_testing() program_end()
#define is_int(got, want, ...)                          \
	do {                                            \
		int sum_ = program_sum((got) - (want)); \
                                                        \
		if (program_rank == 0)                  \
			(is_int)(sum_, 0, __VA_ARGS__); \
	} while (0)

#endif
