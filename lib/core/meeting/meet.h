/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings of a channel's members that share this process: a combining barrier,
 * in which the last to arrive works for all.
 */
#ifndef CORE_MEETING_MEET_H
#define CORE_MEETING_MEET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/lock.h"
#include "core/meeting/leaders.h"
#include "core/meeting/meet_part.h"
#include "core/meeting/meet_post.h"
#include "core/local/engine.h"
#include "core/local/errand.h"
#include "core/rank/state.h"

/*
 * Each member arrives with a pointer to its arguments on its own stack and
 * waits; one of them works for all, then all go on. One meeting costs about one
 * switch per member and no message.  Arrivals are counted per worker, and the
 * last of each worker shows the other workers that its members have arrived
 * (core/meeting/meet_post.h).  When the posts have all the data that the others
 * need, each worker does the work of its own members, at once.
 *
 * A member may also start a meeting: it leaves its pointer and a request there
 * and goes on.  Each member's first started meeting is the same one, its second
 * is, and so on, whatever other meetings it waits in between.  There is one
 * struct vm_meet per started meeting that is not complete, lent by the place.
 */

struct vmpi_chan;
struct vmpi_req;
struct vm_group;
struct vm_ult;

struct vm_meet;

typedef void (*vm_meet_last)(struct vm_meet *meet);

/* Whether vm_leaders_tell() has done so. */
typedef bool (*vm_meet_tell)(struct vm_meet *meet);

/* A member's place; written by the member, read by all between meetings. */
struct vm_seat {
	/* Set again, to the same, while others still read it, when a member
	 * comes early to the second meeting of one operation. */
	_Atomic(void *) args;
	struct vm_ult *ult;   /* the ULT that waits here */
	vm_meet_last last;    /* what this member thinks the meeting is about */
	struct vmpi_req *req; /* completes when a started meeting ends */
	uint32_t worker;      /* that the member belongs to here: where it was
				 at home when the place was made */
} VM_ALIGNED(VM_CACHELINE);

/* The members that were at home on one worker when the place was made.  One
 * that has moved since (core/runtime/migrate.h) stays, and pays for the longer
 * way. */
struct vm_meet_worker {
	/* Touched by these members only; with the engine's lock. */
	_Atomic uint32_t missing;
	uint32_t number; /* of the last meeting */
	int result;	 /* and how it ended */
	/* In a pair, a meeting to which the other is known to have come. */
	uint32_t heard;
	void *scratch; /* see vm_meet_scratch() */
	size_t scratch_bytes;
	/* An OS thread has started the meeting; set by any. */
	_Atomic bool threads;
	/* Read by others; constant but for the waiter. */
	struct vm_meet_post_waiter waiter VM_ALIGNED(VM_CACHELINE);
	_Atomic uint32_t taken[2]; /* core/meeting/meet_pair.h */
	uint32_t room;		   /* bytes of a post's data */
	uint32_t post_mask;	   /* posts in use, less one */
	/* NULL: it meets no other workers. */
	struct vm_meet_post *posts[VM_MEET_POSTS];
	uint32_t member_count;
	uint32_t *members; /* their ranks in the channel, ascending */
	struct vm_meet_worker *other; /* in a pair */
	struct vm_meet *meet;
	struct vm_meet_parts parts VM_ALIGNED(VM_CACHELINE);
} VM_ALIGNED(VM_CACHELINE);

/* Started meetings that are found without the lock. */
#define VM_MEET_WINDOW 8

