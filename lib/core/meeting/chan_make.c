/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making channels: the last member to arrive makes the handles of all.
 */
#include "core/meeting/chan_make.h"

#include <stdlib.h>

#include "core/meeting/meet.h"
#include "core/local/chan_stats.h"
#include "core/rank/context.h"
#include "core/rank/state.h"

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
				  .meet = vm_meet_hold(meet),
				  .sources = group->ranks,
				  .source_count = group->size };
	vm_chan_enlist(chan);
	return chan;
}

void vm_chan_free(struct vm_chan *chan)
{
	if (!chan)
		return;
	vm_chan_stats_chan_ends(chan);
	vm_chan_delist(chan);
	vm_group_drop(chan->group);
	vm_meet_leave(chan);
	free(chan->faults);
	free(chan);
}

struct vm_split_wish vm_split_wish(const struct vm_chan *chan, int color,
				   int key)
{
	struct vm_split_wish wish = { .color = color, .key = key };

	if (chan->meet->leaders && color != VMPI_UNDEFINED)
		wish.context = vm_context_new();
	return wish;
}

void vm_split_wished(const struct vm_chan *chan,
		     const struct vm_split_wish *wish,
		     const struct vm_chan *out)
{
	if (chan->meet->leaders && wish->color != VMPI_UNDEFINED &&
	    (!out || out->context != wish->context))
		vm_context_return(wish->context);
}

/* By colour, then key, then rank in the old channel. */
static int split_compare(const void *left, const void *right)
{
	const struct vm_split *a = *(struct vm_split *const *)left;
	const struct vm_split *b = *(struct vm_split *const *)right;

	if (a->wish.color != b->wish.color)
		return a->wish.color < b->wish.color ? -1 : 1;
	if (a->wish.key != b->wish.key)
		return a->wish.key < b->wish.key ? -1 : 1;
	return a->rank < b->rank ? -1 : 1;
}

/* Whether a member gets its channel here: it is in this process, or, if ranks are
 * apart, the caller's. */
static bool is_mine(const struct vm_split *member)
{
	return vm_node->apart ? member->owner == vm_rank_self() :
				vm_rank_here(member->owner);
}

/* The first of them; NULL: there is none. */
static const struct vm_rank *any_mine(struct vm_split **members, int size)
{
	for (int i = 0; i < size; i++)
		if (is_mine(members[i]))
			return members[i]->owner;
	return NULL;
}

/* One new channel for `size` members, in this order. */
static int split_one(struct vm_split **members, int size)
{
	uint32_t context = members[0]->wish.context;
	const struct vm_rank *mine = any_mine(members, size);
	struct vm_group *group;
	struct vm_meet *meet = NULL;
	int rc = -VMPI_ENOMEM;

	if (!mine)
		return 0;
	group = vm_group_new(size);
	if (!group)
		return rc;
	for (int i = 0; i < size; i++)
		group->ranks[i] = members[i]->owner;
	meet = vm_meet_new(group, mine);
	if (!meet)
		goto drop;
	/* The number of the members' choice; none was needed within one
	 * process. */
	if (!context)
		context = vm_context_new();
	for (int i = 0; i < size; i++) {
		if (!is_mine(members[i]))
			continue;
		members[i]->out =
			vm_chan_new(members[i]->owner, group, meet, context, i);
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
		       members[i + n]->wish.color == members[i]->wish.color)
			n++;
		if (members[i]->wish.color != VMPI_UNDEFINED)
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
	struct vm_chan *chan;
	struct vm_split split;
	int result;
};

/* The wishes of the members of other processes. */
static int wishes_exchange(struct vm_meet *meet, struct vm_split_wish *all)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_leaders_process *here =
		&leaders->processes[leaders->self];
	struct vm_split_wish *mine = calloc(here->count, sizeof(*mine));
	struct vm_leaders_msg *parts =
		calloc((size_t)leaders->count, sizeof(*parts));
	int rc = mine && parts ? 0 : -VMPI_ENOMEM;

	for (uint32_t i = 0; !rc && i < here->count; i++)
		mine[i] = all[here->members[i]];
	for (int p = 0; !rc && p < leaders->count; p++) {
		parts[p].out = mine;
		parts[p].out_bytes = here->count * sizeof(*mine);
	}
	/* The others wait for us even without memory. */
	if (rc)
		rc = vm_leaders_barrier(meet, VM_LEADERS_MISMATCH);
	else
		rc = vm_leaders_exchange(meet, VM_LEADERS_SPLIT, parts);
	for (int p = 0; parts && p < leaders->count; p++) {
		const struct vm_leaders_process *there = &leaders->processes[p];
		const struct vm_split_wish *theirs = parts[p].in;

		if (theirs &&
		    parts[p].in_bytes == there->count * sizeof(*theirs))
			for (uint32_t i = 0; i < there->count; i++)
				all[there->members[i]] = theirs[i];
		free(parts[p].in);
	}
	free(parts);
	free(mine);
	return rc;
}

/* Fills in what all members say: 0 or an error. */
static int wishes_collect(struct vm_meet *meet, struct vm_split_wish *all)
{
	for (uint32_t i = 0; i < meet->size; i++)
		if (vm_meet_here(meet, i))
			all[i] = ((struct member *)vm_meet_args(meet, i))
					 ->split.wish;
	return meet->leaders ? wishes_exchange(meet, all) : 0;
}

static int members_split(struct vm_meet *meet, struct vm_group *group)
{
	size_t size = meet->size;
	struct vm_split_wish *all = calloc(size, sizeof(*all));
	struct vm_split *others = calloc(size, sizeof(*others));
	struct vm_split **splits = malloc(size * sizeof(*splits));
	int rc = -VMPI_ENOMEM;

	if (all && others && splits)
		rc = wishes_collect(meet, all);
	else if (meet->leaders)
		vm_leaders_barrier(meet, VM_LEADERS_MISMATCH);
	for (uint32_t i = 0; !rc && i < size; i++) {
		struct member *member = vm_meet_args(meet, i);

		splits[i] = vm_meet_here(meet, i) ? &member->split : &others[i];
		splits[i]->owner = group->ranks[i];
		splits[i]->rank = (int)i;
		splits[i]->wish = all[i];
	}
	if (!rc)
		rc = vm_split_make(splits, (int)size);
	free(splits);
	free(others);
	free(all);
	return rc;
}

static void split_last(struct vm_meet *meet)
{
	struct member *any = NULL;
	int rc;

	for (uint32_t i = 0; i < meet->size && !any; i++)
		if (vm_meet_here(meet, i))
			any = vm_meet_args(meet, i);
	rc = members_split(meet, any->chan->group);
	for (uint32_t i = 0; i < meet->size; i++) {
		struct member *member = vm_meet_args(meet, i);

		if (vm_meet_here(meet, i))
			member->result = rc;
	}
}

int vm_chan_split(struct vm_chan *chan, struct vm_chan **out, int color,
		  int key)
{
	struct member member = {
		.chan = chan,
		.split = { .wish = vm_split_wish(chan, color, key) },
	};
	int rc = vm_meet(chan, &member, split_last);

	if (!rc)
		rc = member.result;
	vm_split_wished(chan, &member.split.wish, rc ? NULL : member.split.out);
	if (!rc)
		*out = member.split.out;
	return rc;
}

int vm_chan_dup(struct vm_chan *chan, struct vm_chan **out)
{
	return vm_chan_split(chan, out, 0, 0);
}
