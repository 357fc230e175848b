/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shortest ways of a message, as straight code: a few bytes between two
 * ranks of a process, and a receive that finds nothing and waits, or such a
 * message.
 *
 * What is unusual in any respect, and whatever somebody observes, is left to
 * the functions of core/comm/p2p.h, which do the same: these return false before
 * they have changed anything.
 */
#ifndef CORE_COMM_QUICK_H
#define CORE_COMM_QUICK_H

#include "core/comm/p2p.h"
#include "core/local/engine.h"
#include "core/local/light.h"
#include "core/remote/agent.h"
#include "core/local/observe.h"
#include "core/rank/rank.h"
#include "core/rank/wait.h"
#include "core/remote/straight.h"

/* Ensures that there is a free light request; false: out of memory. */
bool vm_quick_stock(struct vm_thread_cache *cache);

/* vm_engine_lock() by its owner; false: it needs a lock, or is another's, and has
 * not been taken. */
static VM_ALWAYS_INLINE bool vm_quick_enter(struct vm_engine *engine,
					    const struct vm_ult *self)
{
	return VM_LIKELY(vm_engine_is_own(engine, self->worker)) &&
	       vm_engine_enter(engine);
}

static VM_ALWAYS_INLINE void vm_quick_leave(struct vm_engine *engine)
{
	atomic_store_explicit(&engine->inside, false, memory_order_release);
}

/* Copies a payload into a receive whose status is set, and vm_quick_complete(). */
int vm_quick_copy(struct vm_engine *engine, struct vm_req *req,
		  const void *addr);

/* The rest of vm_quick_complete(): somebody waits. */
int vm_quick_wake(struct vm_worker *worker, struct vm_req *req);

/* Completes a receive of this worker, whose engine has been entered, and leaves
 * that; 0. */
static VM_ALWAYS_INLINE int vm_quick_complete(struct vm_engine *engine,
					      struct vm_worker *worker,
					      struct vm_req *req)
{
	if (VM_LIKELY(vm_light_done(req))) {
		vm_quick_leave(engine);
		return 0;
	}
	vm_quick_leave(engine);
	return vm_quick_wake(worker, req);
}

/*
 * vm_send(), by the task `self`, of a message whose receive is the oldest that
 * is posted: takes that, whose engine has been entered; vm_quick_fill() is to
 * follow.  NULL: not this way; it has more than so many bytes, for one.
 */
static VM_ALWAYS_INLINE struct vm_req *vm_quick_begin(struct vm_ult *self,
						      struct vm_rank *dest,
						      struct vm_env env,
						      size_t bytes, size_t most)
{
	const struct core_cvars *cvars = vm_rank_cvars(self->owner);
	struct core_rank_pvars *pvars = self->counts;
	struct vm_engine *engine = dest->via;
	struct vm_req *req;

	if (VM_UNLIKELY(self->sends_in_row + 1 >=
				(unsigned)cvars->send_budget ||
			bytes > most || vm_observed() ||
			!vm_quick_enter(engine, self)))
		return NULL;
	req = vm_light_match(dest, env, bytes);
	if (VM_UNLIKELY(!req)) {
		vm_quick_leave(engine);
		return NULL;
	}
	self->sends_in_row++;
	vm_pvar_add(pvars->sends, 1);
	vm_pvar_add(pvars->sent_bytes, bytes);
	return req;
}

/* The same of a short one. */
static VM_ALWAYS_INLINE struct vm_req *
vm_quick_begin_short(struct vm_ult *self, struct vm_rank *dest,
		     struct vm_env env, size_t bytes)
{
	return vm_quick_begin(self, dest, env, bytes,
			      (size_t)vm_rank_cvars(self->owner)->inline_limit);
}

/* ... and copies the bytes and completes it; 0. */
static VM_ALWAYS_INLINE int vm_quick_fill(struct vm_ult *self,
					  struct vm_engine *engine,
					  struct vm_req *req, const void *addr,
					  size_t bytes)
{
	if (VM_UNLIKELY(bytes != 8))
		return vm_quick_copy(engine, req, addr);
	memcpy(req->data.addr, addr, 8);
	return vm_quick_complete(engine, self->worker, req);
}

static VM_ALWAYS_INLINE bool vm_quick_send(struct vm_ult *self,
					   struct vm_rank *dest,
					   struct vm_env env, const void *addr,
					   size_t bytes)
{
	struct vm_req *req = vm_quick_begin_short(self, dest, env, bytes);

	if (VM_UNLIKELY(!req))
		return false;
	vm_quick_fill(self, dest->via, req, addr, bytes);
	return true;
}

/* The same of a longer message, which is copied into the buffer of its receive. */
bool vm_quick_long(struct vm_ult *self, struct vm_rank *dest, struct vm_env env,
		   const void *addr, size_t bytes);

