/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens, recorded in a trace (introspect/measure/trace.h) and raised as
 * events for whoever has registered (introspect/vars/event.h).
 *
 * Messages are in core/local/observe.h.  Some of these run under the lock of an
 * engine or of a port, and on the thread of whoever polls: callbacks there must
 * be THREAD_SAFE and must not wait.
 */
#ifndef CORE_INSTRUMENT_TRACE_H
#define CORE_INSTRUMENT_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "introspect/measure/trace.h"
#include "sched/worker.h"

struct vm_node;
struct vm_rank;

/*
 * Opens the file of this process, if trace_file asks for it, and from now on
 * follows registrations for events: 0; -VMPI_EIO (logged), -VMPI_ENOMEM.  The
 * workers are there and do not run.
 */
int vm_trace_start(struct vm_node *node);
void vm_trace_stop(struct vm_node *node);

/* Calls (core/instrument/intercept.h). */
void vm_trace_enter(struct vm_rank *rank, uint32_t call);
void vm_trace_exit(struct vm_rank *rank, uint32_t call);
void vm_trace_event_enter(struct vm_rank *rank, uint32_t call);
void vm_trace_event_exit(struct vm_rank *rank, uint32_t call);

/* The calling worker has polled for another one and found something. */
void vm_trace_help(int owner);

/* The packets of a port have so many bytes more, or less; under its lock. */
void vm_trace_packets(int port, int64_t bytes, uint64_t total);

/* A rank is at home on another worker; all stand still. */
void vm_trace_moved(const struct vm_rank *rank, int from, int to);

#endif
