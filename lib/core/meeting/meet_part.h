/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of a started meeting, one per worker, which exchange posts through the
 * rings between workers: each worker completes its own members, and no line is
 * written by several.
 */
#ifndef CORE_MEETING_MEET_PART_H
#define CORE_MEETING_MEET_PART_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "core/meeting/meet_post.h"

/*
 * Members take this way if they think that the data fit into posts; all think
 * the same if they make the same call.  Otherwise those who do not, or whose
 * worker cannot show its data, take the usual way (meet_start.c), and so do all
 * others then: whoever has taken it moves there the members of its own part, and
 * those of the posts that it gets.
 */

struct vmpi_chan;
struct vmpi_req;
struct vm_meet_how;

/* Workers with members, at most, for which posts are worth it: each sends one to
 * each other. */
#define VM_MEET_PARTS_MAX 16

/* A post on its way.  Taken from the sending worker's memory, and then the
 * receiving one's. */
struct vm_meet_sent {
	struct vm_meet_sent *next;
	uint32_t from; /* worker */
	bool note;     /* travels as one (meet_part.c) */
	struct vm_meet_post post;
};

VM_STATIC_ASSERT(sizeof(struct vm_meet_sent) == 64,
		 "a barrier's post is one cache line");

/* Of a worker at a place; with its engine's lock. */
struct vm_meet_parts {
	/* The number of the next meeting, which no member here has started;
	 * read by others. */
	_Atomic uint32_t next;
	uint32_t leaving;     /* members who have left while some are open */
	struct vm_list open;  /* by number, without a gap but for those */
	struct vm_list spare; /* ... that are over */
	struct vm_meet_sent *free; /* for posts */
	int32_t others;		   /* of a pair, that we hold of the other's */
	/* Posts of meetings from `next` on, by number. */
	struct vm_meet_sent *early;
};

/* Sets up the parts of a new place, if it can have such. */
void vm_meet_parts_init(struct vm_meet *place);
void vm_meet_parts_fini(struct vm_meet *place);

/* As vm_meet_start_short(); VM_PENDING: the usual way is needed. */
int vm_meet_part_start(struct vmpi_chan *chan, void *args,
		       const struct vm_meet_how *how, struct vmpi_req *req);

/* The part of worker `index` of the meeting of this number, whose post has not
 * been sent, or NULL, and the posts that have come there: they are the caller's
 * now.  Later posts will find the meeting at the place. */
struct vm_meet *vm_meet_part_take(struct vm_meet *place, uint32_t index,
				  uint32_t number, struct vm_meet_sent **posts);
/* Gives back what vm_meet_part_take() has returned. */
void vm_meet_part_put(struct vm_meet *place, uint32_t index,
		      struct vm_meet *part, struct vm_meet_sent *posts);

/* The members of worker `index` have been told that the meeting is over, to
 * which `moved` workers have been moved; the engine's lock is held. */
void vm_meet_part_end(struct vm_meet *place, uint32_t index, uint32_t number,
		      uint32_t moved);

/* Calls visit() for those parts of worker `index` before `number` that are
 * open. */
void vm_meet_parts_each(const struct vm_meet *place, uint32_t index,
			uint32_t number,
			void (*visit)(struct vm_meet *part, void *arg),
			void *arg);

#endif
