/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program does for a time, as far as its messages show: the shares of their
 * sizes, how many it receives for those that it sends, and how fast.
 *
 * By that a policy knows a phase of the program when it comes again.  Shares are the
 * same with any setting and on a busy machine; the rate is not, and so counts only
 * if it differs much.
 */
#ifndef INTROSPECT_POLICY_PHASE_H
#define INTROSPECT_POLICY_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "introspect/vars/sizes.h"

/* What was counted in a while. */
struct vm_phase_count {
	uint64_t sizes[VM_SIZE_BINS]; /* of messages sent */
	uint64_t sent, received, ns;
};

struct vm_phase {
	double share[VM_SIZE_BINS + 1]; /* of all; the last: received ones */
	double rate[2]; /* sent a second, without and with what is tried;
			   0: not known */
};

/* It is what was counted, with the setting or without. */
void vm_phase_set(struct vm_phase *phase, const struct vm_phase_count *count,
		  bool on);

/* How far what was counted is from it, from 0 to 1; 2: it is another one. */
double vm_phase_distance(const struct vm_phase *phase,
			 const struct vm_phase_count *count, bool on);

/* Whether what was counted is of its kinds, however fast. */
bool vm_phase_alike(const struct vm_phase *phase,
		    const struct vm_phase_count *count);

/* What was counted is of it: its rate follows. */
void vm_phase_follow(struct vm_phase *phase, const struct vm_phase_count *count,
		     bool on);

/* Adds messages; the time is the caller's. */
void vm_phase_add(struct vm_phase_count *sum,
		  const struct vm_phase_count *count);

/* Whether a tick is of another phase than what was counted before. */
bool vm_phase_begins(const struct vm_phase_count *before,
		     const struct vm_phase_count *tick);

#endif
