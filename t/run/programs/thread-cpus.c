/* SPDX-License-Identifier: BSD-3-Clause */
/* On how many processors a rank's thread may run, and one that its creator has
 * bound to a processor; of all that the process may use. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static void *count(void *arg)
{
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	*(int *)arg = CPU_COUNT(&set);
	return NULL;
}

int main(void)
{
	int all, free, bound;
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t set, one;

	/* The process's first thread is not a worker. */
	sched_getaffinity(getpid(), sizeof(set), &set);
	all = CPU_COUNT(&set);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &set))
			CPU_SET(i, &one);
	pthread_attr_init(&attr);
	pthread_create(&thread, &attr, count, &free);
	pthread_join(thread, NULL);
	pthread_attr_setaffinity_np(&attr, sizeof(one), &one);
	pthread_create(&thread, &attr, count, &bound);
	pthread_join(thread, NULL);
	printf("%s %d\n", free == all ? "all" : "some", bound);
	return 0;
}
