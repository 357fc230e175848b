/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places go through the states of enum vm_spare.  Who makes one of them JOINED
 * waits for the end of its task and frees the rank.
 */
#include "core/runtime/spares.h"

#include "core/meeting/chan_make.h"
#include "core/meeting/meet.h"
#include "core/comm/p2p.h"
#include "core/local/engine.h"
#include "core/local/mailbox.h"
#include "core/local/threads.h"
#include "core/rank/chan.h"
#include "core/rank/context.h"
#include "core/rank/wait.h"
#include "core/remote/remote.h"
#include "core/runtime/node.h"
#include "core/runtime/ranks.h"

static enum vm_spare state_of(const struct vm_rank *rank)
{
	/* Pairs with the stores below. */
	return atomic_load_explicit(&rank->spare, memory_order_acquire);
}

static void state_set(struct vm_rank *rank, enum vm_spare state)
{
	atomic_store_explicit(&rank->spare, (uint8_t)state,
			      memory_order_release);
}

/* From one state to the other; false: it was in another one. */
static bool state_turn(struct vm_rank *rank, enum vm_spare from,
		       enum vm_spare to)
{
	uint8_t expected = (uint8_t)from;

	return atomic_compare_exchange_strong_explicit(&rank->spare, &expected,
						       (uint8_t)to,
						       memory_order_acq_rel,
						       memory_order_relaxed);
}

/* Under the lock: which process has the place, and how it is reached there:
 * places go around the ports, and here around the workers. */
static void place_init(struct vm_rank *rank, int index)
{
	int spare = (index - vm_node->rank_count) % vm_node->spare_count;

	rank->index = rank->there = index;
	rank->engine = rank->via = &vm_engine_remote;
	rank->to.process = vm_process_of(index);
	if (vm_node->fabric) {
		int ports = (int)vm_fabric_peer_ports(vm_node->fabric,
						      rank->to.process);

		vm_remote_place(rank, spare % ports, ports);
	}
}

/* Under the lock: makes the first places of this process that there are not
 * yet, up to this one. */
static void here_init(int spare)
{
	struct vm_node *node = vm_node;
	int first = node->rank_count + node->process * node->spare_count;
	int used =
		atomic_load_explicit(&node->spares.used, memory_order_relaxed);

	for (; used <= spare; used++) {
		struct vm_rank *rank = &node->ranks[first + used];
		int engine = used % node->engine_count;

		place_init(rank, first + used);
		if (node->fabric)
			engine = (int)(vm_port_index(rank->port) *
				       (unsigned)node->engine_count /
				       vm_fabric_limits(node->fabric)->ports);
		vm_rank_mailbox_init(rank, node->rank_here + used,
				     &node->engines[engine]);
		vm_rank_does(rank, VM_EXPORT_DONE);
		node->own[node->rank_here + used] = rank;
		state_set(rank, VM_SPARE_FREE);
		/* Pairs with the load in vm_own_count(). */
		atomic_store_explicit(&node->spares.used, used + 1,
				      memory_order_release);
	}
}

struct vm_rank *vm_rank_at(int index)
{
	struct vm_rank *rank = &vm_node->ranks[index];

	if (index < vm_node->rank_count || state_of(rank) != VM_SPARE_NEW)
		return rank;
	vm_lock_take(&vm_node->spares.lock);
	if (vm_process_of(index) == (uint32_t)vm_node->process) {
		here_init((index - vm_node->rank_count) % vm_node->spare_count);
	} else if (state_of(rank) == VM_SPARE_NEW) {
		place_init(rank, index);
		state_set(rank, VM_SPARE_FAR);
	}
	vm_lock_give(&vm_node->spares.lock);
	return rank;
}

/* The places of this process that there are. */
static int places(void)
{
	return vm_own_count() - vm_node->rank_here;
}

static struct vm_rank *place_at(int spare)
{
	return vm_node->own[vm_node->rank_here + spare];
}

/* Ends the messages that nobody has received.  Receives that are still posted
 * belong to requests that were freed with the rank. */
static void mailbox_clear(struct vm_rank *rank)
{
	struct vm_msg *msg;

	do {
		struct vm_list *first;

		msg = NULL;
		vm_engine_lock(rank->engine);
		first = rank->match.order.next;
		if (first != &rank->match.order) {
			struct vm_match_node *node = vm_container_of(
				first, struct vm_match_node, order);

			msg = vm_container_of(node, struct vm_msg, node);
			vm_mailbox_take(msg);
		} else {
			vm_match_fini(&rank->match);
			vm_match_init(&rank->match);
		}
		vm_engine_unlock(rank->engine);
		if (msg)
			vm_msg_drop(msg);
	} while (msg);
}

