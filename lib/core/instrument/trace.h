/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Observation of switches, calls and messages: for the records of a trace
 * (introspect/measure/trace.h), for registered events
 * (introspect/vars/event.h), and for the counters of channels
 * (core/local/chan_stats.h).
 *
 * Each place is one line; while nothing is observed it is the branch of
 * vm_observed(), which core/instrument/overlap_events.h shares.  Some run under
 * the lock of an engine or of a port, and on the poller's thread: callbacks
 * there must be THREAD_SAFE and must not wait.
 */
#ifndef CORE_INSTRUMENT_TRACE_H
#define CORE_INSTRUMENT_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/instrument/intercept.h"
#include "core/rank/match.h"
#include "introspect/measure/trace.h"
#include "sched/worker.h"

struct vm_node;
struct vm_rank;
struct vm_req;

/* Whether messages are observed. */
static inline bool vm_observed(void)
{
	return VM_UNLIKELY(
		(atomic_load_explicit(&vm_intercept, memory_order_relaxed) &
		 (VM_INTERCEPT_OVERLAP | VM_INTERCEPT_TRACE |
		  VM_INTERCEPT_EVENTS | VM_INTERCEPT_CHAN_STATS)) != 0);
}

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

/* Protocols, as events name them. */
enum vm_proto {
	VM_PROTO_INLINE,
	VM_PROTO_COPY,
	VM_PROTO_DIRECT,
	VM_PROTO_EAGER,
	VM_PROTO_RENDEZVOUS,
};

/*
 * The calling rank sends to dest.  req: the request that will complete, which
 * vm_trace_sent() reports; NULL: it is complete.  The first is called before
 * others can see the message.
 */
void vm_trace_send(const struct vm_rank *dest, const struct vm_env *env,
		   uint64_t bytes);
void vm_trace_sends(const struct vm_rank *dest, const struct vm_env *env,
		    uint64_t bytes, enum vm_proto proto, struct vm_req *req);
void vm_trace_sent(struct vm_req *req);

/*
 * A message meets a receive of rank.  later: the request whose payload comes
 * later, which vm_trace_received() reports; NULL: it is there.  Dropped: it is
 * never received.
 */
void vm_trace_match(const struct vm_rank *rank, const struct vm_env *env,
		    uint64_t bytes, enum vm_proto proto,
		    const struct vm_req *later);
void vm_trace_received(const struct vm_req *req);
void vm_trace_dropped(const struct vm_rank *rank, const struct vm_env *env,
		      uint64_t bytes);

/* A message for rank was queued, so many with it. */
void vm_trace_unexpected(const struct vm_rank *rank, const struct vm_env *env,
			 uint64_t bytes, uint32_t queued);

/* The calling worker has polled for another one and found something. */
void vm_trace_help(int owner);

/* The packets of a port have so many bytes more, or less; under its lock. */
void vm_trace_packets(int port, int64_t bytes, uint64_t total);

/* A rank is at home on another worker; all stand still. */
void vm_trace_moved(const struct vm_rank *rank, int from, int to);

#endif
