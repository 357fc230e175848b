/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the short ways do not do on the spot.
 */
#include "core/comm/quick.h"

#include "core/rank/state.h"

/* So many are made light at a time. */
#define STOCK 16

bool vm_quick_stock(struct vm_thread_cache *cache)
{
	while (cache->light_count < STOCK) {
		struct vm_req *req = vm_pool_get(&cache->req);

		if (!req)
			break;
		vm_req_begin(req);
		req->active = false;
		req->data.layout = NULL;
		req->data.count = 0;
		req->node.kind = 0;
		cache->light[cache->light_count++] = req;
	}
	return cache->light_count;
}

int vm_quick_copy(struct vm_engine *engine, struct vm_req *req,
		  const void *addr)
{
	memcpy(req->data.addr, addr, req->status.bytes);
	return vm_quick_complete(engine, vm_self->worker, req);
}

int vm_quick_wake(struct vm_worker *worker, struct vm_req *req)
{
	struct vm_waiter *waiter = (struct vm_waiter *)atomic_load_explicit(
		&req->state, memory_order_relaxed);

	/* The waiter of such a request waits for nothing else. */
	if (VM_LIKELY(req->transient && waiter->ult->worker == worker &&
		      !worker->next))
		worker->next = waiter->ult;
	else
		vm_req_complete(req);
	return 0;
}

bool vm_quick_ended(const struct vm_req *req)
{
	return vm_req_is_done(req) && req->kind <= VM_REQ_RECV && req->active &&
	       !req->persistent && !req->observed && !req->data.layout &&
	       !req->on_free && !req->status.error;
}

/* A few bytes, most often 8. */
static inline void inline_copy(void *to, const void *from, size_t bytes)
{
	if (VM_LIKELY(bytes == 8))
		memcpy(to, from, 8);
	else
		memcpy(to, from, bytes);
}

/* Keeps a message to a rank of the worker until it is received. */
static bool keep(struct vm_ult *self, struct vm_rank *dest, struct vm_env env,
		 const void *addr, size_t bytes)
{
	struct vm_thread_cache *cache = self->worker->cache;
	struct core_match_pvars *pvars = &dest->match.pvars;
	struct vm_engine *engine = dest->via;
	struct vm_msg *msg = NULL;

	if (VM_UNLIKELY(!vm_quick_enter(engine, self)))
		return false;
	if (VM_LIKELY(!pvars->posted_len && vm_list_empty(&dest->probers)))
		msg = vm_pool_get(&cache->msg);
	if (VM_UNLIKELY(!msg)) {
		vm_quick_leave(engine);
		return false;
	}
	msg->node.env = env;
	msg->rank = dest;
	msg->sender = NULL;
	msg->bytes = bytes;
	msg->buffer = msg->inline_data;
	msg->payload = VM_PAYLOAD_INLINE;
	inline_copy(msg->inline_data, addr, bytes);
	vm_match_arrive(&dest->match, &msg->node);
	vm_pvar_keep(pvars->unexpected, 1); /* probes ask it */
	vm_pvar_max(pvars->unexpected_max, pvars->unexpected_len);
	vm_pvar_add(pvars->unexpected_bytes, bytes);
	vm_pvar_max(pvars->unexpected_bytes_max, pvars->unexpected_bytes);
	vm_quick_leave(engine);
	return true;
}

/* Sends it by the ring to another worker. */
static void ring_send(struct vm_engine *from, const struct vm_rank *dest,
		      struct vm_env env, const void *addr, size_t bytes)
{
	struct vm_slot *slot = vm_engine_slot(from, dest->via);

	vm_quick_slot(slot, dest, env, addr, bytes);
	vm_engine_publish(from, dest->via, slot);
}

bool vm_quick_other(struct vm_ult *self, struct vm_rank *dest,
		    struct vm_env env, const void *addr, size_t bytes)
{
	struct vm_thread_cache *cache = self->worker->cache;
	struct vm_engine *from = cache->engine;

	if (dest->via == &vm_engine_remote)
		return vm_straight_send(self, dest, env, addr, bytes);
	if (!vm_quick_is_inline(self, from, bytes))
		return false;
	if (from != dest->via)
		ring_send(from, dest, env, addr, bytes);
	else if (VM_UNLIKELY(!keep(self, dest, env, addr, bytes)))
		return false;
	vm_quick_count_inline(self, bytes);
	return true;
}

bool vm_quick_long(struct vm_ult *self, struct vm_rank *dest, struct vm_env env,
		   const void *addr, size_t bytes)
{
	struct core_rank_pvars *pvars = self->counts;
	struct vm_req *req =
		vm_quick_begin(self, dest, env, bytes,
			       (size_t)vm_rank_cvars(self->owner)->copy_limit);

	if (VM_UNLIKELY(!req))
		return false;
	vm_pvar_add(pvars->sizes_local[vm_size_bin(bytes)], 1);
	vm_quick_copy(dest->via, req, addr);
	return true;
}

/* Takes a message that has come and carries its bytes, which fit; false: there is
 * none, or another one. */
static inline bool inline_take(struct vm_ult *self, struct vm_env env,
			       void *addr, size_t bytes, vmpi_status *status)
{
	struct vm_thread_cache *cache = self->worker->cache;
	struct vm_rank *rank = self->owner;
	struct vm_match_node *node;
	struct vm_msg *msg;

	if (VM_UNLIKELY(!vm_match_arrived(&rank->match) || vm_observed() ||
			!vm_quick_enter(rank->engine, self)))
		return false;
	node = vm_match_peek(&rank->match, &env);
	msg = node ? vm_container_of(node, struct vm_msg, node) : NULL;
	if (VM_UNLIKELY(!msg || msg->payload != VM_PAYLOAD_INLINE ||
			msg->sender || msg->bytes > bytes)) {
		vm_quick_leave(rank->engine);
		return false;
	}
	vm_match_take(&rank->match, node);
	vm_pvar_add(rank->match.pvars.unexpected_bytes, -msg->bytes);
	vm_quick_leave(rank->engine);
	inline_copy(addr, msg->inline_data, msg->bytes);
	status->source = msg->node.env.source;
	status->tag = msg->node.env.tag;
	status->bytes = msg->bytes;
	status->error = 0;
	vm_pool_put(&cache->msg, msg);
	return true;
}

bool vm_quick_take(struct vm_ult *self, struct vm_env env, void *addr,
		   size_t bytes, vmpi_status *status)
{
	if (VM_UNLIKELY(!inline_take(self, env, addr, bytes, status)))
		return false;
	self->sends_in_row = 0;
	vm_count_received(env.context, status->bytes);
	return true;
}

struct vm_req *vm_quick_itake(struct vm_ult *self, struct vm_env env,
			      void *addr, size_t bytes)
{
	struct vm_thread_cache *cache = self->worker->cache;
	struct vm_rank *rank = self->owner;
	struct vm_req *req;

	if (!vm_match_arrived(&rank->match) || !cache->light_count)
		return NULL;
	req = cache->light[cache->light_count - 1];
	if (VM_UNLIKELY(!inline_take(self, env, addr, bytes, &req->status)))
		return NULL;
	cache->light_count--;
	req->marks = VM_LIGHT_DONE;
	req->rank = rank;
	req->node.env = env;
	req->data.addr = addr;
	req->data.bytes = bytes;
	/* Nobody else has it. */
	atomic_store_explicit(&req->state, VM_REQ_DONE, memory_order_relaxed);
	return req;
}
