/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers to CTS and FIN.
 *
 * The packets of one push all come by one port, whose callbacks never run at the
 * same time; so only its end, which hands the request over, needs care.
 */
#include "core/push.h"

#include <string.h>

#include "core/engine.h"
#include "core/node.h"
#include "core/opid.h"
#include "core/req.h"

static bool readable(const struct vm_data *data)
{
	return !data->layout && data->bytes &&
	       vm_fabric_limits(vm_node->fabric)->rma &&
	       core_cvar.rndv_protocol != VM_RNDV_PIPELINE;
}

struct vm_push *vm_push_new(struct vm_req *req, struct vm_port *port,
			    struct vm_to to, struct vm_wire_envelope *envelope)
{
	struct vm_push *push = vm_pool_get(&vm_lane_self()->push);

	if (!push)
		return NULL;
	push->req = req;
	push->port = port;
	push->to = to;
	push->sent = 0;
	push->readable = push->writing = false;
	push->id = vm_opid_new(&vm_node->pushes, push);
	if (!push->id) {
		vm_pool_put(&vm_lane_self()->push, push);
		return NULL;
	}
	req->push = push->id;
	envelope->sender = push->id;
	return push;
}

static void push_release(struct vm_push *push)
{
	if (push->readable)
		vm_mr_close(&push->mr);
	vm_pool_put(&vm_lane_self()->push, push);
}

void vm_push_free(struct vm_push *push)
{
	if (vm_opid_take(&vm_node->pushes, push->id))
		push_release(push);
}

/* Ends a push that is in no table any more. */
static void push_end(struct vm_push *push, int error)
{
	struct vm_req *req = push->req;

	push_release(push);
	if (error)
		req->status.error = error;
	vm_req_complete(req);
}

int vm_push_announce(struct vm_push *push,
		     const struct vm_wire_envelope *envelope)
{
	struct vm_send send = { .upper = envelope,
				.kind = VM_PACKET_RTS,
				.control = true };
	const struct vm_data *data = &push->req->data;
	int rc;

	/* Without a registration the receiver takes another protocol. */
	push->readable = readable(data) &&
			 vm_mr_open(push->port, &push->mr, data->addr,
				    data->bytes, VM_MR_READ) == 0;
	if (push->readable) {
		send.data = &push->mr.remote;
		send.bytes = sizeof(push->mr.remote);
	}
	rc = vm_port_send(push->port, push->to, &send, NULL);
	if (rc < 0)
		vm_push_free(push);
	return rc < 0 ? rc : 0;
}

static void written_send(const struct vm_push *push, int error)
{
	struct vm_wire_step step = { .to = push->puller, .error = error };
	struct vm_send send = { .upper = &step,
				.kind = VM_PACKET_WRITTEN,
				.control = true };

	/* A receiver that is gone needs no news. */
	vm_port_send(push->port, push->to, &send, NULL);
}

static void written(struct vm_rma *rma, int error)
{
	struct vm_push *push = vm_container_of(rma, struct vm_push, rma);

	written_send(push, error);
	if (vm_opid_take(&vm_node->pushes, push->id))
		push_end(push, error);
}

static void push_write(struct vm_push *push, const struct vm_remote *memory,
		       size_t bytes)
{
	int rc;

	push->writing = true;
	push->rma = (struct vm_rma){ .done = written,
				     .to = push->to,
				     .remote = *memory,
				     .local = push->req->data.addr,
				     .bytes = bytes };
	rc = vm_rma_write(push->port, &push->rma);
	if (rc < 0)
		written(&push->rma, rc);
}

/* One piece of the payload; 0, or an error. */
static int fragment_send(struct vm_push *push, size_t most)
{
	char buffer[VM_BUFFER_MAX], *piece;
	struct vm_wire_step step = { .to = push->puller, .bytes = push->sent };
	struct vm_send send = { .upper = &step,
				.kind = VM_PACKET_FRAGMENT,
				.control = true };
	size_t limit = (size_t)core_cvar.rndv_fragment;
	size_t room = vm_fabric_limits(vm_node->fabric)->packet_bytes;
	size_t done, n;
	int rc;

	if (most > limit)
		most = limit;
	if (most > room)
		most = room;
	done = vm_cursor_piece(&push->cursor, &piece, most);
	send.data = piece;
	if (done < most) {
		/* Short pieces travel together. */
		if (most > sizeof(buffer))
			most = sizeof(buffer);
		memcpy(buffer, piece, done < most ? done : most);
		while (done < most &&
		       (n = vm_cursor_piece(&push->cursor, &piece,
					    most - done))) {
			memcpy(buffer + done, piece, n);
			done += n;
		}
		send.data = buffer;
	}
	send.bytes = (uint32_t)done;
	rc = vm_port_send(push->port, push->to, &send, NULL);
	push->sent += done;
	return rc < 0 ? rc : 0;
}

static struct vm_push *push_find(const struct vm_pkt *pkt, uint64_t id)
{
	struct vm_push *push = vm_opid_find(&vm_node->pushes, id);

	return push && push->to.process == pkt->process ? push : NULL;
}

void vm_push_cts(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_step *step = pkt->upper;
	struct vm_push *push = push_find(pkt, step->to);
	size_t granted = step->bytes;

	(void)port;
	if (!push || push->writing)
		return;
	push->puller = step->from;
	if (granted > push->req->data.bytes)
		granted = push->req->data.bytes;
	if (pkt->bytes == sizeof(struct vm_remote)) {
		if (!push->req->data.layout)
			push_write(push, pkt->data, granted);
		return;
	}
	if (!push->sent)
		vm_cursor_init(&push->cursor, &push->req->data);
	while (push->sent < granted)
		if (fragment_send(push, granted - push->sent) < 0)
			return; /* the port says that the process is down */
}

void vm_push_fin(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_step *step = pkt->upper;
	struct vm_push *push = push_find(pkt, step->to);

	(void)port;
	if (!push || push->writing)
		return;
	if (vm_opid_take(&vm_node->pushes, push->id))
		push_end(push, step->error);
}

struct search {
	const struct vm_port *port;
	uint32_t process;
};

static uint64_t push_goes_to(uint64_t id, void *op, void *arg)
{
	const struct vm_push *push = op;
	const struct search *search = arg;

	return push->port == search->port &&
			       push->to.process == search->process &&
			       !push->writing ?
		       id :
		       0;
}

void vm_push_down(struct vm_port *port, uint32_t process, int error)
{
	struct search search = { port, process };
	struct vm_push *push;
	uint64_t id;

	while ((id = vm_opid_each(&vm_node->pushes, push_goes_to, &search))) {
		push = vm_opid_take(&vm_node->pushes, id);
		if (push)
			push_end(push, error);
	}
}
