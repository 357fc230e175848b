/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tasks: user-level threads without ranks.
 *
 * The first half forks and joins thousands of tasks, on all workers, from an
 * ordinary main.  The second half is a rank whose tasks share its mailbox: one
 * waits for a message, the rank goes on.
 */
#include <stdint.h>
#include <stdio.h>
#include <vmpi.h>

/* A branch of the tree: the number of leaves below it. */
static int leaves(void *arg)
{
	intptr_t depth = (intptr_t)arg;
	vmpi_task *left;
	int count, right;

	if (depth == 0)
		return 1;
	if (vmpi_spawn(&left, leaves, (void *)(depth - 1)) != 0)
		return 0;
	right = leaves((void *)(depth - 1));
	vmpi_join(&left, &count);
	return count + right;
}

static int listen(void *arg)
{
	int value = 0;

	(void)arg;
	vmpi_recv(vmpi_world(), &value, sizeof(value), VMPI_ANY, 1, NULL);
	return value;
}

/* Rank 0 has a task that listens while it sleeps; rank 1 sends to it. */
static int body(void *arg)
{
	vmpi_task *listener;
	int value = 42;

	(void)arg;
	if (vmpi_rank() == 1) {
		vmpi_sleep(2 * 1000 * 1000);
		return vmpi_send(vmpi_world(), &value, sizeof(value), 0, 1);
	}
	if (vmpi_spawn(&listener, listen, NULL) != 0)
		return 1;
	vmpi_sleep(1000 * 1000);
	vmpi_yield();
	value = 0;
	vmpi_join(&listener, &value);
	printf("the listening task got %d\n", value);
	return value == 42 ? 0 : 1;
}

int main(void)
{
	vmpi_task *tree;
	int rc, count = 0;

	rc = vmpi_start(&(vmpi_config){ .ranks = 2, .workers = 2 });
	if (rc == 0)
		rc = vmpi_spawn(&tree, leaves, (void *)(intptr_t)10);
	if (rc == 0)
		rc = vmpi_join(&tree, &count);
	printf("%d leaves of 1024\n", count);
	if (rc == 0)
		rc = vmpi_run(NULL, body, NULL);
	if (rc < 0)
		fprintf(stderr, "tasks: %s\n", vmpi_strerror(rc));
	vmpi_stop();
	return rc == 0 && count == 1024 ? 0 : 1;
}
