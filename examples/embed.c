/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * embed: the runtime inside a program with its own main and its own threads.
 *
 * Three pthreads bring work, each in the name of rank 0; the other ranks square
 * what they get and send it back.  A pthread that waits for a message blocks
 * itself only, never a worker.
 */
#include <pthread.h>
#include <stdio.h>
#include <vmpi.h>

enum { RANKS = 4, THREADS = 3, JOBS = 500, STOP = 0 };

/* Ranks 1 and up serve until they are told to stop.  Rank 0 has nothing to do
 * itself; the threads use its mailbox. */
static int serve(void *arg)
{
	vmpi_chan *world = vmpi_world();
	vmpi_status status;
	long value;
	int rc;

	(void)arg;
	if (vmpi_rank() == 0)
		return 0;
	for (;;) {
		rc = vmpi_recv(world, &value, sizeof(value), 0, VMPI_ANY,
			       &status);
		if (rc || status.tag == STOP)
			return rc;
		value *= value;
		rc = vmpi_send(world, &value, sizeof(value), 0, status.tag);
		if (rc)
			return rc;
	}
}

/* A thread's answers come under its own tag, so threads do not mix them up. */
static void *bring(void *arg)
{
	int tag = *(int *)arg, bad = 0;
	long value;

	if (vmpi_attach(0) != 0)
		return arg;
	for (long i = 0; i < JOBS; i++) {
		int server = 1 + (int)(i % (RANKS - 1));

		vmpi_send(vmpi_world(), &i, sizeof(i), server, tag);
		vmpi_recv(vmpi_world(), &value, sizeof(value), server, tag,
			  NULL);
		bad += value != i * i;
	}
	vmpi_detach();
	return bad ? arg : NULL;
}

/* Runs beside vmpi_run(): when all threads are done, the servers may go. */
static void *direct(void *arg)
{
	pthread_t threads[THREADS];
	int tags[THREADS], *bad = arg;
	void *result;

	for (int i = 0; i < THREADS; i++) {
		tags[i] = STOP + 1 + i;
		if (pthread_create(&threads[i], NULL, bring, &tags[i]))
			return NULL;
	}
	*bad = 0;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &result);
		*bad += result != NULL;
	}
	if (vmpi_attach(0) != 0)
		return NULL;
	for (int rank = 1; rank < RANKS; rank++)
		vmpi_send(vmpi_world(), NULL, 0, rank, STOP);
	vmpi_detach();
	return NULL;
}

int main(void)
{
	pthread_t director;
	int rc, bad = THREADS;

	rc = vmpi_start(&(vmpi_config){ .ranks = RANKS, .workers = 2 });
	if (rc == 0 && pthread_create(&director, NULL, direct, &bad) == 0) {
		rc = vmpi_run(NULL, serve, NULL);
		pthread_join(director, NULL);
		vmpi_stop();
	}
	if (rc != 0)
		fprintf(stderr, "embed: %s\n", vmpi_strerror(rc));
	printf("%d of %d threads had all their squares\n", THREADS - bad,
	       THREADS);
	return rc == 0 && bad == 0 ? 0 : 1;
}
