/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers to CTS and FIN.
 *
 * The packets of one push all come by one port, whose callbacks never run at
 * the same time; so only its end, which hands the request over, needs care.
 */
#include "core/remote/rndv_send.h"

#include <string.h>

#include "core/local/engine.h"
#include "core/instrument/overlap_events.h"
#include "core/local/mailbox.h"
#include "core/rank/state.h"
#include "base/id_table.h"
#include "core/remote/agent.h"
#include "core/remote/remote.h"
#include "core/local/req.h"
#include "fabric/near/share.h"

static bool readable(const struct vm_rndv_send *push)
{
	const struct vm_data *data = &push->data;

	return !data->layout && data->bytes &&
	       vm_fabric_moves(vm_node->fabric, push->to.process) &&
	       vm_rank_cvars(push->rank)->rndv_protocol != VM_RNDV_PIPELINE;
}

/* All of the payload has left: nothing that the receiver says is waited for. */
static void push_leave(struct vm_rndv_send *push)
{
	if (push->sent == push->data.bytes && !push->inflight &&
	    vm_id_table_take(&vm_node->rndv_sends, push->id))
		vm_rndv_send_end(push, 0);
}

/* A piece is not needed any more where it lies. */
static void piece_left(struct vm_send_op *op, int error)
{
	struct vm_rndv_send *push =
		vm_container_of(op, struct vm_rndv_send, op);

	push->inflight--;
	if (!push->over && !error) {
		push_leave(push);
		return;
	}
	/* On an error the port says that the process is down, unless it has. */
	if (push->over && !push->inflight)
		vm_rndv_send_end(push, push->error);
}

struct vm_rndv_send *vm_rndv_send_new(struct vm_req *req,
				      const struct vm_data *data,
				      const struct vm_wire_envelope *envelope,
				      struct vm_to to)
{
	struct vm_rndv_send *push = vm_pool_get(&vm_thread_cache_self()->push);

	if (!push)
		return NULL;
	push->req = req;
	vm_data_assign(&push->data, data);
	push->buffer = NULL;
	push->rank = vm_rank_self();
	push->port = push->rank->port;
	push->to = to;
	push->envelope = *envelope;
	push->sent = 0;
	push->overlap = push->xfer.overlap = NULL;
	push->readable = push->writing = push->over = false;
	push->inflight = 0;
	push->op.done = piece_left;
	vm_agent_begin();
	return push;
}

/* One more copy that waits for the process, if there may be one. */
static bool copy_count(uint32_t process)
{
	_Atomic uint32_t *copies = &vm_node->copies[process];

	/* Messages within this process have the bound of all memory only.  A
	 * few threads at a time may exceed it by one each. */
	if (process != (uint32_t)vm_node->process &&
	    atomic_load_explicit(copies, memory_order_relaxed) >=
		    (uint32_t)core_cvar.copies_max)
		return false;
	atomic_fetch_add_explicit(copies, 1, memory_order_relaxed);
	return true;
}

static void copy_uncount(uint32_t process)
{
	atomic_fetch_sub_explicit(&vm_node->copies[process], 1,
				  memory_order_relaxed);
}

struct vm_rndv_send *
vm_rndv_send_new_copy(const struct vm_data *data,
		      const struct vm_wire_envelope *envelope, struct vm_to to)
{
	struct vm_thread_cache *cache = vm_thread_cache_self();
	struct vm_rndv_send *push;
	struct vm_data copy;
	void *buffer;

	if (data->bytes > VM_BUFFER_MAX || !copy_count(to.process))
		return NULL;
	buffer = vm_buffer_get(cache, data->bytes);
	if (!buffer) {
		copy_uncount(to.process);
		return NULL;
	}
	copy = vm_data_bytes(buffer, data->bytes);
	push = vm_rndv_send_new(NULL, &copy, envelope, to);
	if (!push) {
		vm_buffer_put(cache, buffer, data->bytes);
		copy_uncount(to.process);
		return NULL;
	}
	push->buffer = buffer;
	vm_data_copy(&copy, data);
	return push;
}

void vm_rndv_send_free(struct vm_rndv_send *push)
{
	vm_agent_end();
	vm_overlap_events_forget(&push->xfer);
	if (push->readable)
		vm_mr_close(&push->mr);
	if (push->buffer) {
		vm_buffer_put(vm_thread_cache_self(), push->buffer,
			      push->data.bytes);
		copy_uncount(push->to.process);
	}
	vm_pool_put(&vm_thread_cache_self()->push, push);
}

int vm_rndv_send_show(struct vm_rndv_send *push,
		      struct vm_wire_envelope *envelope)
{
	struct vm_req *req = push->req;
	uint64_t id = vm_id_table_new(&vm_node->rndv_sends, push, &push->id);

