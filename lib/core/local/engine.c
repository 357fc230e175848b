/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polling and emptying the rings between workers.
 */
#include "core/local/engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "core/local/deliver.h"
#include "core/local/light.h"
#include "core/rank/state.h"

#define DRAIN_MAX 64   /* slots taken in one poll */
#define RELEASE_ROW 32 /* slots given back to their writer at once */
/* Lines of slots on their way from the writer's core. */
#define FETCH_AHEAD 12
#define RING_PATIENCE 2000
#define ALONE_ROW 256	/* locks taken by the worker until it is biased again */
#define LOOK_ROUNDS 256 /* polls in vain between looks at others' rings */
#define LOOK_RINGS 256	/* of others, at a look */
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
	while (cache->light_count)
		vm_pool_put(&cache->req, cache->light[--cache->light_count]);
	vm_pool_cache_fini(&cache->req);
	vm_pool_cache_fini(&cache->msg);
	vm_pool_cache_fini(&cache->push);
	vm_pool_cache_fini(&cache->pull);
	vm_pool_cache_fini(&cache->kept);
	for (int i = 0; i < VM_BUFFER_CLASSES; i++)
		vm_pool_cache_fini(&cache->buffer[i]);
}

int vm_engines_init(int count, bool owned)
{
	size_t pairs = (size_t)count * (size_t)count;
	size_t bytes = (size_t)count * sizeof(struct vm_engine);
	struct vm_ring *rings;

	vm_node->engines = aligned_alloc(VM_CACHELINE, bytes);
	rings = vm_rings_new(pairs);
	if (!vm_node->engines || !rings) {
		free(vm_node->engines);
		vm_rings_free(rings, pairs);
		vm_node->engines = NULL;
		return -VMPI_ENOMEM;
	}
	memset(vm_node->engines, 0, bytes);
	vm_node->engine_count = count;
	for (int i = 0; i < count; i++) {
		struct vm_engine *engine = &vm_node->engines[i];

		vm_lock_init(&engine->lock);
		atomic_init(&engine->biased, owned && vm_sched.membarrier);
		vm_list_init(&engine->lending);
		engine->index = i;
		engine->in = rings + (size_t)i * (size_t)count;
		vm_watch_init(&engine->watch, &engine->bell);
		engine->worker = &vm_sched.workers[i];
		atomic_init(&engine->owner, owned ? engine->worker : NULL);
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
	vm_rings_free(vm_node->engines[0].in, pairs);
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
 * owner is still inside. */
static bool bias_end(struct vm_engine *engine)
{
	engine->alone = 0;
	if (VM_LIKELY(!atomic_load_explicit(&engine->biased,
					    memory_order_relaxed)))
		return true;
	atomic_store_explicit(&engine->biased, false, memory_order_relaxed);
	vm_sched_fence_all();
	/* Pairs with the stores of the owner in vm_engine_lock/unlock(). */
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

/* Whoever may own it has not looked before whether it does, so no bias comes
 * back that is another one's. */
void vm_engine_own(struct vm_engine *engine)
{
	if (!vm_engine_is_own(engine, NULL))
		return;
	vm_engine_lock_slow(engine);
	if (vm_engine_is_own(engine, NULL))
		atomic_store_explicit(&engine->owner, vm_self->worker,
				      memory_order_relaxed);
	vm_lock_give(&engine->lock);
}

void vm_engine_disown(struct vm_engine *engine)
{
	if (!vm_engine_is_own(engine, vm_self->worker))
		return;
	vm_engine_lock_slow(engine);
	atomic_store_explicit(&engine->owner, NULL, memory_order_relaxed);
	vm_lock_give(&engine->lock);
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
	if (vm_engine_is_own(engine, vm_self->worker)) {
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

/* A message whose payload its sender lends until its slot is given back. */
struct lent {
	struct vm_arrival arrival;
	struct vm_data data;
	struct vm_slot *slot;
};

/* Nobody waits for it: it goes into a buffer, so that the sender may go on; if
 * there is none it stays, and the sender waits after all. */
static int lent_keep(struct vm_arrival *arrival)
{
	struct lent *lent = vm_container_of(arrival, struct lent, arrival);
	size_t bytes = lent->data.bytes;
	void *buffer = vm_buffer_get(vm_thread_cache_self(), bytes);

	if (VM_UNLIKELY(!buffer)) {
		arrival->payload = VM_PAYLOAD_DIRECT;
		arrival->sender = lent->slot->by_address.sender;
		lent->slot->by_address.sender = NULL;
		return VM_PENDING;
	}
	memcpy(buffer, lent->data.addr, bytes);
	lent->data.addr = buffer;
	arrival->payload = VM_PAYLOAD_COPY;
	return VM_DONE;
}

static const struct vm_payload_ops lent_payload = { .keep = lent_keep };

static void slot_lent(struct vm_slot *slot)
{
	struct lent lent;

	lent.arrival.env = slot->env;
	lent.arrival.payload = VM_PAYLOAD_LENT;
	lent.arrival.path = VM_PATH_NODE;
	lent.arrival.signature = slot->signature;
	lent.arrival.data = &lent.data;
	lent.arrival.sender = NULL;
	lent.slot = slot;
	vm_data_set_bytes(&lent.data, slot->by_address.buffer,
			  slot->by_address.bytes);
	vm_deliver(&vm_node->ranks[slot->rank], &lent.arrival, &lent_payload,
		   false);
}

/* Takes what is in a slot that is not given back before the next vm_ring_release();
 * the lock is held, but let go during long copies. */
static void slot_deliver(struct vm_engine *engine, struct vm_slot *slot)
{
	struct vm_rank *rank = &vm_node->ranks[slot->rank];
	struct vm_arrival arrival;
	struct vm_data data;

	arrival.env = slot->env;
	arrival.payload = slot->payload;
	arrival.path = VM_PATH_NODE;
	arrival.signature = slot->signature;
	arrival.data = &data;
	if (slot->payload == VM_PAYLOAD_INLINE) {
		vm_data_set_bytes(&data, slot->inline_data, slot->inline_bytes);
		arrival.sender = NULL;
		vm_deliver(rank, &arrival, &vm_local_payload, false);
		return;
	}
	vm_data_set_bytes(&data, slot->by_address.buffer,
			  slot->by_address.bytes);
	arrival.sender = slot->by_address.sender;
	if (slot->payload == VM_PAYLOAD_DIRECT)
		arrival.data = &arrival.sender->data;
	/* A long copy needs neither the slot nor the lock. */
	vm_deliver(rank, &arrival, &vm_local_payload, true);
	vm_engine_lock(engine);
}

/* Whether the caller is the owner and in: then nobody else is. */
static inline bool is_inside(const struct vm_engine *engine)
{
	return vm_engine_is_own(engine, vm_self->worker) &&
	       atomic_load_explicit(&engine->inside, memory_order_relaxed);
}

/* The usual case of a slot that carries its bytes: the oldest receive that is
 * posted is for it.  false: it is another one.  inside: is_inside(). */
static VM_ALWAYS_INLINE bool inline_deliver(const struct vm_slot *slot,
					    bool inside)
{
	struct vm_rank *rank = &vm_node->ranks[slot->rank];
	size_t bytes = slot->inline_bytes;
	struct vm_req *req;

	if (VM_UNLIKELY(slot->payload != VM_PAYLOAD_INLINE || vm_observed()))
		return false;
	req = vm_light_match(rank, slot->env, bytes);
	if (VM_UNLIKELY(!req))
		return false;
	if (VM_LIKELY(bytes == 8))
		memcpy(req->data.addr, slot->inline_data, 8);
	else if (bytes)
		memcpy(req->data.addr, slot->inline_data, bytes);
	if (VM_UNLIKELY(!inside || !vm_light_done(req)))
		vm_req_complete(req);
	return true;
}

/* Takes what inline_deliver() leaves. */
static __attribute__((noinline)) void
slot_take(struct vm_engine *engine, struct vm_ring *ring, struct vm_slot *slot)
{
	if (VM_UNLIKELY(slot->payload == VM_PAYLOAD_CALL)) {
		slot->call.run(slot->call.arg,
			       slot->inline_bytes ? slot : slot->call.more);
	} else if (slot->payload == VM_PAYLOAD_LENT) {
		ring->borrowed = true;
		slot_lent(slot);
	} else {
		slot_deliver(engine, slot);
	}
}

/* What has been taken is the writer's again. */
static __attribute__((noinline)) void drain_end(struct vm_ring *ring, int from)
{
	vm_ring_release(ring);
	if (ring->borrowed) {
		ring->borrowed = false;
		vm_worker_nudge(vm_node->engines[from].worker);
	}
}

/*
 * Has lines of slots come while those before are dealt with, from number `fetched`
 * on: two with each message until there are enough on their way.  Returns the
 * next number.  The more messages there have been in a poll, the further ahead the
 * writer is; lines that it is writing would have to go back.
 */
static VM_ALWAYS_INLINE uint32_t slots_fetch(const struct vm_ring *ring,
					     uint32_t next, uint32_t fetched)
{
	for (int i = 0; i < 2 && fetched - next < FETCH_AHEAD; i++)
		__builtin_prefetch(vm_ring_slot(ring, fetched++));
	return fetched;
}

void vm_engine_drain(struct vm_engine *engine, int from, int most)
{
	struct vm_ring *ring = &engine->in[from];
	bool inside = is_inside(engine);
	uint32_t fetched;
	int taken;

	if (!vm_ring_is_used(ring))
		return;
	fetched = vm_ring_next(ring) + 2;
	for (taken = 0; taken < most;) {
		uint32_t next = vm_ring_next(ring);
		struct vm_slot *slot = vm_ring_slot(ring, next++);

		/* Pairs with the store in vm_engine_show(). */
		if (atomic_load_explicit(&slot->lap, memory_order_acquire) !=
		    vm_ring_lap(next - 1))
			break;
		if (taken)
			fetched = slots_fetch(ring, next, fetched);
		atomic_store_explicit(&ring->next, next, memory_order_relaxed);
		if (VM_UNLIKELY(!inline_deliver(slot, inside))) {
			slot_take(engine, ring, slot);
			inside = is_inside(engine);
		}
		if (++taken % RELEASE_ROW == 0)
			vm_ring_release(ring);
	}
	if (taken)
		drain_end(ring, from);
}

/* Looks which slots of a ring have been given back, and completes the sends of
 * those that were lent; whether there were some. */
static bool ring_reap(struct vm_ring *ring)
{
	uint32_t tail = vm_ring_tail(ring);
	uint32_t lent = ring->lent;

	while (ring->lent && ring->end - VM_RING_SLOTS != tail) {
		/* At `end` - VM_RING_SLOTS, that is. */
		struct vm_slot *slot = vm_ring_slot(ring, ring->end++);

		if (slot->payload != VM_PAYLOAD_LENT)
			continue;
		if (--ring->lent == 0)
			vm_list_remove(&ring->link);
		/* Else its message has been kept as it is. */
		if (VM_LIKELY(slot->by_address.sender != NULL))
			vm_req_complete(slot->by_address.sender);
	}
	ring->end = tail + VM_RING_SLOTS;
	return ring->lent != lent;
}

/* Completes the sends of the worker whose payloads have been taken; whether
 * there were some. */
static inline bool reap(struct vm_engine *engine)
{
	struct vm_list *link = engine->lending.next;
	bool did = false;

	while (link != &engine->lending) {
		struct vm_ring *ring =
			vm_container_of(link, struct vm_ring, link);

		link = link->next;
		did |= ring_reap(ring);
	}
	return did;
}

/* Polls one ring.  True also when another thread has the lock just now: a
 * worker must not go to sleep with a ring that is not empty. */
static inline bool ring_poll(struct vm_engine *engine, struct vm_ring *ring)
{
	if (VM_LIKELY(vm_ring_is_empty(ring)))
		return false;
	ring->watched.active = true;
	if (vm_engine_try(engine)) {
		vm_engine_drain(engine, (int)(ring - engine->in), DRAIN_MAX);
		vm_engine_unlock(engine);
	}
	return true;
}

static inline bool watched_poll(struct vm_engine *engine, uint32_t i)
{
	return ring_poll(engine, vm_container_of(vm_watch_at(&engine->watch, i),
						 struct vm_ring, watched));
}

/* Polls the rings that are not watched. */
static __attribute__((noinline)) bool others_poll(struct vm_engine *engine)
{
	bool did = false;

	vm_watch_clear(&engine->watch);
	for (int from = 0; from < vm_node->engine_count; from++) {
		struct vm_ring *ring = &engine->in[from];

		if (!vm_ring_is_used(ring) || ring->watched.listed ||
		    !ring_poll(engine, ring))
			continue;
		did = true;
		vm_watch_add(&engine->watch, &ring->watched);
		/* There may be more. */
		if (!ring->watched.listed)
			vm_watch_ring(&engine->watch);
	}
	return did;
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
	uint32_t urgent =
		atomic_load_explicit(&ring->urgent, memory_order_relaxed);

	return urgent - vm_ring_next(ring) - 1 < VM_RING_SLOTS &&
	       !vm_ring_is_empty(ring);
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
 * worker's own senders; or others, of some engines at a time if there are
 * many. */
static void neglected_find(struct vm_engine *engine, bool own)
{
	struct vm_neglected *seen = &engine->neglected;
	int count = vm_node->engine_count;
	int first = own ? engine->index : 0;
	int end = own ? first + 1 : count;
	int looks = own ? count : 1 + LOOK_RINGS / count;

	for (int i = 0; i < looks && i < count; i++) {
		struct vm_engine *to = &vm_node->engines[engine->look];
		int from = first;

		engine->look = engine->look + 1 == count ? 0 : engine->look + 1;
		while (from < end && !is_urgent(&to->in[from]))
			from++;
		if (from == end || to == engine)
			continue;
		*seen = (struct vm_neglected){
			.to = to,
			.from = from,
			.next = vm_ring_next(&to->in[from]),
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
	    seen->next == vm_ring_next(&to->in[seen->from])) {
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

/* Whether it is time to look at all rings: a bell may be missing once a ring has
 * been given up. */
static inline bool all_due(struct vm_engine *engine, uint32_t count)
{
	return vm_watch_rung(&engine->watch) ||
	       (VM_UNLIKELY(count == VM_WATCHED) &&
		++engine->looks % LOOK_ROUNDS == 0);
}

/* Polls one ring or all, as is enough. */
static bool rings_poll(struct vm_worker *worker, struct vm_engine *engine,
		       bool sleeps)
{
	uint32_t count = vm_watch_count(&engine->watch);
	bool did = reap(engine);

	if (worker->head && count > 1) {
		/* With ULTs to run one ring a round is enough. */
		engine->turn = engine->turn + 1 >= count ? 0 : engine->turn + 1;
		did |= watched_poll(engine, engine->turn);
	} else {
		for (uint32_t i = 0; i < count; i++)
			did |= watched_poll(engine, i);
	}
	if (VM_UNLIKELY(all_due(engine, count) || sleeps))
		did |= others_poll(engine);
	if (!worker->head)
		did |= vm_work_help(worker);
	return did;
}

bool vm_engine_poll(struct vm_worker *worker)
{
	struct vm_thread_cache *cache = worker->cache;
	struct vm_engine *engine = cache->engine;
	bool sleeps =
		atomic_load_explicit(&worker->sleeping, memory_order_relaxed);

	if (!engine)
		return false;
	if (rings_poll(worker, engine, sleeps)) {
		engine->vain = 0;
		return true;
	}
	if (VM_LIKELY(++engine->vain % LOOK_ROUNDS != 0 && !sleeps))
		return false;
	return neglected_help(engine, sleeps);
}

/*
 * The ring is full.  A reader that takes something now and then is only
 * disturbed by help, which costs it the bias; one that computes is helped, at
 * once if it has taken nothing since it was helped last.
 */
static void ring_wait(struct vm_engine *to, int from, int spins, bool helped)
{
	struct vm_ring *ring = &to->in[from];

	if (spins < RING_PATIENCE && !(helped && vm_engine_try(to))) {
		if (spins % 64)
			vm_cpu_relax();
		else
			vm_cpu_yield();
		return;
	}
	if (spins >= RING_PATIENCE)
		vm_engine_lock(to);
	vm_engine_drain(to, from, DRAIN_MAX);
	ring->helped = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	vm_engine_unlock(to);
}

void vm_engine_room(struct vm_engine *from, struct vm_engine *to)
{
	struct vm_ring *ring = &to->in[from->index];
	size_t count = (size_t)vm_node->engine_count;
	uint32_t end = ring->end;

	if (VM_UNLIKELY(!vm_ring_is_used(ring))) {
		struct vm_ring *rings = vm_node->engines[0].in;

		vm_ring_open(rings, count * count, (size_t)(ring - rings));
		return;
	}
	for (int spins = 1;; spins++) {
		ring_reap(ring);
		if (ring->head != ring->end)
			return;
		if (ring->end != end)
			spins = 1;
		end = ring->end;
		ring_wait(to, from->index, spins,
			  end - VM_RING_SLOTS == ring->helped);
	}
}

void vm_engine_call(struct vm_engine *from, struct vm_engine *to,
		    void (*run)(void *arg, void *more), void *arg, void *more)
{
	struct vm_slot *slot = vm_engine_slot(from, to);

	slot->payload = VM_PAYLOAD_CALL;
	slot->inline_bytes = 0;
	slot->call.run = run;
	slot->call.arg = arg;
	slot->call.more = more;
	vm_engine_publish(from, to, slot);
}