/* Fills a slot with a message that it carries. */
static VM_ALWAYS_INLINE void vm_quick_slot(struct vm_slot *slot,
					   const struct vm_rank *dest,
					   struct vm_env env, const void *addr,
					   size_t bytes)
{
	slot->env = env;
	slot->rank = (uint32_t)dest->index;
	slot->payload = VM_PAYLOAD_INLINE;
	slot->inline_bytes = (uint8_t)bytes;
	if (VM_LIKELY(bytes == 8))
		memcpy(slot->inline_data, addr, 8);
	else
		memcpy(slot->inline_data, addr, bytes);
}

/* Whether nothing is special about a message that a slot carries, from the engine
 * of the caller's worker. */
static VM_ALWAYS_INLINE bool vm_quick_is_inline(const struct vm_ult *self,
						const struct vm_engine *from,
						size_t bytes)
{
	const struct core_cvars *cvars = vm_rank_cvars(self->owner);

	return VM_LIKELY(
		from && self->sends_in_row + 1 < (unsigned)cvars->send_budget &&
		bytes <= (size_t)cvars->inline_limit && !vm_observed());
}

/* Such a message has been sent. */
static VM_ALWAYS_INLINE void vm_quick_count_inline(struct vm_ult *self,
						   size_t bytes)
{
	struct core_rank_pvars *pvars = self->counts;

	self->sends_in_row++;
	vm_pvar_add(pvars->sends, 1);
	vm_pvar_add(pvars->sent_bytes, bytes);
	vm_pvar_add(pvars->sends_inline, 1);
}

/* The same of a short message to a rank of another worker, whose ring is not
 * full. */
static VM_ALWAYS_INLINE bool vm_quick_ring(struct vm_ult *self,
					   struct vm_rank *dest,
					   struct vm_env env, const void *addr,
					   size_t bytes)
{
	const struct vm_thread_cache *cache = self->worker->cache;
	struct vm_engine *from = cache->engine, *to = dest->via;
	struct vm_ring *ring;
	struct vm_slot *slot;
	uint32_t number;

	if (VM_UNLIKELY(to == &vm_engine_remote || to == from ||
			!vm_quick_is_inline(self, from, bytes)))
		return false;
	ring = &to->in[from->index];
	number = ring->head;
	if (VM_UNLIKELY(number == ring->end))
		return false;
	slot = vm_ring_slot(ring, number);
	vm_quick_slot(slot, dest, env, addr, bytes);
	vm_engine_show(to, ring, slot, number);
	vm_quick_count_inline(self, bytes);
	return true;
}

/* The same of a message for which no receive is posted, or to a rank of another
 * worker or process. */
bool vm_quick_other(struct vm_ult *self, struct vm_rank *dest,
		    struct vm_env env, const void *addr, size_t bytes);

static VM_ALWAYS_INLINE bool vm_quick_send_other(struct vm_ult *self,
						 struct vm_rank *dest,
						 struct vm_env env,
						 const void *addr, size_t bytes)
{
	if (bytes <= VM_INLINE_MAX || dest->via == &vm_engine_remote)
		return vm_quick_other(self, dest, env, addr, bytes);
	return vm_quick_long(self, dest, env, addr, bytes);
}

static VM_ALWAYS_INLINE bool vm_quick_send_any(struct vm_ult *self,
					       struct vm_rank *dest,
					       struct vm_env env,
					       const void *addr, size_t bytes)
{
	return VM_LIKELY(vm_quick_send(self, dest, env, addr, bytes)) ||
	       vm_quick_ring(self, dest, env, addr, bytes) ||
	       vm_quick_send_other(self, dest, env, addr, bytes);
}

/* Waits for the message of a receive of the world, or of a channel. */
static VM_ALWAYS_INLINE void vm_quick_wait(struct vm_ult *self,
					   struct vm_rank *rank,
					   struct vm_env env, size_t bytes)
{
	if (VM_UNLIKELY(env.context || vm_rank_main(rank) != self)) {
		vm_wait_message(VM_EXPORT_RECEIVE, &env, env.source, bytes, 0);
		return;
	}
	vm_wait_fill(rank, 0, env.source, env.tag, bytes, 0);
	vm_pvar_add(rank->pvars.waits, 1);
	vm_rank_does(rank, VM_EXPORT_RECEIVE);
	vm_ult_suspend();
	vm_rank_does(rank, VM_EXPORT_RUNNING);
}

/* Takes the engine of the caller's rank for a receive that is to be posted;
 * false: there may be a message, or the receive is for the agent. */
static VM_ALWAYS_INLINE bool vm_quick_post_begin(struct vm_rank *rank,
						 const struct vm_ult *self,
						 size_t bytes)
{
	if (vm_agent_wants(bytes) ||
	    VM_UNLIKELY(!vm_quick_enter(rank->engine, self)))
		return false;
	if (VM_LIKELY(!vm_match_arrived(&rank->match) &&
		      vm_match_has_room(&rank->match) &&
		      !atomic_load_explicit(&rank->peer_failed,
					    memory_order_relaxed)))
		return true;
	vm_quick_leave(rank->engine);
	return false;
}