	if (!id)
		return -VMPI_ENOMEM;
	if (req)
		req->rndv_send = id;
	envelope->sender = id;
	return 0;
}

bool vm_rndv_send_hide(uint64_t id)
{
	return vm_id_table_take(&vm_node->rndv_sends, id) != NULL;
}

void vm_rndv_send_end(struct vm_rndv_send *push, int error)
{
	struct vm_req *req = push->req;

	push->over = true;
	push->error = error;
	if (push->inflight)
		return;
	if (!error)
		vm_overlap_events_end(&push->xfer);
	vm_rndv_send_free(push);
	if (!req)
		return;
	if (error)
		req->status.error = error;
	vm_req_complete(req);
}

int vm_rndv_send_announce(struct vm_rndv_send *push)
{
	struct vm_wire_envelope envelope = push->envelope;
	const struct vm_data *data = &push->data;
	struct vm_send send = { .upper = &envelope,
				.kind = VM_PACKET_RTS,
				.control = true };
	struct vm_port *port = push->port;
	struct vm_to to = push->to;
	struct vm_remote memory;
	int rc;

	/* Without a registration the receiver takes another protocol. */
	push->readable = readable(push) &&
			 vm_mr_open(port, &push->mr, to.process, data->addr,
				    data->bytes, VM_MR_READ) == 0;
	if (push->readable) {
		memory = push->mr.remote;
		send.data = &memory;
		send.bytes = sizeof(memory);
	}
	vm_overlap_events_begin(&push->xfer, push->rank, VM_SIDE_SEND,
				VM_PATH_FABRIC, data->bytes);
	push->overlap = push->xfer.overlap;
	rc = vm_rndv_send_show(push, &envelope);
	if (rc)
		return rc;
	rc = vm_port_send(port, to, &send, NULL);
	/* Whoever ended the push completes the request too. */
	return rc >= 0 || !vm_rndv_send_hide(envelope.sender) ? VM_PENDING : rc;
}

static void written_send(const struct vm_rndv_send *push, int error)
{
	struct vm_wire_step step = { .to = push->puller,
				     .from = push->id,
				     .error = error };

	/* A receiver that is gone needs no answer. */
	vm_remote_step(push->port, push->to, VM_PACKET_WRITTEN, &step, NULL, 0);
}

static void written(struct vm_rma *rma, int error)
{
	struct vm_rndv_send *push =
		vm_container_of(rma, struct vm_rndv_send, rma);

	/* Not possible any more, or done for all we know: the receiver asks for
	 * pieces, or needs none. */
	if (error == -VMPI_ENOTSUP) {
		push->writing = false;
		written_send(push, error);
		return;
	}
	if (error || !push->told)
		written_send(push, error);
	if (vm_id_table_take(&vm_node->rndv_sends, push->id))
		vm_rndv_send_end(push, error);
}

/* All is there already, though it may take its time by the link model. */
static void written_near(struct vm_rma *rma)
{
	struct vm_rndv_send *push =
		vm_container_of(rma, struct vm_rndv_send, rma);

	push->told = true;
	written_send(push, 0);
}

static void push_write(struct vm_rndv_send *push,
		       const struct vm_remote *memory, size_t bytes)
{
	int rc;

	push->writing = true;
	vm_overlap_events_again(&push->xfer);
	push->rma = (struct vm_rma){ .done = written,
				     .to = push->to,
				     .remote = *memory,
				     .local = push->data.addr,
				     .bytes = bytes,
				     .there = written_near };
	if (vm_fabric_notices(vm_node->fabric, push->to.process))
		push->rma.notice = vm_id_table_short(push->puller);
	push->told = push->rma.notice != 0;
	rc = vm_rma_write(push->port, &push->rma);
	if (rc < 0)
		written(&push->rma, rc);
}

/* The next piece of the payload in one place, at most `most` bytes; short ones
 * are put together in the buffer.  Its length. */
static size_t piece_next(struct vm_rndv_send *push, char **piece, char *buffer,
			 size_t most)
{
	size_t done = vm_cursor_piece(&push->cursor, piece, most);
	size_t n;
	char *more;

	if (most > VM_BUFFER_MAX)
		most = VM_BUFFER_MAX;
	if (done >= most)
		return done;
	memcpy(buffer, *piece, done);
	*piece = buffer;
	while (done < most &&
	       (n = vm_cursor_piece(&push->cursor, &more, most - done))) {
		memcpy(buffer + done, more, n);
		done += n;
	}
	return done;
}

