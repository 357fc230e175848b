/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who wants a card takes it from where it lies.  A poll hands up those for which
 * somebody waits; when some polls have found none of these, all are handed up, for
 * a card may be behind another one, and who sleeps is to be woken by the next one.
 */
#include "fabric/lanes.h"

#include <stdlib.h>

#include "base/copy.h"
#include "fabric/near.h"
#include "fabric/state.h"

#define VAIN_MOST 16
#define AHEAD 4 /* processes */

int vm_lanes_open(struct vm_fabric *fabric)
{
	struct vm_lanes *lanes = &fabric->lanes;

	vm_lock_init(&lanes->in_lock);
	vm_lock_init(&lanes->out_lock);
	if (!fabric->shm || !fabric->config.crowded || !fabric->config.card)
		return 0;
	lanes->in = calloc(fabric->mates, sizeof(*lanes->in));
	lanes->out = calloc(fabric->mates, sizeof(*lanes->out));
	if (!lanes->in || !lanes->out)
		return -VMPI_ENOMEM;
	for (uint32_t i = 0; i < fabric->mates; i++)
		lanes->in[i].lane = vm_shm_lane(fabric->shm, i);
	lanes->open = vm_shm_lanes_open(fabric->shm);
	lanes->count = fabric->mates;
	return 0;
}

void vm_lanes_close(struct vm_fabric *fabric)
{
	free(fabric->lanes.in);
	free(fabric->lanes.out);
}

/* The place of the next card. */
static inline const struct vm_card *next_of(const struct vm_lane_in *in)
{
	return &in->lane->cards[atomic_load_explicit(&in->next,
						     memory_order_relaxed) %
				VM_LANE_CARDS];
}

static inline const struct vm_card *peek(const struct vm_lane_in *in)
{
	uint32_t next = atomic_load_explicit(&in->next, memory_order_relaxed);
	const struct vm_card *card = &in->lane->cards[next % VM_LANE_CARDS];

	/* Pairs with the store in card_put(). */
	return atomic_load_explicit(&card->turn, memory_order_acquire) ==
			       next + 1 ?
		       card :
		       NULL;
}

static inline void take(struct vm_lane_in *in)
{
	uint32_t next =
		atomic_load_explicit(&in->next, memory_order_relaxed) + 1;

	atomic_store_explicit(&in->next, next, memory_order_relaxed);
	/* Pairs with the load in has_room(). */
	atomic_store_explicit(&in->lane->taken, next, memory_order_release);
}

bool vm_lanes_busy(const struct vm_fabric *fabric)
{
	const struct vm_lanes *lanes = &fabric->lanes;

	/* Most processes get no cards, and each poll asks. */
	if (!lanes->count ||
	    !atomic_load_explicit(lanes->open, memory_order_relaxed))
		return false;
	for (uint32_t i = 0; i < lanes->count; i++)
		if (peek(&lanes->in[i]))
			return true;
	return false;
}

/* Hands up the first cards of a lane that are wanted, or all; how many. */
static int lane_poll(struct vm_fabric *fabric, struct vm_lane_in *in, bool all)
{
	const struct vm_card *card;
	int count = 0;

	while ((card = peek(in)) &&
	       fabric->config.card(fabric->config.arg, card, all)) {
		take(in);
		count++;
	}
	return count;
}

/* Under the lock. */
static int lanes_poll(struct vm_fabric *fabric)
{
	struct vm_lanes *lanes = &fabric->lanes;
	bool all = lanes->vain >= VAIN_MOST;
	int count = 0;

	for (uint32_t i = 0; i < lanes->count; i++)
		count += lane_poll(fabric, &lanes->in[i], all);
	lanes->vain = count ? 0 : lanes->vain + 1;
	return count;
}

int vm_lanes_poll(struct vm_fabric *fabric)
{
	int count;

	if (!vm_lanes_busy(fabric) || !vm_lock_try(&fabric->lanes.in_lock))
		return 0;
	count = lanes_poll(fabric);
	vm_lock_give(&fabric->lanes.in_lock);
	return count;
}

