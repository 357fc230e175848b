/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No message stays unseen while its worker sleeps: others hold the lock of the
 * worker's mailboxes just when it polls for the last time, or leave more in its
 * ring than it takes in at once.
 */
#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "core/local/engine.h"
#include "job.h"

/* Where others need the processors there are as many rounds as time allows. */
#define LOCK_ROUNDS 30000
#define FLOOD_ROUNDS 3000
#define ROUNDS_NS 3000000000u

static _Atomic bool stop;
static uint64_t begun;

/* The number of a round, or -1: it is the last one.  Only rank 0 knows. */
static int round_number(int i, int rounds)
{
	if (i == 0)
		begun = vm_clock_ns();
	return i + 1 < rounds && vm_clock_ns() - begun < ROUNDS_NS ? i : -1;
}

/* An OS thread that posts and withdraws receives of rank 1 all the time. */
static void *prober(void *arg)
{
	vmpi_req *req;

	(void)arg;
	if (vmpi_attach(1))
		return NULL;
	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		EXPECT(vmpi_irecv(vmpi_world(), &req, NULL, 0, 0, 99) == 0);
		EXPECT(vmpi_cancel(req) == 0);
		EXPECT(vmpi_wait(&req, NULL) == -VMPI_ECANCELED);
	}
	vmpi_detach();
	return arg;
}

/* Rank 0 and rank 1 in turns; each worker has nothing else to do. */
static void ping_pong(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	int ball = 0;

	(void)size;
	for (int i = 0; ball >= 0; i++) {
		if (rank == 0) {
			int number = round_number(i, LOCK_ROUNDS);

			vmpi_send(world, &number, sizeof(number), 1, 0);
			vmpi_recv(world, &ball, sizeof(ball), 1, 0, NULL);
			EXPECT(ball == number);
		} else {
			vmpi_recv(world, &ball, sizeof(ball), 0, 0, NULL);
			vmpi_send(world, &ball, sizeof(ball), 0, 0);
		}
	}
}

static void test_lock(void)
{
	static vmpi_config config = { .ranks = 2, .workers = 2 };
	void (*body)(int, int) = ping_pong;
	pthread_t thread;

	stop = false;
	vmpi_set("sched_spin_us", "0");
	if (vmpi_start(&config) || pthread_create(&thread, NULL, prober, NULL))
		bail("no start");
	is_int(vmpi_run(NULL, job_main, &body), 0, "two ranks play");
	stop = true;
	pthread_join(thread, NULL);
	is_int(job_faults_take(), 0,
	       "while a thread holds the lock of one again and again");
	vmpi_stop();
}

/*
 * More than a poll takes in at once, before the message that is waited for:
 * the receiver's worker is asleep or about to be when the flood begins.
 */
static void flood(int rank, int size)
{
	vmpi_chan *world = vmpi_world();
	int number = 0, back;

	(void)size;
	for (int i = 0; number >= 0; i++) {
		if (rank == 0) {
			number = round_number(i, FLOOD_ROUNDS);
			for (int j = 0; j < 100; j++)
				vmpi_send(world, &j, sizeof(j), 1, 1);
			vmpi_send(world, &number, sizeof(number), 1, 2);
			vmpi_recv(world, &back, sizeof(back), 1, 3, NULL);
			EXPECT(back == number);
		} else {
			vmpi_recv(world, &number, sizeof(number), 0, 2, NULL);
			EXPECT(number == i || number == -1);
			vmpi_send(world, &number, sizeof(number), 0, 3);
			for (int j = 0; j < 100; j++) {
				vmpi_recv(world, &back, sizeof(back), 0, 1,
					  NULL);
				EXPECT(back == j);
			}
		}
	}
}

static void test_flood(void)
{
	vmpi_set("sched_spin_us", "0");
	vmpi_set("core_send_budget", "1000000");
	job(2, 2, flood, "a message behind a flood arrives");
	vmpi_set("core_send_budget", "64");
}

int main(void)
{
	plan(3);
	test_lock();
	test_flood();
	return done_testing();
}
