/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi.h beside mpi.h in one program: collectives of both in turn and under way at
 * the same time, messages and tasks, on the same ranks.
 */
#include <stdint.h>
#include <vmpi.h>

#include "mtap.h"

#define ROUNDS 40

static void add(void *sum, const void *more, size_t count, void *arg)
{
	const int *m = more;
	int *s = sum;

	(void)arg;
	for (size_t i = 0; i < count; i++)
		s[i] += m[i];
}

static void names(void)
{
	all_ok(vmpi_rank() == rank && vmpi_size() == size &&
		       vmpi_chan_rank(vmpi_world()) == rank,
	       "a rank has one number in both");
}

static void in_turn(void)
{
	int mine = rank + 1, ours = -1, theirs = -1, wrong = 0;

	for (int i = 0; i < ROUNDS; i++) {
		wrong += vmpi_allreduce(vmpi_world(), &ours, &mine,
					sizeof(mine), 1, add, NULL) != 0;
		MPI_Allreduce(&mine, &theirs, 1, MPI_INT, MPI_SUM,
			      MPI_COMM_WORLD);
		wrong += ours != theirs || ours != size * (size + 1) / 2;
		wrong += vmpi_barrier(vmpi_world()) != 0;
		MPI_Barrier(MPI_COMM_WORLD);
	}
	all_ok(!wrong, "their collectives take turns");
}

static void at_once(void)
{
	static int all[64], sums[ROUNDS];
	MPI_Request requests[ROUNDS];
	int wrong = 0, mine = rank;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Iallreduce(&mine, &sums[i], 1, MPI_INT, MPI_MAX,
			       MPI_COMM_WORLD, &requests[i]);
		wrong += vmpi_allgather(vmpi_world(), all, &mine,
					sizeof(mine)) != 0;
		for (int k = 0; k < size; k++)
			wrong += all[k] != k;
	}
	MPI_Waitall(ROUNDS, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < ROUNDS; i++)
		wrong += sums[i] != size - 1;
	all_ok(!wrong, "some are under way while others run");
}

/* What a task of each rank does meanwhile. */
static int around(void *arg)
{
	MPI_Comm comm = *(MPI_Comm *)arg;
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	int wrong = 0;

	for (int i = 0; i < ROUNDS; i++) {
		int out = rank * ROUNDS + i, in = -1;

		MPI_Sendrecv(&out, 1, MPI_INT, right, 7, &in, 1, MPI_INT, left,
			     7, comm, MPI_STATUS_IGNORE);
		wrong += in != left * ROUNDS + i;
	}
	return wrong;
}

static void tasks(void)
{
	int wrong = 0, result = 1, block;
	vmpi_task *task;
	MPI_Comm comm;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	wrong += vmpi_spawn(&task, around, &comm) != 0;
	for (int i = 0; i < ROUNDS; i++) {
		block = rank == i % size ? i : -1;
		wrong += vmpi_bcast(vmpi_world(), &block, sizeof(block),
				    i % size) != 0 ||
			 block != i;
	}
	wrong += vmpi_join(&task, &result) != 0;
	MPI_Comm_free(&comm);
	all_ok(!wrong && !result, "a task calls MPI while its rank broadcasts");
}

static void channels(void)
{
	int color = rank % 2, mine = 1, ours = 0, theirs = 0, wrong = 0;
	vmpi_chan *chan;
	MPI_Comm comm;

	wrong += vmpi_chan_split(vmpi_world(), &chan, color, -rank) != 0;
	MPI_Comm_split(MPI_COMM_WORLD, color, -rank, &comm);
	wrong += vmpi_reduce(chan, &ours, &mine, sizeof(mine), 1, add, NULL,
			     0) != 0;
	MPI_Reduce(&mine, &theirs, 1, MPI_INT, MPI_SUM, 0, comm);
	wrong += ours != theirs;
	if (size > 1)
		wrong += vmpi_send(vmpi_world(), &rank, sizeof(rank),
				   (rank + 1) % size, 7) != 0;
	MPI_Barrier(comm);
	if (size > 1)
		wrong += vmpi_recv(vmpi_world(), &ours, sizeof(ours),
				   (rank + size - 1) % size, 7, NULL) != 0 ||
			 ours != (rank + size - 1) % size;
	MPI_Comm_free(&comm);
	wrong += vmpi_chan_free(&chan) != 0;
	all_ok(!wrong, "channels and communicators do not meet");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	names();
	in_turn();
	at_once();
	tasks();
	channels();
	return mtap_end();
}
