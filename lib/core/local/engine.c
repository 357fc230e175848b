/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings between workers, and emptying them.
 */
#include "core/local/engine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "core/local/deliver.h"
#include "core/rank/state.h"

#define DRAIN_MAX 64 /* slots taken in one poll */
#define RING_PATIENCE 2000
#define ALONE_ROW 256	/* locks taken by the worker until it is biased again */
#define LOOK_ROUNDS 256 /* polls in vain between looks at others' rings */
#define NEGLECTED_NS 10000 /* a ring of which its reader takes nothing */

const size_t vm_buffer_bytes[VM_BUFFER_CLASSES] = { 256, 2048, VM_BUFFER_MAX };

/* Where senders look for ranks that are not to be reached by memory. */
struct vm_engine vm_engine_remote = { .index = -1 };

static int buffer_class(size_t bytes)
{
	int class = 0;

	while (bytes > vm_buffer_bytes[class])
		class ++;
	return class;
}

void *vm_buffer_get(struct vm_thread_cache *cache, size_t bytes)
{
	return vm_pool_get(&cache->buffer[buffer_class(bytes)]);
}

void vm_buffer_put(struct vm_thread_cache *cache, void *buffer, size_t bytes)
{
	vm_pool_put(&cache->buffer[buffer_class(bytes)], buffer);
}

void vm_thread_cache_init(struct vm_thread_cache *cache,
			  struct vm_engine *engine)
{
	cache->engine = engine;
	cache->poll_rounds = 1;
	vm_pool_cache_init(&cache->req, &vm_node->pools.req);
	vm_pool_cache_init(&cache->msg, &vm_node->pools.msg);
	vm_pool_cache_init(&cache->push, &vm_node->pools.rndv_send);
	vm_pool_cache_init(&cache->pull, &vm_node->pools.rndv_recv);
	vm_pool_cache_init(&cache->kept, &vm_node->pools.kept);
	for (int i = 0; i < VM_BUFFER_CLASSES; i++)
		vm_pool_cache_init(&cache->buffer[i],
				   &vm_node->pools.buffer[i]);
}

void vm_thread_cache_fini(struct vm_thread_cache *cache)
{
	vm_pool_cache_fini(&cache->req);
	vm_pool_cache_fini(&cache->msg);
	vm_pool_cache_fini(&cache->push);
	vm_pool_cache_fini(&cache->pull);
	vm_pool_cache_fini(&cache->kept);
	for (int i = 0; i < VM_BUFFER_CLASSES; i++)
		vm_pool_cache_fini(&cache->buffer[i]);
}

