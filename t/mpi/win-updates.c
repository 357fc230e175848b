/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Updates of many elements in the memory of ranks that made it themselves, one at a
 * time and by all at once, so many that each way that they can go is tried.
 */
#include <stdint.h>

#include "mtap.h"
#include "refuse.h"

enum { MOST = 20000, TIMES = 120 };

static const int counts[] = { 1, 100, 128, 1000, 3001, MOST };
enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };

static int64_t *memory, *ones, *old, *sums;
static MPI_Win win;

static void clear(void)
{
	memset(memory, 0, MOST * sizeof(*memory));
	memset(sums, 0, MOST * sizeof(*sums));
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
}

static void end(void)
{
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
}

static bool all_are(const int64_t *numbers, int n, int64_t value)
{
	bool are = true;

	for (int i = 0; i < n; i++)
		are &= numbers[i] == value;
	return are;
}

/* All add to rank 0's numbers; together they get each value once. */
static void fetched(int n, int times)
{
	int64_t adds = (int64_t)size * times;
	bool held = true;

	clear();
	for (int k = 0; k < times; k++) {
		MPI_Get_accumulate(ones, n, MPI_INT64_T, old, n, MPI_INT64_T, 0,
				   0, n, MPI_INT64_T, MPI_SUM, win);
		MPI_Win_flush(0, win);
		for (int i = 0; i < n; i++)
			sums[i] += old[i];
	}
	end();
	if (rank == 0)
		held = all_are(memory, n, adds);
	MPI_Allreduce(MPI_IN_PLACE, sums, n, MPI_INT64_T, MPI_SUM,
		      MPI_COMM_WORLD);
	held &= all_are(sums, n, adds * (adds - 1) / 2);
	all_ok(held, "%d elements are fetched and added to by one at a time",
	       n);
}

/* All add to all numbers, of ranks here and there, some of them one by one. */
static void added(int n, int times)
{
	bool held;

	clear();
	for (int k = 0; k < times; k++) {
		int to = (rank + k) % size;

		MPI_Accumulate(ones, n, MPI_INT64_T, to, 0, n, MPI_INT64_T,
			       MPI_SUM, win);
		MPI_Win_flush(to, win);
		MPI_Accumulate(ones, 1, MPI_INT64_T, rank, (k % n) * 8, 1,
			       MPI_INT64_T, MPI_SUM, win);
	}
	end();
	held = true;
	for (int i = 0; i < n; i++)
		held &= memory[i] == times + times / n + (i < times % n);
	all_ok(held, "%d elements are added to while others are, one by one",
	       n);
}

/* What is updated is in order, however each goes. */
static void ordered(void)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size;
	int64_t two = 2;
	bool held = true;

	clear();
	for (int k = 0; k < TIMES; k++) {
		bool first = k % 2 == 0;

		if (!first)
			MPI_Accumulate(&two, 1, MPI_INT64_T, to, 0, 1,
				       MPI_INT64_T, MPI_SUM, win);
		for (int i = 0; i < 1000; i++)
			ones[i] = rank * 1000 + k;
		MPI_Accumulate(ones, 1000, MPI_INT64_T, to, 0, 1000,
			       MPI_INT64_T, MPI_REPLACE, win);
		if (first)
			MPI_Accumulate(&two, 1, MPI_INT64_T, to, 0, 1,
				       MPI_INT64_T, MPI_SUM, win);
		MPI_Get_accumulate(NULL, 0, MPI_INT64_T, old, 1000, MPI_INT64_T,
				   to, 0, 1000, MPI_INT64_T, MPI_NO_OP, win);
		MPI_Win_flush(to, win);
		held &= old[0] == rank * 1000 + k + (first ? 2 : 0) &&
			all_are(old + 1, 999, rank * 1000 + k);
	}
	end();
	all_ok(held && all_are(memory + 1, 999, from * 1000 + TIMES - 1),
	       "updates of many and of one are done in order");
	for (int i = 0; i < 1000; i++)
		ones[i] = 1;
}

/* Elements that the kernel's pieces do not divide, and operations of floats. */
static void odd(void)
{
	enum { N = 5000 };
	long double *numbers = (long double *)memory, *mine = calloc(N, 16);
	bool held = true;

	for (int i = 0; i < N; i++) {
		numbers[i] = 1;
		mine[i] = rank + 2;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	for (int k = 0; k < 50; k++) {
		MPI_Accumulate(mine, N, MPI_LONG_DOUBLE, 0, 0, N,
			       MPI_LONG_DOUBLE, MPI_MAX, win);
		MPI_Win_flush(0, win);
	}
	end();
	for (int i = 0; i < N && rank == 0; i++)
		held &= numbers[i] == size + 1;
	all_ok(held, "long doubles are updated");
	free(mine);
}

/* The kernel does nothing for rank 0 any more, in the middle of updates. */
static void refused(void)
{
	bool refuses = true, held = true;

	clear();
	for (int k = 0; k < TIMES; k++) {
		if (k == TIMES / 2 && rank % 2 == 0)
			refuses = moves_refuse();
		MPI_Accumulate(ones, 3001, MPI_INT64_T, 0, 0, 3001, MPI_INT64_T,
			       MPI_SUM, win);
		MPI_Win_flush(0, win);
	}
	end();
	if (rank == 0)
		held = all_are(memory, 3001, (int64_t)size * TIMES);
	if (refuses)
		all_ok(held, "what the kernel refuses goes in packets");
	else
		all_ok(held, "no filter of system calls can be set here");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	memory = malloc(MOST * sizeof(*memory));
	ones = malloc(MOST * sizeof(*ones));
	old = malloc(MOST * sizeof(*old));
	sums = malloc(MOST * sizeof(*sums));
	for (int i = 0; i < MOST; i++)
		ones[i] = 1;
	MPI_Win_create(memory, MOST * sizeof(*memory), 1, MPI_INFO_NULL,
		       MPI_COMM_WORLD, &win);
	for (int i = 0; i < COUNTS; i++) {
		int times = counts[i] == MOST ? 40 : TIMES;

		fetched(counts[i], times);
		added(counts[i], times);
	}
	ordered();
	odd();
	refused();
	MPI_Win_free(&win);
	free(memory);
	free(ones);
	free(old);
	free(sums);
	return mtap_end();
}