struct vm_meet {
	uint32_t size;
	uint32_t worker_count;
	uint32_t active_workers; /* that have members */
	/* Of a started meeting, set last; of a place without parts, the number
	 * ever started, in a line that blocking members read anyway. */
	_Atomic uint32_t number;
	struct vm_meet_worker *workers;
	struct vm_seat *seats;	    /* by rank in the channel */
	uint32_t *members;	    /* memory of the workers' lists */
	char *posts;		    /* and posts */
	struct vm_leaders *leaders; /* NULL: all members are in this process */
	bool pair;		    /* of two members on two workers */
	struct vm_meet *place; /* of a started meeting: whence it is lent */
	/* Of a place: started meetings may have parts (meet_part.h); the most
	 * bytes of a post's data; and what fits into that of every worker of
	 * one member, of each, and of each of the blocks that each sends. */
	bool parts;
	uint32_t most_room, fits_one, fits_each, fits_block;
	/* The number of the last meeting that one member held for all: that
	 * member claims it, and sets `held` and the result when it is over. */
	_Atomic uint32_t claimed VM_ALIGNED(VM_CACHELINE), held;
	int result;
	/* Of a started meeting: who has come (meet_start.c); then, workers
	 * whose members do not know yet that it is over. */
	_Atomic uint64_t came;
	_Atomic uint32_t missing;
	/* Among several processes, for the member that holds it: the name of
	 * the meeting; how many have been held that members wait for; of a
	 * started one, its topic. */
	uint32_t context, tag, meetings;
	/* Of a started one: our card has been sent to all, and how that went
	 * (vm_leaders_tell()). */
	bool told;
	int told_error;
	/* And an exchange that has begun with cards; after -VMPI_EMISMATCH of
	 * one, the first word of the key of the first process if that has gone
	 * ahead, else 0. */
	struct vm_leaders_talk *talks;
	uint64_t gone;
	vm_meet_last last;
	struct vm_errand errand;
	/* Of a part: what its members bring, the key of these, and that they
	 * have been told the end of the meeting elsewhere. */
	const struct vm_meet_how *how;
	uint64_t shown[VM_MEET_KEY_WORDS];
	bool over;
	bool shared;  /* in the node's list of places, */
	uint32_t key; /* found there by this context */
	/* Started meetings that wait for members, the oldest first, and those
	 * that are over, for the next ones. */
	struct vm_lock lock VM_ALIGNED(VM_CACHELINE);
	_Atomic int refs;
	struct vm_list started, spare;
	/* Of a started meeting, under the place's lock; or of a shared place,
	 * under that of the node's list. */
	struct vm_list link;
	/* The last one opened whose number has this remainder. */
	_Atomic(struct vm_meet *)
		window[VM_MEET_WINDOW] VM_ALIGNED(VM_CACHELINE);
};

/* Room for a meeting; NULL when out of memory. */
struct vm_meet *vm_meet_alloc(uint32_t size, uint32_t workers);
/* Holds a meeting: all have arrived and none has left. */
void vm_meet_run(struct vm_meet *meet, vm_meet_last last);
/* The meeting of a single member.  Nobody else is at its place, so programs let
 * several threads of a rank make calls on MPI_COMM_SELF at once. */
int vm_meet_alone(void *args, vm_meet_last last);

/* The place of a channel for its members in this process; if ranks are apart
 * (vm_node->apart), for `self` alone.  NULL when out of memory. */
struct vm_meet *vm_meet_new(const struct vm_group *group,
			    const struct vm_rank *self);
/*
 * The place of a channel whose members in this process make their handles each
 * on their own, knowing its context: the first one makes it, the others get the
 * same.  NULL when out of memory.
 */
struct vm_meet *vm_meet_shared(const struct vm_group *group, uint32_t context,
			       const struct vm_rank *self);
struct vm_meet *vm_meet_hold(struct vm_meet *meet);
void vm_meet_drop(struct vm_meet *meet);
/* The member of this channel gives it up; it may still have part in
 * meetings. */
void vm_meet_leave(struct vmpi_chan *chan);

/*
 * A way for members to meet that may not need one to work for all.  show() and
 * own() are run by the last member to arrive on each worker.
 */
struct vm_meet_how {
	/* Gets what the other workers need to know of this worker's members:
	 * the data, which it writes to their post, and key and bytes, which it
	 * leaves in `mine`.  false: the long way is needed.  NULL: there is
	 * nothing to know. */
	bool (*show)(struct vm_meet *meet, struct vm_meet_worker *worker,
		     struct vm_meet_post *mine);
	/* All workers have shown theirs, with the same key: does what this
	 * worker's members want; args is the caller's.  NULL: nothing. */
	void (*own)(struct vm_meet *meet, struct vm_meet_worker *worker,
		    void *args);
	/* The long way: does it for all members; see vm_meet(). */
	vm_meet_last last;
};

/* The post of worker `other` for the meeting that `self` is at. */
static inline struct vm_meet_post *
vm_meet_post_of(const struct vm_meet_worker *other,
		const struct vm_meet_worker *self)
{
	return other->posts[self->number & other->post_mask];
}

/* Counts a member that has come; returns whether it is the last one of its
 * worker, whose engine's lock is held. */
static inline bool vm_meet_count(struct vm_meet_worker *worker)
{
	uint32_t missing =
		atomic_load_explicit(&worker->missing, memory_order_relaxed) -
		1;

	/* No member comes again before all have.  Pairs with the fence in
	 * vm_meet_somebody_waits(). */
	atomic_store_explicit(&worker->missing,
			      missing ? missing : worker->member_count,
			      memory_order_release);
	return missing == 0;
}

/* The same for those who have not the lock.  Without an atomic addition, since
 * most members are at home. */