/* Frees what a rank without a task has. */
static void rank_free(struct vm_rank *rank)
{
	vm_rank_objects_free(rank);
	if (vm_node_hooks.spare_free && rank->image)
		vm_node_hooks.spare_free(rank);
	rank->image = NULL;
	mailbox_clear(rank);
	vm_pvars_clear(&core_rank_pvar_table, &rank->pvars);
	vm_rank_does(rank, VM_EXPORT_DONE);
	rank->ult = NULL;
	atomic_store_explicit(&rank->main, NULL, memory_order_relaxed);
	state_set(rank, VM_SPARE_FREE);
}

/* Waits for the end of a rank that is JOINED and frees it. */
static void rank_join(struct vm_rank *rank)
{
	vm_ult_join(rank->ult);
	rank_free(rank);
}

static void ended_free(void)
{
	for (int i = 0; i < places(); i++)
		if (state_turn(place_at(i), VM_SPARE_ENDED, VM_SPARE_JOINED))
			rank_join(place_at(i));
}

int vm_spares_take(struct vm_rank **ranks, int count)
{
	int taken = 0, rc;

	ended_free();
	vm_lock_take(&vm_node->spares.lock);
	for (int i = 0; i < vm_node->spare_count && taken < count; i++) {
		here_init(i);
		if (state_turn(place_at(i), VM_SPARE_FREE, VM_SPARE_TAKEN))
			ranks[taken++] = place_at(i);
	}
	vm_lock_give(&vm_node->spares.lock);
	rc = taken < count ? -VMPI_ELIMIT : 0;
	for (int i = 0; i < taken && !rc; i++)
		rc = vm_rank_self_make(ranks[i]);
	if (rc)
		vm_spares_give(ranks, taken);
	return rc;
}

void vm_spares_give(struct vm_rank **ranks, int count)
{
	for (int i = 0; i < count; i++)
		rank_free(ranks[i]);
}

int vm_spares_world(struct vm_rank **ranks, int count)
{
	struct vm_group *group = vm_group_new(count);
	struct vm_meet *meet = NULL;
	uint32_t context = vm_context_new();
	int rc = 0;

	for (int i = 0; group && i < count; i++)
		group->ranks[i] = ranks[i];
	for (int i = 0; group && i < count; i++) {
		if (!meet)
			meet = vm_meet_new(group, ranks[i]);
		if (meet)
			ranks[i]->world =
				vm_chan_new(ranks[i], group, meet, context, i);
		if (vm_node->apart) {
			vm_meet_drop(meet);
			meet = NULL;
		}
		if (!ranks[i]->world)
			rc = -VMPI_ENOMEM;
	}
	if (!group)
		rc = -VMPI_ENOMEM;
	vm_meet_drop(meet);
	vm_group_drop(group);
	return rc;
}

/* Ends a task that has not begun: there is no other way than to run it. */
static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

int vm_spares_start(struct vm_rank **ranks, int count)
{
	int made = 0, rc = 0;

	while (made < count && !rc) {
		rc = vm_rank_task_make(ranks[made]);
		made += !rc;
	}
	for (int i = 0; i < made; i++) {
		struct vm_ult *task = ranks[i]->ult;

		if (rc) {
			task->body = nothing;
			task->owner = NULL;
			vm_ult_detach(task);
		} else {
			state_set(ranks[i], VM_SPARE_RUNS);
		}
	}
	for (int i = 0; i < made; i++)
		vm_ult_wake(ranks[i]->ult);
	return rc;
}

void vm_spare_left(struct vm_rank *rank)
{
	if (rank->index >= vm_node->rank_count)
		state_turn(rank, VM_SPARE_RUNS, VM_SPARE_ENDED);
}

void vm_spares_join(void)
{
	bool found;

	/* Each may start others before it ends. */
	do {
		found = false;
		for (int i = 0; i < places(); i++) {
			struct vm_rank *rank = place_at(i);

			if (!state_turn(rank, VM_SPARE_RUNS, VM_SPARE_JOINED) &&
			    !state_turn(rank, VM_SPARE_ENDED, VM_SPARE_JOINED))
				continue;
			rank_join(rank);
			found = true;
		}
	} while (found);
}
