/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a message out of this process: at once, in line, or announced.
 */
#include "core/remote/remote.h"

#include "base/log.h"
#include "core/local/engine.h"
#include "core/remote/credit_queue.h"
#include "core/local/mailbox.h"
#include "core/rank/state.h"
#include "core/remote/rndv_send.h"
#include "core/local/req.h"
#include "core/local/chan_stats.h"
#include "core/instrument/trace.h"

/* Sends the payload along: 1, or -VMPI_EAGAIN, -VMPI_ELIMIT (also when it
 * cannot be packed now), -VMPI_EPEER, -VMPI_ENOMEM. */
static int eager_send(const struct vm_rank *rank, struct vm_to to,
		      const struct vm_wire_envelope *envelope,
		      const struct vm_data *data)
{
	struct vm_send send = { .upper = envelope,
				.data = data->addr,
				.bytes = (uint32_t)data->bytes,
				.kind = VM_PACKET_EAGER,
				.overlap = rank->overlap };
	struct vm_thread_cache *lane = vm_thread_cache_self();
	void *buffer = NULL;
	int rc;

	if (data->layout) {
		struct vm_data packed;

		if (data->bytes > VM_BUFFER_MAX)
			return -VMPI_ELIMIT;
		buffer = vm_buffer_get(lane, data->bytes);
		if (!buffer)
			return -VMPI_ELIMIT;
		packed = vm_data_bytes(buffer, data->bytes);
		vm_data_copy(&packed, data);
		send.data = buffer;
	}
	rc = vm_port_send(rank->port, to, &send, NULL);
	if (buffer)
		vm_buffer_put(lane, buffer, data->bytes);
	return rc;
}

/* The limit of the rank, unless its channel has one of its own. */
static size_t eager_limit(const struct vm_rank *rank, uint32_t context)
{
	int64_t own =
		vm_chan_stats_setting(rank, context, VM_CHAN_STATS_EAGER_LIMIT);

	return (size_t)(VM_LIKELY(own == VM_CHAN_STATS_UNSET) ?
				vm_rank_cvars(rank)->eager_limit :
				own);
}

static bool fits_eager(const struct vm_data *data, uint32_t context)
{
	return data->bytes <= eager_limit(vm_rank_self(), context) &&
	       data->bytes <= vm_fabric_limits(vm_node->fabric)->data_bytes;
}

/*
 * Sends it with its payload, but complete only when the receiver says so: as
 * vm_remote_try(), and -VMPI_ELIMIT: announce it.
 */
static int sync_try(struct vm_rndv_send *push)
{
	struct vm_wire_envelope envelope = push->envelope;
	int rc = vm_rndv_send_show(push, &envelope);

	if (rc)
		return rc;
	rc = eager_send(push->rank, push->to, &envelope, &push->data);
	/* Whoever ended the push completes the request too. */
	return rc >= 0 || !vm_rndv_send_hide(envelope.sender) ? 0 : rc;
}

int vm_remote_try(struct vm_rndv_send *push)
{
	int rc = -VMPI_ELIMIT;

	if (push->how == VM_RNDV_SEND_SHORT)
		rc = eager_send(push->rank, push->to, &push->envelope,
				&push->data);
	else if (push->how == VM_RNDV_SEND_SYNC)
		rc = sync_try(push);
	return rc == -VMPI_ELIMIT ? vm_rndv_send_announce(push) : rc;
}

/* Sends it, or lets it wait: enum vm_credit_queue_fate, or an error; the push
 * is not the caller's any more. */
static int push_go(struct vm_rndv_send *push)
{
	int rc = -VMPI_EAGAIN;

	if (!vm_credit_queue_waits(push->port, push->to))
		rc = vm_remote_try(push);
	return rc == -VMPI_EAGAIN ? vm_credit_queue_enter(push) :
				    vm_credit_queue_fate(push, rc);
}

/* 1: complete, 0: its request will be; or an error. */
static int push_send(struct vm_rndv_send *push)
{
	struct core_rank_pvars *pvars = vm_counters();
	enum vm_rndv_send_how how = push->how;
	bool asked = push->req != NULL, announced;
	size_t bytes = push->data.bytes;
	int fate = push_go(push);

	if (fate < 0)
		return fate;
	announced = how == VM_RNDV_SEND_LONG ||
		    (how == VM_RNDV_SEND_SHORT &&
		     fate == VM_CREDIT_QUEUE_ANNOUNCED);
	vm_pvar_add(pvars->sends_rendezvous, announced);
	vm_pvar_add(pvars->bytes_rendezvous, announced ? bytes : 0);
	vm_pvar_add(pvars->sends_eager, !announced);
	vm_pvar_add(pvars->bytes_eager, announced ? 0 : bytes);
	vm_pvar_add(pvars->sends_queued, fate == VM_CREDIT_QUEUE_WAITS);
	return fate == VM_CREDIT_QUEUE_SENT || !asked;
}

