/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who watches the calls of the library.
 *
 * The word vm_intercept has a bit for each kind of watcher; every entry
 * (core/instrument/entry.h) looks at it, and while any but KEEP is set a call goes through
 * core/instrument/calls.S, which tells of its begin and its end here.  The rows below say
 * who hears of them.  Watching may begin and end at any time: whoever heard of
 * the begin of a call, and nobody else, hears of its end.
 */
#ifndef CORE_INSTRUMENT_INTERCEPT_H
#define CORE_INSTRUMENT_INTERCEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * KEEP: nobody watches, but somebody may begin to, so that images keep their
 * entries.  It is bit 0, which entry.inc knows.
 */
enum {
	VM_INTERCEPT_KEEP = 1,
	VM_INTERCEPT_OVERLAP = 2, /* core/instrument/overlap_events.h */
	VM_INTERCEPT_PROFILE = 4, /* core/instrument/profiler.h */
	VM_INTERCEPT_TRACE = 8,
	VM_INTERCEPT_HOOKS = 16, /* core/instrument/hook.h */
	VM_INTERCEPT_EVENTS = 32,
	VM_INTERCEPT_CHAN_STATS =
		64, /* of messages only: core/local/chan_stats.h */
	/* In vm_ult.told only: the task is in a hook. */
	VM_INTERCEPT_INSIDE = 128,
};

/*
 * Watchers: X(bit, enter, exit), with
 *	void enter(struct vm_rank *rank, uint32_t call)
 *	void exit(struct vm_rank *rank, uint32_t call)
 * On the task that calls (vm_self); rank is its rank, or NULL.  Begins are told
 * in this order, ends in the opposite one.  What a watcher calls itself is not
 * told.  The header of each row is included by border.c.
 */
#define VM_INTERCEPT_OBSERVERS(X)                                   \
	X(OVERLAP, vm_overlap_events_enter, vm_overlap_events_exit) \
	X(PROFILE, vm_profiler_enter, vm_profiler_exit)             \
	X(EVENTS, vm_trace_event_enter, vm_trace_event_exit)        \
	X(TRACE, vm_trace_enter, vm_trace_exit)                     \
	X(HOOKS, vm_hook_enter, vm_hook_exit)

/* The same from the last to the first. */
#define VM_INTERCEPT_OBSERVERS_BACK(X)                       \
	X(HOOKS, vm_hook_enter, vm_hook_exit)                \
	X(TRACE, vm_trace_enter, vm_trace_exit)              \
	X(EVENTS, vm_trace_event_enter, vm_trace_event_exit) \
	X(PROFILE, vm_profiler_enter, vm_profiler_exit)      \
	X(OVERLAP, vm_overlap_events_enter, vm_overlap_events_exit)

struct vm_ult;

/* Bits come and go by vm_intercept_set() and _clear(), from any thread. */
extern _Atomic uint64_t vm_intercept;

void vm_intercept_set(unsigned bits);
void vm_intercept_clear(unsigned bits);

/* Whether images have to keep their entries: somebody watches or may begin to.
 * Asked when one is loaded, after the variables have been. */
bool vm_intercept_is_kept(void);

/* What an image that may begin to watch imports, as prefixes; NULL ends them. */
extern const char *const vm_intercept_imports[];

/* For core/instrument/calls.S: a call from a frame; whether its end is to be told.  Inner
 * calls, of a callback, belong to the outer one. */
bool vm_intercept_enter(uint32_t call, const void *frame);
void vm_intercept_exit(void);

/* The calling task is about to run its body, code of the user; a thread that
 * acts for a rank counts as one.  It will not run on. */
void vm_intercept_body_begin(void);
void vm_intercept_body_end(void);

/* "MPI_Send", "vmpi_send"; "none" for what is no number of a call.  Numbers are
 * below the count. */
const char *vm_intercept_call_name(uint32_t call);
uint32_t vm_intercept_call_count(void);

/* Those of mpi.h, from VM_CALL_MPI_FIRST on (mpi/call/call.c). */
extern const char *const vm_intercept_mpi_names[];
extern const uint32_t vm_intercept_mpi_count;

#endif
