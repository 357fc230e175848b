/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How soon the progress agent comes after it is called, and how soon it looks
 * again for what lasts: each twice as late after a time in vain, and at once as
 * soon as at first when there was something to do.
 *
 * Only who is called in vain comes later to a call: the looks between say nothing
 * about the operations that call it.  And how often a worker that watches on the
 * core of another one looks whether that one still polls.
 */
#ifndef CORE_REMOTE_PACE_H
#define CORE_REMOTE_PACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* From a call to the duty: most operations are over before, or a worker polls.
 * Ranks that wait or test for what they have begun, and do not compute meanwhile,
 * do not need it. */
#define VM_PACE_NS 50000
#define VM_PACE_NS_MAX 16000000

/* Written by the agent. */
struct vm_pace {
	_Atomic uint64_t call_ns;
	_Atomic uint64_t later_ns; /* the same for what lasts */
};

static inline void vm_pace_init(struct vm_pace *pace)
{
	atomic_init(&pace->call_ns, VM_PACE_NS);
	atomic_init(&pace->later_ns, VM_PACE_NS);
}

static inline uint64_t vm_pace_call_ns(const struct vm_pace *pace)
{
	return atomic_load_explicit(&pace->call_ns, memory_order_relaxed);
}

static inline uint64_t vm_pace_later_ns(const struct vm_pace *pace)
{
	return atomic_load_explicit(&pace->later_ns, memory_order_relaxed);
}

static inline void vm_pace_step(_Atomic uint64_t *step_ns, bool did)
{
	uint64_t ns = atomic_load_explicit(step_ns, memory_order_relaxed);

	if (did)
		ns = VM_PACE_NS;
	else if (ns < VM_PACE_NS_MAX)
		ns *= 2;
	atomic_store_explicit(step_ns, ns, memory_order_relaxed);
}

/* The agent leaves its duty: whether it was called to it, has done anything, and
 * is to look once more later. */
static inline void vm_pace_adapt(struct vm_pace *pace, bool called, bool did,
				 bool later)
{
	if (called || did)
		vm_pace_step(&pace->call_ns, did);
	if (later)
		vm_pace_step(&pace->later_ns, did);
}

/* Between two such looks while something long is under way, at first, and at most.
 * They take the core from who polls; twice as late only after a row of them in vain,
 * so that the first look that is needed comes late by a small part of that row. */
#define VM_PACE_DOZE_NS 400000
#define VM_PACE_DOZE_NS_MAX 3200000
#define VM_PACE_DOZE_ROW 32

/* vain: looks in vain since the last one that was not. */
static inline uint64_t vm_pace_doze_ns(unsigned vain)
{
	uint64_t ns = (uint64_t)VM_PACE_DOZE_NS << vain / VM_PACE_DOZE_ROW;

	return ns < VM_PACE_DOZE_NS_MAX ? ns : VM_PACE_DOZE_NS_MAX;
}

/* What becomes of vain by one more look. */
static inline unsigned vm_pace_doze_vain(unsigned vain, bool did)
{
	if (did)
		return 0;
	return vm_pace_doze_ns(vain) < VM_PACE_DOZE_NS_MAX ? vain + 1 : vain;
}

#endif
