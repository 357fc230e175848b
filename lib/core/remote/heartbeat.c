/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process at a time, so that a job of a thousand costs a few connections a
 * second in each; the answer is read one turn later and never waited for.
 */
#include "core/remote/heartbeat.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/own.h"
#include "boot/boot.h"
#include "core/rank/vars.h"
#include "fabric/fabric.h"

#define SECOND_NS UINT64_C(1000000000)
#define STEP_LEAST_NS UINT64_C(5000000) /* between two processes */

struct vm_heartbeat {
	struct vm_fabric *fabric;
	uint32_t count, self;
	struct vm_look *looks; /* [count], by process */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stopping; /* under the lock */
};

/* False: it is time to stop. */
static bool step_wait(struct vm_heartbeat *heartbeat)
{
	uint64_t turn_ns = (uint64_t)core_cvar.heartbeat_ms * 1000000u;
	uint64_t step_ns = turn_ns / heartbeat->count;
	struct timespec until;
	bool stopping;
	int rc = 0;

	if (step_ns < STEP_LEAST_NS)
		step_ns = STEP_LEAST_NS;
	clock_gettime(CLOCK_MONOTONIC, &until);
	step_ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(step_ns / SECOND_NS);
	until.tv_nsec = (long)(step_ns % SECOND_NS);
	pthread_mutex_lock(&heartbeat->lock);
	while (!heartbeat->stopping && !rc)
		rc = pthread_cond_timedwait(&heartbeat->changed,
					    &heartbeat->lock, &until);
	stopping = heartbeat->stopping;
	pthread_mutex_unlock(&heartbeat->lock);
	return !stopping;
}

static void *heartbeat_main(void *arg)
{
	struct vm_heartbeat *heartbeat = arg;

	for (uint32_t i = 0; step_wait(heartbeat);
	     i = (i + 1) % heartbeat->count)
		if (i != heartbeat->self)
			vm_fabric_look(heartbeat->fabric, i,
				       &heartbeat->looks[i]);
	return NULL;
}

static void heartbeat_free(struct vm_heartbeat *heartbeat)
{
	for (uint32_t i = 0; heartbeat->looks && i < heartbeat->count; i++)
		vm_fabric_look_end(&heartbeat->looks[i]);
	pthread_mutex_destroy(&heartbeat->lock);
	pthread_cond_destroy(&heartbeat->changed);
	free(heartbeat->looks);
	free(heartbeat);
}

static struct vm_heartbeat *heartbeat_new(uint32_t count)
{
	struct vm_heartbeat *heartbeat = calloc(1, sizeof(*heartbeat));
	pthread_condattr_t clock;

	if (!heartbeat)
		return NULL;
	pthread_mutex_init(&heartbeat->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&heartbeat->changed, &clock);
	pthread_condattr_destroy(&clock);
	heartbeat->count = count;
	heartbeat->looks = calloc(count, sizeof(*heartbeat->looks));
	if (heartbeat->looks)
		return heartbeat;
	heartbeat_free(heartbeat);
	return NULL;
}

int vm_heartbeat_start(struct vm_heartbeat **out, const struct vm_boot *boot,
		       struct vm_fabric *fabric)
{
	struct vm_heartbeat *heartbeat;
	int error;

	*out = NULL;
	if (!boot->launcher_silent || !core_cvar.heartbeat_ms)
		return 0;
	heartbeat = heartbeat_new((uint32_t)boot->processes);
	if (!heartbeat)
		return -VMPI_ENOMEM;
	heartbeat->fabric = fabric;
	heartbeat->self = (uint32_t)boot->process;
	error = vm_own_thread(&heartbeat->thread, heartbeat_main, heartbeat);
	if (error) {
		vm_log(VM_ERROR, "a thread cannot be started: %s",
		       vm_own_why(error));
		heartbeat_free(heartbeat);
		return -VMPI_ELIMIT;
	}
	*out = heartbeat;
	return 0;
}

void vm_heartbeat_stop(struct vm_heartbeat *heartbeat)
{
	if (!heartbeat)
		return;
	pthread_mutex_lock(&heartbeat->lock);
	heartbeat->stopping = true;
	pthread_cond_signal(&heartbeat->changed);
	pthread_mutex_unlock(&heartbeat->lock);
	pthread_join(heartbeat->thread, NULL);
	heartbeat_free(heartbeat);
}
