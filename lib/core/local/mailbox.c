/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The unexpected queue and the probers that wait at it.
 */
#include "core/local/mailbox.h"

#include <limits.h>
#include <stdlib.h>

#include "core/instrument/overlap_events.h"
#include "core/instrument/trace.h"
#include "core/rank/state.h"

void vm_arrival_end(struct vm_arrival *arrival)
{
	if (VM_UNLIKELY(vm_payload_foreign(arrival->payload))) {
		if (arrival->payload == VM_PAYLOAD_FETCHED)
			free(arrival->buffer);
		vm_origin_end(arrival->origin, arrival->port, 0);
		return;
	}
	if (arrival->payload == VM_PAYLOAD_COPY)
		vm_buffer_put(vm_thread_cache_self(), arrival->buffer,
			      arrival->bytes);
	if (arrival->sender) {
		vm_overlap_events_end(&arrival->sender->xfer);
		vm_req_complete(arrival->sender);
	}
}

/*
 * Ends an arrival that matched: its payload goes to the receive's buffer, its
 * own buffer back, its sender is told.  The receive is not completed yet.  Not
 * for a remote payload, which has to be pulled.
 */
static void arrival_land(struct vm_arrival *arrival, struct vm_req *req)
{
	struct vm_data bytes;

	if (arrival->payload == VM_PAYLOAD_DIRECT) {
		vm_data_land(&arrival->sender->data, &arrival->env, req);
	} else {
		bytes = vm_data_bytes(arrival->buffer, arrival->bytes);
		vm_data_land(&bytes, &arrival->env, req);
	}
	vm_arrival_end(arrival);
}

static enum vm_proto proto_of(const struct vm_arrival *arrival)
{
	return arrival->payload == VM_PAYLOAD_INLINE ? VM_PROTO_INLINE :
	       arrival->payload == VM_PAYLOAD_COPY   ? VM_PROTO_COPY :
	       arrival->payload == VM_PAYLOAD_DIRECT ? VM_PROTO_DIRECT :
						       VM_PROTO_EAGER;
}

static __attribute__((noinline)) void receive_told(struct vm_arrival *arrival,
						   struct vm_req *req,
						   const struct vm_rank *rank,
						   enum vm_path way)
{
	enum vm_proto proto = proto_of(arrival);
	struct vm_overlap_events_copy copy = { .xfer.overlap = NULL };

	/* Payloads from other processes are accounted at their arrival or when
	 * they are fetched. */
	if (!vm_payload_foreign(arrival->payload))
		vm_overlap_events_copy_begin(&copy, rank, VM_SIDE_RECEIVE, way,
					     arrival->bytes);
	if (arrival->payload != VM_PAYLOAD_FETCHED)
		vm_trace_match(rank, &arrival->env, arrival->bytes, proto,
			       NULL);
	arrival_land(arrival, req);
	vm_overlap_events_copy_end(&copy);
}

void vm_arrival_receive(struct vm_arrival *arrival, struct vm_req *req,
			const struct vm_rank *rank, enum vm_path way)
{
	if (vm_observed())
		receive_told(arrival, req, rank, way);
	else
		arrival_land(arrival, req);
}

static struct vm_msg *msg_new(struct vm_rank *rank,
			      const struct vm_arrival *arrival)
{
	struct vm_msg *msg = vm_pool_get(&vm_thread_cache_self()->msg);

	if (!msg)
		vm_panic("out of memory for unexpected messages (rank %d has "
			 "%u of them)",
			 rank->index, vm_match_arrived(&rank->match));
	msg->node.env = arrival->env;
	msg->rank = rank;
	msg->sender = arrival->sender;
	msg->bytes = arrival->bytes;
	msg->payload = arrival->payload;
	if (arrival->payload == VM_PAYLOAD_INLINE) {
		msg->buffer = msg->inline_data;
		vm_bytes_copy(msg->inline_data, arrival->buffer,
			      arrival->bytes);
	} else {
		msg->buffer = arrival->buffer;
		if (vm_payload_foreign(arrival->payload))
			msg->origin = *arrival->origin;
		else
			msg->packed = NULL;
	}
	return msg;
}

/* Offers a message to the probers, oldest first; returns whether one took
 * it. */
static bool probers_offer(struct vm_rank *rank, struct vm_msg *msg)
{
	struct vm_list *link = rank->probers.next;

	while (link != &rank->probers) {
		struct vm_prober *prober =
			vm_container_of(link, struct vm_prober, link);
		bool take = prober->take;

		link = link->next;
		if (!vm_env_fits(&msg->node.env, &prober->env))
			continue;
		vm_list_remove(&prober->link);
		prober->msg = msg;
		prober->status = (vmpi_status){ .source = msg->node.env.source,
						.tag = msg->node.env.tag,
						.bytes = msg->bytes };
		vm_ult_wake(prober->ult);
		if (take)
			return true;
	}
	return false;
}

void vm_mailbox_queue(struct vm_rank *rank, const struct vm_arrival *arrival)
{
	struct core_match_pvars *pvars = &rank->match.pvars;
	struct vm_msg *msg = msg_new(rank, arrival);

	vm_pvar_keep(pvars->unexpected, 1); /* probes ask it */
	if (vm_observed())
		vm_trace_unexpected(rank, &arrival->env, arrival->bytes,
				    vm_match_arrived(&rank->match) + 1);
	if (!vm_list_empty(&rank->probers) && probers_offer(rank, msg))
		return;
	if (msg->sender)
		msg->sender->msg = msg;
	vm_match_arrive(&rank->match, &msg->node);
	vm_pvar_max(pvars->unexpected_max, pvars->unexpected_len);
	vm_pvar_add(pvars->unexpected_bytes, msg->bytes);
	vm_pvar_max(pvars->unexpected_bytes_max, pvars->unexpected_bytes);
}

void vm_mailbox_take(struct vm_msg *msg)
{
	if (msg->sender)
		msg->sender->msg = NULL;
	vm_match_take(&msg->rank->match, &msg->node);
	vm_pvar_add(msg->rank->match.pvars.unexpected_bytes, -msg->bytes);
}

void vm_mailbox_each(struct vm_rank *rank, vm_match_visit posted,
		     vm_match_visit arrived, void *arg)
{
	struct vm_engine *engine = rank->engine;

	vm_engine_lock(engine);
	for (int from = 0; from < vm_node->engine_count; from++)
		if (from != engine->index)
			vm_engine_drain(engine, from, INT_MAX);
	vm_match_each(&rank->match.posted, posted, arg);
	vm_match_each(&rank->match.arrived, arrived, arg);
	vm_engine_unlock(engine);
}
