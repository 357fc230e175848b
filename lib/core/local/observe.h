/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Points of observation on the way of a message.
 *
 * Each place has one function here.  While nobody observes it is one branch;
 * else it tells all who do: the bounds on overlap
 * (core/instrument/overlap_events.h), the trace and the events
 * (core/instrument/trace.h), and the counters of channels
 * (core/local/chan_stats.h).  Some run under the lock of an engine or of a
 * port.
 */
#ifndef CORE_LOCAL_OBSERVE_H
#define CORE_LOCAL_OBSERVE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/instrument/intercept.h"
#include "core/instrument/overlap_events.h"
#include "core/local/msg.h"

struct vm_outgoing;
struct vmpi_req;

/* Whether somebody observes messages. */
static inline bool vm_observed(void)
{
	return VM_UNLIKELY(
		(atomic_load_explicit(&vm_intercept, memory_order_relaxed) &
		 (VM_INTERCEPT_OVERLAP | VM_INTERCEPT_TRACE |
		  VM_INTERCEPT_EVENTS | VM_INTERCEPT_CHAN_STATS |
		  VM_INTERCEPT_SIGNATURES)) != 0);
}

/*
 * The calling rank sends, within its process; before others can see the
 * message.  req: the armed request that vm_observe_sent() will end; NULL: the
 * message is complete for its sender.
 */
void vm_observe_send_on(struct vm_outgoing *out, enum vm_proto proto,
			struct vmpi_req *req);
static inline void vm_observe_send(struct vm_outgoing *out, enum vm_proto proto,
				   struct vmpi_req *req)
{
	if (vm_observed())
		vm_observe_send_on(out, proto, req);
}

/* The same to another process, in two steps: before others can see the message,
 * if vm_observed(), and when its protocol is known.  The fabric accounts for its
 * packets itself. */
void vm_observe_depart_on(const struct vm_outgoing *out);

void vm_observe_transfer_on(const struct vm_outgoing *out, enum vm_proto proto,
			    struct vmpi_req *req);
static inline void vm_observe_transfer(const struct vm_outgoing *out,
				       enum vm_proto proto,
				       struct vmpi_req *req)
{
	if (vm_observed())
		vm_observe_transfer_on(out, proto, req);
}

/* The owner of a request with `observed` set learns that its send is
 * complete. */
void vm_observe_sent(struct vmpi_req *req);

/* The payload of an arrival that has matched a receive of rank moves there, or
 * begins to be fetched. */
struct vm_observed_move {
	struct vm_overlap_events_copy sent, received;
};
void vm_observe_move_begin(struct vm_observed_move *move,
			   const struct vm_arrival *arrival,
			   const struct vm_rank *rank, struct vmpi_req *req);
void vm_observe_move_end(struct vm_observed_move *move);

/* The payload of a queued message has been copied to the calling rank. */
void vm_observe_received_bytes_on(const struct vm_msg *msg, size_t bytes);
static inline void vm_observe_received_bytes(const struct vm_msg *msg,
					     size_t bytes)
{
	if (vm_observed())
		vm_observe_received_bytes_on(msg, bytes);
}

/* A payload that had to be fetched is here. */
void vm_observe_fetched_on(const struct vmpi_req *req);
static inline void vm_observe_fetched(const struct vmpi_req *req)
{
	if (vm_observed())
		vm_observe_fetched_on(req);
}

/* A message is queued for rank: nobody has posted a receive. */
void vm_observe_unexpected_on(const struct vm_rank *rank, struct vm_msg *msg,
			      const struct vm_arrival *arrival);
static inline void vm_observe_unexpected(const struct vm_rank *rank,
					 struct vm_msg *msg,
					 const struct vm_arrival *arrival)
{
	if (vm_observed())
		vm_observe_unexpected_on(rank, msg, arrival);
}

/* A message ends without a receive. */
void vm_observe_dropped_on(const struct vm_msg *msg);
static inline void vm_observe_dropped(const struct vm_msg *msg)
{
	if (vm_observed())
		vm_observe_dropped_on(msg);
}

/* A packet with a payload has arrived for rank. */
static inline void vm_observe_packet(const struct vm_rank *rank, size_t bytes)
{
	vm_overlap_events_half(rank, VM_SIDE_RECEIVE, VM_PATH_FABRIC, bytes);
}

#endif