/* Address space for the rings of all pairs; only used rings take memory. */
static void *rings_map(size_t count)
{
	void *map = mmap(NULL, count * VM_RING_SLOTS * sizeof(struct vm_slot),
			 PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return map == MAP_FAILED ? NULL : map;
}

int vm_engines_init(int count)
{
	size_t pairs = (size_t)count * (size_t)count;
	size_t bytes = (size_t)count * sizeof(struct vm_engine);
	struct vm_ring *rings;
	struct vm_slot *slots;

	vm_node->engines = aligned_alloc(VM_CACHELINE, bytes);
	rings = aligned_alloc(VM_CACHELINE, pairs * sizeof(*rings));
	slots = rings_map(pairs);
	if (!vm_node->engines || !rings || !slots) {
		free(vm_node->engines);
		free(rings);
		if (slots)
			munmap(slots, pairs * VM_RING_SLOTS * sizeof(*slots));
		vm_node->engines = NULL;
		return -VMPI_ENOMEM;
	}
	memset(vm_node->engines, 0, bytes);
	memset(rings, 0, pairs * sizeof(*rings));
	vm_node->engine_count = count;
	for (size_t i = 0; i < pairs; i++)
		rings[i].slots = slots + i * VM_RING_SLOTS;
	for (int i = 0; i < count; i++) {
		struct vm_engine *engine = &vm_node->engines[i];

		vm_lock_init(&engine->lock);
		atomic_init(&engine->biased, vm_sched.membarrier);
		engine->index = i;
		engine->in = rings + (size_t)i * (size_t)count;
		engine->worker = &vm_sched.workers[i];
		vm_thread_cache_init(&engine->cache, engine);
		engine->worker->cache = &engine->cache;
	}
	return 0;
}

void vm_engines_fini(void)
{
	size_t pairs =
		(size_t)vm_node->engine_count * (size_t)vm_node->engine_count;

	if (!vm_node->engines)
		return;
	munmap(vm_node->engines[0].in[0].slots,
	       pairs * VM_RING_SLOTS * sizeof(struct vm_slot));
	free(vm_node->engines[0].in);
	free(vm_node->engines);
	vm_node->engines = NULL;
}

void vm_engine_lock_own(struct vm_engine *engine)
{
	vm_lock_take(&engine->lock);
	if (++engine->alone < ALONE_ROW || !vm_sched.membarrier)
		return;
	/* Who takes the lock next sees it. */
	atomic_store_explicit(&engine->biased, true, memory_order_relaxed);
	engine->alone = 0;
}

/* Ends the bias for another thread, which has just taken the lock; false: the
 * worker is still inside. */
static bool bias_end(struct vm_engine *engine)
{
	engine->alone = 0;
	if (VM_LIKELY(!atomic_load_explicit(&engine->biased,
					    memory_order_relaxed)))
		return true;
	atomic_store_explicit(&engine->biased, false, memory_order_relaxed);
	vm_sched_fence_all();
	/* Pairs with the stores of the worker in vm_engine_lock/unlock(). */
	return !atomic_load_explicit(&engine->inside, memory_order_acquire);
}

void vm_engine_lock_slow(struct vm_engine *engine)
{
	vm_lock_take(&engine->lock);
	if (VM_LIKELY(bias_end(engine)))
		return;
	while (atomic_load_explicit(&engine->inside, memory_order_acquire))
		vm_cpu_yield();
}

bool vm_engine_try_other(struct vm_engine *engine)
{
	if (atomic_load_explicit(&engine->biased, memory_order_relaxed) ||
	    !vm_lock_try(&engine->lock))
		return false;
	/* The bias may just have come back. */
	if (VM_UNLIKELY(atomic_load_explicit(&engine->biased,
					     memory_order_relaxed))) {
		vm_lock_give(&engine->lock);
		return false;
	}
	engine->alone = 0;
	return true;
}

bool vm_engine_try(struct vm_engine *engine)
{
	if (vm_self->worker == engine->worker) {
		atomic_store_explicit(&engine->inside, true,
				      memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		if (atomic_load_explicit(&engine->biased, memory_order_acquire))
			return true;
		atomic_store_explicit(&engine->inside, false,
				      memory_order_release);
		return vm_lock_try(&engine->lock);
	}
	return vm_engine_try_other(engine);
}

static inline struct vm_slot *ring_oldest(struct vm_ring *ring)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	return &ring->slots[tail % VM_RING_SLOTS];
}

/* Gives the oldest slot back to the writer. */
static inline void slot_release(struct vm_ring *ring, struct vm_slot *slot)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	atomic_store_explicit(&ring->tail, tail + 1, memory_order_relaxed);
	/* Pairs with the load in vm_engine_slot(). */
	atomic_store_explicit(&slot->full, 0, memory_order_release);
}

static void slot_call(struct vm_ring *ring, struct vm_slot *slot)
{
	void (*run)(void *arg) = slot->call.run;
	void *arg = slot->call.arg;

	slot_release(ring, slot);
	run(arg);
}

