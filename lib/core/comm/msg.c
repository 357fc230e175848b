/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations on a matched message: it is received, borrowed or dropped.
 *
 * The handle belongs to the caller, its payload lies in the message, in a
 * buffer, with its sender or in another process (enum vm_payload).
 */
#include "core/comm/msg.h"

#include <stdlib.h>

#include "core/instrument/overlap_events.h"
#include "core/local/engine.h"
#include "core/local/mailbox.h"
#include "core/comm/p2p.h"
#include "core/remote/rndv_recv.h"
#include "core/instrument/trace.h"
#include "core/rank/wait.h"

static void msg_free(struct vm_msg *msg)
{
	if (msg->payload == VM_PAYLOAD_DIRECT)
		free(msg->packed);
	vm_pool_put(&vm_thread_cache_self()->msg, msg);
}

static struct vm_arrival msg_arrival(const struct vm_msg *msg)
{
	return (struct vm_arrival){ .env = msg->node.env,
				    .payload = msg->payload,
				    .bytes = msg->bytes,
				    .buffer = msg->buffer,
				    .sender = msg->sender,
				    .origin = &msg->origin,
				    .port = msg->rank->port };
}

bool vm_msg_land(struct vm_msg *msg, struct vm_req *req)
{
	struct vm_arrival arrival = msg_arrival(msg);
	bool here = msg->payload != VM_PAYLOAD_REMOTE;

	if (here)
		vm_arrival_receive(&arrival, req, msg->rank, VM_PATH_WORKER);
	else
		vm_rndv_recv_start(req, &arrival.env, arrival.origin,
				   arrival.port, arrival.bytes);
	msg_free(msg);
	return here;
}

static __attribute__((noinline)) void bytes_told(const struct vm_msg *msg,
						 size_t bytes)
{
	vm_overlap_events_copied(vm_rank_self(), VM_SIDE_RECEIVE,
				 VM_PATH_WORKER, bytes);
	vm_trace_match(msg->rank, &msg->node.env, msg->bytes,
		       msg->payload == VM_PAYLOAD_COPY ? VM_PROTO_COPY :
							 VM_PROTO_INLINE,
		       NULL);
}

/* The usual case of a receive that finds its message: plain bytes from here
 * to there. */
static int msg_receive_bytes(struct vm_msg *msg, const struct vm_data *data,
			     vmpi_status *status)
{
	size_t bytes = msg->bytes < data->bytes ? msg->bytes : data->bytes;
	int error = msg->bytes > data->bytes ? -VMPI_ETRUNC : 0;

	vm_bytes_copy(data->addr, msg->buffer, bytes);
	if (msg->payload == VM_PAYLOAD_COPY)
		vm_buffer_put(vm_thread_cache_self(), msg->buffer, msg->bytes);
	if (status)
		*status = (vmpi_status){ .source = msg->node.env.source,
					 .tag = msg->node.env.tag,
					 .bytes = bytes,
					 .error = error };
	vm_count_received(bytes);
	if (vm_observed())
		bytes_told(msg, bytes);
	vm_pool_put(&vm_thread_cache_self()->msg, msg);
	return error;
}

int vm_msg_receive(struct vm_msg *msg, const struct vm_data *data,
		   vmpi_status *status)
{
	struct vm_env env = msg->node.env;
	struct vm_waiter waiter;
	struct vm_req req;

	if (VM_LIKELY(msg->payload < VM_PAYLOAD_DIRECT && !data->layout))
		return msg_receive_bytes(msg, data, status);
	waiter.ult = vm_self;
	waiter.alone = true;
	atomic_init(&req.state, (uintptr_t)&waiter);
	req.kind = VM_REQ_RECV;
	req.transient = true;
	req.rank = vm_rank_self();
	vm_data_assign(&req.data, data);
	if (!vm_msg_land(msg, &req))
		vm_wait_message(VM_EXPORT_RECEIVE, &env, env.source,
				data->bytes, 0);
	vm_count_received(req.status.bytes);
	if (status)
		vm_status_assign(status, &req.status);
	return req.status.error;
}

int vm_msg_ireceive(struct vm_msg *msg, const struct vm_data *data,
		    struct vm_req **req)
{
	struct vm_req *new = vm_req_new(VM_REQ_RECV);

	if (!new)
		return -VMPI_ENOMEM;
	vm_data_assign(&new->data, data);
	new->rank = vm_rank_self();
	vm_layout_hold(data->layout);
	if (vm_msg_land(msg, new))
		atomic_store_explicit(&new->state, VM_REQ_DONE,
				      memory_order_relaxed);
	*req = new;
	return 0;
}

void vm_msg_drop(struct vm_msg *msg)
{
	struct vm_arrival arrival = msg_arrival(msg);

	if (vm_observed() && msg->payload != VM_PAYLOAD_FETCHED)
		vm_trace_dropped(msg->rank, &arrival.env, arrival.bytes);
	vm_arrival_end(&arrival);
	msg_free(msg);
}

/* Gets a remote payload into memory of the handle. */
static int msg_fetch(struct vm_msg *msg)
{
	struct vm_waiter waiter = { .ult = vm_self, .alone = true };
	struct vm_req req = { .kind = VM_REQ_RECV,
			      .transient = true,
			      .rank = msg->rank };
	void *buffer = malloc(msg->bytes ? msg->bytes : 1);

	if (!buffer)
		return -VMPI_ENOMEM;
	atomic_init(&req.state, (uintptr_t)&waiter);
	req.data = vm_data_bytes(buffer, msg->bytes);
	vm_rndv_recv_start(&req, &msg->node.env, &msg->origin, msg->rank->port,
			   msg->bytes);
	vm_wait_message(VM_EXPORT_RECEIVE, &msg->node.env, msg->node.env.source,
			msg->bytes, 0);
	/* Its sender has been told, or is gone: there is nothing left to ask
	 * for. */
	msg->origin = (struct vm_origin){ 0 };
	if (req.status.error) {
		free(buffer);
		return req.status.error;
	}
	msg->payload = VM_PAYLOAD_FETCHED;
	msg->buffer = buffer;
	return 0;
}

int vm_msg_borrow(struct vm_msg *msg, const void **data)
{
	struct vm_data to;

	if (msg->payload == VM_PAYLOAD_REMOTE) {
		int rc = msg_fetch(msg);

		if (rc)
			return rc;
	}
	if (msg->payload != VM_PAYLOAD_DIRECT) {
		*data = msg->buffer;
		return 0;
	}
	if (!msg->sender->data.layout) {
		*data = msg->sender->data.addr;
		return 0;
	}
	if (!msg->packed) {
		msg->packed = malloc(msg->bytes);
		if (!msg->packed)
			return -VMPI_ENOMEM;
		to = vm_data_bytes(msg->packed, msg->bytes);
		vm_data_copy(&to, &msg->sender->data);
	}
	*data = msg->packed;
	return 0;
}
