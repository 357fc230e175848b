/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polling a worker's own port and others; the watcher and its replacement.
 */
#include "core/remote/progress.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "core/local/engine.h"
#include "core/rank/state.h"
#include "core/remote/agent.h"
#include "core/remote/pace.h"
#include "core/instrument/trace.h"
#include "fabric/end/sleep.h"
#include "fabric/fabric.h"
#include "introspect/export/export.h"
#include "sched/futex.h"

/* Naps of the watcher, which double from the one to the other. */
#define NAP_NS_SHORT 50000
#define NAP_NS_LONG VM_PACE_DOZE_NS
#define NAP_NS_CALM VM_PACE_DOZE_NS_MAX /* while nothing long is under way */

/* A port that nobody has polled for so long: a sender in a loop polls when it
 * has used up its budget some times. */
#define NEGLECTED_NS 100000
#define HELP_ROUNDS 16 /* polls between two looks for such ports */

/* Sleep of a worker while threads watch for themselves: the longer they do, the
 * longer; less long while they only test, since they do not say when they go on. */
#define NAP_NS_MIN 1000000
#define NAP_NS_TESTS 4000000
#define NAP_NS_MAX 64000000

/* The home port of an engine's ranks: as vm_remote_place() spreads them. */
static unsigned port_of(int engine, unsigned ports)
{
	return (unsigned)((int64_t)engine * ports / vm_node->engine_count);
}

/* Whether all workers of a port sleep. */
static bool all_sleep(unsigned port, unsigned ports)
{
	unsigned count = (unsigned)vm_node->engine_count;

	for (unsigned i = (port * count + ports - 1) / ports;
	     i < count && port_of((int)i, ports) == port; i++)
		if (!atomic_load_explicit(&vm_sched.workers[i].sleeping,
					  memory_order_relaxed))
			return false;
	return true;
}

/* Whether nobody has polled the port for some time, as far as the worker has
 * seen. */
static bool is_neglected(struct vm_port_seen *seen, unsigned port)
{
	uint64_t polls = vm_port_polls(vm_fabric_port(vm_node->fabric, port));
	uint64_t now = vm_clock_ns();

	if (polls == seen->polls)
		return now - seen->since_ns >= NEGLECTED_NS;
	seen->polls = polls;
	seen->since_ns = now;
	return false;
}

/* Whether a worker of the port polls it itself. */
static bool is_attended(struct vm_port_seen *seen, unsigned port,
			unsigned ports)
{
	return !all_sleep(port, ports) &&
	       (!core_cvar.collaborative_polling || !is_neglected(seen, port));
}

static bool port_poll(struct vm_thread_cache *cache, unsigned port, bool own)
{
	uint64_t *found =
		vm_node->worker_pvars[cache->engine->index].polls_found;

	if (vm_port_poll(vm_fabric_port(vm_node->fabric, port), own) <= 0)
		return false;
	vm_pvar_add(found[port], 1);
	if (!own)
		vm_trace_help((int)port);
	return true;
}

/*
 * Polls the ports of workers that sleep, or that do not poll themselves.  One
 * that does is only disturbed by help, which takes its port's locks and lines
 * of the cache.
 */
static bool others_poll(struct vm_thread_cache *cache, unsigned own,
			unsigned ports)
{
	bool helps = core_cvar.collaborative_polling &&
		     ++cache->help_rounds % HELP_ROUNDS == 0;
	bool did = false;

	for (unsigned i = 1; i < ports; i++) {
		unsigned port = (own + i) % ports;
		struct vm_port_seen *seen = &cache->seen[port];

		if (!all_sleep(port, ports) &&
		    !(helps && is_neglected(seen, port)))
			continue;
		if (port_poll(cache, port, false)) {
			/* There may be more. */
			cache->help_rounds = (unsigned)-1;
			seen->polls = vm_port_polls(
				vm_fabric_port(vm_node->fabric, port));
			did = true;
		}
	}
	return did;
}

static bool ports_poll(struct vm_worker *worker, struct vm_thread_cache *cache)
{
	unsigned ports = vm_fabric_limits(vm_node->fabric)->ports;
	unsigned own = port_of(cache->engine->index, ports);
	bool did = port_poll(cache, own, true);

	if (atomic_load_explicit(&worker->idles, memory_order_relaxed)) {
		did |= others_poll(cache, own, ports);
		if (VM_UNLIKELY(vm_errands_wait()))
			vm_errands_look(&cache->errand);
	}
	return did;
}

/* The worker was woken to watch and does not, or does: it need not be waited
 * for any more. */
