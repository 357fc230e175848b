/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way out of this process and into it.
 */
#include "core/remote/remote.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/log.h"
#include "base/own.h"
#include "boot/boot.h"
#include "core/rank/chan.h"
#include "core/remote/agent.h"
#include "core/local/engine.h"
#include "core/instrument/trace.h"
#include "core/remote/cards.h"
#include "core/remote/credit_queue.h"
#include "core/remote/failure.h"
#include "core/local/deliver.h"
#include "core/rank/state.h"
#include "core/remote/peer_stats.h"
#include "core/remote/rndv_recv.h"
#include "core/remote/heartbeat.h"
#include "core/remote/join.h"
#include "core/remote/rndv_send.h"
#include "core/remote/progress.h"
#include "core/remote/straight.h"
#include "core/remote/wire.h"
#include "core/local/threads.h"
#include "fabric/end/stop.h"
#include "sched/worker.h"
#include "sched/topo.h"

/* Any thread. */
static void unknown_count(void)
{
	__atomic_fetch_add(&vm_node->pvars.packets_unknown, 1,
			   __ATOMIC_RELAXED);
}

static void unknown(struct vm_port *port, struct vm_pkt *pkt)
{
	(void)port;
	(void)pkt;
	unknown_count();
}

static vm_pkt_handler *const handlers[VM_PKT_KINDS] = {
#define HANDLER(kind, header, handler, text) [VM_PACKET_##kind] = handler,
	VM_PACKETS(HANDLER)
#undef HANDLER
		[VM_PACKET_KINDS... VM_PKT_KINDS - 1] = unknown,
};

static void down(void *arg, struct vm_port *port, uint32_t process, int error)
{
	void (*window_down)(uint32_t process);
	bool died = error != 0;

	(void)arg;
	/* For a message that is not over a goodbye comes too early. */
	if (!died)
		error = -VMPI_EPEER;
	vm_credit_queue_down(port, process, error);
	vm_rndv_send_down(port, process, error);
	vm_rndv_recv_down(port, process, error);
	vm_failure_down(port, process, died);
	window_down = atomic_load_explicit(&vm_node->window_down,
					   memory_order_relaxed);
	if (window_down)
		window_down(process);
}

static void room(void *arg, struct vm_port *port, uint32_t process,
		 uint32_t remote)
{
	(void)arg;
	vm_credit_queue_room(port, (struct vm_to){ process, remote });
}

static void pool(void *arg, struct vm_port *port, int64_t bytes, uint64_t total)
{
	(void)arg;
	vm_trace_packets((int)vm_port_index(port), bytes, total);
}

/* The rank a message is for, if it is one of ours and its key has no
 * wildcards. */
static struct vm_rank *rank_of(const struct vm_wire_envelope *envelope)
{
	if (envelope->rank < (uint32_t)vm_node->rank_room &&
	    vm_node->ranks[envelope->rank].port && envelope->source != VM_ANY &&
	    envelope->tag != VM_ANY &&
	    !atomic_load_explicit(&vm_node->ranks[envelope->rank].failed,
				  memory_order_relaxed))
		return &vm_node->ranks[envelope->rank];
	unknown_count();
	return NULL;
}

/* A message out of a packet. */
struct incoming {
	struct vm_arrival arrival;
	struct vm_origin origin;
	struct vm_data data;
	struct vm_pkt *pkt;
};

/* Fills in all but the packet and the payload. */
static void incoming_init(struct incoming *in, enum vm_payload payload,
			  const struct vm_wire_envelope *envelope,
			  struct vm_to from, const struct vm_rank *rank)
{
	in->origin =
		(struct vm_origin){ .sender = envelope->sender, .from = from };
	in->arrival = (struct vm_arrival){
		.env = { envelope->context, envelope->source, envelope->tag },
		.payload = (uint8_t)payload,
		.path = VM_PATH_FABRIC,
		.signature = vm_wire_signature(envelope),
		.data = &in->data,
		.origin = &in->origin,
		.port = rank->port,
	};
}

/* A packet is kept before anybody else may take the message and let it go. */
static int packet_keep(struct vm_arrival *arrival)
{
	struct incoming *in =
		vm_container_of(arrival, struct incoming, arrival);

	in->origin.pkt = vm_pkt_keep(in->pkt);
	in->data.addr = (void *)(uintptr_t)in->origin.pkt->data;
	return VM_DONE;
}

static void packet_end(struct vm_arrival *arrival)
{
	vm_origin_end(arrival->origin, arrival->port, 0);
}

const struct vm_payload_ops vm_packet_payload = { .keep = packet_keep,
						  .end = packet_end };

static int remote_fetch(struct vm_arrival *arrival, struct vm_req *req)
{
	vm_rndv_recv_start(req, arrival->origin, arrival->port);
	return VM_PENDING;
}

const struct vm_payload_ops vm_remote_payload = { .fetch = remote_fetch,
						  .end = packet_end };

/* The same at the moment when the message is announced. */
static int announced_keep(struct vm_arrival *arrival)
{
	vm_peer_stats_offered(arrival->origin->from.process, false);
	return VM_DONE;
}

