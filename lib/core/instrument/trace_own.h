/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of the trace.
 */
#ifndef CORE_INSTRUMENT_TRACE_OWN_H
#define CORE_INSTRUMENT_TRACE_OWN_H

#include "core/instrument/trace.h"
#include "introspect/vars/event.h"

/* Hangs in the node while it runs; trace.file is NULL: nothing is recorded. */
struct vm_tracer {
	struct vm_trace trace;
	/* Of worker 0: levels among the performance variables. */
	int counters;
	int pvar[VM_TRACE_COUNTERS_MAX];
	uint64_t last[VM_TRACE_COUNTERS_MAX];
	uint64_t counter_ticks, counters_next;
	/* Events that others raise are recorded as any other tool would. */
	struct vm_event_handle *heard[3];
};

/* Adds a record to the ring of the calling thread; nothing is recorded without
 * a file. */
void vm_trace_record(struct vm_trace_record *record);

/* Where an event is raised: its callbacks must be THREAD_SAFE. */
static inline struct vm_event_from vm_trace_place(int rank)
{
	return (struct vm_event_from){
		.rank = rank,
		.safety = VM_SAFETY_THREAD_SAFE,
		.busy = vm_self ? &vm_self->busy : NULL,
	};
}

#endif