/* With a request that is complete only when the message has left, or when the
 * receiver says so. */
static int request_send(struct vm_rank *dest,
			const struct vm_wire_envelope *envelope,
			const struct vm_data *data, enum vm_rndv_send_how how,
			struct vm_req *req)
{
	struct vm_rndv_send *push;

	vm_data_assign(&req->data, data);
	req->rank = dest;
	req->msg = NULL;
	req->push = 0;
	req->status = (vmpi_status){ .source = envelope->source,
				     .tag = envelope->tag,
				     .bytes = data->bytes };
	push = vm_rndv_send_new(req, data, envelope, dest->to);
	if (!push)
		return -VMPI_ENOMEM;
	push->how = how;
	return push_send(push);
}

#define CREDIT_POLLS 16 /* polls for credits before a message waits */

/* Sends a message that needs no answer: as eager_send(), -VMPI_EAGAIN: there is
 * no room for a copy either. */
static int short_send(const struct vm_rank *dest,
		      const struct vm_wire_envelope *envelope,
		      const struct vm_data *data)
{
	struct vm_rank *self = vm_rank_self();
	struct vm_rndv_send *push;
	int rc = -VMPI_EAGAIN;

	for (int i = 0; i <= CREDIT_POLLS && rc == -VMPI_EAGAIN; i++) {
		/* No message overtakes those that wait already. */
		if (vm_credit_queue_waits(self->port, dest->to))
			break;
		if (i)
			vm_port_poll(self->port, vm_self->worker->index >= 0);
		rc = eager_send(self, dest->to, envelope, data);
	}
	if (rc >= 0) {
		vm_pvar_add(vm_counters()->sends_eager, 1);
		vm_pvar_add(vm_counters()->bytes_eager, data->bytes);
	}
	if (rc != -VMPI_EAGAIN && rc != -VMPI_ELIMIT)
		return rc;
	push = vm_rndv_send_new_copy(data, envelope, dest->to);
	if (!push)
		return -VMPI_EAGAIN;
	push->how = VM_RNDV_SEND_SHORT;
	return push_send(push);
}

int vm_remote_send(struct vm_rank *dest, const struct vm_env *env,
		   const struct vm_data *data, bool sync, struct vm_req **req)
{
	struct vm_wire_envelope envelope = { .context = env->context,
					     .source = env->source,
					     .tag = env->tag,
					     .rank = (uint32_t)dest->index,
					     .bytes = data->bytes };
	enum vm_rndv_send_how how = !fits_eager(data, env->context) ?
					    VM_RNDV_SEND_LONG :
				    sync ? VM_RNDV_SEND_SYNC :
					   VM_RNDV_SEND_SHORT;
	struct vm_req *new = NULL;
	int rc;

	vm_pvar_add(vm_counters()->sizes_remote[vm_size_bin(data->bytes)], 1);
	if (vm_observed())
		vm_trace_send(dest, env, data->bytes);
	if (how == VM_RNDV_SEND_SHORT) {
		rc = short_send(dest, &envelope, data);
		if (rc != -VMPI_EAGAIN) {
			if (vm_observed())
				vm_trace_sends(dest, env, data->bytes,
					       VM_PROTO_EAGER, NULL);
			return rc;
		}
	}
	if (!*req) {
		new = vm_req_new(VM_REQ_SEND);
		if (!new)
			return -VMPI_ENOMEM;
		*req = new;
	}
	if (vm_observed())
		vm_trace_sends(dest, env, data->bytes,
			       how == VM_RNDV_SEND_LONG ? VM_PROTO_RENDEZVOUS :
							  VM_PROTO_EAGER,
			       *req);
	rc = request_send(dest, &envelope, data, how, *req);
	if (rc && new) {
		vm_pool_put(&vm_thread_cache_self()->req, new);
		*req = NULL;
	}
	return rc;
}

void vm_remote_cancel(const struct vm_req *req)
{
	struct vm_port *port = vm_rank_self()->port;
	struct vm_wire_envelope envelope = {
		.rank = (uint32_t)req->rank->index,
		.sender = req->push,
	};
	struct vm_send send = { .upper = &envelope,
				.kind = VM_PACKET_WITHDRAW,
				.control = true };

	if (vm_credit_queue_cancel(port, req->rank->to, req))
		return;
	/* Without an answer the request ends as if nothing had been asked. */
	if (req->push &&
	    vm_port_send(port, req->rank->to, &send, NULL) == -VMPI_ENOMEM)
		vm_panic("out of memory for packets to process %u",
			 req->rank->to.process);
}
