/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels: ranks and sizes after dup and split, and no message of one channel
 * is seen by another.
 */
#include <stdlib.h>

#include "job.h"

static void duplicates(int rank, int size)
{
	vmpi_chan *world = vmpi_world(), *dup[20];
	int value = 0;
	vmpi_msg *msg;

	EXPECT(vmpi_chan_rank(world) == rank && vmpi_chan_size(world) == size);
	for (int i = 0; i < 20; i++) {
		EXPECT(vmpi_chan_dup(i ? dup[i - 1] : world, &dup[i]) == 0);
		EXPECT(vmpi_chan_rank(dup[i]) == rank);
		EXPECT(vmpi_chan_size(dup[i]) == size);
	}
	/* Sent forwards, received backwards: only the channel tells them
	 * apart. */
	for (int i = 0; i < 20; i++)
		EXPECT(vmpi_send(dup[i], &i, sizeof(i), (rank + 1) % size, 0) ==
		       0);
	EXPECT(vmpi_barrier(world) == 0);
	EXPECT(vmpi_try_match(world, &msg, VMPI_ANY, VMPI_ANY) == -VMPI_EAGAIN);
	for (int i = 19; i >= 0; i--) {
		EXPECT(vmpi_recv(dup[i], &value, sizeof(value), VMPI_ANY,
				 VMPI_ANY, NULL) == 0);
		EXPECT(value == i);
	}
	for (int i = 0; i < 20; i++)
		EXPECT(vmpi_chan_free(&dup[i]) == 0 && !dup[i]);
}

/* Rows and columns of a grid; a channel in reverse; one for few. */
static void splits(int rank, int size)
{
	vmpi_chan *world = vmpi_world(), *row = NULL, *back = NULL, *few = NULL;
	int sum = 0, value, n;

	EXPECT(vmpi_chan_split(world, &row, rank / 3, rank) == 0);
	n = vmpi_chan_size(row);
	EXPECT(vmpi_chan_rank(row) == rank % 3);
	EXPECT(n == (rank / 3 * 3 + 3 <= size ? 3 : size % 3));
	for (int i = 0; i < n; i++)
		EXPECT(vmpi_send(row, &rank, sizeof(rank), i, 0) == 0);
	for (int i = 0; i < n; i++) {
		EXPECT(vmpi_recv(row, &value, sizeof(value), i, 0, NULL) == 0);
		EXPECT(value == rank / 3 * 3 + i);
		sum += value;
	}
	EXPECT(vmpi_chan_split(world, &back, 0, -rank) == 0);
	EXPECT(vmpi_chan_rank(back) == size - 1 - rank);
	EXPECT(vmpi_send(back, &rank, sizeof(rank), 0, 0) == 0);
	if (rank == size - 1)
		for (int i = 0; i < size; i++) {
			EXPECT(vmpi_recv(back, &value, sizeof(value), i, 0,
					 NULL) == 0);
			EXPECT(value == size - 1 - i);
		}
	few = world;
	EXPECT(vmpi_chan_split(world, &few, rank % 2 ? VMPI_UNDEFINED : 5, 0) ==
	       0);
	EXPECT(rank % 2 ? !few : vmpi_chan_rank(few) == rank / 2);
	if (few) {
		EXPECT(vmpi_chan_size(few) == (size + 1) / 2);
		for (int i = 0; i < 100; i++)
			EXPECT(vmpi_barrier(few) == 0);
		EXPECT(vmpi_chan_free(&few) == 0);
	}
	EXPECT(vmpi_chan_free(&row) == 0 && vmpi_chan_free(&back) == 0);
}

/* A barrier lets no rank through early. */
static _Atomic int arrived;

static void barriers(int rank, int size)
{
	vmpi_chan *world = vmpi_world();

	for (int i = 0; i < 500; i++) {
		if ((rank + i) % 3 == 0)
			vmpi_yield();
		atomic_fetch_add(&arrived, 1);
		EXPECT(vmpi_barrier(world) == 0);
		EXPECT(atomic_load(&arrived) == (i + 1) * size);
		EXPECT(vmpi_barrier(world) == 0);
	}
	if (rank == 0)
		arrived = 0;
}

/* Two tasks of each rank are in collectives of two channels, the channels are
 * freed while others may still be on their way out. */
static int side_task(void *arg)
{
	vmpi_chan *chan = arg, *part;

	for (int i = 0; i < 100; i++) {
		EXPECT(vmpi_barrier(chan) == 0);
		EXPECT(vmpi_chan_split(chan, &part, vmpi_rank() % 2, 0) == 0);
		EXPECT(vmpi_barrier(part) == 0);
		EXPECT(vmpi_chan_free(&part) == 0);
	}
	return 0;
}

static void two_tasks(int rank, int size)
{
	vmpi_chan *world = vmpi_world(), *dup, *part;
	vmpi_task *task;

	(void)rank;
	(void)size;
	EXPECT(vmpi_chan_dup(world, &dup) == 0);
	EXPECT(vmpi_spawn(&task, side_task, dup) == 0);
	for (int i = 0; i < 100; i++) {
		EXPECT(vmpi_chan_dup(world, &part) == 0);
		EXPECT(vmpi_barrier(part) == 0);
		EXPECT(vmpi_chan_free(&part) == 0);
	}
	EXPECT(vmpi_join(&task, NULL) == 0);
	EXPECT(vmpi_chan_free(&dup) == 0);
}

/* Different collectives at the same place are an error for all. */
static void mismatch(int rank, int size)
{
	vmpi_chan *world = vmpi_world(), *dup = NULL;
	int rc = rank == 0 ? vmpi_barrier(world) : vmpi_chan_dup(world, &dup);

	EXPECT(rc == (size > 1 ? -VMPI_EMISMATCH : 0) && !dup);
	EXPECT(vmpi_barrier(world) == 0);
}

int main(void)
{
	static const struct {
		int ranks, workers;
	} runs[] = { { 1, 1 }, { 5, 1 }, { 8, 2 }, { 13, 4 }, { 40, 3 } };

	plan(25);
	for (size_t i = 0; i < 5; i++) {
		int ranks = runs[i].ranks, workers = runs[i].workers;

		job(ranks, workers, duplicates, "duplicates are separate");
		job(ranks, workers, splits, "splits have their members");
		job(ranks, workers, barriers, "barriers hold");
		job(ranks, workers, two_tasks, "two tasks in collectives");
		job(ranks, workers, mismatch, "disagreement is noticed");
	}
	return done_testing();
}
