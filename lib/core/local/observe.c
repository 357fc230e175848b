/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fan-out: bounds on overlap, records of a trace, events, and the counters
 * of channels.
 */
#include "core/local/observe.h"

#include "base/clock.h"
#include "core/rank/state.h"
#include "core/instrument/overlap_events.h"
#include "core/local/protocol.h"
#include "core/local/req.h"
#include "core/local/chan_stats.h"
#include "core/instrument/trace_own.h"
#include "sched/worker.h"

/* Transfers. */

static void xfer_begin(const struct vm_event_xfer_begin *event)
{
	struct vm_event_from from = vm_trace_place(event->rank);

	if (vm_event_wanted(VM_EVENT_xfer_begin))
		vm_event_raise_xfer_begin(&from, event);
}

static void xfer_end(const struct vm_event_xfer_begin *event)
{
	struct vm_event_from from = vm_trace_place(event->rank);

	if (vm_event_wanted(VM_EVENT_xfer_end))
		vm_event_raise(VM_EVENT_xfer_end, &from, event);
}

VM_STATIC_ASSERT(sizeof(struct vm_event_xfer_begin) ==
			 sizeof(struct vm_event_xfer_end),
		 "both events of a transfer have the same elements");

/* One that is over at once needs a name only between its two events. */
static void xfer_both(struct vm_event_xfer_begin *event)
{
	event->id = (uint64_t)(uintptr_t)event;
	xfer_begin(event);
	xfer_end(event);
}

/* The message of an arrival that is still its sender's. */
static const struct vm_outgoing *outgoing_of(const struct vm_arrival *arrival)
{
	return vm_container_of(arrival, struct vm_outgoing, arrival);
}

void vm_observe_depart_on(const struct vm_outgoing *out)
{
	const struct vm_rank *self = vm_rank_self();
	const struct vm_env *env = &out->arrival.env;
	uint64_t bytes = out->arrival.data->bytes;
	struct vm_trace_record record = {
		.rank = (uint32_t)self->index,
		.kind = VM_TRACE_SEND,
		.context = env->context,
		.tag = env->tag,
		.peer = out->dest->index,
		.id = (uint32_t)env->source,
		.value = bytes,
	};

	vm_chan_stats_sent(self, env, bytes);
	vm_trace_record(&record);
}

void vm_observe_transfer_on(const struct vm_outgoing *out, enum vm_proto proto,
			    struct vm_req *req)
{
	struct vm_event_xfer_begin event = {
		.bytes = out->arrival.data->bytes,
		.id = (uint64_t)(uintptr_t)req,
		.rank = vm_rank_self()->index,
		.peer = out->dest->index,
		.tag = out->arrival.env.tag,
		.proto = (int32_t)proto,
	};

	if (req) {
		req->observed = true;
		xfer_begin(&event);
	} else {
		xfer_both(&event);
	}
}

void vm_observe_send_on(struct vm_outgoing *out, enum vm_proto proto,
			struct vm_req *req)
{
	enum vm_path path = out->arrival.path;
	uint64_t bytes = out->arrival.data->bytes;

	out->arrival.signature = vm_self->signature;
	if (req)
		vm_overlap_events_begin(&req->xfer, vm_rank_self(),
					VM_SIDE_SEND, path, bytes);
	else
		vm_overlap_events_copied(vm_rank_self(), VM_SIDE_SEND, path,
					 bytes);
	vm_observe_depart_on(out);
	vm_observe_transfer_on(out, proto, req);
}

void vm_observe_sent(struct vm_req *req)
{
	struct vm_event_xfer_begin event = {
		.bytes = req->status.bytes,
		.id = (uint64_t)(uintptr_t)req,
		.rank = vm_rank_self()->index,
		.peer = req->rank ? req->rank->index : -1,
		.tag = req->status.tag,
		.proto = -1,
	};

	req->observed = false;
	xfer_end(&event);
}

/* A number for a request while it is under way. */
static uint32_t number_of(const struct vm_req *req)
{
	return (uint32_t)((uintptr_t)req >> 3);
}

/* A message meets a receive of rank.  later: the request whose payload comes
 * later; NULL: it is there. */
static void match_observe(const struct vm_rank *rank, const struct vm_env *env,
			  uint64_t bytes, enum vm_proto proto,
			  const struct vm_req *later)
{
	struct vm_trace_record record = {
		.rank = (uint32_t)rank->index,
		.kind = VM_TRACE_MATCH,
		.detail = later ? VM_TRACE_LATER : VM_TRACE_DONE,
		.context = env->context,
		.tag = env->tag,
		.peer = env->source,
		.id = later ? number_of(later) : 0,
		.value = bytes,
	};
	struct vm_event_xfer_begin event = {
		.bytes = bytes,
		.id = (uint64_t)(uintptr_t)later,
		.rank = rank->index,
		.peer = env->source,
		.tag = env->tag,
		.side = 1,
		.proto = (int32_t)proto,
	};

	vm_chan_stats_received(rank, env, bytes);
	vm_trace_record(&record);
	if (later)
		xfer_begin(&event);
	else
		xfer_both(&event);
}

