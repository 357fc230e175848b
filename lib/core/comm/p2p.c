/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends and receives.
 *
 * A send to a rank of the same worker is matched at once, by the sender.  One
 * to another worker is a slot in the ring between the two.  What is not matched
 * at once goes by one of three protocols: inline (the bytes travel with the
 * envelope), copy (they wait in a buffer, the sender goes on) or direct (they
 * stay with the sender, who waits, and are copied once).
 */
#include "core/comm/p2p.h"

#include <limits.h>

#include "core/local/engine.h"
#include "core/instrument/overlap_events.h"
#include "core/remote/failure.h"
#include "core/local/mailbox.h"
#include "core/rank/state.h"
#include "core/remote/remote.h"
#include "core/instrument/trace.h"
#include "core/rank/wait.h"

/* A send before its protocol is chosen. */
struct send {
	struct vm_rank *dest;
	struct vm_env env;
	const struct vm_data *data;
	enum vm_send_mode mode;
	struct vm_thread_cache *lane;
	bool small; /* goes inline, and is complete at once */
	/* Elsewhere: the request it had to make, or why it was not sent. */
	struct vm_req *made;
	int error;
};

/* The request of a direct send, before its message can be seen by others. */
static void send_arm(struct vm_req *req, const struct send *send)
{
	vm_data_assign(&req->data, send->data);
	req->rank = send->dest;
	req->msg = NULL;
	req->status = (vmpi_status){ .source = send->env.source,
				     .tag = send->env.tag,
				     .bytes = send->data->bytes };
}

static inline void send_count(struct core_rank_pvars *pvars, size_t bytes)
{
	vm_pvar_add(pvars->sends, 1);
	vm_pvar_add(pvars->sent_bytes, bytes);
}

/* To a rank of this process. */
static inline void near_count(const struct send *send)
{
	struct core_rank_pvars *pvars = vm_counters();
	size_t bytes = send->data->bytes;

	send_count(pvars, bytes);
	if (!send->small)
		vm_pvar_add(pvars->sizes_local[vm_size_bin(bytes)], 1);
}

/* The sender's transfer of what it has copied, or has to be copied: before the
 * message can be seen by others. */
static __attribute__((noinline)) void copied_told(const struct send *send,
						  enum vm_path way)
{
	enum vm_proto proto = send->small ? VM_PROTO_INLINE : VM_PROTO_COPY;

	vm_overlap_events_copied(vm_rank_self(), VM_SIDE_SEND, way,
				 send->data->bytes);
	vm_trace_send(send->dest, &send->env, send->data->bytes);
	vm_trace_sends(send->dest, &send->env, send->data->bytes, proto, NULL);
}

static inline void send_copied(const struct send *send, enum vm_path way)
{
	if (vm_observed())
		copied_told(send, way);
}

static __attribute__((noinline)) void
offered_told(struct vm_req *req, const struct send *send, enum vm_path way)
{
	vm_overlap_events_begin(&req->xfer, vm_rank_self(), VM_SIDE_SEND, way,
				send->data->bytes);
	vm_trace_send(send->dest, &send->env, send->data->bytes);
	vm_trace_sends(send->dest, &send->env, send->data->bytes,
		       VM_PROTO_DIRECT, req);
}

static inline void send_offered(struct vm_req *req, const struct send *send,
				enum vm_path way)
{
	req->xfer.overlap = NULL;
	if (vm_observed())
		offered_told(req, send, way);
}

/* Copies the payload to a contiguous place. */
static void send_pack(const struct send *send, void *place)
{
	struct vm_data to = vm_data_bytes(place, send->data->bytes);

	vm_data_copy(&to, send->data);
}

/* Decided once per send: the limit may change meanwhile. */
static inline bool fits_inline(const struct core_cvars *cvars,
			       const struct vm_data *data,
			       enum vm_send_mode mode)
{
	return data->bytes <= (size_t)cvars->inline_limit &&
	       mode == VM_SEND_STANDARD;
}

/* A buffer for the copy protocol, or NULL: then it is direct. */
static void *send_buffer(const struct send *send)
{
	size_t bytes = send->data->bytes;

	if (bytes > (size_t)vm_rank_cvars(vm_rank_self())->copy_limit ||
	    send->mode != VM_SEND_STANDARD)
		return NULL;
	return vm_buffer_get(send->lane, bytes);
}

