/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OS threads of a rank wait for messages: those that poll, those that sleep,
 * and both beside a thread that computes.  Each message comes to one of them,
 * and to each of them in order.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

#define TAKERS 4
#define MESSAGES 400 /* and one for each taker that ends it */

static _Atomic unsigned char taken[MESSAGES];
static _Atomic bool computing;

static void *take(void *arg)
{
	int kind = (int)(intptr_t)arg, last = -1, value;
	vmpi_msg *msg;

	EXPECT(vmpi_attach(0) == 0);
	for (;;) {
		int source = kind % 2 ? VMPI_ANY : 1;
		int tag = kind / 2 ? VMPI_ANY : 7;

		EXPECT(vmpi_match(vmpi_world(), &msg, source, tag) == 0);
		EXPECT(vmpi_msg_recv(&msg, &value, sizeof(value), NULL) == 0);
		if (value < 0)
			break;
		EXPECT(value > last);
		last = value;
		atomic_fetch_add(&taken[value], 1);
	}
	EXPECT(vmpi_detach() == 0);
	return NULL;
}

/* Sends with a pause now and then, long enough for the takers to sleep. */
static void *bring(void *arg)
{
	int pause_every = (int)(intptr_t)arg;

	EXPECT(vmpi_attach(1) == 0);
	for (int i = 0; i < MESSAGES + TAKERS; i++) {
		int value = i < MESSAGES ? i : -1;

		if (i % pause_every == 0)
			vmpi_sleep(500 * 1000);
		EXPECT(vmpi_send(vmpi_world(), &value, sizeof(value), 0, 7) ==
		       0);
	}
	EXPECT(vmpi_detach() == 0);
	return NULL;
}

static void *compute(void *arg)
{
	while (atomic_load(&computing))
		;
	return arg;
}

static void thread_run(pthread_t *thread, void *(*body)(void *), int arg)
{
	if (pthread_create(thread, NULL, body, (void *)(intptr_t)arg))
		bail("no thread");
}

static void test_waits(const char *spin_us, int pause_every, int hogs)
{
	vmpi_config config = { .ranks = 2, .workers = 2 };
	pthread_t takers[TAKERS], bringer, hog[2];
	int once = 0;

	memset((void *)taken, 0, sizeof(taken));
	atomic_store(&computing, true);
	if (vmpi_set("sched_spin_us", spin_us) || vmpi_start(&config))
		bail("no start");
	for (int i = 0; i < hogs; i++)
		thread_run(&hog[i], compute, 0);
	for (int i = 0; i < TAKERS; i++)
		thread_run(&takers[i], take, i);
	thread_run(&bringer, bring, pause_every);
	pthread_join(bringer, NULL);
	for (int i = 0; i < TAKERS; i++)
		pthread_join(takers[i], NULL);
	atomic_store(&computing, false);
	for (int i = 0; i < hogs; i++)
		pthread_join(hog[i], NULL);
	vmpi_stop();
	for (int i = 0; i < MESSAGES; i++)
		once += taken[i] == 1;
	is_int(once, MESSAGES,
	       "each message comes once (threads poll for %s us, a pause after "
	       "%d messages, %d threads compute)",
	       spin_us, pause_every, hogs);
	is_int(job_faults_take(), 0, "... and in order");
}

int main(void)
{
	test_waits("0", 1, 0);
	test_waits("0", 50, 0);
	test_waits("100", 1, 0);
	test_waits("100", 50, 0);
	test_waits("1000000", 1, 0);
	test_waits("100", 20, 2);
	return done_testing();
}
