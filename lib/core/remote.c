/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way out of this process and into it.
 */
#include "core/remote.h"

#include <stdlib.h>

#include "base/log.h"
#include "boot/boot.h"
#include "core/engine.h"
#include "core/lost.h"
#include "core/mailbox.h"
#include "core/node.h"
#include "core/pull.h"
#include "core/push.h"
#include "core/wire.h"

/* Where senders look for ranks that are not to be reached by memory. */
struct vm_engine vm_engine_away = { .index = -1 };

static void (*const handlers[VM_PACKET_KINDS])(struct vm_port *port,
					       struct vm_pkt *pkt) = {
#define HANDLER(kind, header, handler, text) [VM_PACKET_##kind] = handler,
	VM_PACKETS(HANDLER)
#undef HANDLER
};

/* Any thread. */
static void unknown_count(void)
{
	__atomic_fetch_add(&vm_node->pvars.packets_unknown, 1,
			   __ATOMIC_RELAXED);
}

static void arrived(void *arg, struct vm_port *port, struct vm_pkt *pkt)
{
	(void)arg;
	if (pkt->kind < VM_PACKET_KINDS)
		handlers[pkt->kind](port, pkt);
	else
		unknown_count();
}

static void down(void *arg, struct vm_port *port, uint32_t process, int error)
{
	(void)arg;
	/* For a message that is not over a goodbye comes too early. */
	if (!error)
		error = -VMPI_EPEER;
	vm_push_down(port, process, error);
	vm_pull_down(port, process, error);
	vm_lost_down(port, process);
}

/* The rank a message is for, if it is one of ours and its key has no wildcards. */
static struct vm_rank *rank_of(const struct vm_wire_envelope *envelope)
{
	uint32_t first = (uint32_t)vm_node->rank_first;

	if (envelope->rank - first < (uint32_t)vm_node->rank_here &&
	    envelope->source != VM_ANY && envelope->tag != VM_ANY)
		return &vm_node->ranks[envelope->rank];
	unknown_count();
	return NULL;
}

static struct vm_origin origin_of(const struct vm_pkt *pkt)
{
	const struct vm_wire_envelope *envelope = pkt->upper;
	struct vm_origin origin = { .sender = envelope->sender,
				    .from = { pkt->process, pkt->port } };

	return origin;
}

static struct vm_arrival arrival_of(const struct vm_wire_envelope *envelope,
				    const struct vm_origin *origin)
{
	return (struct vm_arrival){ .env = { envelope->context,
					     envelope->source, envelope->tag },
				    .bytes = envelope->bytes,
				    .origin = origin };
}

/*
 * The posted receive that takes a message, or NULL and it was queued.  A packet
 * is kept before anybody else may take the message and let it go.
 */
static struct vm_req *deliver(struct vm_rank *rank, struct vm_arrival *arrival,
			      struct vm_origin *origin, struct vm_pkt *pkt)
{
	struct vm_match_node *node;
	struct vm_req *req = NULL;

	vm_engine_lock(rank->engine);
	node = vm_match_arrival(&rank->match, &arrival->env);
	if (node) {
		req = vm_container_of(node, struct vm_req, node);
		req->posted = false;
	} else {
		if (arrival->payload == VM_PAYLOAD_PACKET) {
			origin->pkt = vm_pkt_keep(pkt);
			arrival->buffer = (void *)(uintptr_t)origin->pkt->data;
		}
		vm_mailbox_queue(rank, arrival);
	}
	vm_engine_unlock(rank->engine);
	return req;
}

void vm_remote_eager(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_envelope *envelope = pkt->upper;
	struct vm_rank *rank = rank_of(envelope);
	struct vm_origin origin = origin_of(pkt);
	struct vm_arrival arrival = arrival_of(envelope, &origin);
	struct vm_data data = vm_data_bytes(pkt->data, pkt->bytes);
	struct vm_req *req;

	(void)port;
	if (!rank)
		return;
	if (pkt->bytes != envelope->bytes) {
		unknown_count();
		return;
	}
	arrival.payload = VM_PAYLOAD_PACKET;
	req = deliver(rank, &arrival, &origin, pkt);
	if (!req)
		return;
	vm_data_land(&data, &arrival.env, req);
	vm_origin_end(&origin, rank->port, 0);
	vm_req_complete(req);
}