/* Takes what is in the oldest slot; false: it is empty. */
static bool slot_take(struct vm_engine *engine, struct vm_ring *ring)
{
	struct vm_slot *slot = ring_oldest(ring);
	struct vm_arrival arrival;
	struct vm_rank *rank;
	struct vm_data data;

	/* Pairs with the stores in send_ring() and vm_engine_call(). */
	if (!atomic_load_explicit(&slot->full, memory_order_acquire))
		return false;
	if (VM_UNLIKELY(slot->payload == VM_PAYLOAD_CALL)) {
		slot_call(ring, slot);
		return true;
	}
	rank = &vm_node->ranks[slot->rank];
	arrival.env = slot->env;
	arrival.payload = slot->payload;
	arrival.path = VM_PATH_NODE;
	arrival.signature = slot->signature;
	arrival.data = &data;
	if (slot->payload == VM_PAYLOAD_INLINE) {
		vm_data_set_bytes(&data, slot->inline_data, slot->inline_bytes);
		arrival.sender = NULL;
		vm_deliver(rank, &arrival, &vm_local_payload, false);
		slot_release(ring, slot);
		return true;
	}
	vm_data_set_bytes(&data, slot->by_address.buffer,
			  slot->by_address.bytes);
	arrival.sender = slot->by_address.sender;
	if (slot->payload == VM_PAYLOAD_DIRECT)
		arrival.data = &arrival.sender->data;
	/* A long copy needs neither the slot nor the lock. */
	slot_release(ring, slot);
	vm_deliver(rank, &arrival, &vm_local_payload, true);
	vm_engine_lock(engine);
	return true;
}

void vm_engine_drain(struct vm_engine *engine, int from, int most)
{
	struct vm_ring *ring = &engine->in[from];

	for (int i = 0; i < most; i++)
		if (!slot_take(engine, ring))
			return;
}

/* Polls one ring.  True also when another thread has the lock just now: a
 * worker must not go to sleep with a ring that is not empty. */
static inline bool ring_poll(struct vm_engine *engine, int from)
{
	struct vm_slot *slot = ring_oldest(&engine->in[from]);

	if (VM_LIKELY(!atomic_load_explicit(&slot->full, memory_order_relaxed)))
		return false;
	if (vm_engine_try(engine)) {
		vm_engine_drain(engine, from, DRAIN_MAX);
		vm_engine_unlock(engine);
	}
	return true;
}

/* Takes the engine of a worker that computes: ends the bias, and does not wait
 * for one that the kernel has interrupted inside. */
static bool engine_try_busy(struct vm_engine *engine)
{
	if (!vm_lock_try(&engine->lock))
		return false;
	if (bias_end(engine))
		return true;
	atomic_store_explicit(&engine->biased, true, memory_order_relaxed);
	vm_lock_give(&engine->lock);
	return false;
}

/* Whether a sender waits for a slot of the ring to be taken. */
static bool is_urgent(struct vm_ring *ring)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	uint32_t urgent =
		atomic_load_explicit(&ring->urgent, memory_order_relaxed);

	return urgent - tail - 1 < VM_RING_SLOTS &&
	       atomic_load_explicit(&ring_oldest(ring)->full,
				    memory_order_relaxed);
}

/* Takes what is in a ring, in place of its reader. */
static bool ring_help(struct vm_engine *to, int from)
{
	if (!engine_try_busy(to)) {
		vm_cpu_yield();
		return true;
	}
	vm_engine_drain(to, from, DRAIN_MAX);
	vm_engine_unlock(to);
	return true;
}

/* Looks for an urgent slot in the rings of the other engines: those from the
 * worker's own senders, or all. */
static void neglected_find(struct vm_engine *engine, bool own)
{
	struct vm_neglected *seen = &engine->neglected;
	int count = vm_node->engine_count;
	int first = own ? engine->index : 0;
	int end = own ? first + 1 : count;

	for (int to = 0; to < count; to++) {
		struct vm_ring *in = vm_node->engines[to].in;
		int from = first;

		while (from < end && !is_urgent(&in[from]))
			from++;
		if (from == end || to == engine->index)
			continue;
		*seen = (struct vm_neglected){
			.to = &vm_node->engines[to],
			.from = from,
			.tail = atomic_load_explicit(&in[from].tail,
						     memory_order_relaxed),
			.since_ns = vm_clock_ns(),
		};
		return;
	}
}

