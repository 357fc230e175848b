/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels: a context number and the ranks it connects.
 *
 * Every rank has its own struct vmpi_chan; the list of ranks and the meeting
 * place of collectives are shared by all members in this process.
 */
#ifndef CORE_RANK_CHAN_H
#define CORE_RANK_CHAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "core/rank/match.h"
#include "vmpi.h"

struct vm_rank;
struct vm_meet;

/* Ranks in order; immutable, shared by count. */
struct vm_group {
	_Atomic int refs;
	int size;
	struct vm_rank *ranks[];
};

/* What a program knows of the members that have failed, in the order in which it
 * has learnt of them; of the first ones it has said so. */
struct vm_chan_faults {
	int count, acked;
	int members[]; /* numbers in the channel; room for all */
};

struct vmpi_chan {
	uint32_t context; /* of point-to-point; context + 1: collectives */
	int rank;	  /* the owner's number in this channel */
	struct vm_rank *owner;
	struct vm_group *group; /* where destinations are looked up */
	struct vm_meet *meet;	/* where the members meet */
	uint32_t started;	/* meetings that the owner has started there */
	int source_count;
	void *user;	      /* the layer above: the MPI communicator */
	_Atomic bool revoked; /* core/comm/revoke.h; set for good */
	uint32_t agreements;  /* that the owner has begun there */
	struct vm_chan_faults *faults; /* or NULL; vm_node->chans_lock */
	struct vm_list link;	       /* of the owner's channels */
	struct vm_rank **sources; /* possible senders: so many of the group */
};

#define vm_chan vmpi_chan

struct vm_group *vm_group_new(int size);
struct vm_group *vm_group_hold(struct vm_group *group);
void vm_group_drop(struct vm_group *group);

/* The key of a message or receive on the channel. */
static inline struct vm_env vm_chan_env(const struct vm_chan *chan, int source,
					int tag)
{
	return (struct vm_env){ chan->context, source, tag };
}

/* The channel is one of its owner's from now on, or no more. */
void vm_chan_enlist(struct vm_chan *chan);
void vm_chan_delist(struct vm_chan *chan);

/* Messages of the channel come from `count` members, from `first` on, only. */
void vm_chan_from(struct vm_chan *chan, int first, int count);

/* The member after the owner; after the last one the first. */
static inline struct vm_rank *vm_chan_next(const struct vm_chan *chan)
{
	int next = chan->rank + 1;

	return chan->group->ranks[next < chan->group->size ? next : 0];
}

/* Tags in the context of collectives by which the processes of the channel send
 * to each other (core/meeting/leaders.h). */
#define VM_CHAN_LEADERS_TAG 0x80000000u

static inline bool vm_chan_is_leaders_tag(int tag)
{
	return ((uint32_t)tag & VM_CHAN_LEADERS_TAG) != 0 && tag != -1;
}

/* Whom a message of env comes from, which is from a member: its number in the
 * world, or VM_ANY: the channel is gone.  For the rank's own tasks, for
 * core/rank/wait.h. */
int32_t vm_chan_source(struct vm_rank *rank, const struct vm_env *env);

#endif