/*
 * Queues a message that fits no receive; the lock is held.  Returns whether it
 * is complete for the sender; if not, req has been armed.
 */
static bool send_queue(const struct send *send, struct vm_req *req)
{
	struct core_rank_pvars *pvars = vm_counters();
	struct vm_arrival arrival = { .env = send->env,
				      .bytes = send->data->bytes };
	char small[VM_INLINE_MAX];

	if (send->small) {
		arrival.payload = VM_PAYLOAD_INLINE;
		arrival.buffer = send->data->addr;
		if (send->data->layout) {
			send_pack(send, small);
			arrival.buffer = small;
		}
		vm_pvar_add(pvars->sends_inline, 1);
		send_copied(send, VM_PATH_WORKER);
	} else if ((arrival.buffer = send_buffer(send))) {
		send_pack(send, arrival.buffer);
		send_copied(send, VM_PATH_WORKER);
		arrival.payload = VM_PAYLOAD_COPY;
		vm_pvar_add(pvars->sends_copy, 1);
		vm_pvar_add(pvars->bytes_copy, arrival.bytes);
	} else {
		send_arm(req, send);
		send_offered(req, send, VM_PATH_WORKER);
		arrival.payload = VM_PAYLOAD_DIRECT;
		arrival.sender = req;
		vm_pvar_add(pvars->sends_direct, 1);
		vm_pvar_add(pvars->bytes_direct, arrival.bytes);
	}
	vm_mailbox_queue(send->dest, &arrival);
	return !arrival.sender;
}

/* The copy is a transfer of both ranks. */
static __attribute__((noinline)) void land_told(const struct send *send,
						struct vm_req *recv)
{
	struct vm_overlap_events_copy sent, received;
	uint64_t bytes = send->data->bytes;

	vm_trace_send(send->dest, &send->env, bytes);
	vm_overlap_events_copy_begin(&sent, vm_rank_self(), VM_SIDE_SEND,
				     VM_PATH_WORKER, bytes);
	vm_overlap_events_copy_begin(&received, send->dest, VM_SIDE_RECEIVE,
				     VM_PATH_WORKER, bytes);
	vm_data_land(send->data, &send->env, recv);
	vm_overlap_events_copy_end(&received);
	vm_overlap_events_copy_end(&sent);
	vm_trace_sends(send->dest, &send->env, bytes, VM_PROTO_DIRECT, NULL);
	vm_trace_match(send->dest, &send->env, bytes, VM_PROTO_DIRECT, NULL);
}

/* To a rank whose engine's lock the caller holds; gives it back.  Left to
 * itself the compiler makes two calls of this, 0.5 ns a message. */
static inline __attribute__((always_inline)) bool
send_here(const struct send *send, struct vm_req *req)
{
	struct vm_engine *engine = send->dest->engine;
	struct vm_match_node *node =
		vm_match_arrival(&send->dest->match, &send->env);
	struct vm_req *recv;
	bool done;

	if (!node) {
		done = send_queue(send, req);
		vm_engine_unlock(engine);
		return done;
	}
	recv = vm_container_of(node, struct vm_req, node);
	recv->posted = false;
	vm_engine_unlock(engine);
	if (vm_observed())
		land_told(send, recv);
	else
		vm_data_land(send->data, &send->env, recv);
	vm_req_complete(recv);
	return true;
}

/* To a rank of another process. */
static bool send_remote(struct send *send, struct vm_req *req)
{
	struct core_rank_pvars *pvars = vm_counters();
	struct vm_req *armed = req;
	int rc;

	send_count(pvars, send->data->bytes);
	rc = vm_remote_send(send->dest, &send->env, send->data,
			    send->mode == VM_SEND_SYNC, &armed);

	if (rc < 0)
		send->error = rc;
	else if (!req)
		send->made = armed;
	return rc != 0;
}

/* To a rank at home on another worker, by the ring. */
static __attribute__((noinline)) bool send_ring(struct send *send,
						struct vm_req *req)
{
	struct core_rank_pvars *pvars = vm_counters();
	struct vm_engine *engine = send->dest->via;
	struct vm_slot *slot;
	bool done = true;

