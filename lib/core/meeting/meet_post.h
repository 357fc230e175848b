/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts: the cache lines that workers of a meeting show each other.
 *
 * The last member to arrive on each worker, its leader, fills its worker's post
 * and reads those of all others: one cache line goes each way, and when all
 * posts show the number of the meeting all members have arrived.  A worker has
 * two posts, for meetings of even and odd number: one is written again only
 * after all others have been seen in the meeting between, so no worker waits
 * for its readers.  In a pair it has eight (core/meeting/meet_pair.h).
 */
#ifndef CORE_MEETING_MEET_POST_H
#define CORE_MEETING_MEET_POST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct vm_meet;
struct vm_meet_worker;
struct vm_ult;
struct vmpi_chan;

#define VM_MEET_KEY_WORDS 4
#define VM_MEET_KEY_BYTES (VM_MEET_KEY_WORDS * sizeof(uint64_t))

/* Each worker can do what its own members need with this much of each other
 * member in `data`; VM_MEET_LONG: it cannot. */
#define VM_MEET_LONG UINT32_MAX

/* With the bytes, unless these are VM_MEET_LONG: of a pair, who shows the post has
 * gone on. */
#define VM_MEET_GONE (UINT32_C(1) << 31)

#define VM_MEET_POSTS 8 /* of a worker, at most; a power of two */

/* Written by the worker's leader, read by the others after `number`, set last:
 * the line is away then, its leader does not look at it again. */
struct vm_meet_post {
	_Atomic uint32_t number; /* of the meeting */
	uint32_t bytes;
	union {
		void (*last)(struct vm_meet *meet);
		struct vm_meet *part; /* whence it is sent: meet_part.h */
	};
	uint64_t key[VM_MEET_KEY_WORDS]; /* what all workers must have alike */
	char data[];
} VM_ALIGNED(8);

VM_STATIC_ASSERT(sizeof(struct vm_meet_post) == 48,
		 "two words of data are on the line of the number");

static inline bool vm_meet_post_is_gone(const struct vm_meet_post *post)
{
	return post->bytes != VM_MEET_LONG && post->bytes & VM_MEET_GONE;
}

/* A leader that waits for a number: written by itself and by its wakers. */
struct vm_meet_post_waiter {
	_Atomic(struct vm_ult *) ult; /* NULL: it is awake */
	_Atomic(const _Atomic uint32_t *) word;
};

/* Sets *word to number and wakes the leaders that wait for that. */
void vm_meet_post_show(struct vm_meet *meet, const struct vm_meet_worker *self,
		       _Atomic uint32_t *word, uint32_t number);

/* Waits until *word is number; self is the worker of the caller, its leader;
 * their channel is for the exported state (core/rank/wait.h).  May switch. */
void vm_meet_post_wait(struct vm_meet_worker *self,
		       const _Atomic uint32_t *word, uint32_t number,
		       const struct vmpi_chan *chan);

#endif
