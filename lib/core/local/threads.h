/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OS threads that act for a rank, and what they count.
 */
#ifndef CORE_LOCAL_THREADS_H
#define CORE_LOCAL_THREADS_H

#include "core/rank/rank.h"
#include "core/rank/state.h"

/* The calling OS thread acts for rank (NULL: for none), until it releases it.
 * 0, -VMPI_ENOMEM, -VMPI_ESTATE. */
int vm_thread_adopt(struct vm_rank *rank);
void vm_thread_release(void);

/* The calling thread, which was adopted for no rank, acts for this one until it
 * ends that. */
void vm_thread_act(struct vm_rank *rank);
void vm_thread_act_end(void);

/* One more or less acts for ranks: while one does no rank moves to another
 * worker.  Waits until a move has ended. */
void vm_thread_acting(int change);

/* Whether one acts for a rank. */
static inline bool vm_threads_act(void)
{
	return atomic_load_explicit(&vm_node->threads.acting,
				    memory_order_relaxed) > 0;
}

void vm_rank_threads_init(struct vm_rank *rank);

/* Brings rank->thread_pvars up to date; any thread, and in signal handlers. */
void vm_rank_refresh(struct vm_rank *rank);

/* The counters of a rank, of all its tasks and threads. */
void vm_rank_counters(struct vm_rank *rank, struct core_rank_pvars *sum);

#endif
