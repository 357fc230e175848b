/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A card that has to be taken before it is wanted is delivered as a message that
 * has its bytes in itself.
 */
#include "core/remote/cards.h"

#include <string.h>

#include "base/copy.h"
#include "core/local/chan_stats.h"
#include "core/local/deliver.h"
#include "core/local/engine.h"
#include "core/local/observe.h"
#include "core/rank/rank.h"
#include "core/rank/state.h"
#include "core/remote/progress.h"
#include "fabric/fabric.h"

#define TURNS 16 /* of the core, given up for a lane that is full */

VM_STATIC_ASSERT(VM_CARD_BYTES <= VM_INLINE_MAX, "a message holds a card");

/* Puts it where its lane has room, or soon has. */
static bool card_put(uint32_t process, const struct vm_card_head *head,
		     const void *data)
{
	for (int turns = 0;
	     !vm_fabric_card_put(vm_node->fabric, process, head, data);
	     turns++) {
		if (turns == TURNS)
			return false;
		vm_rank_yield();
	}
	return true;
}

bool vm_cards_send(struct vm_ult *self, const struct vm_rank *dest,
		   struct vm_env env, const void *addr, size_t bytes)
{
	const struct vm_rank *rank = self->owner;
	const struct vm_card_head head = {
		.bytes = (uint32_t)bytes,
		.to = (uint32_t)dest->there,
		.context = env.context,
		.source = env.source,
		.tag = env.tag,
	};

	if (!vm_sched.shared || bytes > VM_CARD_BYTES || vm_observed() ||
	    rank->overlap ||
	    atomic_load_explicit(&dest->failed, memory_order_relaxed) ||
	    !vm_fabric_cards_reach(vm_node->fabric, dest->to.process))
		return false;
	/* Who only sends lets the others run now and then. */
	if (VM_UNLIKELY(self->sends_in_row + 1 >=
			(unsigned)vm_rank_cvars(rank)->send_budget)) {
		self->sends_in_row = 0;
		vm_rank_yield();
	}
	if (VM_UNLIKELY(!card_put(dest->to.process, &head, addr)))
		return false;
	self->sends_in_row++;
	vm_count_sent_away(self->counts, env.context, bytes);
	return true;
}

bool vm_cards_recv(struct vm_ult *self, const struct vm_rank *rank,
		   const struct vm_rank *source, struct vm_env env, void *addr,
		   size_t *bytes)
{
	const struct vm_card *card =
		vm_fabric_card_look(vm_node->fabric, source->to.process);
	size_t length;
	bool took;

	if (!card)
		return false;
	length = *(const volatile uint32_t *)&card->head.bytes;
	took = card->head.to == (uint32_t)rank->index &&
	       card->head.context == env.context &&
	       card->head.source == env.source && card->head.tag == env.tag &&
	       length <= VM_CARD_BYTES && length <= *bytes;
	if (VM_LIKELY(took)) {
		vm_copy(addr, card->data, length);
		*bytes = length;
	}
	vm_fabric_card_end(vm_node->fabric, source->to.process, took);
	if (VM_LIKELY(took)) {
		self->sends_in_row = 0;
		vm_count_received(env.context, length);
	}
	return took;
}

/* A card as it was at one moment. */
struct copy {
	struct vm_card_head head;
	char data[VM_CARD_BYTES] VM_ALIGNED(8);
};

/* Under the lock of its engine: whether a receive is posted for it. */
static bool is_wanted(struct vm_rank *rank, const struct vm_env *env)
{
	return vm_match_posted(&rank->match) &&
	       vm_match_front(&rank->match, env) != NULL;
}

static bool deliver(struct vm_rank *rank, const struct copy *copy, bool must)
{
	const struct vm_data data = { .addr = (void *)(uintptr_t)copy->data,
				      .bytes = copy->head.bytes };
	struct vm_arrival arrival = {
		.env = { copy->head.context, copy->head.source,
			 copy->head.tag },
		.payload = VM_PAYLOAD_INLINE,
		.path = VM_PATH_FABRIC,
		.data = &data,
	};
	struct vm_engine *engine = rank->engine;

	vm_engine_lock(engine);
	if (!must && !is_wanted(rank, &arrival.env)) {
		vm_engine_unlock(engine);
		return false;
	}
	vm_deliver(rank, &arrival, &vm_local_payload, true);
	return true;
}

bool vm_cards_take(void *arg, const struct vm_card *card, bool must)
{
	struct copy copy;

	(void)arg;
	memcpy(&copy.head, &card->head, sizeof(copy.head));
	memcpy(copy.data, card->data, sizeof(copy.data));
	if (copy.head.bytes > VM_CARD_BYTES ||
	    copy.head.to >= (uint32_t)vm_node->rank_room ||
	    !vm_node->ranks[copy.head.to].port ||
	    atomic_load_explicit(&vm_node->ranks[copy.head.to].failed,
				 memory_order_relaxed)) {
		__atomic_fetch_add(&vm_node->pvars.packets_unknown, 1,
				   __ATOMIC_RELAXED);
		return true;
	}
	return deliver(&vm_node->ranks[copy.head.to], &copy, must);
}
