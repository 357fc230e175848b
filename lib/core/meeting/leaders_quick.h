/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shortest way of short cards among processes of one member each, as straight
 * code: who says something to whom says it in the few bytes that are expected.
 *
 * What else comes is kept for vm_leaders_short(), which is to follow then as if
 * nothing had been; others cannot tell which way a process goes.
 */
#ifndef CORE_MEETING_LEADERS_QUICK_H
#define CORE_MEETING_LEADERS_QUICK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/meeting/leaders.h"
#include "core/meeting/leaders_card.h"
#include "core/rank/chan.h"

/* What has come from a process: a card that lies so that its data are aligned. */
struct vm_leaders_quick_card {
	size_t bytes;
	char room[16 + VM_LEADERS_CARD_PACKED] VM_ALIGNED(16);
};

struct vm_leaders_quick {
	struct vm_meet *meet;
	size_t begin;	 /* bytes of a card before its data */
	unsigned in_row; /* sends before this meeting */
	char packed[VM_LEADERS_CARD_PACKED];
};

/* The data of a card. */
static inline char *vm_leaders_quick_data(const struct vm_leaders_quick *quick,
					  struct vm_leaders_quick_card *card)
{
	return card->room + ((quick->begin + 15) & ~(size_t)15);
}

/* Whether the next meeting of a channel may go this way, of a call with this key
 * in which cards are needed so.  Begins it then. */
bool vm_leaders_quick_begin(struct vm_leaders_quick *quick,
			    const struct vm_chan *chan,
			    const uint64_t key[VM_MEET_KEY_WORDS],
			    enum vm_leaders_need need);

/* Its cards have another topic from now on; false: they have no room for the key. */
bool vm_leaders_quick_as(struct vm_leaders_quick *quick,
			 const uint64_t key[VM_MEET_KEY_WORDS],
			 enum vm_leaders_topic topic);

/* Sends data, at most VM_LEADERS_CARD_SHORT bytes, to a process: 0 or an error.  May
 * switch. */
int vm_leaders_quick_tell(struct vm_leaders_quick *quick, int process,
			  const void *data, size_t bytes);

/* Gets the card of a process, with so many bytes of data; those of all but the
 * first process, by it.  VM_DONE; VM_PENDING: one is not there, or is another one;
 * or an error. */
int vm_leaders_quick_hear(struct vm_leaders_quick *quick, int process,
			  struct vm_leaders_quick_card *card, size_t bytes);
int vm_leaders_quick_hear_all(struct vm_leaders_quick *quick,
			      struct vm_leaders_quick_card *cards,
			      const size_t *bytes);

/* Leaves what a process has said to vm_leaders_short(): 0 or an error. */
int vm_leaders_quick_keep(const struct vm_leaders_quick *quick, int process,
			  struct vm_leaders_quick_card *card);

/* All has been said; all: all others have been heard.  0 or an error. */
int vm_leaders_quick_end(struct vm_leaders_quick *quick, bool all);

#endif