/*
 * Helps a worker that has not looked into its rings for a while, because it
 * computes, so that senders do not wait for that; whether it did.  Who goes to
 * sleep does at once what its own senders need.
 */
static __attribute__((noinline)) bool neglected_help(struct vm_engine *engine,
						     bool sleeps)
{
	struct vm_neglected *seen = &engine->neglected;
	struct vm_engine *to = seen->to;

	if (!core_cvar.collaborative_polling)
		return false;
	if (to && is_urgent(&to->in[seen->from]) &&
	    seen->tail == atomic_load_explicit(&to->in[seen->from].tail,
					       memory_order_relaxed)) {
		if (!sleeps && vm_clock_ns() - seen->since_ns < NEGLECTED_NS)
			return false;
		seen->to = NULL;
		return ring_help(to, seen->from);
	}
	seen->to = NULL;
	neglected_find(engine, true);
	if (!seen->to && !sleeps)
		neglected_find(engine, false);
	return seen->to && sleeps && ring_help(seen->to, seen->from);
}

/* Polls one ring or all, as is enough. */
static bool rings_poll(struct vm_worker *worker, struct vm_engine *engine)
{
	int count = vm_node->engine_count;
	bool did = false;

	/* With ULTs to run one ring a round is enough. */
	if (worker->head && count > 2) {
		engine->turn = engine->turn + 1 == (uint32_t)count ?
				       0 :
				       engine->turn + 1;
		return ring_poll(engine, (int)engine->turn);
	}
	for (int from = 0; from < count; from++)
		if (from != engine->index)
			did |= ring_poll(engine, from);
	if (!worker->head)
		did |= vm_work_help(worker);
	return did;
}

bool vm_engine_poll(struct vm_worker *worker)
{
	struct vm_thread_cache *cache = worker->cache;
	struct vm_engine *engine = cache->engine;
	bool sleeps;

	if (!engine)
		return false;
	if (rings_poll(worker, engine)) {
		engine->vain = 0;
		return true;
	}
	sleeps = atomic_load_explicit(&worker->sleeping, memory_order_relaxed);
	if (VM_LIKELY(++engine->vain % LOOK_ROUNDS != 0 && !sleeps))
		return false;
	return neglected_help(engine, sleeps);
}

/* The ring is full: its reader is busy.  Helps it, at once if others have
 * helped before, else only after a while, because that costs it the bias. */
static void ring_wait(struct vm_engine *to, int from, int spins)
{
	if (spins < RING_PATIENCE && !vm_engine_try(to)) {
		if (spins % 64)
			vm_cpu_relax();
		else
			vm_cpu_yield();
		return;
	}
	if (spins >= RING_PATIENCE)
		vm_engine_lock(to);
	vm_engine_drain(to, from, DRAIN_MAX);
	vm_engine_unlock(to);
}

struct vm_slot *vm_engine_slot(struct vm_engine *from, struct vm_engine *to)
{
	struct vm_ring *ring = &to->in[from->index];
	struct vm_slot *slot = &ring->slots[ring->head % VM_RING_SLOTS];

	/* Pairs with the store in slot_release(). */
	for (int spins = 1;
	     atomic_load_explicit(&slot->full, memory_order_acquire); spins++)
		ring_wait(to, from->index, spins);
	ring->head++;
	return slot;
}

void vm_engine_call(struct vm_engine *from, struct vm_engine *to,
		    void (*run)(void *arg), void *arg)
{
	struct vm_slot *slot = vm_engine_slot(from, to);

	slot->payload = VM_PAYLOAD_CALL;
	slot->call.run = run;
	slot->call.arg = arg;
	/* Pairs with the load in vm_engine_drain(). */
	atomic_store_explicit(&slot->full, 1, memory_order_release);
	vm_worker_nudge(to->worker);
}