static int announced_fetch(struct vm_arrival *arrival, struct vm_req *req)
{
	struct incoming *in =
		vm_container_of(arrival, struct incoming, arrival);

	vm_peer_stats_offered(arrival->origin->from.process, true);
	vm_rndv_recv_announced(req, arrival->origin, arrival->port, in->pkt);
	return VM_PENDING;
}

static const struct vm_payload_ops announced_payload = {
	.keep = announced_keep,
	.fetch = announced_fetch,
};

static void fetched_end(struct vm_arrival *arrival)
{
	free(arrival->data->addr);
}

const struct vm_payload_ops vm_fetched_payload = { .end = fetched_end };

void vm_remote_eager(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_envelope *envelope = pkt->upper;
	struct vm_to from = { pkt->process, pkt->port };
	struct vm_rank *rank = rank_of(envelope);
	struct incoming in;

	(void)port;
	if (!rank)
		return;
	if (pkt->bytes != vm_wire_length(envelope)) {
		unknown_count();
		return;
	}
	if (VM_LIKELY(vm_straight_take(rank, pkt, envelope)))
		return;
	in.pkt = pkt;
	in.data = (struct vm_data){ .addr = (void *)(uintptr_t)pkt->data,
				    .bytes = pkt->bytes };
	incoming_init(&in, VM_PAYLOAD_PACKET, envelope, from, rank);
	vm_observe_packet(rank, pkt->bytes);
	vm_engine_lock(rank->engine);
	vm_deliver(rank, &in.arrival, &vm_packet_payload, true);
}

void vm_remote_rts(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_envelope *envelope = pkt->upper;
	struct vm_to from = { pkt->process, pkt->port };
	struct vm_rank *rank = rank_of(envelope);
	struct incoming in;

	(void)port;
	if (!rank)
		return;
	if (!envelope->sender) {
		unknown_count();
		return;
	}
	in.pkt = pkt;
	in.data = (struct vm_data){ .bytes = vm_wire_length(envelope) };
	incoming_init(&in, VM_PAYLOAD_REMOTE, envelope, from, rank);
	if (pkt->bytes == sizeof(in.origin.memory))
		memcpy(&in.origin.memory, pkt->data, sizeof(in.origin.memory));
	vm_engine_lock(rank->engine);
	vm_deliver(rank, &in.arrival, &announced_payload, true);
}

void vm_remote_quiet(struct vm_port *port, struct vm_pkt *pkt)
{
	(void)port;
	if (vm_node->quiet_take)
		vm_node->quiet_take(pkt->process, pkt->upper);
}

void vm_remote_revoke(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_step *step = pkt->upper;

	(void)port;
	vm_node->revoke_take((uint32_t)step->to);
}

void vm_remote_failed(struct vm_port *port, struct vm_pkt *pkt)
{
	const struct vm_wire_step *step = pkt->upper;

	(void)port;
	if (step->to < (uint64_t)vm_node->rank_room)
		vm_node->failed_take((int)step->to);
}

void vm_remote_window(struct vm_port *port, struct vm_pkt *pkt)
{
	void (*take)(struct vm_port * port, struct vm_pkt * pkt);

	take = atomic_load_explicit(&vm_node->window_take,
				    memory_order_relaxed);
	if (take)
		take(port, pkt);
	else
		unknown_count();
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
	vm_pool_put(&vm_thread_cache_self()->msg, msg);
}

/* Control packets are always taken while there is memory, and without them the
 * other side would wait forever. */
static int control_send(struct vm_port *port, struct vm_to to,
			const struct vm_send *send, struct vm_send_op *op)
{
	int rc = vm_port_send(port, to, send, op);

	if (rc == -VMPI_ENOMEM)
		vm_panic("out of memory for packets to process %u", to.process);
	return rc;
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

	return control_send(port, to, &send, NULL);
}

int vm_remote_window_send(struct vm_port *port, struct vm_to to,
			  const struct vm_window_head *head, const void *data,
			  size_t bytes)
{
	struct vm_send send = { .upper = head,
				.data = data,
				.bytes = (uint32_t)bytes,
				.kind = VM_PACKET_WINDOW,
				.control = true };

	return control_send(port, to, &send, NULL);
}

int vm_remote_fragment(struct vm_port *port, struct vm_to to,
		       const struct vm_wire_step *step, const void *data,
		       size_t bytes, struct vm_send_op *op,
		       struct vm_overlap *overlap)
{
	struct vm_send send = { .upper = step,
				.data = data,
				.bytes = (uint32_t)bytes,
				.kind = VM_PACKET_FRAGMENT,
				.control = true,
				.overlap = overlap };

	return control_send(port, to, &send, op);
}