static void call_end(struct vm_thread_cache *cache)
{
	if (VM_LIKELY(!atomic_load_explicit(&cache->called,
					    memory_order_relaxed)))
		return;
	atomic_store_explicit(&cache->called, false, memory_order_relaxed);
	/* Pairs with the exchange in watcher_call(). */
	atomic_store(&vm_node->progress.called, false);
}

/* Wakes a sleeping worker, to watch: not the caller, whose own sleep may not quite
 * have ended. */
static __attribute__((noinline)) void watcher_call(void)
{
	const struct vm_worker *self = vm_self ? vm_self->worker : NULL;

	if (atomic_exchange(&vm_node->progress.called, true))
		return;
	for (int i = 0; i < vm_sched.worker_count; i++) {
		struct vm_worker *other = &vm_sched.workers[i];
		struct vm_thread_cache *cache = other->cache;

		if (other == self ||
		    !atomic_load_explicit(&other->sleeping,
					  memory_order_relaxed))
			continue;
		atomic_store_explicit(&cache->called, true,
				      memory_order_relaxed);
		vm_worker_nudge_slow(other);
		return;
	}
	atomic_store(&vm_node->progress.called, false);
}

/* Who decides that it is not needed now makes the fence. */
static inline void agent_check(struct vm_worker *worker)
{
	/* Pairs with the loads in somebody_idles(). */
	atomic_store_explicit(&worker->idles, false, memory_order_relaxed);
	if (VM_LIKELY(vm_sched.membarrier))
		atomic_signal_fence(memory_order_seq_cst);
	else
		atomic_thread_fence(memory_order_seq_cst);
	vm_agent_check();
}

void vm_progress_unwatched(void)
{
	if (atomic_load(&vm_node->progress.sleepers) > 0 &&
	    !atomic_load(&vm_node->progress.poller))
		watcher_call();
}

/*
 * Before the worker runs something.  Pairs, by the code in between, with the
 * addition in sleep_elsewhere(): a worker that goes to sleep there sees that
 * there is no watcher, or is seen here.
 */
static inline void watch_check(struct vm_worker *worker,
			       struct vm_thread_cache *cache)
{
	if (!worker->head && !worker->next)
		return;
	call_end(cache);
	agent_check(worker);
	if (VM_UNLIKELY(atomic_load_explicit(&vm_node->progress.sleepers,
					     memory_order_relaxed) > 0 &&
			!atomic_load_explicit(&vm_node->progress.poller,
					      memory_order_relaxed)))
		watcher_call();
}

/*
 * Polls the network, and notes when the worker polls again while it has
 * something to run: at the next switch after a poll that found something, and
 * else after twice as many as before.  Ranks that compute long switch rarely,
 * and each step of a rendezvous waits for a poll.
 */
static bool look(struct vm_worker *worker, struct vm_thread_cache *cache)
{
	unsigned most = (unsigned)core_cvar.poll_rounds;
	bool did = ports_poll(worker, cache);

	cache->polls_left = 0;
	if (did)
		cache->poll_rounds = 1;
	else if (cache->poll_rounds <= most / 2)
		cache->poll_rounds *= 2;
	else
		cache->poll_rounds = most;
	return did;
}

/* Threads have waited since the worker looked last: they watch for themselves,
 * and each message would wake both. */
static bool threads_watch(const struct vm_worker *worker)
{
	const struct vm_thread_cache *cache = worker->cache;

	return vm_sched.hooks.thread_sleep &&
	       atomic_load_explicit(&vm_node->progress.thread_waits,
				    memory_order_relaxed) != cache->waits;
}

/* Whether it leaves the ports to threads that poll them themselves, and whose
 * locks are biased.  One that runs something polls in any case. */
static inline bool leaves_ports(const struct vm_worker *worker)
{
	return atomic_load_explicit(&worker->idles, memory_order_relaxed) &&
	       threads_watch(worker);
}

bool vm_progress_poll(struct vm_worker *worker)
{
	bool did = vm_node->engine_count > 1 && vm_engine_poll(worker);
	struct vm_thread_cache *cache = worker->cache;

	if (VM_UNLIKELY(!cache->engine || leaves_ports(worker)))
		return did;
	if (!worker->head || ++cache->polls_left >= cache->poll_rounds)
		did |= look(worker, cache);
	watch_check(worker, cache);
	return did;
}

VM_STATIC_ASSERT(sizeof(struct core_worker_pvars) % VM_CACHELINE == 0,
		 "workers write to lines of their own");

