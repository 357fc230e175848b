/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The storm of storm.h among the ranks of several processes: the node program
 * of t/core/nodes.t, which vmpirun starts in place of vmpi-node.
 *
 * Each process checks what its own ranks have received and prints its checks
 * with "node N" in front; the script makes TAP of them.  STORM_SECONDS (default
 * 1) is how long it sends, STORM_BYTES (default 262144) the largest message.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/err.h"
#include "boot/boot.h"
#include "boot/job.h"
#include "core/runtime/node.h"
#include "core/rank/vars.h"
#define BYTES_MAX (bytes_max)
#define SENDS_MAX 100000000

static size_t bytes_max = (size_t)256 << 10;

#include "storm.h"

static int process;

/* One line, whole, among those of others. */
static void say(bool good, const char *what)
{
	char line[200];
	int n = snprintf(line, sizeof(line), "node %d: %s %s\n", process,
			 good ? "right" : "WRONG", what);

	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(3);
}

static struct vm_boot *job_join(void)
{
	struct vm_boot *boot;
	struct vm_job job;

	vm_core_vars_add();
	if (vm_job_from_env(&job) || vm_vars_load(job.set) ||
	    vm_boot_open(&boot, &job))
		_exit(2);
	vm_job_fini(&job);
	process = boot->process;
	vm_node_hooks.boot = boot;
	return boot;
}

static void storm(struct vm_boot *boot, uint64_t ns)
{
	vmpi_config config = { .ranks = boot->rank_count };
	void (*body)(int, int) = storm_body;
	pthread_t threads[THREADS];
	char text[100];
	long count;
	int n;

	if (boot->ranks != RANKS || vmpi_start(&config))
		_exit(2);
	/* The others start as late. */
	storm_init(ns);
	n = storm_threads(threads, boot->rank_first, boot->rank_count);
	say(vmpi_run(NULL, job_main, &body) == 0, "its ranks have run");
	while (n > 0)
		pthread_join(threads[--n], NULL);
	/* Copies that others have not fetched are here. */
	say(vm_boot_fence(boot) == 0, "all have ended");
	say(vmpi_stop() == 0, "it stops");
	say(job_faults_take() == 0, "every call and every byte");
	count = check(&n, boot->rank_first, boot->rank_count);
	say(n == 0, "order, sizes and numbers");
	snprintf(text, sizeof(text), "%ld messages received", count);
	say(count > 0, text);
}

int main(void)
{
	const char *given = getenv("SEED"), *time = getenv("STORM_SECONDS");
	const char *bytes = getenv("STORM_BYTES");
	struct vm_boot *boot = job_join();

	alarm(time ? (unsigned)strtod(time, NULL) + 60 : 60);
	if (bytes)
		bytes_max = strtoull(bytes, NULL, 0);
	seed = given ? strtoull(given, NULL, 0) : 1;
	storm(boot, (uint64_t)((time ? strtod(time, NULL) : 1) * 1e9));
	vm_boot_close(boot);
	return 0;
}
