/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Local protocols: how the payload of a message gets to a rank of this process
 * that does not wait for it yet.
 *
 * The table is VM_LOCAL_PROTOCOLS (core/local/msg.h).  Of its rows the first
 * that fits and can start is taken; the thresholds are control variables of the
 * sending rank.  The receiver's side is vm_local_end() (core/local/deliver.h).
 */
#ifndef CORE_LOCAL_PROTOCOL_H
#define CORE_LOCAL_PROTOCOL_H

#include "core/local/engine.h"
#include "core/local/mailbox.h"
#include "core/local/observe.h"
#include "core/local/req.h"
#include "core/rank/cvar.h"

enum vm_send_mode {
	VM_SEND_STANDARD,
	VM_SEND_SYNC, /* completes only when matched */
};

/* A message that its sender has not handed over yet. */
struct vm_outgoing {
	struct vm_arrival arrival; /* what the receiver will see of it */
	struct vm_rank *dest;
	struct vm_thread_cache *cache; /* the sender's */
	struct vm_req *req; /* armed if it is not complete at once; NULL if
			       `small`: made where it is needed after all */
	enum vm_send_mode mode;
	bool small;	     /* goes inline, and is complete at once */
	bool lends;	     /* short, but its sender need not go on at once */
	struct vm_data here; /* what has been copied */
	char packed[VM_INLINE_MAX];
};

/* The request of a send, before its message can be seen by others. */
static inline void vm_outgoing_arm(const struct vm_outgoing *out)
{
	const struct vm_arrival *arrival = &out->arrival;
	struct vm_req *req = out->req;

	vm_data_assign(&req->data, arrival->data);
	req->rank = out->dest;
	req->msg = NULL;
	req->rndv_send = 0;
	req->status = (vmpi_status){ .source = arrival->env.source,
				     .tag = arrival->env.tag,
				     .bytes = arrival->data->bytes };
}

/* Decided once per send, because the limit may change meanwhile. */
static inline bool vm_inline_fits(const struct vm_outgoing *out)
{
	return out->small;
}

static inline int vm_inline_start(struct vm_outgoing *out, void **place)
{
	vm_pvar_add(vm_counters()->sends_inline, 1);
	if (!*place && out->arrival.data->layout)
		*place = out->packed;
	return VM_DONE;
}

static inline bool vm_copy_fits(const struct vm_outgoing *out)
{
	return out->mode == VM_SEND_STANDARD && !out->lends &&
	       out->arrival.data->bytes <=
		       (size_t)vm_rank_cvars(vm_rank_self())->copy_limit;
}

static inline int vm_copy_start(struct vm_outgoing *out, void **place)
{
	size_t bytes = out->arrival.data->bytes;
	void *buffer = vm_buffer_get(out->cache, bytes);

	if (!buffer)
		return -VMPI_EAGAIN;
	*place = buffer;
	vm_pvar_add(vm_counters()->sends_copy, 1);
	vm_pvar_add(vm_counters()->bytes_copy, bytes);
	return VM_DONE;
}

static inline bool vm_direct_fits(const struct vm_outgoing *out)
{
	(void)out;
	return true;
}

static inline int vm_direct_start(struct vm_outgoing *out, void **place)
{
	*place = NULL;
	vm_outgoing_arm(out);
	out->arrival.sender = out->req;
	out->req->xfer.overlap = NULL;
	vm_pvar_add(vm_counters()->sends_direct, 1);
	vm_pvar_add(vm_counters()->bytes_direct, out->arrival.data->bytes);
	return VM_PENDING;
}

/*
 * Gives the payload of a message a place that lasts: 0: the sender may go on;
 * VM_PENDING: its request has been armed.  place: where bytes that travel
 * inline lie from now on; NULL: they may stay where they are until the caller
 * has copied them.  The start of a protocol sets `place` to where the bytes go;
 * NULL: they stay.
 */
static inline int vm_protocol_start(struct vm_outgoing *out, void *place)
{
	const struct vm_data *from = out->arrival.data;
	int rc = -VMPI_EAGAIN;

	out->arrival.sender = NULL;
#define START(kind, prefix, text)                         \
	if (rc == -VMPI_EAGAIN && prefix##_fits(out)) {   \
		out->arrival.payload = VM_PAYLOAD_##kind; \
		rc = prefix##_start(out, &place);         \
	}
	VM_LOCAL_PROTOCOLS(START)
#undef START
	if (place) {
		vm_data_set_bytes(&out->here, place, from->bytes);
		vm_data_copy(&out->here, from);
		out->arrival.data = &out->here;
	}
	vm_observe_send(out, out->arrival.payload, rc ? out->req : NULL);
	return rc;
}

#endif
