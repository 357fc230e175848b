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

struct vmpi_chan {
	uint32_t context; /* of point-to-point; context + 1: collectives */
	int rank;	  /* the owner's number in this channel */
	struct vm_rank *owner;
	struct vm_group *group; /* where destinations are looked up */
	struct vm_meet *meet;	/* where the members meet */
	uint32_t started;	/* meetings that the owner has started there */
	int source_count;
	void *user;		  /* the layer above: the MPI communicator */
	struct vm_list link;	  /* of the owner's channels */
	struct vm_rank **sources; /* who its messages may come from: so many of
				     the group */
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

/* The world and self channels of a rank, made when the runtime starts. */
struct vm_chan *vm_chan_new(struct vm_rank *owner, struct vm_group *group,
			    struct vm_meet *meet, uint32_t context, int rank);
void vm_chan_free(struct vm_chan *chan);

/* Messages of the channel come from `count` members, from `first` on, only. */
void vm_chan_from(struct vm_chan *chan, int first, int count);

/* The member after the owner; after the last one the first. */
static inline struct vm_rank *vm_chan_next(const struct vm_chan *chan)
{
	int next = chan->rank + 1;

	return chan->group->ranks[next < chan->group->size ? next : 0];
}

/* Whom a message of env comes from, which is from a member: its number in the
 * world, or VM_ANY: the channel is gone.  For the rank's own tasks, for
 * core/rank/wait.h. */
int32_t vm_chan_source(struct vm_rank *rank, const struct vm_env *env);

/* What a member of a channel says in a split; goes to other processes. */
struct vm_split_wish {
	int color, key;
	uint32_t context; /* to be used if it is the first of a new channel;
			     only among several processes */
};

/* A member in a split. */
struct vm_split {
	struct vm_rank *owner;
	struct vm_chan *out; /* the new channel or NULL */
	int rank;	     /* in the old one */
	struct vm_split_wish wish;
};

/* What a member of chan says. */
struct vm_split_wish vm_split_wish(const struct vm_chan *chan, int color,
				   int key);

/* The member has its new channel, or none. */
void vm_split_wished(const struct vm_chan *chan,
		     const struct vm_split_wish *wish,
		     const struct vm_chan *out);

/* Makes the new channels of all members that are in this process, from the list
 * of all members of a channel, which it sorts.  0, or -VMPI_ENOMEM and no new
 * channels. */
int vm_split_make(struct vm_split **members, int size);

/* Whether a rank is in this process. */
bool vm_rank_here(const struct vm_rank *rank);

/*
 * Collective: see vmpi_chan_dup() and vmpi_chan_split().  0, -VMPI_ENOMEM on
 * all members, -VMPI_EMISMATCH when they call different things.  May switch.
 */
int vm_chan_dup(struct vm_chan *chan, struct vm_chan **out);
int vm_chan_split(struct vm_chan *chan, struct vm_chan **out, int color,
		  int key);

#endif
