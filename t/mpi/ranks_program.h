/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns a test that runs its ranks inside itself (ranks.h) into a program for
 * vmpirun, in one or several processes.
 *
 * Every rank runs main().  Of the test's jobs only those with the program's
 * number of ranks, and T_MPI_WORKERS workers (0: any number), are run; all
 * others are skipped.  Rank 0 prints; failures of other ranks are written to
 * standard error and fail the last check.
 */
#ifndef T_MPI_RANKS_PROGRAM_H
#define T_MPI_RANKS_PROGRAM_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#include "tap.h"
#include "vmpi.h"

#ifndef T_MPI_WORKERS
#define T_MPI_WORKERS 1
#endif

static int program_rank, program_size, program_wrong;

/* Variables that such tests set and that are not used here. */
static struct {
	int64_t coll_share_bytes;
} mpi_cvar __attribute__((unused));

static inline void program_begin(void)
{
	if (program_size)
		return;
	MPI_Init(NULL, NULL);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &program_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &program_size);
}

static inline bool ranks_run(int size, int workers,
			     void (*body)(int rank, int size))
{
	bool mine = !T_MPI_WORKERS || workers == T_MPI_WORKERS;

	program_begin();
	mine &= size == program_size;
	if (mine)
		body(program_rank, program_size);
	return mine;
}

/* Sums counts[n] over all ranks, by messages only. */
static inline void ranks_share(_Atomic int *counts, int n)
{
	for (int i = 0; i < n; i++) {
		int sum = counts[i], other;

		for (int r = 1; r < program_size && program_rank == 0; r++) {
			MPI_Recv(&other, 1, MPI_INT, r, 99, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
			sum += other;
		}
		if (program_rank != 0)
			MPI_Sendrecv_replace(&sum, 1, MPI_INT, 0, 99, 0, 99,
					     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int r = 1; r < program_size && program_rank == 0; r++)
			MPI_Send(&sum, 1, MPI_INT, r, 99, MPI_COMM_WORLD);
		counts[i] = sum;
	}
}

/* A check on rank 0; on others a line if it fails. */
#define program_check(held, check, ...)                               \
	({                                                            \
		bool held_ = (held);                                  \
                                                                      \
		program_begin();                                      \
		if (program_rank == 0) {                              \
			check;                                        \
		} else if (!held_) {                                  \
			program_wrong++;                              \
			fprintf(stderr, "# rank %d: ", program_rank); \
			fprintf(stderr, __VA_ARGS__);                 \
			fputc('\n', stderr);                          \
		}                                                     \
		held_;                                                \
	})

static inline int program_end(void)
{
	_Atomic int wrong = program_wrong;

	ranks_share(&wrong, 1);
	MPI_Finalize();
	if (program_rank != 0)
		return 0;
	is_int(wrong, 0, "nothing is wrong on the other ranks");
	return done_testing();
}

/* Not all checks are rank 0's. */
#define plan(n) program_begin()
#define skip(...) (program_rank == 0 ? (skip)(__VA_ARGS__) : (void)0)
#define done_testing() program_end()
#define ok(held, ...) program_check(held, (ok)(held_, __VA_ARGS__), __VA_ARGS__)
#define is_int(got, want, ...)                                    \
	({                                                        \
		intmax_t got_ = (got), want_ = (want);            \
                                                                  \
		program_check(got_ == want_,                      \
			      (is_int)(got_, want_, __VA_ARGS__), \
			      __VA_ARGS__);                       \
	})

#endif
