/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of ranks, and finding the channel that a context number belongs to.
 */
#include "core/rank/chan.h"

#include <stdlib.h>

#include "core/rank/state.h"

struct vm_group *vm_group_new(int size)
{
	struct vm_group *group =
		malloc(sizeof(*group) + (size_t)size * sizeof(group->ranks[0]));

	if (!group)
		return NULL;
	atomic_init(&group->refs, 1);
	group->size = size;
	return group;
}

struct vm_group *vm_group_hold(struct vm_group *group)
{
	atomic_fetch_add_explicit(&group->refs, 1, memory_order_relaxed);
	return group;
}

void vm_group_drop(struct vm_group *group)
{
	if (group && atomic_fetch_sub_explicit(&group->refs, 1,
					       memory_order_acq_rel) == 1)
		free(group);
}

void vm_chan_enlist(struct vm_chan *chan)
{
	vm_lock_take(&vm_node->chans_lock);
	for (int i = 0; i < vm_node->failure.revoked_count; i++)
		if (vm_node->failure.revoked[i] == chan->context)
			atomic_store_explicit(&chan->revoked, true,
					      memory_order_relaxed);
	vm_list_append(&chan->owner->chans, &chan->link);
	vm_lock_give(&vm_node->chans_lock);
}

void vm_chan_delist(struct vm_chan *chan)
{
	vm_lock_take(&vm_node->chans_lock);
	vm_list_remove(&chan->link);
	if (atomic_load_explicit(&chan->owner->waited_chan,
				 memory_order_relaxed) == chan)
		atomic_store_explicit(&chan->owner->waited_context, 0,
				      memory_order_relaxed);
	vm_lock_give(&vm_node->chans_lock);
}

void vm_chan_from(struct vm_chan *chan, int first, int count)
{
	vm_lock_take(&vm_node->chans_lock);
	chan->sources = chan->group->ranks + first;
	chan->source_count = count;
	vm_lock_give(&vm_node->chans_lock);
}

/* The channel of the rank with this context, which is noted; NULL: it is
 * gone. */
static __attribute__((noinline)) struct vm_chan *chan_find(struct vm_rank *rank,
							   uint32_t context)
{
	struct vm_chan *found = NULL;
	struct vm_list *link;

	vm_lock_take(&vm_node->chans_lock);
	vm_list_each(link, &rank->chans) {
		struct vm_chan *chan =
			vm_container_of(link, struct vm_chan, link);

		if (chan->context != context)
			continue;
		found = chan;
		break;
	}
	if (found) {
		atomic_store_explicit(&rank->waited_chan, found,
				      memory_order_relaxed);
		atomic_store_explicit(&rank->waited_context, context,
				      memory_order_relaxed);
	}
	vm_lock_give(&vm_node->chans_lock);
	return found;
}

/* Whom a message of env, from a member, comes from, in the world. */
static inline int32_t source_in(const struct vm_chan *chan,
				const struct vm_env *env)
{
	const struct vm_group *group = chan->group;

	/* Collectives number all members. */
	if (env->context & 1)
		return env->source < group->size ?
			       group->ranks[env->source]->index :
			       VM_ANY;
	return env->source < chan->source_count ?
		       chan->sources[env->source]->index :
		       VM_ANY;
}

/* As vm_chan_source(), for a channel that was not the last one. */
static __attribute__((noinline)) int32_t source_find(struct vm_rank *rank,
						     const struct vm_env *env)
{
	const struct vm_chan *chan = chan_find(rank, env->context & ~1u);

	return chan ? source_in(chan, env) : VM_ANY;
}

int32_t vm_chan_source(struct vm_rank *rank, const struct vm_env *env)
{
	/* Only this rank fills these in, and the channel is not freed
	 * meanwhile. */
	if (VM_UNLIKELY(atomic_load_explicit(&rank->waited_context,
					     memory_order_relaxed) !=
			(env->context & ~1u)))
		return source_find(rank, env);
	return source_in(atomic_load_explicit(&rank->waited_chan,
					      memory_order_relaxed),
			 env);
}
