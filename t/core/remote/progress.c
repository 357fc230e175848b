/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two workers sleep, the first of them as the watcher.  It finds a message by
 * the fabric's loop: while it runs the rank that has waited for that, the other
 * one watches.
 */
#include "core/remote/progress.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "core/local/engine.h"
#include "job.h"

#define TAG 1
#define AGAIN 1 /* to rank 1: wait once more */

static _Atomic int taken = -1; /* by rank 1, once it has begun */

static struct vm_worker *watcher(void)
{
	return atomic_load(&vm_node->progress.poller);
}

static bool sleeps(int worker)
{
	return atomic_load(&vm_sched.workers[worker].sleeping);
}

/* Whether one of the two watches, and the other one sleeps beside it. */
static bool is_settled(void)
{
	return sleeps(0) && sleeps(1) &&
	       atomic_load(&vm_node->progress.sleepers) == 1 &&
	       !atomic_load(&vm_node->progress.beside) && watcher();
}

/* Wakes rank 0 once its worker watches; acts for rank 1. */
static void *waker(void *arg)
{
	struct vm_worker *first = &vm_sched.workers[0];
	int again = AGAIN, sent = 0;

	if (vmpi_attach(1))
		bail("no rank 1");
	do {
		/* Its worker may sleep before it begins, or watch and find what
		 * is for rank 1. */
		while (atomic_load(&taken) != sent)
			sched_yield();
		while (!is_settled())
			sched_yield();
		if (watcher() == first)
			break;
		EXPECT(vmpi_send(vmpi_world(), &again, sizeof(again), 1, TAG) ==
		       0);
		sent++;
	} while (true);
	EXPECT(vmpi_send(vmpi_world(), NULL, 0, 0, TAG) == 0);
	vmpi_detach();
	return arg;
}

static void first(void)
{
	const struct vm_thread_cache *own = &vm_node->engines[0].cache;
	struct vm_worker *second = &vm_sched.workers[1];
	int end = 0;

	EXPECT(vmpi_recv(vmpi_world(), NULL, 0, 1, TAG, NULL) == 0);
	/* Without another look, as a rank that computes. */
	while (watcher() != second && !atomic_load(&own->called))
		sched_yield();
	EXPECT(!atomic_load(&own->called));
	EXPECT(vmpi_send(vmpi_world(), &end, sizeof(end), 1, TAG) == 0);
}

/* Does not sleep until the first worker watches. */
static void second(void)
{
	int again = AGAIN;

	atomic_fetch_add(&taken, 1);
	while (again) {
		while (watcher() != &vm_sched.workers[0])
			sched_yield();
		EXPECT(vmpi_recv(vmpi_world(), &again, sizeof(again), VMPI_ANY,
				 TAG, NULL) == 0);
		atomic_fetch_add(&taken, 1);
	}
}

static void both(int rank, int size)
{
	(void)size;
	if (rank == 0)
		first();
	else
		second();
}

int main(void)
{
	static vmpi_config config = { .ranks = 2, .workers = 2 };
	void (*body)(int, int) = both;
	pthread_t thread;

	plan(2);
	setenv("VMPI_CORE_LOOPBACK", "1", 1);
	setenv("VMPI_CORE_PROGRESS", "off", 1);
	setenv("VMPI_SCHED_SPIN_US", "0", 1);
	if (vmpi_start(&config) || pthread_create(&thread, NULL, waker, NULL))
		bail("no start");
	is_int(vmpi_run(NULL, job_main, &body), 0, "two ranks sleep");
	pthread_join(thread, NULL);
	is_int(job_faults_take(), 0,
	       "who wakes with something to run leaves a watcher behind");
	vmpi_stop();
	return done_testing();
}
