/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is sent to a rank that has failed is refused, or dropped when it comes.  What was under way in this
 * process is dropped, so that senders that wait for it go on.
 */
#include "core/comm/fail.h"

#include <limits.h>

#include "core/comm/p2p.h"
#include "core/local/engine.h"
#include "core/local/mailbox.h"
#include "core/rank/state.h"
#include "core/remote/failure.h"
#include "core/remote/remote.h"
#include "core/remote/rndv_send.h"
#include "core/remote/wire.h"

/* A sender may have found the rank right before it failed, and take so long to
 * leave its message in a ring. */
#define LATE_NS 5000000
#define LATE_LOOKS 3

static void fail(struct vm_rank *rank)
{
	atomic_store_explicit(&rank->failed, true, memory_order_relaxed);
	/* Receives of channels that were freed: their senders are unknown. */
	atomic_store_explicit(&vm_node->failure.down, true,
			      memory_order_relaxed);
	vm_failure_sweep();
	vm_rndv_send_fail(rank->index);
}

void vm_fail_take(int index)
{
	struct vm_rank *rank = &vm_node->ranks[index];
	unsigned ports = vm_fabric_limits(vm_node->fabric)->ports;

	/* When the last one has heard of it, all its messages have come. */
	if (atomic_fetch_add_explicit(&rank->fail_ports, 1,
				      memory_order_acq_rel) +
		    1u ==
	    ports)
		fail(rank);
}

/* Delivers what the rank has sent to others in this process. */
static void sent_deliver(const struct vm_rank *rank)
{
	for (int i = 0; i < vm_node->engine_count; i++) {
		struct vm_engine *engine = &vm_node->engines[i];

		if (engine == rank->engine)
			continue;
		vm_engine_lock(engine);
		vm_engine_drain(engine, rank->engine->index, INT_MAX);
		vm_engine_unlock(engine);
	}
}

/* Tells each port of the other processes, on the way that messages take. */
static void others_tell(const struct vm_rank *rank)
{
	const struct vm_wire_step step = { .to = (uint64_t)rank->index };

	for (int p = 0; vm_node->fabric && p < vm_node->process_count; p++) {
		unsigned ports =
			vm_fabric_peer_ports(vm_node->fabric, (uint32_t)p);

		for (unsigned i = 0; i < ports && p != vm_node->process; i++)
			vm_remote_step(rank->port,
				       (struct vm_to){ (uint32_t)p, i },
				       VM_PACKET_FAILED, &step, NULL, 0);
	}
}

/* A message that the rank has not received; or NULL. */
static struct vm_msg *message_take(struct vm_rank *rank)
{
	struct vm_engine *engine = rank->engine;
	struct vm_msg *msg = NULL;
	struct vm_list *first;

	vm_engine_lock(engine);
	for (int from = 0; from < vm_node->engine_count; from++)
		if (from != engine->index)
			vm_engine_drain(engine, from, INT_MAX);
	first = rank->match.order.next;
	if (first != &rank->match.order) {
		struct vm_match_node *node =
			vm_container_of(first, struct vm_match_node, order);

		msg = vm_container_of(node, struct vm_msg, node);
		vm_mailbox_take(msg);
	}
	vm_engine_unlock(engine);
	return msg;
}

void vm_fail_self(void)
{
	struct vm_rank *rank = vm_rank_self();
	struct vm_msg *msg;

	sent_deliver(rank);
	/* Who finds that it is not here finds that it has failed: there may be
	 * no fabric to send by. */
	atomic_store_explicit(&rank->failed, true, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	rank->via = &vm_engine_remote;
	fail(rank);
	others_tell(rank);
	for (int i = 0; i < LATE_LOOKS; i++) {
		while ((msg = message_take(rank)))
			vm_msg_drop(msg);
		vm_ult_sleep(LATE_NS);
	}
	/* Its buffers are about to go. */
	vm_engine_lock(rank->engine);
	vm_match_fini(&rank->match);
	vm_match_init(&rank->match);
	vm_list_init(&rank->probers);
	vm_engine_unlock(rank->engine);
}