	if (engine == &vm_engine_remote)
		return send_remote(send, req);
	near_count(send);
	slot = vm_engine_slot(send->lane->engine, engine);

	slot->env = send->env;
	slot->rank = (uint32_t)send->dest->index;
	if (send->small) {
		slot->payload = VM_PAYLOAD_INLINE;
		slot->inline_bytes = (uint8_t)send->data->bytes;
		send_pack(send, slot->inline_data);
		vm_pvar_add(pvars->sends_inline, 1);
		send_copied(send, VM_PATH_NODE);
	} else {
		void *buffer = send_buffer(send);

		slot->far.bytes = send->data->bytes;
		slot->far.buffer = buffer;
		slot->far.sender = NULL;
		slot->payload = buffer ? VM_PAYLOAD_COPY : VM_PAYLOAD_DIRECT;
		if (buffer) {
			send_pack(send, buffer);
			vm_pvar_add(pvars->sends_copy, 1);
			vm_pvar_add(pvars->bytes_copy, slot->far.bytes);
			send_copied(send, VM_PATH_NODE);
		} else {
			send_arm(req, send);
			send_offered(req, send, VM_PATH_NODE);
			slot->far.sender = req;
			vm_pvar_add(pvars->sends_direct, 1);
			vm_pvar_add(pvars->bytes_direct, slot->far.bytes);
			done = false;
		}
	}
	/* Pairs with the load in vm_engine_drain(). */
	atomic_store_explicit(&slot->full, 1, memory_order_release);
	vm_worker_nudge(engine->worker);
	return done;
}

/* From an OS thread that is no worker: it has no ring, so it delivers itself,
 * behind what its rank has sent before. */
static __attribute__((noinline)) bool send_thread(struct send *send,
						  struct vm_req *req)
{
	struct vm_engine *engine = send->dest->via;
	struct vm_engine *home = vm_rank_self()->engine;

	if (engine == &vm_engine_remote)
		return send_remote(send, req);
	near_count(send);
	vm_engine_lock(engine);
	if (home != engine)
		vm_engine_drain(engine, home->index, INT_MAX);
	return send_here(send, req);
}

/* Returns whether the message is complete for the sender; if not, req is armed
 * and will be completed. */
static inline bool send_go(struct send *send, struct vm_req *req)
{
	struct vm_engine *engine = send->dest->via;

	if (send->lane->engine == engine) {
		near_count(send);
		vm_engine_lock(engine);
		return send_here(send, req);
	}
	if (VM_LIKELY(send->lane->engine != NULL))
		return send_ring(send, req);
	return send_thread(send, req);
}

/*
 * Keeps a flood from filling the memory: once per budget a sender checks the
 * receiver's unexpected queue, and if it is too long this message completes
 * only when it is matched.
 */
static inline enum vm_send_mode send_throttle(const struct vm_ult *self,
					      const struct core_cvars *cvars,
					      const struct vm_rank *dest,
					      enum vm_send_mode mode)
{
	if (VM_LIKELY(self->sends_in_row + 1 < (unsigned)cvars->send_budget))
		return mode;
	return vm_match_arrived(&dest->match) >
			       (uint32_t)core_cvar.unexpected_limit ?
		       VM_SEND_SYNC :
		       mode;
}

static inline struct send send_new(const struct vm_ult *self,
				   struct vm_rank *dest, struct vm_env env,
				   const struct vm_data *data,
				   enum vm_send_mode mode)
{
	const struct core_cvars *cvars = vm_rank_cvars(self->owner);

	mode = send_throttle(self, cvars, dest, mode);
	return (struct send){ dest,
			      env,
			      data,
			      mode,
			      self->worker->lane,
			      fits_inline(cvars, data, mode),
			      NULL,
			      0 };
}

/* A rank that only sends lets the others run now and then.  An OS thread need
 * not: the kernel takes care of that, and beside threads that compute it would
 * get the processor back late. */
static inline void send_pace(struct vm_ult *self)
{
	const struct vm_rank *rank = self->owner;

	if (VM_UNLIKELY(++self->sends_in_row >=
			(unsigned)vm_rank_cvars(rank)->send_budget)) {
		self->sends_in_row = 0;
		if (self->worker->index >= 0)
			vm_rank_yield();
	}
}