static bool seen_init(struct vm_thread_cache *cache)
{
	size_t bytes =
		vm_fabric_limits(vm_node->fabric)->ports * sizeof(*cache->seen);

	bytes = (bytes + VM_CACHELINE - 1) / VM_CACHELINE * VM_CACHELINE;
	cache->left = calloc(vm_fabric_limits(vm_node->fabric)->ports,
			     sizeof(*cache->left));
	cache->seen = aligned_alloc(VM_CACHELINE, bytes);
	if (cache->seen)
		memset(cache->seen, 0, bytes);
	return cache->seen && cache->left;
}

int vm_progress_init(void)
{
	/* Each has lines of the cache of its own. */
	vm_node->worker_pvars = vm_export_alloc(
		(size_t)vm_node->engine_count * sizeof(*vm_node->worker_pvars),
		VM_CACHELINE);
	if (!vm_node->worker_pvars)
		return -VMPI_ENOMEM;
	for (int i = 0; i < vm_node->engine_count; i++)
		if (!seen_init(&vm_node->engines[i].cache))
			return -VMPI_ENOMEM;
	return 0;
}

void vm_progress_fini(void)
{
	for (int i = 0; i < vm_node->engine_count; i++) {
		free(vm_node->engines[i].cache.seen);
		free(vm_node->engines[i].cache.left);
	}
	vm_export_free(vm_node->worker_pvars);
	vm_node->worker_pvars = NULL;
}

bool vm_progress_partner_runs(void)
{
	return vm_port_partner_runs(vm_fabric_port(vm_node->fabric, 0));
}

bool vm_progress_thread_poll(void)
{
	unsigned ports = vm_fabric_limits(vm_node->fabric)->ports;
	bool did = false;

	vm_progress_waits();
	/* One that begins looks itself for what it needs. */
	if (VM_UNLIKELY(vm_errands_left()))
		did = vm_errands_step();
	for (unsigned i = 0; i < ports; i++)
		did |= vm_port_poll(vm_fabric_port(vm_node->fabric, i), false) >
		       0;
	if (vm_errands_stepped())
		did |= vm_errands_step();
	return did;
}

/* Sleeps while another worker watches. */
static void sleep_elsewhere(struct vm_worker *worker, uint64_t until)
{
	uint64_t limit_ns = 0;

	if (until != UINT64_MAX) {
		uint64_t now = vm_clock_ns();

		limit_ns = until > now ? until - now : 1;
	}
	/* Pairs with the stores of watcher: see watch_check(). */
	atomic_fetch_add(&vm_node->progress.sleepers, 1);
	if (atomic_load(&vm_node->progress.poller)) {
		/* It may have taken this one for awake: pairs with the addition
		 * in ports_leave(). */
		if (atomic_load(&vm_node->progress.beside) > 0)
			vm_fabric_kick(vm_node->fabric);
		vm_worker_rest(worker, limit_ns);
	}
	atomic_fetch_sub(&vm_node->progress.sleepers, 1);
}

static void beside_set(struct vm_thread_cache *cache, bool beside)
{
	if (cache->beside != beside)
		atomic_fetch_add(&vm_node->progress.beside, beside ? 1 : -1);
	cache->beside = beside;
}

/*
 * Notes which ports others poll: the watcher does not wake for what comes there,
 * which would cost its process a wake-up for each message that the other one
 * takes itself.  Whether there are any.
 */
static bool ports_leave(struct vm_thread_cache *cache)
{
	unsigned ports = vm_fabric_limits(vm_node->fabric)->ports;
	bool any = false;

	/* Before it looks who sleeps: pairs with the load in
	 * sleep_elsewhere(), by who goes to sleep now. */
	beside_set(cache, true);
	for (unsigned i = 0; i < ports; i++) {
		cache->left[i] = is_attended(&cache->seen[i], i, ports);
		any |= cache->left[i];
	}
	beside_set(cache, any);
	return any;
}

/* Whether they still do. */
static bool are_left(struct vm_thread_cache *cache)
{
	unsigned ports = vm_fabric_limits(vm_node->fabric)->ports;

	for (unsigned i = 0; i < ports; i++)
		if (cache->left[i] && !is_attended(&cache->seen[i], i, ports))
			return false;
	return true;
}

/* How long it does so without a look at the ports that it has left to others:
 * what comes there for ranks that compute is urgent if others wait for it, but on
 * the cores of those that poll the looks shall not take much of their time. */
static uint64_t doze_most(const struct vm_thread_cache *cache)
{
	bool urgent = atomic_load_explicit(&vm_node->progress.under_way,
					   memory_order_relaxed) > 0 ||
		      atomic_load_explicit(&vm_node->progress.lasting,
					   memory_order_relaxed) > 0;

	return urgent ? vm_pace_doze_ns(cache->vain) : NAP_NS_CALM;
}

