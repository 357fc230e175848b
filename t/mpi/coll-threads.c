/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives by ordinary OS threads that act for ranks: the program has its
 * own main and threads, and the runtime only provides the addresses.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "mpi/call/vars.h"
#include "ranks.h"

#define RANKS 4
#define COUNT 5000

static _Atomic int wrong;

static void rounds(int rank, int size)
{
	int *mine = malloc(COUNT * sizeof(int));
	int *sum = malloc(COUNT * sizeof(int));

	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < COUNT; i++)
			mine[i] = rank + i + round;
		wrong += MPI_Allreduce(mine, sum, COUNT, MPI_INT, MPI_SUM,
				       MPI_COMM_WORLD) != 0;
		for (int i = 0; i < COUNT; i++)
			wrong += sum[i] !=
				 size * (i + round) + size * (size - 1) / 2;
		wrong += MPI_Bcast(mine, COUNT, MPI_INT, round % size,
				   MPI_COMM_WORLD) != 0;
		wrong += mine[1] != round % size + 1 + round;
		wrong += MPI_Barrier(MPI_COMM_WORLD) != 0;
	}
	free(mine);
	free(sum);
}

static void *thread(void *arg)
{
	int rank = (int)(intptr_t)arg, provided;

	if (vmpi_attach(rank) != 0)
		bail("rank %d cannot be attached", rank);
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	rounds(rank, RANKS);
	MPI_Finalize();
	vmpi_detach();
	return NULL;
}

int main(void)
{
	vmpi_config config = { .ranks = RANKS, .workers = 2 };

	plan(2);
	for (int i = 0; i < 2; i++) {
		pthread_t threads[RANKS];

		mpi_cvar.coll_share_bytes = i ? 0 : 1 << 30;
		wrong = 0;
		if (vmpi_start(&config) != 0)
			bail("the runtime does not start");
		for (intptr_t rank = 0; rank < RANKS; rank++)
			pthread_create(&threads[rank], NULL, thread,
				       (void *)rank);
		for (int rank = 0; rank < RANKS; rank++)
			pthread_join(threads[rank], NULL);
		vmpi_stop();
		is_int(wrong, 0, "threads meet as tasks do, %s",
		       i ? "each doing its part" : "one doing all");
	}
	return done_testing();
}
