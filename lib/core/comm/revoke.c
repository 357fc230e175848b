/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts are not used again, so the numbers of those that were revoked are
 * kept: a member may be told before it has made its channel.
 */
#include "core/comm/revoke.h"

#include <stdlib.h>

#include "core/comm/p2p.h"
#include "core/local/engine.h"
#include "core/local/mailbox.h"
#include "core/rank/state.h"
#include "core/remote/failure.h"
#include "core/remote/remote.h"
#include "core/remote/rndv_send.h"
#include "core/remote/wire.h"

/* Marks the channels here: 1; 0: that was done before; -VMPI_ENOMEM.  *group:
 * of one of them, held; or NULL. */
static int chans_mark(uint32_t context, struct vm_group **group)
{
	struct vm_node *node = vm_node;
	int count = node->failure.revoked_count, rc = 1;
	uint32_t *list;

	*group = NULL;
	vm_lock_take(&node->chans_lock);
	for (int i = 0; i < node->failure.revoked_count; i++)
		if (node->failure.revoked[i] == context)
			rc = 0;
	count = node->failure.revoked_count;
	list = rc ? realloc(node->failure.revoked,
			    ((size_t)count + 1) * sizeof(*list)) :
		    NULL;
	if (rc && !list)
		rc = -VMPI_ENOMEM;
	if (rc > 0) {
		node->failure.revoked = list;
		list[node->failure.revoked_count++] = context;
	}
	for (int i = 0; i < vm_own_count() && rc > 0; i++) {
		struct vm_rank *rank = node->own[i];
		struct vm_list *link;

		atomic_store_explicit(&rank->peer_failed, true,
				      memory_order_relaxed);
		vm_list_each(link, &rank->chans) {
			struct vm_chan *chan =
				vm_container_of(link, struct vm_chan, link);

			if (chan->context != context)
				continue;
			atomic_store_explicit(&chan->revoked, true,
					      memory_order_relaxed);
			if (!*group)
				*group = vm_group_hold(chan->group);
		}
	}
	vm_lock_give(&node->chans_lock);
	return rc;
}

/* A message of the context that the rank has not received, taken out of its
 * mailbox; or NULL. */
static struct vm_msg *message_take(struct vm_rank *rank, uint32_t context)
{
	struct vm_msg *found = NULL;
	struct vm_list *link;

	vm_engine_lock(rank->engine);
	vm_list_each(link, &rank->match.order) {
		struct vm_match_node *node =
			vm_container_of(link, struct vm_match_node, order);

		if ((node->env.context & ~1u) != context)
			continue;
		found = vm_container_of(node, struct vm_msg, node);
		vm_mailbox_take(found);
		break;
	}
	vm_engine_unlock(rank->engine);
	return found;
}

/* Tells each other process of the group. */
static void others_tell(uint32_t context, const struct vm_group *group)
{
	const struct vm_wire_step step = { .to = context };
	uint32_t last = UINT32_MAX;

	for (int i = 0; vm_node->fabric && i < group->size; i++) {
		uint32_t process = group->ranks[i]->to.process;
		bool told = process == last ||
			    process == (uint32_t)vm_node->process;

		/* Once each; neighbours are often in one process. */
		for (int k = 0; k < i && !told; k++)
			told = group->ranks[k]->to.process == process;
		last = process;
		if (!told)
			vm_remote_step(vm_fabric_port(vm_node->fabric, 0),
				       (struct vm_to){ process, 0 },
				       VM_PACKET_REVOKE, &step, NULL, 0);
	}
}

int vm_revoke_context(uint32_t context)
{
	struct vm_group *group;
	int rc = chans_mark(context, &group);
	void (*hook)(void);

	if (rc <= 0)
		return rc;
	hook = atomic_load_explicit(&vm_node->revoked_hook,
				    memory_order_relaxed);
	if (hook)
		hook();
	if (group)
		others_tell(context, group);
	vm_failure_sweep();
	vm_rndv_send_revoke(context);
	for (int i = 0; i < vm_own_count(); i++) {
		struct vm_msg *msg;

		while ((msg = message_take(vm_node->own[i], context)))
			vm_msg_drop(msg);
	}
	vm_group_drop(group);
	return 0;
}

int vm_revoke(const struct vm_chan *chan)
{
	return vm_revoke_context(chan->context);
}
