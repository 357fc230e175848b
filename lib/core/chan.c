/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making channels: the last member to arrive makes the handles of all.
 */
#include "core/chan.h"

#include <stdlib.h>

#include "core/meet.h"
#include "core/node.h"

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

uint32_t vm_context_new(void)
{
	return atomic_fetch_add_explicit(&vm_node->context_next, 2,
					 memory_order_relaxed);
}

struct vm_chan *vm_chan_new(struct vm_rank *owner, struct vm_group *group,
			    struct vm_meet *meet, uint32_t context, int rank)
{
	struct vm_chan *chan = malloc(sizeof(*chan));

	if (!chan)
		return NULL;
	*chan = (struct vm_chan){ .context = context,
				  .rank = rank,
				  .owner = owner,
				  .group = vm_group_hold(group),
				  .meet = vm_meet_hold(meet) };
	return chan;
}

void vm_chan_free(struct vm_chan *chan)
{
	if (!chan)
		return;
	vm_group_drop(chan->group);
	vm_meet_drop(chan->meet);
	free(chan);
}

/* By colour, then key, then rank in the old channel. */
static int split_compare(const void *left, const void *right)
{
	const struct vm_split *a = *(struct vm_split *const *)left;
	const struct vm_split *b = *(struct vm_split *const *)right;

	if (a->color != b->color)
		return a->color < b->color ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->chan->rank < b->chan->rank ? -1 : 1;
}

/* One new channel for `size` members, in this order. */
static int split_one(struct vm_split **members, int size)
{
	struct vm_group *group = vm_group_new(size);
	struct vm_meet *meet = NULL;
	uint32_t context = vm_context_new();
	int rc = -VMPI_ENOMEM;

	if (!group)
		return rc;
	for (int i = 0; i < size; i++)
		group->ranks[i] = members[i]->chan->owner;
	meet = vm_meet_new(group);
	if (!meet)
		goto drop;
	for (int i = 0; i < size; i++) {
		members[i]->out = vm_chan_new(members[i]->chan->owner, group,
					      meet, context, i);
		if (!members[i]->out)
			goto drop;
	}
	rc = 0;
drop:
	vm_meet_drop(meet);
	vm_group_drop(group);
	return rc;
}

int vm_split_make(struct vm_split **members, int size)
{
	int rc = 0;

	for (int i = 0; i < size; i++)
		members[i]->out = NULL;
	qsort(members, (size_t)size, sizeof(*members), split_compare);
	for (int i = 0, n; i < size && !rc; i += n) {
		n = 1;
		while (i + n < size &&
		       members[i + n]->color == members[i]->color)
			n++;
		if (members[i]->color != VMPI_UNDEFINED)
			rc = split_one(members + i, n);
	}
	for (int i = 0; rc && i < size; i++) {
		vm_chan_free(members[i]->out);
		members[i]->out = NULL;
	}
	return rc;
}

/* What a member brings to vm_chan_split(). */
struct member {
	struct vm_split split;
	int result;
};

static void split_last(struct vm_meet *meet)
{
	int size = (int)meet->size, rc = -VMPI_ENOMEM;
	struct vm_split **splits = malloc((size_t)size * sizeof(*splits));

	if (splits) {
		for (int i = 0; i < size; i++) {
			struct member *member = vm_meet_args(meet, (uint32_t)i);

			splits[i] = &member->split;
		}
		rc = vm_split_make(splits, size);
		free(splits);
	}
	for (int i = 0; i < size; i++) {
		struct member *member = vm_meet_args(meet, (uint32_t)i);

		member->result = rc;
	}
}

int vm_chan_split(struct vm_chan *chan, struct vm_chan **out, int color,
		  int key)
{
	struct member member = {
		.split = { .chan = chan, .color = color, .key = key },
	};
	int rc = vm_meet(chan, &member, split_last);

	if (!rc)
		rc = member.result;
	if (!rc)
		*out = member.split.out;
	return rc;
}

int vm_chan_dup(struct vm_chan *chan, struct vm_chan **out)
{
	return vm_chan_split(chan, out, 0, 0);
}
