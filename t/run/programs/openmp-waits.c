/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every way in which the threads of a team wait for one another, while one of
 * them waits for a message.  Each round goes once around the ring of ranks, so
 * it ends only if all ranks take part at the same time.
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

#define THREADS 3
#define ROUNDS 5

static int rank, size, wrong;

static void ring(int tag)
{
	int out = 1000 * rank + tag, in = -1, left = (rank + size - 1) % size;

	MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, tag, &in, 1, MPI_INT,
		     left, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (in != 1000 * left + tag) {
#pragma omp atomic
		wrong++;
	}
}

static void barriers(void)
{
#pragma omp parallel num_threads(THREADS)
	for (int i = 0; i < THREADS * ROUNDS; i++) {
		if (omp_get_thread_num() == i % THREADS)
			ring(1);
#pragma omp barrier
	}
}

static void singles(void)
{
	int copied = -1;

#pragma omp parallel num_threads(THREADS) private(copied)
	for (int i = 0; i < ROUNDS; i++) {
#pragma omp single
		ring(2);
#pragma omp single copyprivate(copied)
		{
			ring(3);
			copied = i;
		}
		if (copied != i) {
#pragma omp atomic
			wrong++;
		}
	}
}

static void criticals(void)
{
#pragma omp critical
	ring(4);
#pragma omp parallel num_threads(THREADS)
	for (int i = 0; i < ROUNDS; i++) {
#pragma omp critical
		ring(4);
#pragma omp critical(named)
		ring(5);
	}
}

static void locks(void)
{
	omp_lock_t lock;
	omp_nest_lock_t nest;

	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
	omp_set_nest_lock(&nest);
	ring(6);
	omp_unset_nest_lock(&nest);
#pragma omp parallel num_threads(THREADS)
	for (int i = 0; i < ROUNDS; i++) {
		omp_set_lock(&lock);
		ring(6);
		omp_unset_lock(&lock);
		omp_set_nest_lock(&nest);
		ring(7);
		omp_unset_nest_lock(&nest);
	}
	omp_destroy_lock(&lock);
	omp_destroy_nest_lock(&nest);
}

static void loops(void)
{
	int sum = 0, product = 1;

#pragma omp parallel for num_threads(THREADS) ordered
	for (int i = 0; i < 3 * THREADS; i++) {
#pragma omp ordered
		ring(8);
	}
#pragma omp parallel for num_threads(THREADS) schedule(dynamic, 1) \
	reduction(+ : sum)
	for (int i = 0; i < 3 * THREADS; i++) {
		ring(10 + i);
		sum += i;
	}
#pragma omp parallel for num_threads(THREADS) schedule(guided) \
	reduction(* : product)
	for (int i = 0; i < 3; i++) {
		ring(20 + i);
		product *= 2;
	}
#pragma omp parallel for num_threads(THREADS) schedule(runtime)
	for (int i = 0; i < 3; i++)
		ring(30 + i);
	wrong += sum != 36 || product != 8;
}

static void sections(void)
{
#pragma omp parallel sections num_threads(THREADS)
	{
#pragma omp section
		ring(40);
#pragma omp section
		ring(41);
	}
}

static void tasks(void)
{
	int done = 0;

#pragma omp parallel num_threads(THREADS) shared(done)
#pragma omp master
	{
		for (int i = 0; i < 2; i++) {
#pragma omp task shared(done) firstprivate(i)
			{
				ring(50 + i);
#pragma omp atomic
				done++;
			}
		}
#pragma omp taskwait
		wrong += done != 2;
	}
}

static void nested(void)
{
	int threads = 0;

	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : threads)
	{
		int outer = omp_get_thread_num();

#pragma omp parallel num_threads(2) reduction(+ : threads)
		{
			ring(60 + 2 * outer + omp_get_thread_num());
			threads += omp_get_level() == 2 &&
				   omp_get_ancestor_thread_num(1) == outer;
		}
	}
	wrong += threads != 4;
}

int main(int argc, char **argv)
{
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	barriers();
	singles();
	criticals();
	locks();
	loops();
	sections();
	tasks();
	nested();
	MPI_Finalize();
	printf("rank %d: %d wrong\n", rank, wrong);
	return 0;
}
