/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the progress agent lets the ranks compute after it has found something:
 * so long that a few more events come together, where they come in a row, since
 * each wake-up costs the core more than handling one does.
 *
 * What comes alone is not to wait: a nap is short where nothing has come for it, and
 * always by the time that the agent has been on duty.
 */
#ifndef CORE_REMOTE_NAPS_H
#define CORE_REMOTE_NAPS_H

#include <stdbool.h>
#include <stdint.h>

#define VM_NAPS_NS_MAX 500000
#define VM_NAPS_GAP_NS 1000000 /* what comes later is not of the row */
#define VM_NAPS_EVENTS 4       /* that are to come in a nap */
#define VM_NAPS_PART 8	       /* of the time on duty at most */
#define VM_NAPS_REST_MAX 6 /* the logarithm of how many are short in a row */

/*
 * A sender that waits for an answer to each event has the next one come late by the
 * nap: then there is one in each, however long, and naps are short for a number of
 * them that doubles.  Written by the agent.
 */
struct vm_naps {
	uint64_t duty_ns, found_ns; /* since when it is on duty; last found */
	uint64_t time_ns, events;   /* the newest have the most weight */
	bool gathers;		    /* the last nap was one for several */
	unsigned shorts, rest;
};

/* The agent comes on duty. */
static inline void vm_naps_begin(struct vm_naps *naps, uint64_t now_ns)
{
	naps->duty_ns = naps->found_ns = now_ns;
	naps->gathers = false;
}

/* The agent has looked, after the nap or woken, and found so many events. */
static inline void vm_naps_found(struct vm_naps *naps, uint64_t events,
				 uint64_t now_ns)
{
	uint64_t ns = now_ns - naps->found_ns;

	if (naps->gathers && events > 1) {
		naps->rest = 0;
	} else if (naps->gathers) {
		naps->shorts = 1u << naps->rest;
		naps->rest += naps->rest < VM_NAPS_REST_MAX;
	}
	naps->gathers = false;
	if (!events)
		return;
	if (ns > VM_NAPS_GAP_NS)
		ns = VM_NAPS_GAP_NS;
	naps->found_ns = now_ns;
	naps->time_ns += ns - naps->time_ns / 4;
	naps->events += 16 * events - naps->events / 4;
}

/* How long it naps now, not less than `least_ns`. */
static inline uint64_t vm_naps_ns(struct vm_naps *naps, uint64_t least_ns,
				  uint64_t now_ns)
{
	uint64_t most = (now_ns - naps->duty_ns) / VM_NAPS_PART;
	uint64_t each = 16 * naps->time_ns / (naps->events + 1);
	uint64_t ns = VM_NAPS_EVENTS * each;

	if (most > VM_NAPS_NS_MAX)
		most = VM_NAPS_NS_MAX;
	if (naps->shorts) {
		naps->shorts--;
		return least_ns;
	}
	if (ns > most)
		ns = most;
	if (ns <= least_ns || ns < 2 * each)
		return least_ns;
	naps->gathers = true;
	return ns;
}

#endif
