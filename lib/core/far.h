/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels whose members are in several processes: what these tell each other.
 *
 * The members of one process meet in memory (core/meet.h); the last of them to
 * arrive is the leader of the process there, and the leaders exchange messages.
 * These go to the first member of the other process, in the context of
 * collectives: source is the sending process's first member, tag the number of
 * the meeting.  Any worker may receive them for that member.
 */
#ifndef CORE_FAR_H
#define CORE_FAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm_group;
struct vm_meet;
struct vm_rank;

/* The members of a channel in one process, in order. */
struct vm_far_process {
	uint32_t process; /* in the job */
	uint32_t count;
	uint32_t *members; /* their ranks in the channel */
	struct vm_rank *first;
};

/* Immutable; the processes are in the order of their first members. */
struct vm_far {
	int count, self; /* processes, and which of them this one is */
	uint32_t *of;	 /* by rank in the channel: the member's process */
	struct vm_far_process processes[];
};

/* *far is NULL when all members are here.  0 or -VMPI_ENOMEM. */
int vm_far_new(struct vm_far **far, const struct vm_group *group);

/* Tags of meetings: those that are started have numbers of their own. */
#define VM_FAR_STARTED 0x20000000u
#define VM_FAR_NUMBERS 0x1fffffffu

/* What a meeting is about, for the leaders; the first exchange of a meeting says
 * it. */
enum vm_far_topic {
	VM_FAR_BARRIER,
	VM_FAR_SPLIT,
	VM_FAR_COLL,
	VM_FAR_MISMATCH, /* members of one process disagree already */
};

/* What goes to one process and what has come from it, which is malloc'ed, NULL
 * when it is nothing. */
struct vm_far_part {
	const void *out;
	void *in;
	size_t out_bytes, in_bytes;
};

/*
 * Tells every other process its part and gets theirs; parts are by process.  By
 * the leader, once or more often in a meeting.  0, -VMPI_EMISMATCH on all
 * leaders if the topics differ, or another error.  On errors nothing is left in
 * `in`.  May switch.
 */
int vm_far_exchange(const struct vm_meet *meet, enum vm_far_topic topic,
		    struct vm_far_part *parts);

/* The same for meetings of which nothing is to be told. */
int vm_far_barrier(const struct vm_meet *meet, enum vm_far_topic topic);

#endif
