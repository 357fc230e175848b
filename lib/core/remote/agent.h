/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The progress agent: a thread that acts on what other processes send while all
 * workers run ranks, so that no step of a long message waits for a rank that
 * computes.
 *
 * It works on the workers' cores and sleeps on the network's descriptors.  While
 * a worker has nothing to run that one polls, and while nothing is under way
 * nobody need: then the agent waits for a timer, which whoever has something for
 * it sets.
 */
#ifndef CORE_REMOTE_AGENT_H
#define CORE_REMOTE_AGENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/rank/state.h"

/*
 * The word vm_node->progress.agent.  A worker that has something to run calls an
 * agent that is owed to operations under way, and so does whoever begins a long
 * operation while it is not on duty.  A process whose rank is an ordinary
 * executable has none: its worker does that (core/remote/progress.h).
 */
enum vm_agent_duty {
	VM_AGENT_CALLED, /* its timer runs, or it is on duty; or there is none */
	VM_AGENT_FREE,	 /* there is nothing for it to do */
	VM_AGENT_OWED,	 /* there is, but a worker polls just now */
	VM_AGENT_LATER,	 /* its timer runs, for what lasts */
};

/* Once there is a fabric, whose hooks the workers have; and before it is left.
 * 0, -VMPI_ENOMEM, -VMPI_ELIMIT (logged). */
int vm_agent_start(struct vm_node *node);
void vm_agent_stop(struct vm_node *node);

/* Sets the agent's timer, unless there is none. */
void vm_agent_call(void);

/* A worker goes to sleep: if the agent watches it is to leave the watch to it. */
void vm_agent_dismiss(void);

/* There is an errand (core/local/errand.h), and something is under way: the agent
 * sees it, or without one the worker that watches. */
void vm_agent_errand(void);

/* A worker has something to run: an agent that is owed is called.  The variable
 * may just have been set. */
static inline void vm_agent_check(void)
{
	uint32_t duty = atomic_load_explicit(&vm_node->progress.agent,
					     memory_order_relaxed);

	if (duty == VM_AGENT_CALLED)
		return;
	if (VM_UNLIKELY(duty == VM_AGENT_OWED ||
			core_cvar.progress == VM_PROGRESS_ON))
		vm_agent_call();
}

/* Whether a receive of so many bytes is an operation of the agent's. */
static inline bool vm_agent_wants(size_t bytes)
{
	return VM_UNLIKELY(bytes > vm_node->agent_bytes);
}

/* Something that other processes have a part in is under way from here on, to
 * the end. */
static inline void vm_agent_begin(void)
{
	/* Pairs with the store in duty_leave(): it is seen here, or sees this. */
	atomic_fetch_add(&vm_node->progress.under_way, 1);
	if (VM_UNLIKELY(atomic_load(&vm_node->progress.agent) !=
			VM_AGENT_CALLED))
		vm_agent_call();
}

static inline void vm_agent_end(void)
{
	atomic_fetch_sub_explicit(&vm_node->progress.under_way, 1,
				  memory_order_relaxed);
}

/* The same for what lasts, as windows do, and seldom needs it: the agent looks now
 * and then whether all ports are polled, and is on duty only while one is not. */
void vm_agent_lasting_begin(void);
void vm_agent_lasting_end(void);

#endif
