/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cards from each process to all others, or by the first one, which collects and
 * spreads them (vm_leaders_star()).
 */
#ifndef CORE_MEETING_LEADERS_STAR_H
#define CORE_MEETING_LEADERS_STAR_H

#include "core/meeting/leaders_talk.h"

/* Cards to all are one send in a row, after some of which a rank yields: to be
 * called after each, with what it has been before the first. */
void vm_leaders_row_keep(unsigned *in_row);

/* Sends a card to the first `count` others. */
int vm_leaders_cards_send(const struct vm_meet *meet, int count,
			  struct vm_leaders_head *out,
			  struct vm_leaders_talk *talks, size_t data_bytes);

/* Sends one to another process, and waits until it has been sent.  May switch. */
int vm_leaders_card_pass(const struct vm_meet *meet, int process,
			 const struct vm_leaders_head *out, size_t data_bytes);

/* Sends each other process its own, with the key of this one. */
int vm_leaders_cards_deal(const struct vm_meet *meet,
			  const struct vm_leaders_head *out,
			  struct vm_leaders_talk *talks);

/* Gets those of all others, or less if the first process has gone ahead; receives
 * are posted for all that do not come soon. */
int vm_leaders_cards_hear(const struct vm_meet *meet,
			  struct vm_leaders_talk *talks);

/* Whether another process is in the same call, as its card says; whether the first
 * `count` processes are in the same call. */
bool vm_leaders_is_alike(const struct vm_leaders_talk *talk,
			 const struct vm_leaders_head *out);
bool vm_leaders_are_alike(const struct vm_leaders *leaders, int count,
			  const struct vm_leaders_talk *talks);

/* The first process collects the cards and tells all others that wait for it what
 * has come. */
int vm_leaders_star_lead(const struct vm_meet *meet,
			 struct vm_leaders_talk *talks);

/* The others send it theirs.  What it tells instead of a bundle is what it says of
 * itself.  If it is expected to go ahead they do so only if that has not come yet,
 * or if it wants to hear them. */
int vm_leaders_star_follow(const struct vm_meet *meet,
			   struct vm_leaders_head *out,
			   struct vm_leaders_talk *talks, size_t data_bytes,
			   bool goes_ahead);

#endif
