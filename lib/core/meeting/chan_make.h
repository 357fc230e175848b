/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making, duplicating, splitting and freeing channels (core/rank/chan.h).
 */
#ifndef CORE_MEETING_CHAN_MAKE_H
#define CORE_MEETING_CHAN_MAKE_H

#include <stdint.h>

#include "core/rank/chan.h"

/* The world and self channels of a rank, made when the runtime starts. */
struct vm_chan *vm_chan_new(struct vm_rank *owner, struct vm_group *group,
			    struct vm_meet *meet, uint32_t context, int rank);
void vm_chan_free(struct vm_chan *chan);

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

/*
 * Collective: see vmpi_chan_dup() and vmpi_chan_split().  0, -VMPI_ENOMEM on
 * all members, -VMPI_EMISMATCH when they call different things.  May switch.
 */
int vm_chan_dup(struct vm_chan *chan, struct vm_chan **out);
int vm_chan_split(struct vm_chan *chan, struct vm_chan **out, int color,
		  int key);

#endif
