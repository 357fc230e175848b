/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends of a rank by the master of a team. */
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <vmpi.h>

static int deep(int depth)
{
	volatile char frame[1000];

	frame[0] = (char)depth;
	return depth > 10000000 ? frame[0] : deep(depth + 1) + frame[0];
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int result = 0;

#pragma omp parallel num_threads(2) reduction(+ : result)
	if (vmpi_rank() == 1 && omp_get_thread_num() == 0) {
		if (!strcmp(what, "overflow"))
			result += deep(1);
		else if (!strcmp(what, "exit"))
			exit(3);
		else if (!strcmp(what, "leave"))
			pthread_exit(NULL);
	}
	vmpi_barrier(vmpi_world());
	return result;
}
