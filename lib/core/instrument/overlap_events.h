/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events for the bounds on overlap (introspect/measure/overlap.h): begins and
 * ends of calls and of transfers.
 *
 * Each place is one line; with overlap_measure off it is one branch.  A rank's
 * calls are those of its main task.  The transfers of a message are reported at
 * both sides: `rank` is always the one whose transfer it is, whichever thread
 * runs the code.
 */
#ifndef CORE_INSTRUMENT_OVERLAP_EVENTS_H
#define CORE_INSTRUMENT_OVERLAP_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "core/rank/rank.h"
#include "introspect/measure/overlap.h"
#include "introspect/measure/vars.h"

struct vm_node;
struct vm_ult;

static inline bool vm_overlap_events_on(void)
{
	return VM_UNLIKELY(overlap_cvar.measure != 0);
}

/* A call of the calling task begins or ends (core/instrument/intercept.h). */
void vm_overlap_events_enter(struct vm_rank *rank, uint32_t call);
void vm_overlap_events_exit(struct vm_rank *rank, uint32_t call);

/*
 * Makes what watching needs, with the workers there and before the ranks are:
 * 0; -VMPI_ENOENT, -VMPI_EINVAL, -VMPI_EIO, -VMPI_ENOMEM, logged.  Nothing with
 * overlap_measure off.
 */
int vm_overlap_events_start(struct vm_node *node);
void vm_overlap_events_stop(struct vm_node *node);

/* The rank is there, and runs on that worker (-1: on an adopted thread).
 * Before the workers run, since packets for it may then arrive. */
void vm_overlap_events_rank(struct vm_rank *rank, int worker);

/* The task runs the rank, or its next body.  The task is about to run the body;
 * it will not run on (both by core/instrument/intercept.h).  It runs on another
 * worker from now on: call while it is suspended, after that has changed. */
void vm_overlap_events_task(struct vm_rank *rank, struct vm_ult *task);
void vm_overlap_events_body_begin(void);
void vm_overlap_events_body_end(void);
void vm_overlap_events_moved(struct vm_ult *task);

/* Around what suspends a task outside of any call. */
void vm_overlap_events_block_begin(void);
void vm_overlap_events_block_end(void);

/* The counters of a rank brought up to date. */
void vm_overlap_events_counters(struct vm_rank *rank,
				struct overlap_rank_pvars *pvars);

/* Transfers. */

static inline void vm_overlap_events_begin(struct vm_overlap_xfer *xfer,
					   const struct vm_rank *rank,
					   enum vm_side side, enum vm_path path,
					   uint64_t bytes)
{
	xfer->overlap = NULL;
	if (vm_overlap_events_on() && rank && rank->overlap)
		vm_overlap_begin(rank->overlap, xfer, vm_clock_ticks(), side,
				 path, bytes);
}

static inline void vm_overlap_events_end(struct vm_overlap_xfer *xfer)
{
	if (vm_overlap_events_on())
		vm_overlap_end(xfer, vm_clock_ticks());
}

static inline void vm_overlap_events_forget(struct vm_overlap_xfer *xfer)
{
	if (vm_overlap_events_on())
		vm_overlap_forget(xfer);
}

/* The transfer begins only now: before there was only an offer. */
static inline void vm_overlap_events_again(struct vm_overlap_xfer *xfer)
{
	struct vm_overlap *overlap;

	if (!vm_overlap_events_on() || !xfer->overlap)
		return;
	overlap = xfer->overlap;
	vm_overlap_forget(xfer);
	vm_overlap_begin(overlap, xfer, vm_clock_ticks(), xfer->side,
			 xfer->path, xfer->bytes);
}

/* A transfer of which only one end will be known. */
static inline void vm_overlap_events_half(const struct vm_rank *rank,
					  enum vm_side side, enum vm_path path,
					  uint64_t bytes)
{
	if (vm_overlap_events_on() && rank->overlap)
		vm_overlap_half(rank->overlap, side, path, bytes);
}

/* A copy by the library; a long one is timed (vm_overlap_events_copy). */
static inline void vm_overlap_events_copied(const struct vm_rank *rank,
					    enum vm_side side,
					    enum vm_path path, uint64_t bytes)
{
	if (vm_overlap_events_on() && rank->overlap)
		vm_overlap_copied(rank->overlap, side, path, bytes);
}

#define VM_OVERLAP_EVENTS_TIMED 4096 /* bytes of copies that are timed */

struct vm_overlap_events_copy {
	struct vm_overlap_xfer xfer;
};

static inline void
vm_overlap_events_copy_begin(struct vm_overlap_events_copy *copy,
			     const struct vm_rank *rank, enum vm_side side,
			     enum vm_path path, uint64_t bytes)
{
	copy->xfer.overlap = NULL;
	if (!vm_overlap_events_on())
		return;
	if (bytes > VM_OVERLAP_EVENTS_TIMED)
		vm_overlap_events_begin(&copy->xfer, rank, side, path, bytes);
	else
		vm_overlap_events_copied(rank, side, path, bytes);
}

static inline void
vm_overlap_events_copy_end(struct vm_overlap_events_copy *copy)
{
	vm_overlap_events_end(&copy->xfer);
}

#endif
