/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of accesses, which are put off and done together, by two processes if they
 * are long; and updates that return more than a few bytes.
 */
#include <unistd.h>

#include "mtap.h"
#include "refuse.h"

enum { BYTES = 9001, ROW = 40, HALF = BYTES * ROW };

static char *memory, *data;
static MPI_Win win;
static int right, left;

static char pattern(int of, int round, size_t at)
{
	return (char)(of * 31 + round * 7 + at % 251);
}

static void fill(int round)
{
	for (size_t k = 0; k < HALF; k++) {
		data[k] = pattern(rank, round, k);
		memory[HALF + k] = pattern(rank, round + 100, k);
	}
}

static bool holds(int round, bool mine, bool lefts)
{
	bool held = true;

	for (size_t k = 0; k < HALF; k++) {
		if (mine)
			held &= data[HALF + k] == pattern(left, round + 100, k);
		if (lefts)
			held &= memory[k] == pattern(left, round, k);
	}
	return held;
}

/* What a local flush is behind is not read any more. */
static void reuse(int round, int k)
{
	if (round % 3)
		MPI_Win_flush_local(right, win);
	else
		MPI_Win_flush_local_all(win);
	memset(data, 0, (size_t)(k + 1) * BYTES);
}

static void row(int round, bool flushes)
{
	for (int k = 0; k < ROW; k++) {
		MPI_Put(data + k * BYTES, BYTES, MPI_BYTE, right, k * BYTES,
			BYTES, MPI_BYTE, win);
		MPI_Get(data + HALF + k * BYTES, BYTES, MPI_BYTE, left,
			HALF + k * BYTES, BYTES, MPI_BYTE, win);
		if (flushes && k == ROW / 2)
			reuse(round, k);
	}
}

/* All put and get at a time; or half of them, while the others wait or sleep. */
static void rows(const char *which)
{
	bool held = true;

	for (int i = 0; i < 6; i++) {
		bool all = i % 2 == 0;

		fill(i);
		memset(memory, 0, HALF);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Win_lock_all(0, win);
		if (all || rank % 2 == 0)
			row(i, true);
		else if (i == 5)
			usleep(2000);
		MPI_Win_unlock_all(win);
		MPI_Barrier(MPI_COMM_WORLD);
		held &= holds(i, all || rank % 2 == 0, all || left % 2 == 0);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	all_ok(held, "rows arrive in %s memory", which);
}

static void fenced(void)
{
	bool held = true;

	for (int i = 0; i < 4; i++) {
		fill(i);
		MPI_Win_fence(0, win);
		row(i, false);
		MPI_Win_fence(0, win);
		held &= holds(i, true, true);
	}
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	all_ok(held, "a fence is behind all of a row");
}

static const int lengths[] = { 1,    500,   1024,  2000,  4096,
			       7000, 12000, 65536, 100000 };
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]), MANY = 150 };

/* Puts one, by a request if `asked`: then its buffer is used for the next. */
static void put_one(int round, int at, int bytes, bool asked)
{
	char *from = asked ? data : data + at;
	MPI_Request request;

	for (int k = 0; k < bytes; k++)
		from[k] = pattern(rank, round, (size_t)(at + k));
	if (!asked) {
		MPI_Put(from, bytes, MPI_BYTE, right, at, bytes, MPI_BYTE, win);
		return;
	}
	MPI_Rput(from, bytes, MPI_BYTE, right, at, bytes, MPI_BYTE, win,
		 &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	memset(from, 0, (size_t)bytes);
}

/* Whether what was put, or got, is there: bytes of each step. */
static bool stepped(const char *at, int of, int round, int bytes, int step)
{
	for (int k = 0; k < HALF / step * step && k < MANY * step; k++)
		if (at[k] !=
		    (k % step < bytes ? pattern(of, round, (size_t)k) : 0))
			return false;
	return true;
}

/* Many of a length, which follow each other or leave gaps. */
static bool many(int round, int bytes, int gap)
{
	int step = bytes + gap, n = HALF / step < MANY ? HALF / step : MANY;
	bool held;

	memset(memory, 0, HALF);
	memset(data, 0, 2 * (size_t)HALF);
	for (int k = 0; k < HALF; k++)
		memory[HALF + k] = pattern(rank, round + 100, (size_t)k);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int k = 0; k < n; k++)
		put_one(round, k * step, bytes, round % 2);
	MPI_Win_flush(right, win);
	for (int k = 0; k < n; k++)
		MPI_Get(data + HALF + k * step, bytes, MPI_BYTE, left,
			HALF + k * step, bytes, MPI_BYTE, win);
	MPI_Win_flush_local(left, win);
	held = stepped(data + HALF, left, round + 100, bytes, step);
	MPI_Barrier(MPI_COMM_WORLD);
	held &= stepped(memory, left, round, bytes, step);
	MPI_Barrier(MPI_COMM_WORLD);
	return held;
}