void vm_remote_rts(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_envelope *envelope = pkt->upper;
	struct vm_rank *rank = rank_of(envelope);
	struct vm_origin origin = origin_of(pkt);
	struct vm_arrival arrival = arrival_of(envelope, &origin);
	struct vm_req *req;

	(void)port;
	if (!rank)
		return;
	if (!envelope->sender) {
		unknown_count();
		return;
	}
	if (pkt->bytes == sizeof(origin.memory))
		memcpy(&origin.memory, pkt->data, sizeof(origin.memory));
	arrival.payload = VM_PAYLOAD_REMOTE;
	req = deliver(rank, &arrival, &origin, pkt);
	if (req)
		vm_pull_start(req, &arrival.env, &origin, rank->port,
			      arrival.bytes);
}

/* The queued message of this operation of a process; the lock is held. */
static struct vm_msg *queued_find(const struct vm_rank *rank,
				  const struct vm_pkt *pkt, uint64_t sender)
{
	struct vm_list *link;

	vm_list_each(link, &rank->match.order) {
		struct vm_match_node *node =
			vm_container_of(link, struct vm_match_node, order);
		struct vm_msg *msg = vm_container_of(node, struct vm_msg, node);

		if (vm_payload_foreign(msg->payload) &&
		    msg->origin.sender == sender &&
		    msg->origin.from.process == pkt->process)
			return msg;
	}
	return NULL;
}

void vm_remote_withdraw(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_envelope *envelope = pkt->upper;
	struct vm_rank *rank = rank_of(envelope);
	struct vm_msg *msg;

	(void)port;
	if (!rank || !envelope->sender)
		return;
	vm_engine_lock(rank->engine);
	msg = queued_find(rank, pkt, envelope->sender);
	if (msg)
		vm_mailbox_take(msg);
	vm_engine_unlock(rank->engine);
	if (!msg)
		return; /* matched: it ends as any other */
	vm_origin_end(&msg->origin, rank->port, -VMPI_ECANCELED);
	vm_pool_put(&vm_lane_self()->msg, msg);
}

/* Control packets are always taken while there is memory, and without them the
 * other side would wait for ever. */
static int control_send(struct vm_port *port, struct vm_to to,
			const struct vm_send *send)
{
	int rc = vm_port_send(port, to, send, NULL);

	if (rc == -VMPI_ENOMEM)
		vm_panic("out of memory for packets to process %u", to.process);
	return rc < 0 ? rc : 0;
}

int vm_remote_step(struct vm_port *port, struct vm_to to, uint8_t kind,
		   const struct vm_wire_step *step, const void *data,
		   size_t bytes)
{
	struct vm_send send = { .upper = step,
				.data = data,
				.bytes = (uint32_t)bytes,
				.kind = kind,
				.control = true };

	return control_send(port, to, &send);
}

void vm_origin_end(const struct vm_origin *origin, struct vm_port *port,
		   int error)
{
	struct vm_wire_step step = { .to = origin->sender, .error = error };

	if (origin->pkt)
		vm_pkt_release(origin->pkt);
	/* A sender that is gone needs no news. */
	if (origin->sender)
		vm_remote_step(port, origin->from, VM_PACKET_FIN, &step, NULL,
			       0);
}

/* Sends the payload along: 1, or -VMPI_EAGAIN, -VMPI_EPEER, -VMPI_ENOMEM. */
static int eager_send(const struct vm_rank *self, const struct vm_rank *dest,
		      const struct vm_wire_envelope *envelope,
		      const struct vm_data *data)
{
	struct vm_send send = { .upper = envelope,
				.data = data->addr,
				.bytes = (uint32_t)data->bytes,
				.kind = VM_PACKET_EAGER };
	struct vm_lane *lane = vm_lane_self();
	void *buffer = NULL;
	int rc;

	if (data->layout) {
		struct vm_data packed;

		if (data->bytes > VM_BUFFER_MAX)
			return -VMPI_EAGAIN;
		buffer = vm_buffer_get(lane, data->bytes);
		if (!buffer)
			return -VMPI_EAGAIN;
		packed = vm_data_bytes(buffer, data->bytes);
		vm_data_copy(&packed, data);
		send.data = buffer;
	}
	rc = vm_port_send(self->port, dest->to, &send, NULL);
	if (buffer)
		vm_buffer_put(lane, buffer, data->bytes);
	return rc;
}

static bool fits_eager(const struct vm_data *data)
{
	return data->bytes <= (size_t)core_cvar.eager_limit &&
	       data->bytes <= vm_fabric_limits(vm_node->fabric)->packet_bytes;
}

/*
 * With its payload, but complete only when the receiver says so: 0,
 * -VMPI_EAGAIN: the push is still to be announced; or an error, it is gone.
 */
