/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_THREAD_MULTIPLE with OpenMP: the threads of a team call MPI in parallel,
 * one by one, or one for all.
 */
#include "mtap.h"

#include <omp.h>

#define THREADS 3
#define ROUNDS 50

static int next, before;

/* A ring per thread; the tag is the thread's number. */
static void rings(void)
{
	int wrong = 0, threads = 0;

#pragma omp parallel num_threads(THREADS) reduction(+ : wrong, threads)
	{
		int me = omp_get_thread_num();

		threads++;
		for (int i = 0; i < ROUNDS; i++) {
			int out = 1000 * rank + 10 * i + me, in = -1;

			MPI_Sendrecv(&out, 1, MPI_INT, next, me, &in, 1,
				     MPI_INT, before, me, MPI_COMM_WORLD,
				     MPI_STATUS_IGNORE);
			wrong += in != 1000 * before + 10 * i + me;
		}
	}
	all_ok(!wrong && threads == THREADS, "each thread has a ring");
}

/* Nonblocking operations of all threads, completed by one. */
static void handed_over(void)
{
	MPI_Request requests[2 * THREADS];
	int in[THREADS], out[THREADS], wrong = 0;

#pragma omp parallel for num_threads(THREADS)
	for (int i = 0; i < THREADS; i++) {
		out[i] = 10 * rank + i;
		MPI_Irecv(&in[i], 1, MPI_INT, before, 50 + i, MPI_COMM_WORLD,
			  &requests[2 * i]);
		MPI_Isend(&out[i], 1, MPI_INT, next, 50 + i, MPI_COMM_WORLD,
			  &requests[2 * i + 1]);
	}
	MPI_Waitall(2 * THREADS, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < THREADS; i++)
		wrong += in[i] != 10 * before + i;
	all_ok(!wrong, "requests of all threads complete in one");
}

/* Collectives on a communicator per thread. */
static void collectives(void)
{
	MPI_Comm comms[THREADS];
	int wrong = 0;

	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
	{
		int me = omp_get_thread_num();

		for (int i = 0; i < ROUNDS; i++) {
			int mine = rank + me + i, sum = -1;

			MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM,
				      comms[me]);
			wrong += sum != size * (size - 1) / 2 + size * (me + i);
		}
	}
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comms[i]);
	all_ok(!wrong, "each thread has a communicator");
}

/* The funnelled and the serialised way. */
static void taking_turns(void)
{
	int sum = -1, total = 0, wrong = 0;

#pragma omp parallel num_threads(THREADS)
	{
#pragma omp master
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
#pragma omp barrier
#pragma omp critical
		{
			int in = -1;

			MPI_Sendrecv(&rank, 1, MPI_INT, next, 9, &in, 1,
				     MPI_INT, before, 9, MPI_COMM_WORLD,
				     MPI_STATUS_IGNORE);
			wrong += in != before;
			total++;
		}
	}
	all_ok(sum == size * (size - 1) / 2, "the master thread calls for all");
	all_ok(!wrong && total == THREADS, "threads take turns");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	next = (rank + 1) % size;
	before = (rank + size - 1) % size;
	rings();
	handed_over();
	collectives();
	taking_turns();
	return mtap_end();
}