/* Waits; now and then it looks after the ports that it has left to others. */
static void doze(struct vm_thread_cache *cache, const struct vm_sleep *sleep,
		 uint64_t until)
{
	uint64_t end = until < sleep->until_ns ? until : sleep->until_ns;
	uint64_t ns = NAP_NS_SHORT, now = vm_clock_ns();

	while (cache->beside && now < end && end - now > ns) {
		if (vm_fabric_sleep_wait(vm_node->fabric, sleep, now + ns) ||
		    !are_left(cache))
			return;
		if (vm_sched.crowded || vm_sched.shared)
			cache->vain = vm_pace_doze_vain(cache->vain, false);
		ns = 2 * ns < doze_most(cache) ? 2 * ns : doze_most(cache);
		now = vm_clock_ns();
	}
	vm_fabric_sleep_wait(vm_node->fabric, sleep, until);
}

static void sleep_watching(struct vm_worker *worker,
			   const struct vm_sleep *sleep, uint64_t until)
{
	/* Pairs with the exchange in vm_worker_nudge_slow() and the load in
	 * vm_progress_kick(): one of the two sees the other. */
	atomic_store(&vm_node->progress.poller, worker);
	/* Who starts one after this kicks. */
	if (VM_UNLIKELY(vm_errands_wait()) &&
	    vm_clock_ns() + NAP_NS_LONG < until)
		until = vm_clock_ns() + NAP_NS_LONG;
	call_end(worker->cache);
	vm_worker_rest_begin(worker);
	if (atomic_load(&worker->sleeping))
		doze(worker->cache, sleep, until);
	vm_worker_rest_end(worker);
	atomic_store(&vm_node->progress.poller, NULL);
	vm_fabric_sleep_end(vm_node->fabric);
}

/* The next nap after one of `ns`, 0: none, where `most` is the longest. */
static uint64_t nap_next(uint64_t ns, uint64_t most)
{
	if (!ns || ns > most)
		return NAP_NS_MIN;
	return 2 * ns < most ? 2 * ns : most;
}

/* Threads that wait watch for themselves; whether they did since the worker
 * looked last, or do.  Then it has slept, unless it has something to run now. */
static bool nap_beside(struct vm_worker *worker, uint64_t limit_ns)
{
	struct vm_thread_cache *cache = worker->cache;
	uint32_t waits = atomic_load_explicit(&vm_node->progress.thread_waits,
					      memory_order_relaxed);
	bool computes = waits == cache->waits &&
			!atomic_load(&vm_node->progress.thread_poller);

	if (vm_errands_stepped()) {
		vm_errands_take_over(&cache->errand, computes);
		if (worker->head)
			return true;
	}
	if (computes) {
		cache->nap_ns = 0;
		return false;
	}
	cache->nap_ns = nap_next(cache->nap_ns, waits != cache->waits ?
							NAP_NS_TESTS :
							NAP_NS_MAX);
	cache->waits = waits;
	if (VM_UNLIKELY(vm_errands_wait()))
		vm_errands_look(&cache->errand);
	if (VM_UNLIKELY(vm_errands_wait() || vm_errands_stepped()))
		cache->nap_ns = NAP_NS_MIN;
	if (!limit_ns || limit_ns > cache->nap_ns)
		limit_ns = cache->nap_ns;
	vm_worker_rest(worker, limit_ns);
	return true;
}

/* Those who wait elsewhere, or nobody while the thread computes, shall not have
 * to wait for the worker's nap to end. */
static void watch_pass(uint64_t since_ns)
{
	if (atomic_load_explicit(&vm_sched.threads, memory_order_relaxed) > 1 ||
	    vm_clock_ns() - since_ns >= NAP_NS_MIN)
		vm_worker_nudge_slow(vm_sched.workers);
}

bool vm_progress_thread_sleep(struct vm_ult *self)
{
	uint64_t begin = vm_clock_ns();
	struct vm_sleep sleep;
	int rc;

	if (VM_UNLIKELY(vm_errands_left() || vm_errands_stepped()))
		vm_errands_begin();
	atomic_fetch_add_explicit(&vm_node->progress.thread_waits, 1,
				  memory_order_relaxed);
	rc = vm_fabric_sleep_begin(vm_node->fabric, &sleep);
	if (rc == -VMPI_ESTATE)
		return false;
	if (rc == 0) {
		/* Pairs with the exchange in vm_ult_wake() and the load in
		 * vm_progress_thread_kick(): one of the two sees the other. */
		atomic_store(&vm_node->progress.thread_poller, self);
		if (atomic_load(&self->signal) == VM_SIGNAL_ASLEEP)
			vm_fabric_sleep_wait(vm_node->fabric, &sleep,
					     vm_ult_alarm(self) ?
						     self->deadline :
						     UINT64_MAX);
		atomic_store(&vm_node->progress.thread_poller, NULL);
		vm_fabric_sleep_end(vm_node->fabric);
	} else {
		vm_cpu_yield(); /* the worker may be at it */
	}
	vm_progress_thread_poll();
	if (atomic_load(&self->signal) != VM_SIGNAL_ASLEEP)
		watch_pass(begin);
	return true;
}