static int eager_sync(const struct vm_rank *dest,
		      struct vm_wire_envelope *envelope,
		      const struct vm_data *data, struct vm_push *push)
{
	struct vm_rank *self = vm_rank_self();
	int rc = vm_push_show(push, envelope);

	if (!rc)
		rc = eager_send(self, dest, envelope, data);
	if (rc >= 0) {
		vm_pvar_add(vm_counters(self)->sends_eager, 1);
		return 0;
	}
	/* Whoever ended the push completes the request too. */
	if (!vm_push_hide(envelope->sender))
		return 0;
	if (rc != -VMPI_EAGAIN)
		vm_push_free(push);
	return rc;
}

/* With a request that is complete only when the receiver says so. */
static int announced_send(struct vm_rank *dest,
			  struct vm_wire_envelope *envelope,
			  const struct vm_data *data, struct vm_req *req)
{
	struct vm_rank *self = vm_rank_self();
	struct vm_push *push;
	int rc = -VMPI_EAGAIN;

	vm_data_assign(&req->data, data);
	req->rank = dest;
	req->msg = NULL;
	req->status = (vmpi_status){ .source = envelope->source,
				     .tag = envelope->tag,
				     .bytes = data->bytes };
	push = vm_push_new(req, data, self->port, dest->to);
	if (!push)
		return -VMPI_ENOMEM;
	if (fits_eager(data))
		rc = eager_sync(dest, envelope, data, push);
	if (rc != -VMPI_EAGAIN)
		return rc;
	vm_pvar_add(vm_counters(self)->sends_rendezvous, 1);
	return vm_push_announce(push, envelope);
}

/* Without a credit a short message waits here, in a copy: 1, or -VMPI_EAGAIN
 * (there is no room), -VMPI_EPEER, -VMPI_ENOMEM. */
static int copied_send(const struct vm_rank *dest,
		       struct vm_wire_envelope *envelope,
		       const struct vm_data *data)
{
	struct vm_rank *self = vm_rank_self();
	struct vm_push *push = vm_push_new_copy(data, self->port, dest->to);
	int rc;

	if (!push)
		return -VMPI_EAGAIN;
	vm_pvar_add(vm_counters(self)->sends_rendezvous, 1);
	rc = vm_push_announce(push, envelope);
	return rc ? rc : 1;
}

#define CREDIT_POLLS 16 /* looks for credits before a message waits */

/* A message that needs nobody's answer: as eager_send(). */
static int short_send(const struct vm_rank *dest,
		      struct vm_wire_envelope *envelope,
		      const struct vm_data *data)
{
	struct vm_rank *self = vm_rank_self();
	int rc = eager_send(self, dest, envelope, data);

	for (int i = 0; i < CREDIT_POLLS && rc == -VMPI_EAGAIN; i++) {
		vm_port_poll(self->port, vm_self->worker->index >= 0);
		rc = eager_send(self, dest, envelope, data);
	}
	if (rc != -VMPI_EAGAIN) {
		if (rc >= 0)
			vm_pvar_add(vm_counters(self)->sends_eager, 1);
		return rc;
	}
	return copied_send(dest, envelope, data);
}

int vm_remote_send(struct vm_rank *dest, const struct vm_env *env,
		   const struct vm_data *data, bool sync, struct vm_req **req)
{
	struct vm_wire_envelope envelope = { .context = env->context,
					     .source = env->source,
					     .tag = env->tag,
					     .rank = (uint32_t)dest->index,
					     .bytes = data->bytes };
	struct vm_req *new = NULL;
	int rc;

	if (!sync && fits_eager(data)) {
		rc = short_send(dest, &envelope, data);
		if (rc != -VMPI_EAGAIN)
			return rc;
	}
	if (!*req) {
		new = vm_req_new(VM_REQ_SEND);
		if (!new)
			return -VMPI_ENOMEM;
		*req = new;
	}
	rc = announced_send(dest, &envelope, data, *req);
	if (rc && new) {
		vm_pool_put(&vm_lane_self()->req, new);
		*req = NULL;
	}
	return rc;
}

void vm_remote_cancel(const struct vm_req *req)
{
	struct vm_wire_envelope envelope = {
		.rank = (uint32_t)req->rank->index,
		.sender = req->push,
	};
	struct vm_send send = { .upper = &envelope,
				.kind = VM_PACKET_WITHDRAW,
				.control = true };

	/* Without an answer the request ends as if nothing had been asked. */
	control_send(vm_rank_self()->port, req->rank->to, &send);
}