/* ... and posts it; its state, marks, layout and node.kind are set. */
static VM_ALWAYS_INLINE void vm_quick_post(struct vm_rank *rank,
					   struct vm_req *req,
					   struct vm_env env, void *addr,
					   size_t bytes)
{
	req->rank = rank;
	req->data.addr = addr;
	req->data.bytes = bytes;
	req->node.env = env;
	vm_match_post_plain(&rank->match, &req->node);
	vm_quick_leave(rank->engine);
}

/*
 * vm_recv(), by the task `self` in `call`, of a message that has not come,
 * without wildcards: req, on the caller's stack, has the status and bytes.  May
 * switch.
 */
static VM_ALWAYS_INLINE bool vm_quick_recv(struct vm_ult *self,
					   struct vm_req *req,
					   struct vm_env env, void *addr,
					   size_t bytes, uint32_t call)
{
	struct vm_rank *rank = self->owner;
	struct core_rank_pvars *pvars = self->counts;
	struct vm_waiter waiter;

	if (VM_UNLIKELY(!vm_quick_post_begin(rank, self, bytes)))
		return false;
	waiter.ult = self;
	waiter.alone = true;
	atomic_init(&req->state, (uintptr_t)&waiter);
	req->marks = VM_LIGHT_TRANSIENT;
	req->data.layout = NULL;
	req->node.kind = 0;
	vm_quick_post(rank, req, env, addr, bytes);
	self->sends_in_row = 0;
	vm_wait_in(self, call);
	vm_quick_wait(self, rank, env, bytes);
	vm_pvar_add(pvars->receives, 1);
	vm_pvar_add(pvars->received_bytes, req->status.bytes);
	return true;
}

/* The same of a message of a rank `source`. */
static VM_ALWAYS_INLINE bool vm_quick_recv_any(struct vm_ult *self,
					       struct vm_req *req,
					       const struct vm_rank *source,
					       struct vm_env env, void *addr,
					       size_t bytes, uint32_t call)
{
	struct vm_rank *rank = self->owner;

	if (rank->port && source->via == &vm_engine_remote &&
	    vm_straight_recv(self, rank, source, env, addr, bytes, true,
			     &req->status))
		return true;
	return vm_quick_recv(self, req, env, addr, bytes, call);
}

/* vm_recv() of a message that has come and that carries its bytes, which fit:
 * what vm_quick_recv() refuses. */
bool vm_quick_take(struct vm_ult *self, struct vm_env env, void *addr,
		   size_t bytes, vmpi_status *status);

/* vm_irecv(), as vm_quick_recv(); NULL: not this way. */
static VM_ALWAYS_INLINE struct vm_req *
vm_quick_irecv(struct vm_ult *self, struct vm_env env, void *addr, size_t bytes)
{
	struct vm_thread_cache *cache = self->worker->cache;
	struct vm_rank *rank = self->owner;
	unsigned n = cache->light_count;
	struct vm_req *req;

	if (VM_UNLIKELY(!n || !vm_quick_post_begin(rank, self, bytes)))
		return NULL;
	req = cache->light[n - 1];
	cache->light_count = n - 1;
	atomic_init(&req->state, VM_REQ_PENDING);
	req->marks = VM_LIGHT_POSTED;
	vm_quick_post(rank, req, env, addr, bytes);
	return req;
}

/* The same of a message that has come, as vm_quick_take(). */
struct vm_req *vm_quick_itake(struct vm_ult *self, struct vm_env env,
			      void *addr, size_t bytes);

/* Whether a request is a light one that is complete; then vm_quick_put() is to
 * follow, after which its status is another's. */
static VM_ALWAYS_INLINE bool vm_quick_done(const struct vm_req *req)
{
	return vm_req_is_done(req) && req->marks == VM_LIGHT_DONE;
}

/* The requests that are free, of which there may be n. */
static VM_ALWAYS_INLINE void vm_quick_put(struct vm_thread_cache *cache,
					  unsigned *n, struct vm_req *req)
{
	/* So that stale handles are recognised. */
	req->active = false;
	if (VM_LIKELY(*n < VM_LIGHT_MAX))
		cache->light[(*n)++] = req;
	else
		vm_pool_put(&cache->req, req);
}

/*
 * Whether any request is complete, without an error, and of a usual kind; then
 * vm_quick_free() is to follow.
 */
bool vm_quick_ended(const struct vm_req *req);

static inline void vm_quick_free(struct vm_thread_cache *cache,
				 struct vm_req *req)
{
	req->active = false;
	vm_pool_put(&cache->req, req);
}

#endif
