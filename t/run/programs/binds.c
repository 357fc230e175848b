/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks choose the last processor of the process, in two ways, and none: what
 * the calls return, and whether the thread that runs them has moved there. */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static cpu_set_t last_of(const cpu_set_t *all)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	for (int i = CPU_SETSIZE - 1; i >= 0 && !CPU_COUNT(&one); i--)
		if (CPU_ISSET(i, all))
			CPU_SET(i, &one);
	return one;
}

int main(int argc, char **argv)
{
	cpu_set_t all, before, after, one, none;
	int first, second, third;

	MPI_Init(&argc, &argv);
	/* The process's first thread is not a worker. */
	sched_getaffinity(getpid(), sizeof(all), &all);
	sched_getaffinity(0, sizeof(before), &before);
	one = last_of(&all);
	CPU_ZERO(&none);
	MPI_Barrier(MPI_COMM_WORLD);
	first = pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
	second = sched_setaffinity(0, sizeof(one), &one);
	third = sched_setaffinity(0, sizeof(none), &none) && errno == EINVAL;
	MPI_Barrier(MPI_COMM_WORLD);
	sched_getaffinity(0, sizeof(after), &after);
	printf("%d %d %s %s\n", first, second, third ? "refused" : "taken",
	       CPU_EQUAL(&before, &after) ? "stays" :
	       CPU_EQUAL(&one, &after)	  ? "moved" :
					    "elsewhere");
	MPI_Finalize();
	return 0;
}
