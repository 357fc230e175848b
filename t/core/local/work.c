/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work sharing: every part is done once, by any worker; idle workers do help.
 */
#include "core/local/work.h"

#include <sched.h>

#include "core/rank/rank.h"
#include "job.h"
#include "sched/worker.h"

#define PARTS_MAX 1000
#define ROUNDS 2000

/* One rank's work: how often each part was done. */
struct work {
	int done[PARTS_MAX];
	_Atomic int others; /* others that have begun a part */
	struct vm_worker *worker;
};

static int home_spread(void *arg, size_t part)
{
	(void)arg;
	return (int)(part % 4);
}

static void count(void *arg, size_t first, size_t last)
{
	struct work *work = arg;

	for (size_t i = first; i < last; i++)
		work->done[i]++;
}

static const struct vm_work_kind counting = { count, home_spread };

/* All ranks at once, some of them idle between, with any number of parts. */
static void share_often(int rank, int size)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 7, 64, PARTS_MAX };
	struct work work = { .others = 0 };

	(void)size;
	for (int i = 0; i < ROUNDS; i++) {
		size_t parts = sizes[(i + rank) % 7];

		vm_work_run(&counting, &work, parts);
		for (size_t j = 0; j < parts; j++) {
			EXPECT(work.done[j] == 1);
			work.done[j] = 0;
		}
		if (i % 64 == 0)
			vmpi_barrier(vmpi_world());
	}
}

/* Whose work it is waits in its parts until another worker has come. */
static void wait_for_other(void *arg, size_t first, size_t last)
{
	struct work *work = arg;

	(void)first;
	(void)last;
	if (vm_self->worker != work->worker)
		atomic_fetch_add(&work->others, 1);
	while (atomic_load(&work->others) == 0)
		sched_yield();
}

static const struct vm_work_kind waiting = { wait_for_other, home_spread };

/* Rank 0 works, rank 1 waits for it in a barrier, asleep or polling. */
static void share_with_idle(int rank, int size)
{
	struct work work = { .worker = vm_self->worker };

	(void)size;
	for (int i = 0; i < 100; i++) {
		atomic_store(&work.others, 0);
		if (rank == 0) {
			if (i % 10 == 0)
				vmpi_sleep(1000000);
			vm_work_run(&waiting, &work, 2);
			EXPECT(atomic_load(&work.others) > 0);
		}
		vmpi_barrier(vmpi_world());
	}
}

int main(void)
{
	plan(3);
	job(3, 1, share_often, "each part is done once");
	job(6, 4, share_often, "each part is done once");
	job(2, 2, share_with_idle, "an idle worker helps, awake or asleep");
	return done_testing();
}
