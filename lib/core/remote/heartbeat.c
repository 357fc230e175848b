/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process at a time, so that a job of a thousand costs a few connections a
 * second in each; the answer is looked at one turn later and never waited for.
 */
#include "core/remote/heartbeat.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "boot/boot.h"
#include "core/rank/vars.h"
#include "fabric/fabric.h"

#define SECOND_NS UINT64_C(1000000000)
#define STEP_LEAST_NS UINT64_C(5000000) /* between two processes */

struct vm_pulse {
	struct vm_fabric *fabric;
	uint32_t count, self;
	struct vm_look *looks; /* [count], by process */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stopping; /* under the lock */
};

/* False: it is time to stop. */
static bool step_wait(struct vm_pulse *pulse)
{
	uint64_t turn_ns = (uint64_t)core_cvar.look_ms * 1000000u;
	uint64_t step_ns = turn_ns / pulse->count;
	struct timespec until;
	bool stopping;
	int rc = 0;

	if (step_ns < STEP_LEAST_NS)
		step_ns = STEP_LEAST_NS;
	clock_gettime(CLOCK_MONOTONIC, &until);
	step_ns += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(step_ns / SECOND_NS);
	until.tv_nsec = (long)(step_ns % SECOND_NS);
	pthread_mutex_lock(&pulse->lock);
	while (!pulse->stopping && !rc)
		rc = pthread_cond_timedwait(&pulse->changed, &pulse->lock,
					    &until);
	stopping = pulse->stopping;
	pthread_mutex_unlock(&pulse->lock);
	return !stopping;
}

static void *pulse_main(void *arg)
{
	struct vm_pulse *pulse = arg;

	for (uint32_t i = 0; step_wait(pulse); i = (i + 1) % pulse->count)
		if (i != pulse->self)
			vm_fabric_look(pulse->fabric, i, &pulse->looks[i]);
	return NULL;
}

static void pulse_free(struct vm_pulse *pulse)
{
	for (uint32_t i = 0; pulse->looks && i < pulse->count; i++)
		vm_fabric_look_end(&pulse->looks[i]);
	pthread_mutex_destroy(&pulse->lock);
	pthread_cond_destroy(&pulse->changed);
	free(pulse->looks);
	free(pulse);
}

static struct vm_pulse *pulse_new(uint32_t count)
{
	struct vm_pulse *pulse = calloc(1, sizeof(*pulse));
	pthread_condattr_t clock;

	if (!pulse)
		return NULL;
	pthread_mutex_init(&pulse->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&pulse->changed, &clock);
	pthread_condattr_destroy(&clock);
	pulse->count = count;
	pulse->looks = calloc(count, sizeof(*pulse->looks));
	if (pulse->looks)
		return pulse;
	pulse_free(pulse);
	return NULL;
}

int vm_pulse_start(struct vm_pulse **out, const struct vm_boot *boot,
		   struct vm_fabric *fabric)
{
	struct vm_pulse *pulse;
	sigset_t all, before;
	int error;

	*out = NULL;
	if (!boot->launcher_silent || !core_cvar.look_ms)
		return 0;
	pulse = pulse_new((uint32_t)boot->processes);
	if (!pulse)
		return -VMPI_ENOMEM;
	pulse->fabric = fabric;
	pulse->self = (uint32_t)boot->process;
	/* Signals are for threads that know what to do with them. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&pulse->thread, NULL, pulse_main, pulse);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		vm_log(VM_ERROR, "a thread cannot be started: %s",
		       strerror(error));
		pulse_free(pulse);
		return -VMPI_ELIMIT;
	}
	*out = pulse;
	return 0;
}

void vm_pulse_stop(struct vm_pulse *pulse)
{
	if (!pulse)
		return;
	pthread_mutex_lock(&pulse->lock);
	pulse->stopping = true;
	pthread_cond_signal(&pulse->changed);
	pthread_mutex_unlock(&pulse->lock);
	pthread_join(pulse->thread, NULL);
	pulse_free(pulse);
}
