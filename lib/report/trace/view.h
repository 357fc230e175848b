/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The activity of workers and ranks, as slices of time.
 *
 * A worker's slices follow each other.  Those of a rank are nested: its life, a
 * call, a wait.  They are written as begins and ends, so that no past record is
 * kept; an end has the name of its begin, by which viewers find it.
 */
#ifndef REPORT_TRACE_VIEW_H
#define REPORT_TRACE_VIEW_H

#include "report/trace/out.h"
#include "report/trace/tracks.h"

struct vm_trace_of_rank;
struct vm_trace_of_track;

struct vm_trace_view {
	struct vm_trace_out *out;
	const char *(*call_name)(uint32_t call);
	struct vm_trace_of_rank *ranks;
	struct vm_trace_of_track *tracks;
	uint64_t *counters; /* by process: bits of those that were not 0 */
	const struct vm_trace_tracks *of;
	int64_t end; /* the last time there was */
};

/* 0 or -VMPI_ENOMEM. */
int vm_trace_view_init(struct vm_trace_view *view, struct vm_trace_out *out,
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
