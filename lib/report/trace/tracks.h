/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The records of all rings of all processes of a job, in the order of time.
 */
#ifndef REPORT_TRACE_TRACKS_H
#define REPORT_TRACE_TRACKS_H

#include "introspect/measure/trace.h"

/* A process, with its clock against that of the first one. */
struct vm_trace_part {
	struct vm_trace trace; /* file is NULL: it left none */
	uint64_t ticks;	       /* which are `base` nanoseconds */
	int64_t base;
	double tick_ns;
	int host; /* which, in the order of processes */
};

/* A ring while it is read. */
struct vm_trace_track {
	struct vm_trace_part *part;
	struct vm_trace_ring *ring;
	int process, worker; /* worker: -1: of all other threads */
	uint64_t next, end, dropped;
	uint64_t shift; /* of sorting, which moves all to the beginning */
	int64_t ns;	/* of the next record */
};

struct vm_trace_tracks {
	struct vm_trace_part *parts;
	struct vm_trace_track *tracks;
	struct vm_trace_track **heap; /* those that are not at their end */
	int processes, count, alive, missing, hosts;
	int ranks;
	uint64_t records, dropped;
	int64_t first;	 /* the time of the first record */
	int64_t horizon; /* from here on nothing is missing */
};

/* 0; -VMPI_ENOENT: no process left anything; -VMPI_EIO, -VMPI_EINVAL, logged;
 * -VMPI_ENOMEM. */
int vm_trace_tracks_open(struct vm_trace_tracks *tracks, const char *path,
			 int processes);
void vm_trace_tracks_close(struct vm_trace_tracks *tracks);

/* Goes to the beginning. */
void vm_trace_tracks_rewind(struct vm_trace_tracks *tracks);
/* The next record, with its track and time; NULL: that was the last. */
const struct vm_trace_record *
vm_trace_tracks_next(struct vm_trace_tracks *tracks,
		     struct vm_trace_track **track, int64_t *ns);

/* Nanoseconds of a number that may be anything: what is of no year is cut, so
 * that the differences of times, and those of differences, have no limits. */
int64_t vm_trace_ns(double ns);

#endif