/* Spreads the ranks of a process over its ports, in blocks as over workers. */
void vm_remote_place(struct vm_rank *rank, int index, int ranks)
{
	unsigned ports =
		vm_fabric_peer_ports(vm_node->fabric, rank->to.process);

	rank->to.port = (uint32_t)((int64_t)index * ports / ranks);
	if (rank->to.process == (uint32_t)vm_node->process)
		rank->port = vm_fabric_port(vm_node->fabric, rank->to.port);
}

/* Makes our address known and learns those of the others. */
static int addresses_exchange(struct vm_boot *boot)
{
	char address[VM_ADDRESS_MAX];
	int length =
		vm_fabric_address(vm_node->fabric, address, sizeof(address));
	int rc = length < 0 ?
			 length :
			 vm_boot_put(boot, "fabric", address, (size_t)length);

	if (!rc)
		rc = vm_boot_fence(boot);
	for (int i = 0; i < boot->processes && !rc; i++) {
		size_t bytes;

		if (i == boot->process)
			continue;
		rc = vm_boot_get(boot, address, &bytes, sizeof(address), i,
				 "fabric");
		if (!rc)
			rc = vm_fabric_connect(vm_node->fabric, (uint32_t)i,
					       address, bytes);
	}
	/* Nobody sends to one that does not know him. */
	return rc ? rc : vm_boot_fence(boot);
}

static uint64_t job_key(const struct vm_boot *boot)
{
	uint64_t key;

	memcpy(&key, boot->key, sizeof(key));
	return key;
}

/* Callbacks run on the stack of whoever polls. */
#define STACK_LEAST 65536

static int stacks_check(void)
{
	size_t least = vm_node->stack_bytes;

	if (least > (size_t)sched_cvar.task_stack_bytes)
		least = (size_t)sched_cvar.task_stack_bytes;
	if (least >= STACK_LEAST)
		return 0;
	vm_log(VM_ERROR,
	       "stacks of %zu bytes are too small for several processes; give "
	       "ranks (--stack) and tasks (sched_task_stack_bytes) at least "
	       "%d KiB",
	       least, STACK_LEAST / 1024);
	return -VMPI_EINVAL;
}

int vm_remote_open(struct vm_boot *boot)
{
	struct vm_fabric_config config = {
		.processes = 1,
		.ports = (unsigned)vm_node->engine_count,
		.one_host = true,
		.arrived = arrived,
		.down = down,
		.arg = vm_node,
	};
	int rc = stacks_check();

	if (rc)
		return rc;
	if (boot) {
		config.process = (uint32_t)boot->process;
		config.processes = (uint32_t)boot->processes;
		config.job_key = job_key(boot);
		config.one_host = boot->hosts == 1;
	}
	rc = vm_fabric_open(&vm_node->fabric, &config);
	if (!rc)
		rc = vm_lost_init(vm_node);
	if (!rc && boot)
		rc = addresses_exchange(boot);
	return rc;
}

/* Messages that nobody received hold packets. */
static void rank_close(struct vm_rank *rank)
{
	struct vm_list *link;

	while ((link = vm_list_pop(&rank->match.order))) {
		struct vm_match_node *node =
			vm_container_of(link, struct vm_match_node, order);
		struct vm_msg *msg = vm_container_of(node, struct vm_msg, node);

		if (vm_payload_foreign(msg->payload) && msg->origin.pkt)
			vm_pkt_release(msg->origin.pkt);
	}
}

/* The ranks of another process may go on long after MPI_Finalize, and one that
 * dies is noticed: a day. */
#define STOP_NS 86400000000000u

static void ranks_close(void)
{
	for (int i = 0; vm_node->ranks && i < vm_node->rank_here; i++) {
		struct vm_rank *rank = &vm_node->ranks[vm_node->rank_first + i];

		if (rank->match.order.next)
			rank_close(rank);
	}
}

void vm_remote_stop(void)
{
	int rc = -VMPI_ENOMEM;

	if (!vm_node->fabric || vm_node->stopped)
		return;
	vm_node->stopped = true;
	ranks_close();
	/* What still comes needs somebody who takes it. */
	if (vm_thread_adopt(NULL) == 0) {
		rc = vm_fabric_stop(vm_node->fabric, STOP_NS);
		vm_thread_release();
	}
	if (rc)
		vm_log(VM_WARN, "not all processes of the job said goodbye");
	ranks_close(); /* more may have come */
}

void vm_remote_close(void)
{
	if (!vm_node->fabric)
		return;
	vm_remote_stop();
	vm_fabric_close(vm_node->fabric);
	vm_node->fabric = NULL;
	vm_lost_fini(vm_node);
}

void vm_remote_dead(int process)
{
	if (vm_node->fabric)
		vm_fabric_peer_dead(vm_node->fabric, (uint32_t)process);
}
