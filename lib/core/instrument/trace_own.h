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

/* Callbacks of these. */
void vm_trace_tune(const struct vm_event *event, struct vm_event_handle *handle,
		   enum vm_event_safety safety, void *arg);
void vm_trace_pool(const struct vm_event *event, struct vm_event_handle *handle,
		   enum vm_event_safety safety, void *arg);

#endif
