/* SPDX-License-Identifier: BSD-3-Clause */
/* So many tasks of vmpi.h at a time, which all wait until the last has begun:
 *
 *	tasks COUNT
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vmpi.h>

static _Atomic int begun;
static int count;

static int body(void *arg)
{
	char used[16384];

	memset(used, 1, sizeof(used));
	atomic_fetch_add(&begun, 1);
	while (atomic_load(&begun) < count)
		vmpi_yield();
	return (int)(intptr_t)arg + used[sizeof(used) - 1] - 1;
}

int main(int argc, char **argv)
{
	vmpi_task **tasks;
	long sum = 0;
	int rc, one;

	count = argc > 1 ? atoi(argv[1]) : 1000;
	tasks = calloc((size_t)count, sizeof(*tasks));
	rc = tasks ? vmpi_start(&(vmpi_config){ .workers = 2 }) : 1;
	for (int i = 0; !rc && i < count; i++)
		rc = vmpi_spawn(&tasks[i], body, (void *)(intptr_t)i);
	for (int i = 0; !rc && i < count; i++) {
		rc = vmpi_join(&tasks[i], &one);
		sum += one;
	}
	if (rc) {
		printf("failed: %d\n", rc);
		return 1;
	}
	vmpi_stop();
	printf("%d tasks, sum %ld\n", count, sum);
	return 0;
}