/* The protocol that brought a payload. */
static enum vm_proto proto_of(const struct vm_arrival *arrival)
{
	switch (arrival->payload) {
	case VM_PAYLOAD_LENT:
		return VM_PROTO_DIRECT;
	case VM_PAYLOAD_PACKET:
		return VM_PROTO_EAGER;
	case VM_PAYLOAD_REMOTE:
		return VM_PROTO_RENDEZVOUS;
	default:
		return (enum vm_proto)arrival->payload;
	}
}

void vm_observe_move_begin(struct vm_observed_move *move,
			   const struct vm_arrival *arrival,
			   const struct vm_rank *rank, struct vm_req *req)
{
	uint64_t bytes = arrival->data->bytes;
	bool later = arrival->payload == VM_PAYLOAD_REMOTE;

	req->signature = arrival->payload == VM_PAYLOAD_LENT ?
				 vm_self->signature :
				 arrival->signature;
	move->sent.xfer.overlap = move->received.xfer.overlap = NULL;
	/* A message that is copied at once is a transfer of its sender, too. */
	if (arrival->payload == VM_PAYLOAD_LENT) {
		vm_observe_depart_on(outgoing_of(arrival));
		vm_overlap_events_copy_begin(&move->sent, vm_rank_self(),
					     VM_SIDE_SEND, arrival->path,
					     bytes);
		vm_observe_transfer_on(outgoing_of(arrival), VM_PROTO_DIRECT,
				       NULL);
	}
	/* The transfer of a packet has been noted at its arrival. */
	if (!vm_payload_foreign(arrival->payload))
		vm_overlap_events_copy_begin(&move->received, rank,
					     VM_SIDE_RECEIVE, arrival->path,
					     bytes);
	/* What was fetched has been matched before that. */
	if (arrival->payload != VM_PAYLOAD_FETCHED)
		match_observe(rank, &arrival->env, bytes, proto_of(arrival),
			      later ? req : NULL);
}

void vm_observe_move_end(struct vm_observed_move *move)
{
	vm_overlap_events_copy_end(&move->received);
	vm_overlap_events_copy_end(&move->sent);
}

void vm_observe_received_bytes_on(const struct vm_msg *msg, size_t bytes)
{
	vm_overlap_events_copied(vm_rank_self(), VM_SIDE_RECEIVE,
				 VM_PATH_WORKER, bytes);
	match_observe(msg->rank, &msg->node.env, msg->bytes,
		      (enum vm_proto)msg->payload, NULL);
}

void vm_observe_fetched_on(const struct vm_req *req)
{
	struct vm_trace_record record = { .rank = (uint32_t)req->rank->index,
					  .kind = VM_TRACE_RECEIVED,
					  .id = number_of(req) };
	struct vm_event_xfer_begin event = {
		.bytes = req->status.bytes,
		.id = (uint64_t)(uintptr_t)req,
		.rank = req->rank->index,
		.peer = req->status.source,
		.tag = req->status.tag,
		.side = 1,
		.proto = VM_PROTO_RENDEZVOUS,
	};

	vm_trace_record(&record);
	xfer_end(&event);
}

void vm_observe_dropped_on(const struct vm_msg *msg)
{
	const struct vm_env *env = &msg->node.env;
	struct vm_trace_record record = { .rank = (uint32_t)msg->rank->index,
					  .kind = VM_TRACE_MATCH,
					  .detail = VM_TRACE_DROPPED,
					  .context = env->context,
					  .tag = env->tag,
					  .peer = env->source,
					  .value = msg->bytes };

	if (msg->payload != VM_PAYLOAD_FETCHED)
		vm_trace_record(&record);
}

void vm_observe_unexpected_on(const struct vm_rank *rank, struct vm_msg *msg,
			      const struct vm_arrival *arrival)
{
	const struct vm_env *env = &msg->node.env;
	struct vm_event_from from = vm_trace_place(rank->index);
	struct vm_trace_record record = { .rank = (uint32_t)rank->index,
					  .kind = VM_TRACE_UNEXPECTED,
					  .context = env->context,
					  .tag = env->tag,
					  .peer = env->source,
					  .value = msg->bytes };
	struct vm_event_unexpected event = {
		.bytes = msg->bytes,
		.rank = rank->index,
		.source = env->source,
		.tag = env->tag,
		.queued = (int32_t)vm_match_arrived(&rank->match) + 1
	};

	msg->signature = arrival->signature;
	vm_trace_record(&record);
	if (vm_event_wanted(VM_EVENT_unexpected))
		vm_event_raise_unexpected(&from, &event);
}
