/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two workers of one processor, and one rank.  While that waits its worker
 * watches; the other one sleeps and is not woken to watch when it goes on.
 */
#include "core/remote/progress.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "core/local/engine.h"
#include "job.h"

#define TAG 1
#define MESSAGES 50

static struct vm_worker *watcher(void)
{
	return atomic_load(&vm_node->progress.poller);
}

static bool sleeps(int worker)
{
	return atomic_load(&vm_sched.workers[worker].sleeping);
}

/* Sends a message whenever the worker of the rank watches for it. */
static void *waker(void *arg)
{
	if (vmpi_attach(0))
		bail("no rank 0");
	for (int i = 0; i < MESSAGES; i++) {
		while (watcher() != &vm_sched.workers[0] || !sleeps(0) ||
		       !sleeps(1))
			sched_yield();
		EXPECT(atomic_load(&vm_node->progress.sleepers) == 0);
		EXPECT(vmpi_send(vmpi_world(), &i, sizeof(i), 0, TAG) == 0);
	}
	vmpi_detach();
	return arg;
}

static void receiver(int rank, int size)
{
	const struct vm_thread_cache *other = &vm_node->engines[1].cache;
	int got;

	(void)rank;
	(void)size;
	for (int i = 0; i < MESSAGES; i++) {
		EXPECT(vmpi_recv(vmpi_world(), &got, sizeof(got), 0, TAG,
				 NULL) == 0 &&
		       got == i);
		EXPECT(!atomic_load(&other->called));
		EXPECT(watcher() != &vm_sched.workers[1]);
	}
}

int main(void)
{
	static vmpi_config config = { .ranks = 1, .workers = 2 };
	void (*body)(int, int) = receiver;
	pthread_t thread;
	cpu_set_t one;

	plan(2);
	setenv("VMPI_CORE_LOOPBACK", "1", 1);
	setenv("VMPI_SCHED_SPIN_US", "0", 1);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		bail("no processor for it alone");
	if (vmpi_start(&config) || pthread_create(&thread, NULL, waker, NULL))
		bail("no start");
	is_int(vmpi_run(NULL, job_main, &body), 0, "a rank waits");
	pthread_join(thread, NULL);
	is_int(job_faults_take(), 0,
	       "a worker without ranks leaves the network to the other one");
	vmpi_stop();
	return done_testing();
}
