/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends and receives.
 *
 * A send to a rank of the same worker is delivered at once, by the sender.  One
 * to another worker is a slot in the ring between the two, which is delivered
 * where the ring is read.  What nobody waits for goes by one of the local
 * protocols (core/local/protocol.h).
 */
#include "core/comm/p2p.h"

#include <limits.h>

#include "core/local/engine.h"
#include "core/remote/agent.h"
#include "core/remote/failure.h"
#include "core/local/deliver.h"
#include "core/local/mailbox.h"
#include "core/rank/state.h"
#include "core/remote/remote.h"
#include "core/rank/wait.h"

static inline void send_count(const struct vm_outgoing *out)
{
	struct core_rank_pvars *pvars = vm_counters();
	size_t bytes = out->arrival.data->bytes;

	vm_count_sent(pvars, out->arrival.env.context, bytes);
	if (!out->small)
		vm_pvar_add(pvars->sizes_local[vm_size_bin(bytes)], 1);
}

/* A message to a rank of the same worker that nobody waits for. */
static int lent_keep(struct vm_arrival *arrival)
{
	return vm_protocol_start(
		vm_container_of(arrival, struct vm_outgoing, arrival), NULL);
}

static const struct vm_payload_ops lent = { .keep = lent_keep };

/* To a rank at home on another worker, by the ring: as vm_deliver(). */
static __attribute__((noinline)) int send_ring(struct vm_outgoing *out,
					       struct vm_engine *engine)
{
	struct vm_arrival *arrival = &out->arrival;
	struct vm_slot *slot;
	int rc;

	send_count(out);
	slot = vm_engine_slot(out->cache->engine, engine);
	slot->env = arrival->env;
	slot->rank = (uint32_t)out->dest->index;
	arrival->path = VM_PATH_NODE;
	rc = vm_protocol_start(out, slot->inline_data);
	slot->payload = arrival->payload;
	slot->signature = arrival->signature;
	if (arrival->payload == VM_PAYLOAD_INLINE) {
		slot->inline_bytes = (uint8_t)arrival->data->bytes;
	} else {
		slot->by_address.buffer = arrival->data->addr;
		slot->by_address.bytes = arrival->data->bytes;
		slot->by_address.sender = arrival->sender;
	}
	if (rc == VM_PENDING)
		vm_engine_urgent(out->cache->engine, engine);
	if (out->lends) {
		slot->payload = VM_PAYLOAD_LENT;
		vm_engine_lend(out->cache->engine, engine);
	}
	vm_engine_publish(out->cache->engine, engine, slot);
	return rc;
}

/* From an OS thread that is no worker: it has no ring, so it delivers itself,
 * behind what its rank has sent before. */
static __attribute__((noinline)) int send_thread(struct vm_outgoing *out,
						 struct vm_engine *engine)
{
	struct vm_engine *home = vm_rank_self()->engine;

	send_count(out);
	vm_engine_lock(engine);
	if (home != engine)
		vm_engine_drain(engine, home->index, INT_MAX);
	return vm_deliver(out->dest, &out->arrival, &lent, true);
}

/* Sends a message: 0: it is complete for the sender; VM_PENDING: its request
 * has been armed and will be completed.  -VMPI_EPEER, -VMPI_ENOMEM. */
static inline int send_start(struct vm_outgoing *out)
{
	/* Read once: it changes when the rank fails. */
	struct vm_engine *engine = out->dest->via;

	if (out->cache->engine == engine) {
		send_count(out);
		vm_engine_lock(engine);
		return vm_deliver(out->dest, &out->arrival, &lent, true);
	}
	if (engine == &vm_engine_remote)
		return vm_remote_send(out);
	if (VM_LIKELY(out->cache->engine != NULL))
		return send_ring(out, engine);
	return send_thread(out, engine);
}

/* Whether a rank has so many messages that it has not received that its senders
 * should wait. */
static __attribute__((noinline)) bool is_flooded(const struct vm_rank *dest)
{
	uint32_t limit = (uint32_t)core_cvar.unexpected_limit;

	if (vm_match_arrived(&dest->match) > limit)
		return true;
	/* On the fabric's loop they also wait for credits, without a bound of
	 * their number. */
	return dest->via == &vm_engine_remote && vm_rank_here(dest) &&
	       atomic_load_explicit(&vm_node->copies[vm_node->process],
				    memory_order_relaxed) > limit;
}

/*
 * Keeps a flood from filling the memory: once per budget a sender checks the
 * receiver's queue, and if it is too long this message completes only when it
 * is matched.
 */
static inline enum vm_send_mode send_throttle(const struct vm_ult *self,
					      const struct core_cvars *cvars,
					      const struct vm_rank *dest,
					      enum vm_send_mode mode)
{
	if (VM_LIKELY(self->sends_in_row + 1 < (unsigned)cvars->send_budget))
		return mode;
	return is_flooded(dest) ? VM_SEND_SYNC : mode;
}

