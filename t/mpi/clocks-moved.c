/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPIX_Rtime, MPIX_Ptime of ranks that move between workers: table 1 of Nigay
 * et al.  (2020), repeatedly.
 *
 * A rank does not move between its calls, so the time that it holds its core by
 * sleeping in the kernel or by computing is known.  A worker is an OS thread,
 * so all workers that have run ranks are known at the end.  With argument
 * "moved" some rank must have moved.
 */
#define _GNU_SOURCE /* gettid() */
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mtap.h"

#define ROUNDS 40
#define HOLD_NS 500000
#define WORKERS_MOST 64
#define SLACK 1e-9 /* of doubles */
#define DRIFT 1e-4 /* of the kernel's clocks to each other */

static int workers[WORKERS_MOST], worker_count;
static int moves; /* of this rank */

static double thread_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static double hold(void)
{
	struct timespec time = { .tv_nsec = HOLD_NS };
	double start = MPI_Wtime();

	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
	return MPI_Wtime() - start;
}

/* Computes for a fixed CPU time, regardless of other load. */
static double compute(void)
{
	static volatile double sink;
	double start = thread_time(), now;

	do {
		for (int i = 0; i < 1000; i++)
			sink += i * 0.5;
		now = thread_time();
	} while (now - start < HOLD_NS * 1e-9);
	return now - start;
}

static void worker_add(int worker)
{
	for (int i = 0; i < worker_count; i++)
		if (workers[i] == worker)
			return;
	if (worker_count < WORKERS_MOST)
		workers[worker_count++] = worker;
}

/* Records the current workers of all ranks, read before the ranks
 * synchronise. */
static void workers_look(void)
{
	static int last;
	int mine = (int)gettid(), all[64], size;

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < size; i++)
		worker_add(all[i]);
	moves += last && last != mine;
	last = mine;
}

static double all_of(double mine, MPI_Op op)
{
	double result;

	MPI_Allreduce(&mine, &result, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
	return result;
}

/* Rank time of all rounds, and where it has to lie. */
static void table_1(void)
{
	double start, ran, wall, end, held = 0, used = 0, all;

	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	ran = MPIX_Rtime();
	for (int i = 0; i < ROUNDS; i++) {
		held += hold();
		workers_look();
		used += compute();
		MPI_Barrier(MPI_COMM_WORLD);
	}
	ran = MPIX_Rtime() - ran;
	end = MPI_Wtime();
	wall = end - start;
	/* They began and ended at different times. */
	all = all_of(end, MPI_MAX) + all_of(-start, MPI_MAX);
	all_ok(ran >= held + used * (1 - DRIFT) - SLACK,
	       "rank time has what a rank did, wherever that was");
	all_ok(ran <= wall * (1 + DRIFT) + SLACK,
	       "and is no more than wall-clock time");
	all_ok(all_of(ran, MPI_SUM) <= worker_count * all * (1 + DRIFT) + SLACK,
	       "all add up to no more than the workers had");
	all_ok(ran <= worker_count * all * (1 + DRIFT) + SLACK -
			       (all_of(held, MPI_SUM) - held),
	       "and no rank's has what another one did");
}

/* Each computation alone: its rank time is at least the CPU time that it
 * used. */
static void computations(void)
{
	int less = 0, back = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double before = MPIX_Rtime(), used = compute();
		double after = MPIX_Rtime();

		less += after - before < used * (1 - DRIFT) - SLACK;
		MPI_Barrier(MPI_COMM_WORLD);
		back += MPIX_Rtime() < after;
		workers_look();
	}
	all_ok(less == 0, "a computation takes its time on any worker");
	all_ok(back == 0, "rank time never goes back");
}

/* Sections begin and end on one worker, others meanwhile elsewhere. */
static void sections(void)
{
	int less = 0;

	for (int i = 0; i < ROUNDS / 4; i++) {
		double before = MPIX_Ptime(), held;

		MPIX_Start_processor_timer();
		held = hold();
		less += MPIX_Ptime() - before < held * (1 - DRIFT) - SLACK;
		MPIX_Stop_processor_timer();
		workers_look();
	}
	all_ok(less == 0, "core time of a section is that of its worker");
}

int main(int argc, char **argv)
{
	int must = argc > 1 && strcmp(argv[1], "moved") == 0, size;

	mtap_init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size > WORKERS_MOST)
		bail("this is for up to %d ranks", WORKERS_MOST);
	table_1();
	computations();
	sections();
	all_ok(all_of(moves, MPI_SUM) > 0 || !must,
	       "there were moves, if there had to be");
	return mtap_end();
}