int vm_send(struct vm_rank *dest, struct vm_env env, const struct vm_data *data,
	    enum vm_send_mode mode)
{
	struct vm_ult *self = vm_self;
	struct send send = send_new(self, dest, env, data, mode);
	struct vm_waiter waiter = { .ult = self, .alone = true };
	struct vm_req req;

	atomic_init(&req.state, (uintptr_t)&waiter);
	req.kind = VM_REQ_SEND;
	req.transient = true;
	req.told = false;
	if (send_go(&send, &req)) {
		send_pace(self);
		return send.error;
	}
	self->sends_in_row = 0;
	vm_wait_message(VM_EXPORT_SEND, &env, dest->index, data->bytes,
			VM_EXPORT_SENDS | VM_EXPORT_OF_WORLD);
	if (VM_UNLIKELY(req.told))
		vm_trace_sent(&req);
	return req.status.error;
}

/* Starts a send whose request is there already. */
static void send_begin(struct vm_req *req, struct send *send)
{
	atomic_init(&req->state, VM_REQ_PENDING);
	req->active = true;
	if (send_go(send, req)) {
		send_arm(req, send);
		req->status.error = send->error;
		atomic_store_explicit(&req->state, VM_REQ_DONE,
				      memory_order_relaxed);
	}
}

int vm_isend(struct vm_rank *dest, struct vm_env env,
	     const struct vm_data *data, enum vm_send_mode mode,
	     struct vm_req **req)
{
	struct vm_ult *self = vm_self;
	struct send send = send_new(self, dest, env, data, mode);
	struct vm_req *new = send.small ? NULL : vm_req_new(VM_REQ_SEND);

	if (!new && !send.small)
		return -VMPI_ENOMEM;
	if (send_go(&send, new)) {
		if (new)
			vm_pool_put(&send.lane->req, new);
		*req = &vm_req_done_send;
	} else {
		vm_layout_hold(data->layout);
		*req = new ? new : send.made;
	}
	send_pace(self);
	return send.error;
}

int vm_send_start(struct vm_req *req, struct vm_rank *dest,
		  enum vm_send_mode mode)
{
	struct vm_data data = req->data;
	struct send send = send_new(vm_self, dest, req->node.env, &data, mode);

	vm_layout_hold(data.layout);
	send_begin(req, &send);
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

int vm_recv(struct vm_env env, const struct vm_data *data, vmpi_status *status)
{
	struct vm_ult *self = vm_self;
	struct vm_rank *rank = self->owner;
	struct vm_engine *engine = rank->engine;
	struct vm_waiter waiter;
	struct vm_msg *msg;
	struct vm_req req;

	self->sends_in_row = 0;
	vm_engine_lock(engine);
	msg = msg_take(rank, &env);
	if (msg) {
		vm_engine_unlock(engine);
		return vm_msg_receive(msg, data, status);
	}
	if (vm_failure_wanted(rank, &env)) {
		vm_engine_unlock(engine);
		return -VMPI_EPEER;
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
	vm_wait_message(VM_EXPORT_RECEIVE, &env, env.source, data->bytes, 0);
	vm_count_received(req.status.bytes);
	if (status)
		vm_status_assign(status, &req.status);
	return req.status.error;
}

/* Starts a receive whose request is there already. */
static void recv_begin(struct vm_req *req, struct vm_rank *rank)
{
	struct vm_engine *engine = rank->engine;
	bool lost = false;
	struct vm_msg *msg;

	req->rank = rank;
	req->active = true;
	vm_layout_hold(req->data.layout);
	atomic_init(&req->state, VM_REQ_PENDING);
	vm_engine_lock(engine);
	msg = msg_take(rank, &req->node.env);
	if (!msg)
		lost = vm_failure_wanted(rank, &req->node.env);
	if (!msg && !lost)
		vm_mailbox_post(rank, req);
	vm_engine_unlock(engine);
	if (VM_UNLIKELY(lost))
		req->status = (vmpi_status){ .source = req->node.env.source,
					     .tag = req->node.env.tag,
					     .error = -VMPI_EPEER };
	if (lost || (msg && vm_msg_land(msg, req)))
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