static inline bool vm_meet_arrive(struct vm_meet_worker *worker, uint32_t index)
{
	struct vm_engine *engine = &vm_node->engines[index];
	bool last;

	vm_engine_lock(engine);
	last = vm_meet_count(worker);
	vm_engine_unlock(engine);
	return last;
}

/* Memory for own(), at least so many bytes, aligned to a cache line; it is kept
 * from meeting to meeting.  NULL: there is none. */
void *vm_meet_scratch(struct vm_meet_worker *worker, size_t bytes);

/* Whether a member is in this process: only those have seats. */
static inline bool vm_meet_here(const struct vm_meet *meet, uint32_t rank)
{
	return !meet->leaders ||
	       meet->leaders->of[rank] == (uint32_t)meet->leaders->self;
}

/* The arguments of member `rank` in the current meeting. */
static inline void *vm_meet_args(const struct vm_meet *meet, uint32_t rank)
{
	return atomic_load_explicit(&meet->seats[rank].args,
				    memory_order_relaxed);
}

/*
 * Arrives with args and returns when all members have arrived and one of them
 * has run last(meet) (NULL: nothing).  args must stay valid until the caller
 * knows that no member reads it any more, e.g. by a second meeting. One task
 * per member at a time.  0, or -VMPI_EMISMATCH on all members when they brought
 * different functions `last`, which then does not run.  May switch.
 *
 * When members are in several processes, last() runs in each of them, finds the
 * members that are there, and may exchange messages with the others
 * (core/meeting/leaders.h); it leaves its result in meet->result.
 */
int vm_meet(struct vmpi_chan *chan, void *args, vm_meet_last last);

/* The same in a way that may be shorter; all who bring way->last bring the same
 * way.  calls: where in core_rank_pvars the caller's rank counts it besides
 * core_meetings; 0: only there; VM_MEET_UNCOUNTED: in neither. */
#define VM_MEET_UNCOUNTED SIZE_MAX
int vm_meet_by(struct vmpi_chan *chan, void *args,
	       const struct vm_meet_how *way, size_t calls);

/* Counts one more meeting, as vm_meet_by() does. */
static inline void vm_meet_counts(size_t calls)
{
	struct core_rank_pvars *pvars = vm_counters();

	if (VM_UNLIKELY(calls == VM_MEET_UNCOUNTED))
		return;
	vm_pvar_add(pvars->meetings, 1);
	if (calls)
		vm_pvar_add(*(uint64_t *)(void *)((char *)pvars + calls), 1);
}

/*
 * As vm_meet(), without waiting: when all members have started it, the last of
 * them runs last(meet) on a meeting of its own and everybody's req completes,
 * that of members on other workers when these next look for messages, with
 * -VMPI_EMISMATCH in status.error instead when they brought different
 * functions. args must stay valid until req is complete.  0, -VMPI_ENOMEM, or
 * -VMPI_EMISMATCH for the first to start it when others wait in vm_meet(): they
 * will never start it.  Among several processes last(meet) is an errand of the last
 * member's (core/local/errand.h); with tell() one that takes little, of which
 * tell() may have sent what the others need: then it is kept.  May switch with
 * tell().
 */
int vm_meet_start(struct vmpi_chan *chan, void *args, vm_meet_last last,
		  struct vmpi_req *req, vm_meet_tell tell);

/* The same for members who think that their workers can do it by way->show()
 * and own(), which also does what is needed before the requests complete.  All
 * who bring way->last bring the same way. */
int vm_meet_start_short(struct vmpi_chan *chan, void *args,
			const struct vm_meet_how *way, struct vmpi_req *req);

/* Of two numbers of started meetings, which wrap. */
static inline bool vm_meet_is_before(uint32_t one, uint32_t other)
{
	return (int32_t)(one - other) < 0;
}

/* Whether a member has started the meeting of this number. */
static inline bool vm_meet_is_started(const struct vm_meet *place,
				      uint32_t number)
{
	uint32_t next =
		atomic_load_explicit(&place->number, memory_order_relaxed);

	if (!place->parts)
		return next != number;
	for (uint32_t w = 0; w < place->worker_count; w++) {
		next = atomic_load_explicit(&place->workers[w].parts.next,
					    memory_order_relaxed);
		if (VM_UNLIKELY(vm_meet_is_before(number, next)) &&
		    place->workers[w].member_count)
			return true;
	}
	return false;
}

/* Calls visit() with the arguments of the channel's member in each meeting that
 * it has started and that is not over. */
void vm_meet_started_each(const struct vmpi_chan *chan,
			  void (*visit)(void *args, void *arg), void *arg);

#endif