/* All of a message but its data, which is set, and its request. */
static inline void send_init(struct vm_outgoing *out, const struct vm_ult *self,
			     struct vm_rank *dest, struct vm_env env,
			     enum vm_send_mode mode)
{
	const struct core_cvars *cvars = vm_rank_cvars(self->owner);

	out->arrival.env = env;
	out->arrival.payload = VM_PAYLOAD_LENT;
	out->arrival.path = VM_PATH_WORKER;
	out->dest = dest;
	out->cache = self->worker->cache;
	out->mode = send_throttle(self, cvars, dest, mode);
	out->lends = false;
	out->small = out->mode == VM_SEND_STANDARD &&
		     out->arrival.data->bytes <= (size_t)cvars->inline_limit;
}

/* A rank that only sends lets the others run now and then.  An OS thread need
 * not where processes have cores of their own: the kernel takes care of that, and
 * beside threads that compute it would get the processor back late.  On a shared core
 * it would fill the receiver's memory, and then sleep. */
static inline void send_pace(struct vm_ult *self)
{
	const struct vm_rank *rank = self->owner;

	if (VM_UNLIKELY(++self->sends_in_row >=
			(unsigned)vm_rank_cvars(rank)->send_budget)) {
		self->sends_in_row = 0;
		if (self->worker->index >= 0 || vm_sched.shared)
			vm_rank_yield();
	}
}

int vm_send(struct vm_rank *dest, struct vm_env env, const struct vm_data *data,
	    enum vm_send_mode mode)
{
	struct vm_ult *self = vm_self;
	struct vm_waiter waiter = { .ult = self, .alone = true };
	struct vm_outgoing out;
	struct vm_req req;
	int rc;

	atomic_init(&req.state, (uintptr_t)&waiter);
	req.kind = VM_REQ_SEND;
	req.transient = true;
	req.observed = false;
	out.req = &req;
	out.arrival.data = data;
	send_init(&out, self, dest, env, mode);
	rc = send_start(&out);
	if (rc <= 0) {
		send_pace(self);
		return rc;
	}
	self->sends_in_row = 0;
	vm_wait_message(VM_EXPORT_SEND, &env, dest->index, data->bytes,
			VM_EXPORT_SENDS | VM_EXPORT_OF_WORLD);
	if (VM_UNLIKELY(req.observed))
		vm_observe_sent(&req);
	return req.status.error;
}

/*
 * Whether a nonblocking send to another worker leaves its short payload where it
 * is: the reader of the ring copies it to where it belongs, or into a buffer.
 * This worker completes the send; a thread that waits for it would not know.
 */
static inline bool send_lends(const struct vm_outgoing *out,
			      const struct vm_rank *rank)
{
	const struct vm_data *data = out->arrival.data;

	return out->mode == VM_SEND_STANDARD && !out->small &&
	       out->cache->engine != out->dest->via && out->cache->engine &&
	       out->dest->via != &vm_engine_remote && !data->layout &&
	       data->bytes <= (size_t)vm_rank_cvars(rank)->copy_limit &&
	       !atomic_load_explicit(&rank->threaded, memory_order_relaxed) &&
	       !vm_observed();
}

int vm_isend(struct vm_rank *dest, struct vm_env env,
	     const struct vm_data *data, enum vm_send_mode mode,
	     struct vm_req **req)
{
	struct vm_ult *self = vm_self;
	struct vm_outgoing out;
	struct vm_req *new;
	int rc;

	out.arrival.data = data;
	send_init(&out, self, dest, env, mode);
	out.lends = send_lends(&out, self->owner);
	out.req = new = out.small ? NULL : vm_req_new(VM_REQ_SEND);
	if (!new && !out.small)
		return -VMPI_ENOMEM;
	rc = send_start(&out);
	if (rc > 0) {
		vm_layout_hold(data->layout);
		*req = out.req;
		rc = 0;
	} else {
		if (new)
			vm_pool_put(&out.cache->req, new);
		*req = &vm_req_done_send;
	}
	send_pace(self);
	return rc;
}

int vm_send_start(struct vm_req *req, struct vm_rank *dest,
		  enum vm_send_mode mode)
{
	struct vm_data data = req->data;
	struct vm_outgoing out;
	int rc;

	vm_layout_hold(data.layout);
	out.req = req;
	out.arrival.data = &data;
	send_init(&out, vm_self, dest, req->node.env, mode);
	atomic_init(&req->state, VM_REQ_PENDING);
	req->active = true;
	rc = send_start(&out);
	if (rc <= 0) {
		out.arrival.data = &data;
		vm_outgoing_arm(&out);
		req->status.error = rc;
		atomic_store_explicit(&req->state, VM_REQ_DONE,
				      memory_order_relaxed);
	}
	send_pace(vm_self);
	return 0;
}

