/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OS threads of the program that wait, test or yield.
 */
#include "sched/thread.h"

#include "base/clock.h"
#include "base/lock.h"
#include "sched/clocks.h"

#define LOOK_NS 20000 /* between looks of a thread beside a worker */

/* What a thread waits for. */
struct wait {
	bool (*ready)(void *arg);
	void *arg;
	bool polled; /* something has come, perhaps for others */
};

static bool wait_look(void *arg)
{
	struct wait *wait = arg;

	if (vm_sched.hooks.thread_sleep)
		wait->polled |= vm_sched.hooks.thread_poll();
	return wait->ready(wait->arg);
}

bool vm_thread_spin(struct vm_worker *worker, bool (*ready)(void *arg),
		    void *arg)
{
	uint64_t spent = 0, since, now = vm_clock_ns();
	struct wait wait = { .ready = ready, .arg = arg };
	bool found = false, ran;

	worker->spun = true;
	worker->waits_since = now;
	if (vm_worker_spins_not(worker, now))
		return false;
	ran = vm_clocks_pause(&worker->root);
	do {
		since = now;
		wait.polled = false;
		for (int i = worker->looks; i > 0 && !found; i--) {
			found = wait_look(&wait);
			if (!found && i > 1)
				vm_cpu_relax();
		}
		if (!found)
			found = vm_turn_poll(worker, wait_look, &wait);
		if (found || !vm_worker_give_way(worker, &now))
			break;
		/* What comes for others may be what it waits for in the end, as
		 * credits are: like a worker it begins anew. */
		spent = wait.polled ? 0 : spent + vm_worker_own_ns(now - since);
	} while (spent < vm_worker_polls_ns(worker));
	if (found)
		worker->spun = false;
	if (ran)
		vm_clocks_resume(&worker->root);
	return found;
}

void vm_thread_yield(struct vm_worker *worker)
{
	uint64_t now = vm_clock_ns();

	/* The worker of its rank may compute. */
	if (vm_sched.hooks.thread_poll && vm_self->owner &&
	    now - worker->vain_since >= LOOK_NS) {
		worker->vain_since = now;
		vm_sched.hooks.thread_poll();
	}
	if (!vm_worker_spins_not(worker, now))
		vm_worker_give_way(worker, &now);
}

static bool network_look(void *arg)
{
	(void)arg;
	return vm_sched.hooks.thread_poll();
}

bool vm_thread_poll(struct vm_worker *worker)
{
	uint64_t now;

	/* Else workers poll. */
	if (!vm_sched.hooks.thread_sleep || !vm_self->owner) {
		vm_thread_yield(worker);
		return true;
	}
	if (vm_sched.hooks.thread_poll())
		return false;
	/* No yield is long then, and each turn counts. */
	if (vm_sched.shared) {
		if (vm_turn_poll(worker, network_look, NULL))
			return false;
		vm_turn_yield(worker);
		vm_sched.hooks.thread_poll();
		return true;
	}
	if (++worker->rounds % (unsigned)worker->looks != 0)
		return false;
	now = vm_clock_ns();
	if (!vm_worker_spins_not(worker, now)) {
		vm_worker_give_way(worker, &now);
		vm_sched.hooks.thread_poll();
	}
	return true;
}

void vm_thread_away(void)
{
	atomic_fetch_add(&vm_sched.threads_asleep, 1);
}

void vm_thread_back(void)
{
	atomic_fetch_sub(&vm_sched.threads_asleep, 1);
}
