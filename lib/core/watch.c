/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polling for oneself and others; the watcher and how he is replaced.
 */
#include "core/watch.h"

#include "base/clock.h"
#include "core/engine.h"
#include "core/node.h"
#include "fabric/fabric.h"
#include "sched/futex.h"

/* How long a worker sleeps at most when what wakes the watcher is for others,
 * whom he must not help. */
#define UNHELPED_NS 1000000

/* The home port of an engine's ranks: as vm_remote_place() spreads them. */
static unsigned port_of(int engine, unsigned ports)
{
	return (unsigned)((int64_t)engine * ports / vm_node->engine_count);
}

/* Whether the worker may look at another's port: it helps, or the other one
 * sleeps. */
static bool may_look(unsigned port, unsigned ports)
{
	if (core_cvar.help)
		return true;
	for (int i = 0; i < vm_node->engine_count; i++)
		if (port_of(i, ports) == port &&
		    !atomic_load_explicit(&vm_sched.workers[i].sleeping,
					  memory_order_relaxed))
			return false;
	return true;
}

static bool ports_poll(struct vm_worker *worker, struct vm_lane *lane)
{
	unsigned ports = vm_fabric_limits(vm_node->fabric)->ports;
	unsigned own = port_of(lane->engine->index, ports);
	bool did = vm_port_poll(vm_fabric_port(vm_node->fabric, own), true) > 0;

	if (worker->head)
		return did;
	for (unsigned i = 1; i < ports; i++) {
		unsigned other = (own + i) % ports;

		if (may_look(other, ports))
			did |= vm_port_poll(vm_fabric_port(vm_node->fabric,
							   other),
					    false) > 0;
	}
	return did;
}

/* The worker was woken to watch and does not, or does: it need not be waited for
 * any more. */
static void call_end(struct vm_lane *lane)
{
	if (VM_LIKELY(
		    !atomic_load_explicit(&lane->called, memory_order_relaxed)))
		return;
	atomic_store_explicit(&lane->called, false, memory_order_relaxed);
	/* Pairs with the exchange in watcher_call(). */
	atomic_store(&vm_node->called, false);
}

/* Wakes somebody who sleeps, to watch. */
static __attribute__((noinline)) void watcher_call(void)
{
	if (atomic_exchange(&vm_node->called, true))
		return;
	for (int i = 0; i < vm_sched.worker_count; i++) {
		struct vm_worker *other = &vm_sched.workers[i];
		struct vm_lane *lane = other->lane;

		if (!atomic_load_explicit(&other->sleeping,
					  memory_order_relaxed))
			continue;
		atomic_store_explicit(&lane->called, true,
				      memory_order_relaxed);
		vm_worker_nudge_slow(other);
		return;
	}
	atomic_store(&vm_node->called, false);
}

/*
 * Before the worker runs something.  Pairs, by what lies in between, with the
 * addition in sleep_elsewhere(): who goes to sleep there sees that nobody
 * watches, or is seen here.
 */
static inline void watch_check(struct vm_worker *worker, struct vm_lane *lane)
{
	if (!worker->head && !worker->next)
		return;
	call_end(lane);
	if (VM_UNLIKELY(atomic_load_explicit(&vm_node->asleep,
					     memory_order_relaxed) > 0 &&
			!atomic_load_explicit(&vm_node->watcher,
					      memory_order_relaxed)))
		watcher_call();
}

bool vm_watch_poll(struct vm_worker *worker)
{
	bool did = vm_node->engine_count > 1 && vm_engine_poll(worker);
	struct vm_lane *lane = worker->lane;

	if (VM_UNLIKELY(!lane->engine))
		return did;
	if (!worker->head ||
	    ++lane->polls_left >= (unsigned)core_cvar.poll_rounds) {
		lane->polls_left = 0;
		did |= ports_poll(worker, lane);
	}
	watch_check(worker, lane);
	return did;
}

bool vm_watch_thread_poll(void)
{
	unsigned ports = vm_fabric_limits(vm_node->fabric)->ports;
	bool did = false;

	for (unsigned i = 0; i < ports; i++)
		did |= vm_port_poll(vm_fabric_port(vm_node->fabric, i), false) >
		       0;
	return did;
}

/* Somebody else watches. */
static void sleep_elsewhere(struct vm_worker *worker, uint64_t limit_ns)
{
	/* Pairs with the stores of watcher: see watch_check(). */
	atomic_fetch_add(&vm_node->asleep, 1);
	if (atomic_load(&vm_node->watcher))
		vm_futex_wait(&worker->sleeping, 1, limit_ns);
	atomic_fetch_sub(&vm_node->asleep, 1);
}

static void sleep_watching(struct vm_worker *worker,
			   const struct vm_sleep *sleep, uint64_t limit_ns)
{
	uint64_t until = limit_ns ? vm_clock_ns() + limit_ns : UINT64_MAX;

	/* Pairs with the exchange in vm_worker_nudge_slow() and the load in
	 * vm_watch_kick(): one of the two sees the other. */
	atomic_store(&vm_node->watcher, worker);
	call_end(worker->lane);
	if (atomic_load(&worker->sleeping))
		vm_fabric_sleep_wait(vm_node->fabric, sleep, until);
	atomic_store(&vm_node->watcher, NULL);
	vm_fabric_sleep_end(vm_node->fabric);
}

bool vm_watch_sleep(struct vm_worker *worker, uint64_t limit_ns)
{
	struct vm_sleep sleep;
	int rc = vm_fabric_sleep_begin(vm_node->fabric, &sleep);

	if (rc == -VMPI_ESTATE) {
		call_end(worker->lane);
		sleep_elsewhere(worker, limit_ns);
		return true;
	}
	if (rc == 0)
		sleep_watching(worker, &sleep, limit_ns);
	if (vm_watch_poll(worker) || core_cvar.help ||
	    !atomic_load(&worker->sleeping))
		return true;
	/* There is something, but it is not for this worker. */
	if (!limit_ns || limit_ns > UNHELPED_NS)
		limit_ns = UNHELPED_NS;
	vm_futex_wait(&worker->sleeping, 1, limit_ns);
	return true;
}

void vm_watch_kick(struct vm_worker *worker)
{
	if (atomic_load(&vm_node->watcher) == worker)
		vm_fabric_kick(vm_node->fabric);
}
