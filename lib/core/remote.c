/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way out of this process and into it.
 */
#include "core/remote.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "boot/boot.h"
#include "core/engine.h"
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
	vm_push_down(port, process, error);
	vm_pull_down(port, process, error);
}

/* The rank a message is for, if it is one of ours. */
static struct vm_rank *rank_of(const struct vm_wire_envelope *envelope)
{
	uint32_t first = (uint32_t)vm_node->rank_first;

	if (envelope->rank - first < (uint32_t)vm_node->rank_here)
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
	if (!rank || pkt->bytes != envelope->bytes)
		return;
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

void vm_origin_end(const struct vm_origin *origin, struct vm_port *port,
		   int error)
{
	struct vm_wire_step step = { .to = origin->sender, .error = error };
	struct vm_send send = { .upper = &step,
				.kind = VM_PACKET_FIN,
				.control = true };

	if (origin->pkt)
		vm_pkt_release(origin->pkt);
	/* A sender that is gone needs no news. */
	if (origin->sender)
		vm_port_send(port, origin->from, &send, NULL);
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
	req->status = (vmpi_status){ .source = envelope->source,
				     .tag = envelope->tag,
				     .bytes = data->bytes };
	push = vm_push_new(req, self->port, dest->to, envelope);
	if (!push)
		return -VMPI_ENOMEM;
	if (fits_eager(data))
		rc = eager_send(self, dest, envelope, data);
	if (rc == -VMPI_EAGAIN) {
		vm_pvar_add(vm_counters(self)->sends_rendezvous, 1);
		return vm_push_announce(push, envelope);
	}
	if (rc < 0) {
		vm_push_free(push);
		return rc;
	}
	vm_pvar_add(vm_counters(self)->sends_eager, 1);
	return 0;
}

int vm_remote_send(struct vm_rank *dest, const struct vm_env *env,
		   const struct vm_data *data, bool sync, struct vm_req **req)
{
	struct vm_rank *self = vm_rank_self();
	struct vm_wire_envelope envelope = { .context = env->context,
					     .source = env->source,
					     .tag = env->tag,
					     .rank = (uint32_t)dest->index,
					     .bytes = data->bytes };
	struct vm_req *new = NULL;
	int rc;

	if (!sync && fits_eager(data)) {
		rc = eager_send(self, dest, &envelope, data);
		if (rc >= 0)
			vm_pvar_add(vm_counters(self)->sends_eager, 1);
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
	vm_port_send(vm_rank_self()->port, req->rank->to, &send, NULL);
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

#define STOP_NS 2000000000u

void vm_remote_close(void)
{
	int rc = -VMPI_ENOMEM;

	if (!vm_node->fabric)
		return;
	for (int i = 0; vm_node->ranks && i < vm_node->rank_here; i++)
		rank_close(&vm_node->ranks[vm_node->rank_first + i]);
	/* What still comes needs somebody who takes it. */
	if (vm_thread_adopt(NULL) == 0) {
		rc = vm_fabric_stop(vm_node->fabric, STOP_NS);
		vm_thread_release();
	}
	if (rc)
		vm_log(VM_WARN, "not all processes of the job said goodbye");
	vm_fabric_close(vm_node->fabric);
	vm_node->fabric = NULL;
}

bool vm_remote_poll(struct vm_worker *worker)
{
	bool did = vm_node->engine_count > 1 && vm_engine_poll(worker);
	struct vm_lane *lane = worker->lane;
	unsigned ports = vm_fabric_limits(vm_node->fabric)->ports;
	unsigned own;

	if (!lane->engine)
		return did;
	if (worker->head &&
	    ++lane->polls_left < (unsigned)core_cvar.poll_rounds)
		return did;
	lane->polls_left = 0;
	own = (unsigned)lane->engine->index % ports;
	did |= vm_port_poll(vm_fabric_port(vm_node->fabric, own), true) > 0;
	if (worker->head || !core_cvar.help)
		return did;
	for (unsigned i = 1; i < ports; i++)
		did |= vm_port_poll(vm_fabric_port(vm_node->fabric,
						   (own + i) % ports),
				    false) > 0;
	return did;
}

/* While somebody waits for the network, others sleep as ever.  When he has got
 * work, another one has to wait in his place. */
static void watch_hand_over(const struct vm_worker *worker)
{
	if (!worker->head && !worker->next)
		return;
	for (int i = 0; i < vm_sched.worker_count; i++) {
		struct vm_worker *other = &vm_sched.workers[i];

		if (other != worker &&
		    atomic_load_explicit(&other->sleeping,
					 memory_order_relaxed)) {
			vm_worker_nudge_slow(other);
			return;
		}
	}
}

bool vm_remote_sleep(struct vm_worker *worker, uint64_t limit_ns)
{
	struct vm_sleep sleep;
	int rc = vm_fabric_sleep_begin(vm_node->fabric, &sleep);
	uint64_t until = limit_ns ? vm_clock_ns() + limit_ns : UINT64_MAX;

	if (rc == -VMPI_EAGAIN)
		return true;
	if (rc)
		return false;
	/* Pairs with the exchange in vm_worker_nudge_slow() and the load in
	 * vm_remote_kick(): one of the two sees the other. */
	atomic_store(&vm_node->watcher, worker);
	if (atomic_load(&worker->sleeping))
		vm_fabric_sleep_wait(vm_node->fabric, &sleep, until);
	atomic_store(&vm_node->watcher, NULL);
	vm_fabric_sleep_end(vm_node->fabric);
	vm_remote_poll(worker);
	watch_hand_over(worker);
	return true;
}

void vm_remote_kick(struct vm_worker *worker)
{
	if (atomic_load(&vm_node->watcher) == worker)
		vm_fabric_kick(vm_node->fabric);
}
