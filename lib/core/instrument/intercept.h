/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interception: observers of the calls of the library.
 *
 * The word vm_intercept has a bit for each observer; every entry
 * (core/instrument/entry.h) reads it, and while any bit but KEEP is set a call
 * goes through core/instrument/calls.S, which reports its begin and its end
 * here.  A table in intercept.c lists the observers.  Observing may begin and
 * end at any time: exactly the observers that saw the begin of a call see its
 * end.
 */
#ifndef CORE_INSTRUMENT_INTERCEPT_H
#define CORE_INSTRUMENT_INTERCEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Observers.  KEEP: none yet, but one may begin, so that images keep their
 * entries; it is bit 0, which entry.inc knows.  OVERLAP to HOOKS observe calls:
 * each has a row of `observers` in intercept.c.  They see a begin from the
 * lowest bit to the highest, an end from the highest to the lowest.
 */
enum {
	VM_INTERCEPT_KEEP = 1,
	VM_INTERCEPT_OVERLAP = 2, /* core/instrument/overlap_events.h */
	VM_INTERCEPT_PROFILE = 4, /* core/instrument/profiler.h */
	VM_INTERCEPT_EVENTS = 8,  /* core/instrument/trace.h */
	VM_INTERCEPT_TRACE = 16,  /* core/instrument/trace.h */
	VM_INTERCEPT_HOOKS = 32,  /* core/instrument/hook.h */
	/* Of messages only: core/local/chan_stats.h. */
	VM_INTERCEPT_CHAN_STATS = 64,
	/* Of messages only: they carry a word of the layer above, which
	 * describes what they contain.  Set before the first message is sent,
	 * and never cleared. */
	VM_INTERCEPT_SIGNATURES = 128,
	/* In vm_ult.observed only: the task is in a hook. */
	VM_INTERCEPT_INSIDE = 0x8000,
};

/* The bits of observers. */
#define VM_INTERCEPT_OBSERVERS (2 * VM_INTERCEPT_HOOKS - VM_INTERCEPT_OVERLAP)

struct vm_ult;

/* Bits come and go by vm_intercept_set() and _clear(), from any thread. */
extern VM_HIDDEN _Atomic uint64_t vm_intercept;

void vm_intercept_set(unsigned bits);
void vm_intercept_clear(unsigned bits);

/* Whether images have to keep their entries: calls are observed or may be
 * later. Asked when one is loaded, after the variables have been. */
bool vm_intercept_is_kept(void);

/* Imports, as prefixes, of images that may begin to observe; NULL ends them. */
extern const char *const vm_intercept_imports[];

/* For core/instrument/calls.S: a call from a frame; returns whether its end is
 * to be reported.  Inner calls, of a callback, belong to the outer one. */
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

/* The names of the calls of the layer above, numbered from VM_CALL_MPI_FIRST
 * on, and their number.  Not there in a program without that layer; vmpirun and
 * vmpi_info ask the linker for them. */
extern const char *const vm_intercept_mpi_names[] __attribute__((weak));
extern const uint32_t vm_intercept_mpi_count __attribute__((weak));

#endif
