/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs: two members, on two workers of this process, of whom one has nothing to
 * learn from the other in some meetings and goes on when it has shown its post.
 *
 * Posts and numbers are those of all meetings (core/meeting/meet_post.h), so each
 * of the two may come to the meeting in the usual way instead.
 */
#ifndef CORE_MEETING_MEET_PAIR_H
#define CORE_MEETING_MEET_PAIR_H

#include "core/meeting/meet.h"
#include "core/rank/chan.h"
#include "sched/ult.h"

/*
 * A member has eight posts, in two halves.  Before it writes the first one of a
 * half it must know that the other has come to the meeting after the last one of
 * that half.  It does if it has got anything from the other since; who gets a post
 * of one who has gone says so once for each half, in `taken`.
 */
#define VM_MEET_HALF (VM_MEET_POSTS / 2)

/* That of the channel's owner.  The seat of the other member is in a line that this
 * writes. */
static inline struct vm_meet_worker *vm_meet_pair_of(const struct vm_chan *chan)
{
	const struct vm_meet *meet = chan->meet;

	return &meet->workers[meet->seats[chan->rank].worker];
}

/* Waits until the post for meeting self->number may be written, the first one of a
 * half.  May switch. */
void vm_meet_pair_room(const struct vm_chan *chan, struct vm_meet_worker *self);

/* Comes to the next meeting as one who will not wait: the post to be filled, all
 * but its number, its size and `last`.  May switch. */
static inline struct vm_meet_post *
vm_meet_pair_begin(const struct vm_chan *chan, struct vm_meet_worker *self)
{
	if (VM_UNLIKELY(++self->number % VM_MEET_HALF == 0))
		vm_meet_pair_room(chan, self);
	return vm_meet_post_of(self, self);
}

/* ... and shows it and has gone. */
static inline void vm_meet_pair_leave(struct vm_meet *meet,
				      const struct vm_meet_worker *self,
				      struct vm_meet_post *post, size_t bytes,
				      vm_meet_last last)
{
	post->bytes = (uint32_t)bytes | VM_MEET_GONE;
	post->last = last;
	vm_meet_post_show(meet, self, &post->number, self->number);
}

/*
 * Looks, for a while, for the post of the other, of whom the caller only hears, for
 * the next meeting.  NULL: it has not come, the usual way is needed.  Who makes
 * use of it calls vm_meet_pair_took().
 */
static inline const struct vm_meet_post *
vm_meet_pair_hear(const struct vm_meet_worker *self)
{
	uint32_t number = self->number + 1;
	const struct vm_meet_post *post =
		self->other->posts[number % VM_MEET_POSTS];

	/* Pairs with the store in vm_meet_post_show(). */
	if (atomic_load_explicit(&post->number, memory_order_acquire) ==
		    number ||
	    vm_ult_watch(&post->number, number))
		return post;
	return NULL;
}

/* The post of one who has gone, for meeting self->number, has been read. */
static inline void vm_meet_pair_taken(struct vm_meet *meet,
				      struct vm_meet_worker *self)
{
	uint32_t number = self->number;

	self->heard = number;
	if (VM_UNLIKELY(number % VM_MEET_HALF == 0))
		vm_meet_post_show(meet, self,
				  &self->taken[number / VM_MEET_HALF & 1],
				  number);
}

/* The post that vm_meet_pair_hear() has returned has been read: the caller has been
 * at that meeting. */
static inline void vm_meet_pair_took(struct vm_meet *meet,
				     struct vm_meet_worker *self)
{
	self->number++;
	vm_meet_pair_taken(meet, self);
}

/* Whether the other has come to the next meeting of this pair, or been there. */
static inline bool vm_meet_pair_came(const struct vm_chan *chan)
{
	const struct vm_meet_worker *self = vm_meet_pair_of(chan);
	uint32_t number = self->number + 1;

	/* Pairs with the store in vm_meet_post_show(). */
	return atomic_load_explicit(
		       &self->other->posts[number % VM_MEET_POSTS]->number,
		       memory_order_acquire) == number;
}

#endif
