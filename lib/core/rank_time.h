/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times of a rank as performance variables: brought up to date when somebody
 * looks, so that nobody reads a clock for them.  Of ranks that are tasks.
 */
#ifndef CORE_RANK_TIME_H
#define CORE_RANK_TIME_H

#include <stdint.h>

#include "core/vars.h"

struct vm_rank;

struct vm_rank_time {
	uint64_t began_ns;	      /* 0: not yet */
	_Atomic bool ended;	      /* from then on the times stay */
	struct core_time_pvars pvars; /* grow only, whoever looks */
};

/* By the rank's main task, first and last. */
void vm_rank_time_begin(struct vm_rank *rank);
void vm_rank_time_end(struct vm_rank *rank);

/* Brings rank->time.pvars up to date; any thread, and in signal handlers. */
void vm_rank_time_refresh(struct vm_rank *rank);

#endif