static void piled(void)
{
	bool held = true;

	MPI_Win_lock_all(0, win);
	for (int i = 0; i < 4 * LENGTHS; i++)
		held &= many(i, lengths[i / 4], i % 4 / 2 * 96);
	MPI_Win_unlock_all(win);
	all_ok(held, "many accesses are done when they are waited for, as they "
		     "were asked for");
}

static void refused(void)
{
	bool refuses, held;

	memset(memory, 0, HALF);
	memset(data, 0, 2 * (size_t)HALF);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	for (int k = 0; k < 10; k++)
		put_one(1, k * 2000, k % 2 ? 2000 : 1500, k == 5);
	refuses = moves_refuse();
	for (int k = 10; k < 20; k++)
		put_one(1, k * 2000, 2000, false);
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	held = refuses;
	for (int k = 0; k < 40000; k++)
		held &= memory[k] ==
			(k < 20000 && k / 2000 % 2 == 0 && k % 2000 >= 1500 ?
				 0 :
				 pattern(left, 1, (size_t)k));
	if (refuses)
		all_ok(held, "what the kernel refuses goes in packets");
	else
		all_ok(true, "no filter of system calls can be set here");
}

static const int counts[] = { 255, 256, 257, 1024, 3001, 5000, 20000 };
enum { COUNTS = sizeof(counts) / sizeof(counts[0]), MOST = 20000 };

/* The first count that a number is part of. */
static int first_of(int number)
{
	int i = 0;

	while (number >= counts[i])
		i++;
	return i;
}

/* Adds to the right neighbour's numbers, and reads them now and then; of each
 * count four times. */
static bool added(int i, int *sum, const int *one, int *old)
{
	bool held = true;

	for (int k = 0; k < 6; k++) {
		bool adds = k % 3 != 2;

		MPI_Get_accumulate(adds ? one : NULL, adds ? counts[i] : 0,
				   MPI_INT, old, counts[i], MPI_INT, right, 0,
				   counts[i], MPI_INT,
				   adds ? MPI_SUM : MPI_NO_OP, win);
		MPI_Win_flush(right, win);
		for (int j = 0; j < counts[i]; j++)
			held &= old[j] == *sum - 4 * first_of(j);
		*sum += adds;
	}
	return held;
}

static void returned(void)
{
	int *numbers = (int *)(void *)memory, sum = 0;
	int *one = malloc(MOST * sizeof(int));
	int *old = malloc(MOST * sizeof(int));
	bool held = true;

	for (int i = 0; i < MOST; i++) {
		numbers[i] = 0;
		one[i] = 1;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	for (int i = 0; i < COUNTS; i++)
		held &= added(i, &sum, one, old);
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	all_ok(held, "updates return what was there before");
	for (int j = 0; j < MOST; j++)
		held &= numbers[j] == 4 * (COUNTS - first_of(j));
	all_ok(held, "and each is done once");
	free(one);
	free(old);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	right = (rank + 1) % size;
	left = (rank + size - 1) % size;
	data = malloc(2 * HALF);
	memory = malloc(2 * HALF);
	MPI_Win_create(memory, 2 * HALF, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
		       &win);
	rows("created");
	fenced();
	piled();
	returned();
	MPI_Win_free(&win);
	free(memory);
	MPI_Win_allocate(2 * HALF, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
			 &win);
	rows("allocated");
	returned();
	MPI_Win_free(&win);
	memory = malloc(2 * HALF);
	MPI_Win_create(memory, 2 * HALF, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
		       &win);
	refused();
	MPI_Win_free(&win);
	free(memory);
	free(data);
	return mtap_end();
}