void vm_origin_end(const struct vm_origin *origin, struct vm_port *port,
		   int error)
{
	struct vm_wire_step step = { .to = origin->sender, .error = error };

	if (origin->pkt)
		vm_pkt_release(origin->pkt);
	/* A sender that is gone needs no answer. */
	if (origin->sender)
		vm_remote_step(port, origin->from, VM_PACKET_FIN, &step, NULL,
			       0);
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

static uint64_t job_key(const struct vm_boot *boot)
{
	uint64_t key;

	memcpy(&key, boot->key, sizeof(key));
	return key;
}

/* Callbacks run on the stack of the poller. */
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

/* Port n is polled by worker n first. */
static int numa(void *arg, unsigned port)
{
	(void)arg;
	return vm_topo_numa((int)port);
}

/* What a fabric needs; it is open. */
static int parts_open(void)
{
	int rc = vm_progress_init();

	if (!rc)
		rc = vm_credit_queues_init(vm_node);
	vm_node->copies =
		calloc((size_t)vm_node->process_room, sizeof(*vm_node->copies));
	if (!rc && !vm_node->copies)
		rc = -VMPI_ENOMEM;
	if (!rc)
		rc = vm_failure_init(vm_node);
	return rc;
}

/* Joins the job (join.h), or opens the fabric for a process that is alone. */
static int fabric_open(struct vm_boot *boot, uint64_t key)
{
	struct vm_fabric_config config = {
		.processes = 1,
		.job_key = key,
		.guests = (uint32_t)core_cvar.connect_max,
		.ports = (unsigned)vm_node->engine_count,
		.one_host = true,
		.crowded = vm_sched.shared != 0,
		.arrived = handlers,
		.asking = VM_PACKET_CTS,
		.card = vm_cards_take,
		.held = vm_rndv_recv_held,
		.down = down,
		.room = room,
		.noticed = vm_rndv_recv_noticed,
		.pool = pool,
		.numa = numa,
		.arg = vm_node,
	};
	int rc = stacks_check();
	struct vm_own own;

	if (rc)
		return rc;
	if (boot) {
		config.process = (uint32_t)boot->process;
		config.processes = (uint32_t)boot->processes;
		config.one_host = boot->hosts == 1;
	}
	/* Providers may have threads. */
	vm_own_begin(&own);
	rc = boot ? vm_join(boot, &config) :
		    vm_fabric_open(&vm_node->fabric, &config);
	vm_own_end(&own);
	return rc;
}

int vm_remote_open(struct vm_boot *boot)
{
	int rc = fabric_open(boot, boot ? job_key(boot) : 0);

	if (!rc)
		rc = parts_open();
	if (!rc && boot)
		rc = vm_heartbeat_start(&vm_node->heartbeat, boot,
					vm_node->fabric);
	return rc;
}

int vm_remote_open_late(void)
{
	int engines = vm_node->engine_count;
	uint64_t key;
	unsigned ports;
	int rc;

	if (getrandom(&key, sizeof(key), 0) != (ssize_t)sizeof(key))
		return -VMPI_EIO;
	rc = fabric_open(NULL, key);
	if (rc)
		return rc;
	/* Each rank is at the port that its worker polls. */
	ports = vm_fabric_limits(vm_node->fabric)->ports;
	for (int i = 0; i < vm_own_count(); i++) {
		struct vm_rank *rank = vm_node->own[i];
		int64_t engine = rank->engine->index;

		rank->to.port = (uint32_t)(engine * ports / engines);
		rank->port = vm_fabric_port(vm_node->fabric, rank->to.port);
	}
	rc = parts_open();
	if (rc)
		vm_log(VM_ERROR, "out of memory for messages to other jobs");
	return rc;
}

/* Messages that were never received hold packets. */
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
	for (int i = 0; vm_node->own && i < vm_own_count(); i++) {
		struct vm_rank *rank = vm_node->own[i];

		if (rank && rank->match.order.next)
			rank_close(rank);
	}
}

void vm_remote_stop(void)
{
	bool stranger = !vm_self;
	int rc = 0;

	if (!vm_node->fabric || vm_node->closed)
		return;
	vm_node->closed = true;
	vm_agent_stop(vm_node);
	ranks_close();
	/* Packets that still come must be taken. */
	if (stranger)
		rc = vm_thread_adopt(NULL);
	if (!rc) {
		vm_credit_queues_drain(vm_node->fabric);
		rc = vm_fabric_stop(vm_node->fabric, STOP_NS);
		if (stranger)
			vm_thread_release();
	}
	if (rc)
		vm_log(VM_WARN, "not all processes of the job disconnected");
	ranks_close(); /* more may have come */
}

void vm_remote_close(void)
{
	if (!vm_node->fabric)
		return;
	vm_remote_stop();
	vm_heartbeat_stop(vm_node->heartbeat);
	vm_fabric_close(vm_node->fabric);
	vm_node->fabric = NULL;
	vm_failure_fini(vm_node);
	vm_progress_fini();
	vm_credit_queues_fini(vm_node);
	free(vm_node->copies);
	vm_node->copies = NULL;
}

void vm_remote_dead(int process, int status)
{
	if (!vm_node->fabric)
		return;
	if (status == VM_BOOT_ENDED)
		vm_fabric_peer_ended(vm_node->fabric, (uint32_t)process);
	else
		vm_fabric_peer_dead(vm_node->fabric, (uint32_t)process);
}