bool vm_progress_thread_kick(struct vm_ult *ult)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load(&vm_node->progress.thread_poller) != ult)
		return false;
	vm_fabric_kick(vm_node->fabric);
	return true;
}

/*
 * Naps when what woke the watcher is for a worker that runs: that one polls
 * soon, or else is to be helped.  It stays the watcher for those that sleep
 * elsewhere, unless another one comes to watch.
 */
static void nap(struct vm_worker *worker, uint64_t ns)
{
	struct vm_worker *none = NULL, *self = worker;

	atomic_compare_exchange_strong(&vm_node->progress.poller, &none,
				       worker);
	vm_worker_rest(worker, ns);
	atomic_compare_exchange_strong(&vm_node->progress.poller, &self, NULL);
}

/* Polls what the watcher may poll; whether it is to go on sleeping. */
static bool has_nothing(struct vm_worker *worker)
{
	struct vm_thread_cache *cache = worker->cache;

	cache->help_rounds = (unsigned)-1;
	if (vm_progress_poll(worker)) {
		cache->vain = vm_pace_doze_vain(cache->vain, true);
		return false;
	}
	/* What a death wakes is not counted as found. */
	return !worker->head && !worker->next && atomic_load(&worker->sleeping);
}

/* Watches until there is something for the worker to do, the time `until` has
 * come, or threads watch again. */
static void watch(struct vm_worker *worker, uint64_t until)
{
	struct vm_thread_cache *cache = worker->cache;
	uint64_t now, nap_ns = NAP_NS_SHORT;
	struct vm_sleep sleep;
	int rc;

	do {
		rc = vm_fabric_sleep_beside(vm_node->fabric, &sleep,
					    ports_leave(cache) ? cache->left :
								 NULL);
		if (rc == -VMPI_ESTATE) {
			call_end(cache);
			beside_set(cache, false);
			vm_agent_dismiss();
			sleep_elsewhere(worker, until);
			return;
		}
		if (rc == 0)
			sleep_watching(worker, &sleep, until);
		now = vm_clock_ns();
		if (!has_nothing(worker) || now >= until ||
		    threads_watch(worker))
			return;
		/* One that others no longer poll is to be watched. */
		if (!are_left(cache))
			continue;
		nap(worker, nap_ns < until - now ? nap_ns : until - now);
		if (nap_ns < NAP_NS_LONG)
			nap_ns *= 2;
	} while (has_nothing(worker) && vm_clock_ns() < until);
}

/*
 * Whether a worker leaves the network to the others and to the agent: no rank of
 * its waits for anything, and it would have to take the core of one that does, at
 * each message.
 */
static bool is_spare(const struct vm_thread_cache *cache)
{
	return vm_sched.crowded && core_cvar.progress != VM_PROGRESS_OFF &&
	       !vm_sched.hooks.thread_sleep &&
	       !atomic_load_explicit(&cache->engine->ranks,
				     memory_order_relaxed);
}

/* Sleeps while the agent helps in its place. */
static void sleep_spare(struct vm_worker *worker, uint64_t limit_ns)
{
	call_end(worker->cache);
	atomic_fetch_add(&vm_node->progress.spares, 1);
	atomic_store(&worker->idles, false);
	if (core_cvar.collaborative_polling)
		vm_agent_call();
	vm_worker_rest(worker, limit_ns);
	atomic_fetch_sub(&vm_node->progress.spares, 1);
}

bool vm_progress_sleep(struct vm_worker *worker, uint64_t limit_ns)
{
	if (is_spare(worker->cache)) {
		sleep_spare(worker, limit_ns);
		return true;
	}
	if (!vm_sched.hooks.thread_sleep || !nap_beside(worker, limit_ns)) {
		watch(worker, limit_ns ? vm_clock_ns() + limit_ns : UINT64_MAX);
		beside_set(worker->cache, false);
	}
	return true;
}

void vm_progress_kick(struct vm_worker *worker)
{
	if (atomic_load(&vm_node->progress.poller) == worker)
		vm_fabric_kick(vm_node->fabric);
}
