/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The activity of workers and ranks, as slices of time.
 *
 * A worker's slices follow each other; each is written at its end.  Those of a
 * rank are nested: its life, a call, a wait.  They are written as begins and
 * ends, so that no past record is kept.
 */
#ifndef REPORT_TRACE_VIEW_H
#define REPORT_TRACE_VIEW_H

#include "report/trace/chrome.h"
#include "report/trace/tracks.h"

/* Numbers of processes in the text: that of the ranks, then the real ones. */
#define VM_TRACE_PID_RANKS 1
#define VM_TRACE_PID_FIRST 2

struct vm_trace_of_rank;
struct vm_trace_of_track;

struct vm_trace_view {
	struct vm_chrome *chrome;
	const char *(*call_name)(uint32_t call);
	struct vm_trace_of_rank *ranks;
	struct vm_trace_of_track *tracks;
	uint64_t *counters; /* by process: bits of those that were not 0 */
	const struct vm_trace_tracks *of;
	int64_t end; /* the last time there was */
};

/* 0 or -VMPI_ENOMEM. */
int vm_trace_view_init(struct vm_trace_view *view, struct vm_chrome *chrome,
		       const struct vm_trace_tracks *tracks,
		       const char *(*call_name)(uint32_t call));
/* A record of any kind, in the order of time. */
void vm_trace_view_record(struct vm_trace_view *view,
			  const struct vm_trace_record *record,
			  const struct vm_trace_track *track, int64_t ns);
/* Adds the thread of a rank, for other writers. */
void vm_trace_view_rank(struct vm_trace_view *view, uint32_t rank, int64_t ns);
/* Ends all that is open. */
void vm_trace_view_fini(struct vm_trace_view *view);

#endif
