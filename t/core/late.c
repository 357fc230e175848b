/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An OS thread that acts for a rank when the runtime is stopped.
 */
#include <pthread.h>
#include <semaphore.h>
#include <vmpi.h>

#include "tap.h"

static sem_t attached, stopped;

static void *late(void *arg)
{
	int rc = vmpi_attach(0);

	sem_post(&attached);
	sem_wait(&stopped);
	*(int *)arg = rc ? rc : vmpi_detach();
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int rc = -1;

	plan(5);
	sem_init(&attached, 0, 0);
	sem_init(&stopped, 0, 0);
	is_int(vmpi_start(NULL), 0, "the runtime starts");
	if (pthread_create(&thread, NULL, late, &rc))
		bail("no thread");
	sem_wait(&attached);
	is_int(vmpi_stop(), -VMPI_ESTATE,
	       "it cannot be freed while a thread acts for a rank");
	sem_post(&stopped);
	pthread_join(thread, NULL);
	is_int(rc, 0, "the thread finds what it needs to end");
	is_int(vmpi_stop(), 0, "then it can");
	is_int(vmpi_start(NULL) + vmpi_stop(), 0, "and starts again");
	sem_destroy(&attached);
	sem_destroy(&stopped);
	return done_testing();
}
