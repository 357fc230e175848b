/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaders that do not wait: the first one, which tells all others something, and
 * the others, which tell it.
 *
 * Whom the first one tells sends it a card too if it would have to wait, so that
 * different calls are noticed, and in every sixteenth meeting, so that only so many
 * are ahead.  The latter come to receives that are posted, and say which of the
 * former, which nobody expects, have come before.
 */
#ifndef CORE_MEETING_LEADERS_AHEAD_H
#define CORE_MEETING_LEADERS_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

struct vm_leaders;
struct vm_leaders_talk;
struct vm_meet;

/* Whether the first process expects cards of this meeting, if it goes ahead. */
bool vm_leaders_are_heard(const struct vm_meet *meet);

/* Posts receives for them, by the first process; waits for those of the oldest
 * meeting that is unheard if there are many.  0 or an error.  May switch. */
int vm_leaders_unheard_add(const struct vm_meet *meet);

/* Of another process: notes that its card of this meeting is not expected; whether
 * it can be noted; what it says of those next, a bit per meeting before this one,
 * the latest the lowest. */
void vm_leaders_left_note(const struct vm_meet *meet);
bool vm_leaders_left_may_be(const struct vm_meet *meet);
uint32_t vm_leaders_left_take(const struct vm_meet *meet);

/* The first process takes those that the heads of the others name.  0 or an
 * error.  May switch. */
int vm_leaders_left_drop(const struct vm_meet *meet,
			 struct vm_leaders_talk *talks);

/* Who has gone on in another call takes nothing of what others have sent it, which
 * holds credits of theirs.  Whether one has, as far as has been heard; tells those that
 * have how much that is: 0 or an error.  May switch. */
bool vm_leaders_is_gone(const struct vm_meet *meet,
			const struct vm_leaders_talk *talk);
int vm_leaders_owed_tell(const struct vm_meet *meet,
			 struct vm_leaders_talk *talks);

/* Takes what this process has been told of by now: 0 or an error.  May switch. */
int vm_leaders_owed_take(const struct vm_meet *meet);

/* Takes what has come of all of them, after a meeting in which all others have
 * been heard, unless it is a started one: 0 or an error.  May switch. */
int vm_leaders_unheard_end(const struct vm_meet *meet);

/* The same of one meeting, in which data follow: receives for what the others say,
 * and waiting for that.  0, -VMPI_EMISMATCH or another error.  May switch. */
int vm_leaders_late_add(const struct vm_meet *meet);
int vm_leaders_late_end(const struct vm_meet *meet);

/* Takes what follows a card of another call, so that its sender goes on.  0 or an
 * error.  May switch. */
int vm_leaders_drain(const struct vm_meet *meet, int process,
		     const struct vm_leaders_talk *talks);

/* Leaves it to those that are still to come. */
void vm_leaders_unheard_drop(struct vm_leaders *leaders);

/*
 * The card of a process that has gone does not fit here: the first process tells
 * the others, which wait for that one's head, in its name that it disagrees, and
 * takes it as heard itself.
 */
int vm_leaders_ahead_tell(const struct vm_meet *meet, int process,
			  struct vm_leaders_talk *talks);

/* The first process has gone in another call, and may not hear what this one has
 * sent it, if it has: -VMPI_EMISMATCH or another error.  May switch. */
int vm_leaders_other_gone(const struct vm_meet *meet,
			  struct vm_leaders_talk *talks, bool sent);

/*
 * Waits for the heads of all others, for which receives are posted; before some, a
 * card has come.  Who has sent one sends its head when it has heard all, so that
 * those that have gone are told of first.  0 or an error.  May switch.
 */
int vm_leaders_heads_hear(const struct vm_meet *meet,
			  struct vm_leaders_talk *talks);

#endif
