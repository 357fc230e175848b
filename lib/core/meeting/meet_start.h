/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Started meetings that all members share: the usual way, and what the parts of
 * meetings (core/meeting/meet_part.h) need of it.
 */
#ifndef CORE_MEETING_MEET_START_H
#define CORE_MEETING_MEET_START_H

#include <stdbool.h>
#include <stdint.h>

struct vm_meet;
struct vm_meet_sent;

/* A meeting to be started, with the members of the place; NULL when out of
 * memory. */
struct vm_meet *vm_meet_started_new(struct vm_meet *place);
void vm_meet_started_free(struct vm_meet *meet);

/*
 * Whether members wait in a meeting that the caller, a member at home on worker
 * `self` who waits in none, has not joined: some of a worker, or all and their
 * leader for other workers; and have not started that of this number before.
 */
bool vm_meet_somebody_waits(const struct vm_meet *place, uint32_t self,
			    uint32_t number);

/* The part of worker `index` cannot post: its members go the usual way; 0 or
 * -VMPI_ENOMEM. */
int vm_meet_started_turn(struct vm_meet *place, uint32_t number,
			 uint32_t index);
/* A post has come to worker `index`, whose members go the usual way: so do those
 * of the sender.  Frees the post. */
void vm_meet_started_move(struct vm_meet *place, struct vm_meet_sent *sent,
			  uint32_t index);
/* All posts of a part are here and do not agree: so go its members, which stay
 * in the part till the end. */
void vm_meet_started_differ(struct vm_meet *place, struct vm_meet *part,
			    uint32_t index);

#endif
