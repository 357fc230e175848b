/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaders that do not wait: the first one, which tells all others something, and
 * the others, which tell it.
 *
 * Everybody sends its card, as ever, so that different calls are noticed.  Those
 * that the first one has not waited for are unheard: they come to receives that
 * are posted, and only so many meetings are ahead.
 */
#ifndef CORE_MEETING_LEADERS_AHEAD_H
#define CORE_MEETING_LEADERS_AHEAD_H

struct vm_leaders;
struct vm_leaders_talk;
struct vm_meet;

/* Posts receives for the cards of this meeting, by the first process; waits for
 * those of the oldest one that is unheard if there are many.  0 or an error.  May
 * switch. */
int vm_leaders_unheard_add(const struct vm_meet *meet);

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

#endif
