/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that go from process to process: the first one tells all others which
 * call it is, and each one waits for what the one before it passes on.
 */
#ifndef CORE_MEETING_LEADERS_CHAIN_H
#define CORE_MEETING_LEADERS_CHAIN_H

struct vm_leaders_talk;
struct vm_meet;

/* Waits for the card of the process before, by one that has the first one's:
 * VM_DONE, -VMPI_EMISMATCH, of which the next one is told, or another error.  May
 * switch. */
int vm_leaders_chain_hear(const struct vm_meet *meet,
			  struct vm_leaders_talk *talks);

/* Tells the next process that nothing will be passed on to it, since this one is
 * in another call than the first one.  0 or an error.  May switch. */
int vm_leaders_chain_break(const struct vm_meet *meet);

#endif
