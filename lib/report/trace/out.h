/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the merged trace goes: a file in one of two formats, to which tracks and
 * events are given in the order of time.  An error is kept until the end.
 *
 * A track is a process (tid is VM_TRACE_OUT_PROCESS) or a thread of it; it is
 * given once, before its first event.  Slices of a track lie in each other.
 */
#ifndef REPORT_TRACE_OUT_H
#define REPORT_TRACE_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Numbers of processes: that of the ranks, then the real ones. */
#define VM_TRACE_PID_RANKS 1
#define VM_TRACE_PID_FIRST 2
#define VM_TRACE_OUT_PROCESS (-1)
#define VM_TRACE_OUT_ARGS 4

enum vm_trace_phase {
	VM_TRACE_OUT_BEGIN,
	VM_TRACE_OUT_END, /* name: that of the begin */
	VM_TRACE_OUT_MOMENT,
	VM_TRACE_OUT_COUNTER,
	VM_TRACE_OUT_SEND, /* a message leaves */
	VM_TRACE_OUT_RECEIVE,
};

/* Text, if there is one, else a number. */
struct vm_trace_arg {
	const char *name; /* NULL: there are no more */
	int64_t value;
	const char *text;
};

struct vm_trace_event {
	enum vm_trace_phase phase;
	int pid, tid;
	const char *name;
	int64_t ns;
	int counter;	 /* of COUNTER: its number in the process */
	int64_t value;	 /* of COUNTER */
	uint64_t flow;	 /* of SEND and RECEIVE: the message, not 0 */
	bool of_process; /* a moment of the whole process */
	struct vm_trace_arg args[VM_TRACE_OUT_ARGS];
};

struct vm_trace_format;

struct vm_trace_out {
	const struct vm_trace_format *format;
	FILE *file;
	int error;		      /* errno of the first failure, or 0 */
	int64_t first;		      /* time of the first event */
	uint64_t clock_ns;	      /* CLOCK_MONOTONIC at time 0 */
	uint64_t real_ns;	      /* CLOCK_REALTIME then */
	bool some;		      /* of JSON: an event is written */
	struct vm_trace_names *names; /* of Perfetto */
};

struct vm_trace_format {
	const char *suffix; /* of files in it; NULL: all others */
	void (*begin)(struct vm_trace_out *out);
	/* order: its place among its like; about may be NULL. */
	void (*track)(struct vm_trace_out *out, int pid, int tid, int order,
		      const char *name, const char *about);
	void (*event)(struct vm_trace_out *out,
		      const struct vm_trace_event *event);
	/* totals: of the whole trace, up to one without a name. */
	void (*end)(struct vm_trace_out *out, int64_t ns,
		    const struct vm_trace_arg *totals);
};

extern const struct vm_trace_format vm_trace_chrome, vm_trace_perfetto;

/* The format of a file of this name. */
const struct vm_trace_format *vm_trace_format_of(const char *path);

/* Opens the file and begins: 0 or -VMPI_EIO, not logged (errno).  Of *out first
 * and both clocks are set. */
int vm_trace_out_open(struct vm_trace_out *out, const char *path);
/* 0, or -VMPI_EIO with errno of what failed first. */
int vm_trace_out_close(struct vm_trace_out *out, int64_t ns,
		       const struct vm_trace_arg *totals);

/* For the formats. */
void vm_trace_out_printf(struct vm_trace_out *out, const char *format, ...)
	VM_PRINTF(2, 3);
void vm_trace_out_write(struct vm_trace_out *out, const void *data,
			size_t bytes);

#endif
