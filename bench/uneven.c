/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that compute 1 to 8 times as long as the first one: what balancing can
 * save.  For any MPI; bench/balance.sh compares.
 *
 *	uneven [STEPS [UNITS]]
 *
 * Each step a rank computes its share, UNITS thousand rounds of arithmetic
 * times 1 to 8, and all meet in an MPI_Allreduce.  Rank 0 prints the time that
 * passed, the processor time of all ranks, which divided by the cores is the
 * ideal, the span, and the result, whose bits do not depend on where ranks ran.
 *
 * The span is what the run would take on a machine that has nothing else to do:
 * of each step, the processor time of the OS thread with most.  It means little
 * where each rank is a process.
 */
#include <inttypes.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double compute(double x, long rounds)
{
	for (long i = 0; i < rounds; i++)
		x = x * 0.999999 + 1.0 / (1.0 + x * x);
	return x;
}

/* 1 to 8, the higher the rank the more. */
static double weight(int rank, int size)
{
	return size > 1 ? 1 + 7.0 * rank / (size - 1) : 1;
}

/* The work of a rank in a step, and its thread. */
struct step {
	double cpu;
	double thread; /* its number */
};

/* The most that one thread did in step `step`. */
static double step_span(const struct step *all, int size, int steps, int step)
{
	double most = 0;

	for (int i = 0; i < size; i++) {
		double thread = all[(size_t)i * steps + step].thread, sum = 0;

		for (int j = 0; j < size; j++)
			if (all[(size_t)j * steps + step].thread == thread)
				sum += all[(size_t)j * steps + step].cpu;
		most = sum > most ? sum : most;
	}
	return most;
}

/* Rank 0 gets all steps of all ranks: the processor time and the span. */
static double times_gather(const struct step *own, int steps, double *span)
{
	struct step *all = NULL;
	double cpu = 0;
	int rank, size;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank == 0)
		all = malloc(sizeof(*all) * (size_t)size * (size_t)steps);
	MPI_Gather(own, 2 * steps, MPI_DOUBLE, all, 2 * steps, MPI_DOUBLE, 0,
		   MPI_COMM_WORLD);
	*span = 0;
	for (int i = 0; all && i < steps; i++)
		*span += step_span(all, size, steps, i);
	for (int i = 0; all && i < size * steps; i++)
		cpu += all[i].cpu;
	free(all);
	return cpu;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100;
	long units = argc > 2 ? strtol(argv[2], NULL, 10) : 100;
	double x = 0, sum = 0, start, cpu, span;
	struct step *own = calloc((size_t)steps, sizeof(*own));
	uint64_t bits;
	int rank, size;
	long rounds;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	rounds = (long)(1000 * (double)units * weight(rank, size));
	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	for (int i = 0; i < steps; i++) {
		double before = cpu_seconds();

		x = compute(x + sum * 1e-9 + rank, rounds);
		own[i].cpu = cpu_seconds() - before;
		own[i].thread = (double)syscall(SYS_gettid);
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	start = MPI_Wtime() - start;
	cpu = times_gather(own, steps, &span);
	memcpy(&bits, &sum, sizeof(bits));
	if (rank == 0)
		printf("seconds %.4f cpu %.4f span %.4f result %016" PRIx64
		       "\n",
		       start, cpu, span, bits);
	free(own);
	MPI_Finalize();
	return 0;
}
