/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank says on which processors it may run, and a thread that it starts.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static void *look(void *set)
{
	sched_getaffinity(0, sizeof(cpu_set_t), set);
	return NULL;
}

int main(int argc, char **argv)
{
	cpu_set_t before, after, of_thread;
	pthread_t thread;

	look(&before);
	MPI_Init(&argc, &argv);
	look(&after);
	pthread_create(&thread, NULL, look, &of_thread);
	pthread_join(thread, NULL);
	printf("%s of", CPU_EQUAL(&before, &after) ? "all" : "some");
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &after))
			printf(" %d", i);
	printf("%s\n", CPU_EQUAL(&after, &of_thread) ? "" : ", not its thread");
	MPI_Finalize();
	return 0;
}
