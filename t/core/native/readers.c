/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lock of readers and writers, made of a mutex and a condition: ranks, their
 * tasks, attached threads and threads that vmpi does not know.  Writers give up
 * at a deadline, and wake others after they have unlocked the mutex.
 */
#include <pthread.h>

#include "core/job.h"

enum { CELLS = 16, READS = 200, WRITES = 30, RANKS = 4, THREADS = 4 };

static vmpi_mutex mutex = VMPI_MUTEX_INIT;
static vmpi_cond free_again = VMPI_COND_INIT;
static int readers, writers, wanted;
static long cells[CELLS], written, given_up;

static void read_begin(void)
{
	EXPECT(vmpi_mutex_lock(&mutex) == 0);
	while (writers || wanted)
		EXPECT(vmpi_cond_wait(&free_again, &mutex) == 0);
	readers++;
	EXPECT(vmpi_mutex_unlock(&mutex) == 0);
}

static void read_end(void)
{
	EXPECT(vmpi_mutex_lock(&mutex) == 0);
	if (!--readers)
		EXPECT(vmpi_cond_broadcast(&free_again) == 0);
	EXPECT(vmpi_mutex_unlock(&mutex) == 0);
}

static bool write_begin(uint64_t deadline_ns)
{
	int rc = 0;

	EXPECT(vmpi_mutex_lock(&mutex) == 0);
	wanted++;
	while (!rc && (readers || writers))
		rc = vmpi_cond_wait_until(&free_again, &mutex, deadline_ns);
	wanted--;
	writers += rc == 0;
	EXPECT(vmpi_mutex_unlock(&mutex) == 0);
	if (!rc)
		return true;
	EXPECT(rc == -VMPI_ETIMEDOUT);
	EXPECT(vmpi_cond_broadcast(&free_again) == 0);
	return false;
}

static void write_end(void)
{
	EXPECT(vmpi_mutex_lock(&mutex) == 0);
	writers--;
	EXPECT(vmpi_mutex_unlock(&mutex) == 0);
	EXPECT(vmpi_cond_broadcast(&free_again) == 0);
}

static int reader(void *arg)
{
	for (int i = 0; i < READS; i++) {
		long first;

		read_begin();
		first = cells[0];
		if (i % 16 == 0)
			vmpi_yield();
		for (int c = 1; c < CELLS; c++)
			EXPECT(cells[c] == first);
		read_end();
	}
	return 0;
}

static int writer(void *arg)
{
	for (int i = 0; i < WRITES; i++) {
		bool hurries = i % 5 == 4;

		if (!write_begin(hurries ? vmpi_time_ns() : VMPI_NEVER)) {
			__atomic_fetch_add(&given_up, 1, __ATOMIC_RELAXED);
			continue;
		}
		for (int c = 0; c < CELLS; c++) {
			cells[c]++;
			if (c == CELLS / 2)
				vmpi_sleep(1000);
		}
		written++;
		write_end();
	}
	return 0;
}

static void *thread(void *arg)
{
	int rank = *(int *)arg;

	EXPECT(rank < 0 || vmpi_attach(rank) == 0);
	reader(NULL);
	writer(NULL);
	EXPECT(rank < 0 || vmpi_detach() == 0);
	return NULL;
}

static int body(void *arg)
{
	vmpi_task *tasks[2];

	EXPECT(vmpi_spawn(&tasks[0], reader, NULL) == 0);
	EXPECT(vmpi_spawn(&tasks[1], writer, NULL) == 0);
	reader(NULL);
	for (int i = 0; i < 2; i++)
		EXPECT(vmpi_join(&tasks[i], NULL) == 0);
	return 0;
}

int main(void)
{
	long sum = 0;

	plan(4);
	for (int workers = 1; workers <= 3; workers += 2) {
		int ranks[THREADS] = { 0, 1, -1, -1 };
		pthread_t threads[THREADS];

		EXPECT(vmpi_start(&(vmpi_config){ .ranks = RANKS,
						  .workers = workers }) == 0);
		for (int i = 0; i < THREADS; i++)
			EXPECT(pthread_create(&threads[i], NULL, thread,
					      &ranks[i]) == 0);
		ok(vmpi_run(NULL, body, NULL) == 0, "%d workers", workers);
		for (int i = 0; i < THREADS; i++)
			EXPECT(pthread_join(threads[i], NULL) == 0);
		EXPECT(vmpi_stop() == 0);
	}
	for (int c = 0; c < CELLS; c++)
		sum += cells[c];
	is_int(sum, CELLS * written, "no write was seen or lost in part");
	is_int(written + given_up, 2 * WRITES * (RANKS + THREADS),
	       "each has written or given up");
	diag("%ld writers gave up", given_up);
	return done_testing();
}