/* The oldest message that fits, taken out, or NULL; the lock is held. */
static inline struct vm_msg *msg_take(struct vm_rank *rank,
				      const struct vm_env *env)
{
	struct vm_match_node *node = vm_match_peek(&rank->match, env);
	struct vm_msg *msg;

	if (!node)
		return NULL;
	msg = vm_container_of(node, struct vm_msg, node);
	vm_mailbox_take(msg);
	return msg;
}

bool vm_recv_arrived(struct vm_rank *rank, struct vm_env env, void *addr,
		     size_t bytes, vmpi_status *status)
{
	struct vm_data data = vm_data_bytes(addr, bytes);
	struct vm_engine *engine = rank->engine;
	struct vm_match_node *node;
	struct vm_msg *msg = NULL;

	vm_engine_lock(engine);
	node = vm_match_peek(&rank->match, &env);
	if (node)
		msg = vm_container_of(node, struct vm_msg, node);
	if (msg && (msg->bytes > bytes || (msg->payload >= VM_PAYLOAD_DIRECT &&
					   msg->payload != VM_PAYLOAD_PACKET)))
		msg = NULL;
	if (msg)
		vm_mailbox_take(msg);
	vm_engine_unlock(engine);
	if (!msg)
		return false;
	vm_self->sends_in_row = 0;
	return vm_msg_receive(msg, &data, status) == 0;
}

int vm_recv(struct vm_env env, const struct vm_data *data, vmpi_status *status)
{
	struct vm_ult *self = vm_self;
	struct vm_rank *rank = self->owner;
	struct vm_engine *engine = rank->engine;
	struct vm_waiter waiter;
	struct vm_msg *msg;
	struct vm_req req;
	int lost;

	self->sends_in_row = 0;
	vm_engine_lock(engine);
	msg = msg_take(rank, &env);
	if (msg) {
		vm_engine_unlock(engine);
		return vm_msg_receive(msg, data, status);
	}
	lost = vm_failure_wanted(rank, &env);
	if (VM_UNLIKELY(lost)) {
		vm_engine_unlock(engine);
		return lost;
	}
	waiter.ult = self;
	waiter.alone = true;
	atomic_init(&req.state, (uintptr_t)&waiter);
	req.kind = VM_REQ_RECV;
	req.transient = true;
	req.rank = rank;
	vm_data_assign(&req.data, data);
	req.node.env = env;
	vm_mailbox_post(rank, &req);
	vm_engine_unlock(engine);
	if (vm_agent_wants(data->bytes))
		vm_agent_begin();
	vm_wait_message(VM_EXPORT_RECEIVE, &env, env.source, data->bytes, 0);
	if (vm_agent_wants(data->bytes))
		vm_agent_end();
	vm_count_received(env.context, req.status.bytes);
	if (status)
		vm_status_assign(status, &req.status);
	return req.status.error;
}

/* Starts a receive whose request is there already. */
static void recv_begin(struct vm_req *req, struct vm_rank *rank)
{
	struct vm_engine *engine = rank->engine;
	struct vm_msg *msg;
	int lost = 0;

	req->rank = rank;
	req->active = true;
	vm_layout_hold(req->data.layout);
	atomic_init(&req->state, VM_REQ_PENDING);
	vm_engine_lock(engine);
	msg = msg_take(rank, &req->node.env);
	if (!msg)
		lost = vm_failure_wanted(rank, &req->node.env);
	if (VM_UNLIKELY(lost && vm_failure_stalls(req, lost)))
		lost = 0;
	if (!msg && !lost)
		vm_mailbox_post(rank, req);
	vm_engine_unlock(engine);
	if (vm_agent_wants(req->data.bytes)) {
		req->observed = true;
		vm_agent_begin();
	}
	if (VM_UNLIKELY(lost))
		req->status = (vmpi_status){ .source = req->node.env.source,
					     .tag = req->node.env.tag,
					     .error = lost };
	if (lost || (msg && vm_msg_land(msg, req) == VM_DONE))
		atomic_store_explicit(&req->state, VM_REQ_DONE,
				      memory_order_relaxed);
}

int vm_irecv_for(struct vm_rank *rank, struct vm_env env,
		 const struct vm_data *data, struct vm_req **req)
{
	struct vm_req *new = vm_req_new(VM_REQ_RECV);

	if (!new)
		return -VMPI_ENOMEM;
	new->node.env = env;
	vm_data_assign(&new->data, data);
	recv_begin(new, rank);
	*req = new;
	return 0;
}

int vm_irecv(struct vm_env env, const struct vm_data *data, struct vm_req **req)
{
	return vm_irecv_for(vm_rank_self(), env, data, req);
}

int vm_recv_start(struct vm_req *req)
{
	recv_begin(req, vm_rank_self());
	return 0;
}
