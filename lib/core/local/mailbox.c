/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The unexpected queue and the probers that wait at it.
 */
#include "core/local/mailbox.h"

#include <limits.h>

#include "core/local/observe.h"
#include "core/rank/state.h"

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
	msg->bytes = arrival->data->bytes;
	msg->buffer = arrival->data->addr;
	msg->payload = arrival->payload;
	if (arrival->payload == VM_PAYLOAD_INLINE) {
		struct vm_data here;

		vm_data_set_bytes(&here, msg->inline_data, msg->bytes);
		msg->buffer = msg->inline_data;
		vm_data_copy(&here, arrival->data);
	} else if (vm_payload_foreign(arrival->payload)) {
		msg->origin = *arrival->origin;
		/* Also if it comes before signatures are wanted here. */
		msg->signature = arrival->signature;
	} else {
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
		prober->msg = msg;
		prober->status = (vmpi_status){ .source = msg->node.env.source,
						.tag = msg->node.env.tag,
						.bytes = msg->bytes };
		vm_prober_end(prober);
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
	vm_observe_unexpected(rank, msg, arrival);
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