void vm_lanes_count(const struct vm_fabric *fabric, uint32_t *sent,
		    uint32_t *received)
{
	const struct vm_lanes *lanes = &fabric->lanes;

	for (uint32_t i = 0; i < lanes->count; i++) {
		*sent += atomic_load_explicit(&lanes->out[i].next,
					      memory_order_relaxed);
		*received += atomic_load_explicit(&lanes->in[i].next,
						  memory_order_relaxed);
	}
}

const struct vm_card *vm_fabric_card_look(struct vm_fabric *fabric,
					  uint32_t process)
{
	struct vm_lanes *lanes = &fabric->lanes;
	const struct vm_card *card;

	/* Who gathers wants those of all, one after the other. */
	if (process + AHEAD < lanes->count)
		__builtin_prefetch(next_of(&lanes->in[process + AHEAD]));
	if (process >= lanes->count || !peek(&lanes->in[process]) ||
	    !vm_lock_try(&lanes->in_lock))
		return NULL;
	card = peek(&lanes->in[process]);
	if (VM_UNLIKELY(!card))
		vm_lock_give(&lanes->in_lock);
	return card;
}

void vm_fabric_card_end(struct vm_fabric *fabric, uint32_t process, bool took)
{
	struct vm_lanes *lanes = &fabric->lanes;

	if (VM_LIKELY(took)) {
		take(&lanes->in[process]);
		lanes->vain = 0;
	}
	vm_lock_give(&lanes->in_lock);
}

/* Finds it when it is used first. */
static bool lane_open(struct vm_fabric *fabric, uint32_t process)
{
	struct vm_lanes *lanes = &fabric->lanes;
	struct vm_lane_out *out;

	if (process >= lanes->count || !vm_fabric_crowded(fabric, process))
		return false;
	out = &lanes->out[process];
	vm_lock_take(&lanes->out_lock);
	if (!atomic_load_explicit(&out->lane, memory_order_relaxed))
		/* Pairs with the load in vm_fabric_cards_reach(). */
		atomic_store_explicit(&out->lane,
				      vm_shm_lane_open(fabric->shm, process,
						       &out->reader),
				      memory_order_release);
	vm_lock_give(&lanes->out_lock);
	return true;
}

bool vm_fabric_cards_reach(struct vm_fabric *fabric, uint32_t process)
{
	struct vm_lanes *lanes = &fabric->lanes;

	/* Pairs with the store in lane_open(). */
	return (process < lanes->count &&
		VM_LIKELY(atomic_load_explicit(&lanes->out[process].lane,
					       memory_order_acquire) !=
			  NULL)) ||
	       lane_open(fabric, process);
}

/* Under the lock: whether card `next` may be written. */
static bool has_room(struct vm_lane_out *out, const struct vm_lane *lane,
		     uint32_t next)
{
	if (VM_LIKELY(next - out->taken < VM_LANE_CARDS))
		return true;
	/* Pairs with the store in take(). */
	out->taken = atomic_load_explicit(&lane->taken, memory_order_acquire);
	return next - out->taken < VM_LANE_CARDS;
}

/* Under the lock. */
static bool card_put(struct vm_lane_out *out, const struct vm_card_head *head,
		     const void *data)
{
	struct vm_lane *lane =
		atomic_load_explicit(&out->lane, memory_order_relaxed);
	uint32_t next = atomic_load_explicit(&out->next, memory_order_relaxed);
	struct vm_card *card = &lane->cards[next % VM_LANE_CARDS];

	if (VM_UNLIKELY(!has_room(out, lane, next)))
		return false;
	card->head = *head;
	vm_copy(card->data, data, head->bytes);
	atomic_store_explicit(&out->next, next + 1, memory_order_relaxed);
	/* Pairs with the load in peek(). */
	atomic_store_explicit(&card->turn, next + 1, memory_order_release);
	return true;
}

bool vm_fabric_card_put(struct vm_fabric *fabric, uint32_t process,
			const struct vm_card_head *head, const void *data)
{
	struct vm_lanes *lanes = &fabric->lanes;
	struct vm_lane_out *out = &lanes->out[process];
	bool put;

	vm_lock_take(&lanes->out_lock);
	put = card_put(out, head, data);
	vm_lock_give(&lanes->out_lock);
	if (VM_LIKELY(put) && VM_UNLIKELY(vm_shm_sleeps(&out->reader)))
		vm_shm_wake(fabric->shm, process, &out->reader);
	return put;
}
