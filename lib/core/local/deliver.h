/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The delivery: where a message from anywhere meets the receives of a rank.
 *
 * A sender of the same worker, the reader of a ring and the reader of a port
 * all call vm_deliver(), each with the functions of its kind of payload.  They
 * are all that depends on where a message came from; given as a constant, they
 * become plain calls.
 */
#ifndef CORE_LOCAL_DELIVER_H
#define CORE_LOCAL_DELIVER_H

#include "core/local/engine.h"
#include "core/local/mailbox.h"
#include "core/local/observe.h"
#include "core/local/req.h"

/* What only the kind of a payload knows; NULL: there is nothing to do. */
struct vm_payload_ops {
	/* Makes the payload last until it is received; under the lock.  0 or
	 * VM_PENDING: whether its sender may go on. */
	int (*keep)(struct vm_arrival *arrival);
	/* Fetches bytes that are not here, into a receive whose status is set:
	 * 0; VM_PENDING: the receive is completed by whoever fetches them. */
	int (*fetch)(struct vm_arrival *arrival, struct vm_req *req);
	/* The bytes are not needed any more: their place is given back, their
	 * sender goes on. */
	void (*end)(struct vm_arrival *arrival);
};

/* Gives back what holds the bytes of a payload of this process, which its
 * sender no longer has. */
static inline void vm_payload_free(enum vm_payload payload, void *addr,
				   size_t bytes)
{
	if (payload == VM_PAYLOAD_COPY)
		vm_buffer_put(vm_thread_cache_self(), addr, bytes);
}

/* Ends the payload of a message of this process: INLINE, COPY or DIRECT. */
void vm_local_end(struct vm_arrival *arrival);
static const struct vm_payload_ops vm_local_payload = { .end = vm_local_end };

/* The same as vm_arrival_receive(), while somebody observes. */
int vm_arrival_receive_observed(struct vm_arrival *arrival, struct vm_req *req,
				const struct vm_rank *rank,
				const struct vm_payload_ops *ops);

/*
 * Moves the payload of an arrival into a receive that it matched, and fills its
 * status: 0; VM_PENDING: it will be completed.  The receive is not completed
 * here.
 */
static inline int vm_arrival_receive(struct vm_arrival *arrival,
				     struct vm_req *req,
				     const struct vm_payload_ops *ops)
{
	const struct vm_data *from = arrival->data;
	size_t room = req->data.bytes;

	req->status.source = arrival->env.source;
	req->status.tag = arrival->env.tag;
	req->status.bytes = from->bytes;
	req->status.error = 0;
	if (VM_UNLIKELY(from->bytes > room))
		vm_status_truncate(&req->status, from->bytes, room);
	if (ops->fetch)
		return ops->fetch(arrival, req);
	vm_data_copy(&req->data, from);
	if (ops->end)
		ops->end(arrival);
	return VM_DONE;
}

/*
 * Delivers a message to a rank whose engine's lock is held: to the oldest
 * posted receive that fits, else it is queued.  unlock: gives the lock back as
 * soon as it is not needed, in any case before the return; else it stays held,
 * also while the payload moves.  0; VM_PENDING: the payload is still its
 * sender's.
 */
static VM_ALWAYS_INLINE int vm_deliver(struct vm_rank *rank,
				       struct vm_arrival *arrival,
				       const struct vm_payload_ops *ops,
				       bool unlock)
{
	struct vm_match_node *node =
		vm_match_arrival(&rank->match, &arrival->env);
	struct vm_engine *engine = rank->engine;
	struct vm_req *req;
	int rc = VM_DONE;

	if (!node) {
		if (ops->keep)
			rc = ops->keep(arrival);
		vm_mailbox_queue(rank, arrival);
		if (unlock)
			vm_engine_unlock(engine);
		return rc;
	}
	req = vm_container_of(node, struct vm_req, node);
	req->posted = false;
	if (unlock)
		vm_engine_unlock(engine);
	if (vm_observed())
		rc = vm_arrival_receive_observed(arrival, req, rank, ops);
	else
		rc = vm_arrival_receive(arrival, req, ops);
	if (rc == VM_DONE)
		vm_req_complete(req);
	return VM_DONE;
}

#endif
