/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times of a rank as performance variables: brought up to date when they
 * are read, so that no clock is read for them before.  For ranks that are
 * tasks.
 */
#ifndef CORE_RANK_TIME_H
#define CORE_RANK_TIME_H

#include <stdatomic.h>
#include <stdint.h>

#include "core/rank/vars.h"

struct vm_rank;
struct vm_ult;

struct vm_rank_time {
	/* Written by the task first: when the rank would have begun but for the
	 * time between its bodies, and how long it ran in those before. */
	uint64_t began_ns, run_before_ns;
	/* The task, which sets it when that is written, and takes it back. */
	_Atomic(const struct vm_ult *) task;
	struct core_time_pvars pvars; /* grow only, whichever thread reads */
};

/* By the rank's main task, first and last. */
void vm_rank_time_begin(struct vm_rank *rank);
void vm_rank_time_end(struct vm_rank *rank);

/* Brings rank->time.pvars up to date; any thread, and in signal handlers. */
void vm_rank_time_refresh(struct vm_rank *rank);

#endif
