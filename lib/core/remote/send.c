/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a message out of this process: at once, in line, or announced.
 */
#include "core/remote/remote.h"

#include "base/log.h"
#include "core/local/engine.h"
#include "core/remote/credit_queue.h"
#include "core/local/observe.h"
#include "core/local/protocol.h"
#include "core/rank/state.h"
#include "core/remote/rndv_send.h"
#include "core/local/req.h"
#include "core/local/chan_stats.h"

/* Sends the payload along, packed if it must be: 0; -VMPI_EAGAIN, -VMPI_ELIMIT
 * (also when it cannot be packed now), -VMPI_EPEER, -VMPI_ENOMEM. */
static int eager_send(const struct vm_rank *rank, struct vm_to to,
		      const struct vm_wire_envelope *envelope,
		      const struct vm_data *data)
{
	struct vm_send send = { .upper = envelope,
				.data = data->addr,
				.bytes = (uint32_t)data->bytes,
				.kind = VM_PACKET_EAGER,
				.overlap = rank->overlap };
	struct vm_thread_cache *cache = vm_thread_cache_self();
	void *buffer = NULL;
	int rc;

	if (data->layout) {
		struct vm_data packed;

		if (data->bytes > VM_BUFFER_MAX)
			return -VMPI_ELIMIT;
		buffer = vm_buffer_get(cache, data->bytes);
		if (!buffer)
			return -VMPI_ELIMIT;
		packed = vm_data_bytes(buffer, data->bytes);
		vm_data_copy(&packed, data);
		send.data = buffer;
	}
	rc = vm_port_send(rank->port, to, &send, NULL);
	if (buffer)
		vm_buffer_put(cache, buffer, data->bytes);
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

/* How many times as long a message to the process may be. */
static size_t eager_times(const struct vm_rank *rank, uint32_t process)
{
	if (vm_fabric_by_sockets(vm_node->fabric, process))
		return (size_t)vm_rank_cvars(rank)->eager_net;
	/* Each step of a rendezvous would wait for a turn of the core. */
	return vm_sched.shared && vm_fabric_near(vm_node->fabric, process) ?
		       (size_t)vm_rank_cvars(rank)->eager_shared :
		       1;
}

static bool fits_eager(const struct vm_data *data, uint32_t context,
		       uint32_t process)
{
	const struct vm_rank *self = vm_rank_self();
	size_t limit = eager_limit(self, context);

	if (VM_UNLIKELY(data->bytes > limit))
		limit *= eager_times(self, process);
	return data->bytes <= limit &&
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
	return rc >= 0 || !vm_rndv_send_hide(envelope.sender) ? VM_PENDING : rc;
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

/* Sends it, or lets it wait: as vm_credit_queue_enter(). */
static int push_go(struct vm_rndv_send *push)
{
	int rc = -VMPI_EAGAIN;

	if (!vm_credit_queue_waits(push->port, push->to))
		rc = vm_remote_try(push);
	if (rc == -VMPI_EAGAIN)
		return vm_credit_queue_enter(push);
	if (rc <= 0)
		vm_rndv_send_free(push);
	return rc;
}

/* 0; VM_PENDING: the push had a request, which will be completed; or an
 * error. */
static int push_send(struct vm_rndv_send *push)
{
	struct core_rank_pvars *pvars = vm_counters();
	enum vm_rndv_send_how how = push->how;
	bool asked = push->req != NULL, announced;
	size_t bytes = push->data.bytes;
	int rc = push_go(push);

	if (rc < 0)
		return rc;
	announced = how == VM_RNDV_SEND_LONG ||
		    (how == VM_RNDV_SEND_SHORT && rc == VM_PENDING);
	vm_pvar_add(pvars->sends_rendezvous, announced);
	vm_pvar_add(pvars->bytes_rendezvous, announced ? bytes : 0);
	vm_pvar_add(pvars->sends_eager, !announced);
	vm_pvar_add(pvars->bytes_eager, announced ? 0 : bytes);
	vm_pvar_add(pvars->sends_queued, rc == VM_QUEUED);
	return rc > 0 && asked ? VM_PENDING : VM_DONE;
}

/* With a request that is complete only when the message has left, or when the
 * receiver says so. */
static int request_send(struct vm_outgoing *out,
			const struct vm_wire_envelope *envelope,
			enum vm_rndv_send_how how)
{
	struct vm_rndv_send *push;

	vm_outgoing_arm(out);
	push = vm_rndv_send_new(out->req, out->arrival.data, envelope,
				out->dest->to);
	if (!push)
		return -VMPI_ENOMEM;
	push->how = how;
	return push_send(push);
}

static inline void eager_count(size_t bytes)
{
	vm_pvar_add(vm_counters()->sends_eager, 1);
	vm_pvar_add(vm_counters()->bytes_eager, bytes);
}

/*
 * A message that needs nobody's answer and did not go at the first try: as
 * eager_send(); -VMPI_EAGAIN: there is no room for a copy either.
 */
static __attribute__((noinline)) int
short_retry(const struct vm_outgoing *out,
	    const struct vm_wire_envelope *envelope, int rc)
{
	const struct vm_data *data = out->arrival.data;
	struct vm_rank *self = vm_rank_self();
	int looks = VM_CREDIT_LOOKS;
	struct vm_rndv_send *push;

	while (rc == -VMPI_EAGAIN &&
	       vm_credits_await(self->port, out->dest->to, &looks))
		rc = eager_send(self, out->dest->to, envelope, data);
	if (rc == VM_DONE)
		eager_count(data->bytes);
	if (rc != -VMPI_EAGAIN && rc != -VMPI_ELIMIT)
		return rc;
	push = vm_rndv_send_new_copy(data, envelope, out->dest->to);
	if (!push)
		return -VMPI_EAGAIN;
	push->how = VM_RNDV_SEND_SHORT;
	return push_send(push);
}

/* Sends a message that is announced, or needs an answer, or a request of its
 * own: as vm_remote_send(). */
static int long_send(struct vm_outgoing *out,
		     const struct vm_wire_envelope *envelope, bool eager)
{
	bool new = !out->req;
	int rc;

	if (out->arrival.data->bytes >> VM_WIRE_LENGTH_BITS)
		return -VMPI_ELIMIT;
	if (new)
		out->req = vm_req_new(VM_REQ_SEND);
	if (!out->req)
		return -VMPI_ENOMEM;
	vm_observe_transfer(out, eager ? VM_PROTO_EAGER : VM_PROTO_RENDEZVOUS,
			    out->req);
	rc = request_send(out, envelope,
			  !eager		    ? VM_RNDV_SEND_LONG :
			  out->mode == VM_SEND_SYNC ? VM_RNDV_SEND_SYNC :
						      VM_RNDV_SEND_SHORT);
	if (rc <= 0 && new) {
		vm_pool_put(&vm_thread_cache_self()->req, out->req);
		out->req = NULL;
	}
	return rc;
}

static void depart_observe(const struct vm_outgoing *out,
			   struct vm_wire_envelope *envelope)
{
	uint64_t signature = vm_self->signature;

	vm_observe_depart_on(out);
	envelope->bytes |= signature << VM_WIRE_LENGTH_BITS;
}

int vm_remote_send(struct vm_outgoing *out)
{
	const struct vm_data *data = out->arrival.data;
	const struct vm_env *env = &out->arrival.env;
	struct core_rank_pvars *pvars = vm_counters();
	const struct vm_rank *self = vm_rank_self();
	struct vm_wire_envelope envelope = {
		.context = env->context,
		.source = env->source,
		.tag = env->tag,
		.rank = (uint32_t)out->dest->there,
		.bytes = data->bytes,
	};
	struct vm_send send = { .upper = &envelope,
				.data = data->addr,
				.bytes = (uint32_t)data->bytes,
				.kind = VM_PACKET_EAGER,
				.overlap = self->overlap };
	int rc = -VMPI_EAGAIN;
	bool eager;

	if (VM_UNLIKELY(atomic_load_explicit(&out->dest->failed,
					     memory_order_relaxed)))
		return -VMPI_EPEER;
	eager = fits_eager(data, env->context, out->dest->to.process);
	vm_count_sent(pvars, env->context, data->bytes);
	vm_pvar_add(pvars->sizes_remote[vm_size_bin(data->bytes)], 1);
	if (vm_observed())
		depart_observe(out, &envelope);
	if (!eager || out->mode == VM_SEND_SYNC)
		return long_send(out, &envelope, eager);
	/* Nobody overtakes those who wait already. */
	if (VM_LIKELY(!vm_credit_queue_waits(self->port, out->dest->to)))
		rc = data->layout ?
			     eager_send(self, out->dest->to, &envelope, data) :
			     vm_port_send(self->port, out->dest->to, &send,
					  NULL);
	if (VM_LIKELY(rc == VM_DONE))
		eager_count(data->bytes);
	else
		rc = short_retry(out, &envelope, rc);
	if (VM_UNLIKELY(rc == -VMPI_EAGAIN))
		return long_send(out, &envelope, eager);
	vm_observe_transfer(out, VM_PROTO_EAGER, NULL);
	return rc;
}

void vm_remote_cancel(const struct vm_req *req)
{
	struct vm_port *port = vm_rank_self()->port;
	struct vm_wire_envelope envelope = {
		.rank = (uint32_t)req->rank->there
	};
	struct vm_send send = { .upper = &envelope,
				.kind = VM_PACKET_WITHDRAW,
				.control = true };

	if (vm_credit_queue_cancel(port, req->rank->to, req))
		return;
	/* Another thread may have announced it until now, but does not any
	 * more. */
	envelope.sender = req->rndv_send;
	/* Without an answer the request ends as if nothing had been asked. */
	if (envelope.sender &&
	    vm_port_send(port, req->rank->to, &send, NULL) == -VMPI_ENOMEM)
		vm_panic("out of memory for packets to process %u",
			 req->rank->to.process);
}
