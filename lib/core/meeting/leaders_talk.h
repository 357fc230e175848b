/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the leaders of a meeting say to each other: heads, and bundles of cards.
 */
#ifndef CORE_MEETING_LEADERS_TALK_H
#define CORE_MEETING_LEADERS_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/meeting/leaders.h"

struct vmpi_req;

/* Data that fits behind the head goes with it; the rest in a second message. */
#define VM_LEADERS_HEAD_ROOM 4080u

struct vm_leaders_head {
	uint32_t topic;
	uint32_t left; /* to the first process: vm_leaders_left_take() */
	uint64_t bytes;
	char data[VM_LEADERS_HEAD_ROOM];
} VM_ALIGNED(16);

#define VM_LEADERS_HEAD_BYTES offsetof(struct vm_leaders_head, data)
#define VM_LEADERS_CARD_MOST \
	(sizeof(struct vm_leaders_card) + VM_LEADERS_CARD_DATA)

VM_STATIC_ASSERT(VM_LEADERS_CARD_MOST <= VM_LEADERS_HEAD_ROOM,
		 "a card fits behind a head");

/* From and to one process; a line apart, since a cache has few places for lines
 * at a distance of pages. */
struct vm_leaders_heads {
	struct vm_leaders_head in, out;
	char apart[VM_CACHELINE];
};

/* An exchange with one process; that with oneself holds the card.  Whoever looks
 * at those of all reads these lines only. */
struct vm_leaders_talk {
	struct vmpi_req *reqs[4]; /* receive, send, and of the rest the same */
	struct vm_leaders_head *in; /* that has come; NULL: none has */
	struct vm_leaders_heads *heads;
	bool ahead;    /* a card of a process that does not wait for others */
	uint32_t left; /* vm_leaders_left_take() of who has sent it */
	uint32_t owed; /* sent; from a mismatch on, to who may have gone */
} VM_ALIGNED(VM_CACHELINE);

/* Whether what has been heard is a card. */
static inline bool vm_leaders_talk_is_card(const struct vm_leaders_talk *talk)
{
	return talk->in && (talk->in->topic == VM_LEADERS_SHORT ||
			    talk->in->topic == VM_LEADERS_AHEAD ||
			    talk->in->topic == VM_LEADERS_CHAINED);
}

/* Memory for an exchange, by process; NULL: there is none.  It is kept for the
 * next one where the processes are few; the first `used` have been used, and
 * their requests have ended. */
struct vm_leaders_talk *vm_leaders_talks_get(struct vm_leaders *leaders);
void vm_leaders_talks_put(struct vm_leaders *leaders,
			  struct vm_leaders_talk *talks, int used);

/* Post a receive for the head of another process; note that a head of so many
 * bytes has come, in which a card may be packed; wait for it: 0 or an error. */
int vm_leaders_head_recv(const struct vm_meet *meet, int process,
			 struct vm_leaders_talk *talk);
int vm_leaders_head_hear(struct vm_leaders_talk *talk,
			 struct vm_leaders_head *in, size_t bytes);
uint32_t vm_leaders_head_left(const struct vm_leaders_head *in, size_t bytes);
int vm_leaders_head_await(const struct vm_meet *meet, int process,
			  struct vm_leaders_talk *talks);

/* The most bytes of a bundle, which begins with a head, and where it lies. */
size_t vm_leaders_bundle_room(const struct vm_leaders *leaders);
struct vm_leaders_head *vm_leaders_bundle(const struct vm_leaders *leaders,
					  struct vm_leaders_talk *talks);

/* Puts all cards into the bundle, behind its head; returns how many bytes it
 * has. */
size_t vm_leaders_bundle_fill(const struct vm_leaders *leaders,
			      struct vm_leaders_talk *talks);

/* Finds them in one of so many bytes; false: it is malformed. */
bool vm_leaders_bundle_take(const struct vm_leaders *leaders,
			    struct vm_leaders_talk *talks, size_t bytes);

#endif
