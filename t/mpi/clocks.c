/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPIX_Rtime, MPIX_Ptime: the program of table 1 of Nigay et al. (2020) and
 * sections of core time.
 *
 * A rank holds its core by sleeping in the kernel, unknown to vmpi, for a time
 * that it measures itself.  That time is arbitrary, but no other rank of the
 * core runs meanwhile; ranks of one core are those of one OS thread.
 */
#define _GNU_SOURCE /* gettid() */
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mtap.h"

#define HOLD_NS 2000000
#define SLACK 1e-9 /* of doubles */

static MPI_Comm core; /* the ranks of my core */
static int core_rank, core_size;

static double hold(void)
{
	struct timespec time = { .tv_nsec = HOLD_NS };
	double start = MPI_Wtime();

	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
	return MPI_Wtime() - start;
}

static double core_sum(double mine)
{
	double sum;

	MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, core);
	return sum;
}

static double core_max(double mine)
{
	double max;

	MPI_Allreduce(&mine, &max, 1, MPI_DOUBLE, MPI_MAX, core);
	return max;
}

/* Listing 1. */
static void table_1(void)
{
	double wall, ran, held, start, end, sum;

	MPI_Barrier(core);
	wall = start = MPI_Wtime();
	ran = MPIX_Rtime();
	held = hold();
	MPI_Barrier(core);
	ran = MPIX_Rtime() - ran;
	end = MPI_Wtime();
	wall = end - wall;
	all_ok(ran >= held - SLACK, "rank time has what a rank computed");
	all_ok(ran <= wall + SLACK, "and is no more than wall-clock time");
	sum = core_sum(held);
	all_ok(core_max(wall) >= sum - SLACK,
	       "some rank's wall-clock time has what all ranks computed");
	all_ok(ran <= core_max(end) + core_max(-start) - (sum - held) + SLACK,
	       "no rank's rank time has what another rank computed");
	all_ok(core_sum(ran) <= core_max(end) + core_max(-start) + SLACK,
	       "rank times of a core add up to no more than has passed");
}

/* Listing 3: two computations in a section with a switch between, one
 * behind. */
static void sections(void)
{
	double before, after, held, ran;

	MPI_Barrier(core);
	before = MPIX_Ptime();
	MPI_Barrier(core);
	ran = MPIX_Rtime();
	MPIX_Start_processor_timer();
	held = hold();
	MPI_Barrier(core);
	held += hold();
	MPIX_Stop_processor_timer();
	ran = MPIX_Rtime() - ran;
	hold();
	MPI_Barrier(core);
	after = MPIX_Ptime();
	all_ok(core_max(after) == after && -core_max(-after) == after,
	       "all ranks of a core see one core time");
	all_ok(after - before >= core_sum(held) - core_size * SLACK,
	       "it has what they computed in the section");
	all_ok(after - before <= core_sum(ran) + core_size * SLACK,
	       "and no more than they had the core there");
	MPIX_Stop_processor_timer();
	hold();
	all_ok(MPIX_Ptime() == after, "a stop without a start does nothing");
	MPI_Barrier(core);
}

static void nesting(void)
{
	double before = MPIX_Ptime(), held;

	MPIX_Start_processor_timer();
	PMPIX_Start_processor_timer();
	held = hold();
	all_ok(PMPIX_Ptime() - before >= held - SLACK,
	       "an open section counts");
	MPIX_Stop_processor_timer();
	held += hold();
	PMPIX_Stop_processor_timer();
	all_ok(MPIX_Ptime() - before >= held - SLACK,
	       "the outer of two sections counts on");
	MPI_Barrier(core);
	/* Left open: of a later section it is the outer one. */
	MPIX_Start_processor_timer();
}

/* Sleeping as vmpi knows it gives the core away. */
static void asleep(void)
{
	double wall = MPI_Wtime(), ran = PMPIX_Rtime();

	usleep(1000);
	ran = PMPIX_Rtime() - ran;
	wall = MPI_Wtime() - wall;
	all_ok(ran >= 0 && ran <= wall + SLACK,
	       "a rank that sleeps has its core no longer than it sleeps");
}

static void *thread_main(void *arg)
{
	double ran = MPIX_Rtime(), before = MPIX_Ptime(), held;
	bool *good = arg;

	MPIX_Start_processor_timer();
	held = hold();
	MPIX_Stop_processor_timer();
	*good = MPIX_Rtime() - ran >= held - SLACK &&
		MPIX_Ptime() - before >= held - SLACK;
	return NULL;
}

static void threads(void)
{
	bool good = false;
	pthread_t thread;

	pthread_create(&thread, NULL, thread_main, &good);
	pthread_join(thread, NULL);
	all_ok(good, "an OS thread of a rank has its own time and core");
}

int main(int argc, char **argv)
{
	double before = MPIX_Rtime(), first, held = hold(), second;
	int status;

	first = MPIX_Rtime();
	mtap_init(&argc, &argv);
	second = MPIX_Rtime();
	all_ok(first - before >= held - SLACK,
	       "rank time passes before MPI_Init");
	all_ok(second >= first, "and goes on in it");
	MPI_Comm_split(MPI_COMM_WORLD, (int)gettid(), 0, &core);
	MPI_Comm_rank(core, &core_rank);
	MPI_Comm_size(core, &core_size);
	table_1();
	sections();
	nesting();
	asleep();
	threads();
	MPI_Comm_free(&core);
	second = MPIX_Rtime();
	status = mtap_end();
	first = MPIX_Rtime();
	held = hold();
	if (first < second || MPIX_Rtime() - first < held - SLACK)
		return 1; /* nor after MPI_Finalize */
	return status;
}