/* One piece of the payload; 0, or an error. */
static int fragment_send(struct vm_rndv_send *push, size_t most)
{
	struct vm_wire_step step = { .to = push->puller, .bytes = push->sent };
	size_t limit = (size_t)vm_rank_cvars(push->rank)->rndv_fragment;
	size_t room = vm_fabric_limits(vm_node->fabric)->packet_bytes;
	char buffer[VM_BUFFER_MAX], *piece;
	int rc;

	if (most > limit)
		most = limit;
	if (most > room)
		most = room;
	most = piece_next(push, &piece, buffer, most);
	push->sent += most;
	rc = vm_remote_fragment(push->port, push->to, &step, piece, most,
				piece == buffer ? NULL : &push->op,
				push->overlap);
	if (rc == VM_PENDING)
		push->inflight++;
	return rc < 0 ? rc : 0;
}

static struct vm_rndv_send *push_find(const struct vm_pkt *pkt, uint64_t id)
{
	struct vm_rndv_send *push = vm_id_table_find(&vm_node->rndv_sends, id);

	return push && push->to.process == pkt->process ? push : NULL;
}

void vm_rndv_send_cts(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_step *step = pkt->upper;
	struct vm_rndv_send *push = push_find(pkt, step->to);
	size_t granted = step->bytes;

	(void)port;
	if (!push || push->writing)
		return;
	push->puller = step->from;
	if (granted > push->data.bytes)
		granted = push->data.bytes;
	if (pkt->bytes == sizeof(struct vm_remote)) {
		if (!push->data.layout)
			push_write(push, pkt->data, granted);
		return;
	}
	vm_overlap_events_forget(&push->xfer); /* the pieces are */
	if (!push->sent)
		vm_cursor_init(&push->cursor, &push->data);
	while (push->sent < granted)
		if (fragment_send(push, granted - push->sent) < 0)
			return; /* the port says that the process is down */
	push_leave(push);
}

void vm_rndv_send_share(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_step *step = pkt->upper;
	const struct vm_remote *place = pkt->data;
	struct vm_rndv_send *push = push_find(pkt, step->to);
	struct vm_wire_step answer = { 0 };
	struct iovec here, there;
	struct vm_share share;

	if (!push || push->writing || push->data.layout ||
	    pkt->bytes != sizeof(*place) || step->bytes > push->data.bytes)
		return;
	here = (struct iovec){ push->data.addr, step->bytes };
	there = (struct iovec){ (void *)(uintptr_t)place->address,
				step->bytes };
	share = (struct vm_share){ .port = port,
				   .process = pkt->process,
				   .load = vm_load_one(&here, &there),
				   .write = true };
	push->writing = true;
	answer.to = vm_share_help(&share, pkt->port, step->number);
	push->writing = false;
	if (answer.to)
		vm_remote_step(port, push->to, VM_PACKET_SHARED, &answer, NULL,
			       0);
}

void vm_rndv_send_fin(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_step *step = pkt->upper;
	struct vm_rndv_send *push = push_find(pkt, step->to);

	(void)port;
	if (!push || push->writing)
		return;
	if (vm_id_table_take(&vm_node->rndv_sends, push->id))
		vm_rndv_send_end(push, step->error);
}

struct send_search {
	const struct vm_port *port;
	uint32_t process;
};

static uint64_t push_goes_to(uint64_t id, void *op, void *arg)
{
	const struct vm_rndv_send *push = op;
	const struct send_search *search = arg;

	return push->port == search->port &&
			       push->to.process == search->process &&
			       !push->writing ?
		       id :
		       0;
}

void vm_rndv_send_down(struct vm_port *port, uint32_t process, int error)
{
	struct send_search search = { port, process };
	struct vm_rndv_send *push;
	uint64_t id;

	while ((id = vm_id_table_each(&vm_node->rndv_sends, push_goes_to,
				      &search))) {
		push = vm_id_table_take(&vm_node->rndv_sends, id);
		if (push)
			vm_rndv_send_end(push, error);
	}
}

static uint64_t push_is_for(uint64_t id, void *op, void *arg)
{
	const struct vm_rndv_send *push = op;
	const uint32_t *index = arg;

	return push->envelope.rank == *index && !push->writing ? id : 0;
}

static uint64_t push_is_of(uint64_t id, void *op, void *arg)
{
	const struct vm_rndv_send *push = op;
	const uint32_t *context = arg;

	return (push->envelope.context & ~1u) == *context && !push->writing ?
		       id :
		       0;
}

/* Ends those that are found. */
static void pushes_end(uint64_t (*find)(uint64_t id, void *op, void *arg),
		       uint32_t what, int error)
{
	struct vm_rndv_send *push;
	uint64_t id;

	while ((id = vm_id_table_each(&vm_node->rndv_sends, find, &what))) {
		push = vm_id_table_take(&vm_node->rndv_sends, id);
		if (push)
			vm_rndv_send_end(push, error);
	}
}

void vm_rndv_send_fail(int index)
{
	pushes_end(push_is_for, (uint32_t)index, -VMPI_EPEER);
}

void vm_rndv_send_revoke(uint32_t context)
{
	pushes_end(push_is_of, context, -VMPI_EREVOKED);
}
