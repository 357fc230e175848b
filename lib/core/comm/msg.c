/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations on a matched message: it is received, borrowed or dropped.
 *
 * The handle belongs to the caller, its payload lies in the message, in a
 * buffer, with its sender or in another process (enum vm_payload).
 */
#include "core/comm/p2p.h"

#include <stdlib.h>

#include "core/local/engine.h"
#include "core/local/deliver.h"
#include "core/remote/remote.h"
#include "core/rank/wait.h"

static void msg_free(struct vm_msg *msg)
{
	if (msg->payload == VM_PAYLOAD_DIRECT)
		free(msg->packed);
	vm_pool_put(&vm_thread_cache_self()->msg, msg);
}

/* A message as it arrived; `here` gets its bytes. */
static struct vm_arrival msg_arrival(const struct vm_msg *msg,
				     struct vm_data *here)
{
	vm_data_set_bytes(here, msg->buffer, msg->bytes);
	return (struct vm_arrival){ .env = msg->node.env,
				    .payload = msg->payload,
				    .path = VM_PATH_WORKER,
				    .signature = msg->signature,
				    .data = msg->payload == VM_PAYLOAD_DIRECT ?
						    &msg->sender->data :
						    here,
				    .sender = msg->sender,
				    .origin = &msg->origin,
				    .port = msg->rank->port };
}

static const struct vm_payload_ops *msg_ops(const struct vm_msg *msg)
{
	switch (msg->payload) {
	case VM_PAYLOAD_REMOTE:
		return &vm_remote_payload;
	case VM_PAYLOAD_PACKET:
		return &vm_packet_payload;
	case VM_PAYLOAD_FETCHED:
		return &vm_fetched_payload;
	default:
		return &vm_local_payload;
	}
}

/* Moves the payload into a receive: 0; VM_PENDING: it will be completed. */
static int msg_move(struct vm_msg *msg, struct vm_req *req)
{
	struct vm_data here;
	struct vm_arrival arrival = msg_arrival(msg, &here);

	if (vm_observed())
		return vm_arrival_receive_observed(&arrival, req, msg->rank,
						   msg_ops(msg));
	return vm_arrival_receive(&arrival, req, msg_ops(msg));
}

int vm_msg_land(struct vm_msg *msg, struct vm_req *req)
{
	int rc = msg_move(msg, req);

	msg_free(msg);
	return rc;
}

/* The usual case of a receive that finds its message: plain bytes from here
 * to there. */
static int msg_receive_bytes(struct vm_msg *msg, const struct vm_data *data,
			     vmpi_status *status)
{
	struct vm_data here = vm_data_bytes(msg->buffer, msg->bytes);
	size_t bytes = vm_data_copy(data, &here);
	vmpi_status result = { .source = msg->node.env.source,
			       .tag = msg->node.env.tag,
			       .bytes = bytes };

	vm_payload_free(msg->payload, msg->buffer, msg->bytes);
	if (VM_UNLIKELY(msg->bytes > data->bytes))
		vm_status_truncate(&result, msg->bytes, data->bytes);
	if (status)
		*status = result;
	vm_count_received(msg->node.env.context, bytes);
	vm_observe_received_bytes(msg, bytes);
	vm_pool_put(&vm_thread_cache_self()->msg, msg);
	return result.error;
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
	if (vm_msg_land(msg, &req) == VM_PENDING)
		vm_wait_message(VM_EXPORT_RECEIVE, &env, env.source,
				data->bytes, 0);
	vm_count_received(env.context, req.status.bytes);
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
	new->node.env = msg->node.env;
	vm_layout_hold(data->layout);
	if (vm_msg_land(msg, new) == VM_DONE)
		atomic_store_explicit(&new->state, VM_REQ_DONE,
				      memory_order_relaxed);
	*req = new;
	return 0;
}

void vm_msg_drop(struct vm_msg *msg)
{
	struct vm_data here;
	struct vm_arrival arrival = msg_arrival(msg, &here);

	vm_observe_dropped(msg);
	msg_ops(msg)->end(&arrival);
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
	if (msg_move(msg, &req) == VM_PENDING)
		vm_wait_message(VM_EXPORT_RECEIVE, &msg->node.env,
				msg->node.env.source, msg->bytes, 0);
	/* Its sender has been told, or is gone: there is nothing left to
	 * ask. */
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
