/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In and out of the rings.
 */
#include "fabric/near.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/copy.h"
#include "base/log.h"
#include "fabric/conn.h"
#include "fabric/state.h"

#define AT_ONCE 32 /* records of a ring in one poll */

/* The words of a record.  A whole packet has its own header in the payload. */
struct words {
	uint16_t credits;
	uint8_t kind; /* VM_WIRE_DATA, VM_WIRE_CONTROL, or NONE: a packet */
	uint8_t upper_kind;
	uint8_t upper[VM_UPPER_BYTES];
};

VM_STATIC_ASSERT(sizeof(struct words) == VM_SHM_HEAD, "they fit");

/* Where a sleeper is woken; a port's own is the port. */
static int wake_watch(struct vm_fabric *fabric)
{
	struct epoll_event event = { .events = EPOLLIN,
				     .data.ptr = fabric->shm };

	return epoll_ctl(fabric->epoll_fd, EPOLL_CTL_ADD,
			 vm_shm_fd(fabric->shm), &event);
}

void vm_near_open(struct vm_fabric *fabric)
{
	const struct vm_shm_config config = {
		.job = vm_address_job(fabric->config.job_key),
		.process = fabric->config.process,
		.processes = fabric->config.processes,
		.ports = fabric->limits.ports,
	};
	const char *why = "fabric_packet_bytes is too large";

	if (!fabric_cvar.shm || !fabric->fi)
		return;
	if (VM_WIRE_MAX + fabric->limits.packet_bytes <= VM_SHM_RECORD_MAX &&
	    vm_shm_open(&fabric->shm, &config, &why) == 0) {
		if (wake_watch(fabric) == 0)
			return;
		vm_shm_close(fabric->shm);
		fabric->shm = NULL;
		why = "its descriptor cannot be waited for";
	}
	vm_log(VM_INFO, "no memory is shared with other processes: %s", why);
}

int vm_near_init(struct vm_port *port)
{
	struct vm_inlets *inlets = &port->inlets;

	inlets->room = vm_shm_rings(port->fabric->shm);
	if (!inlets->room)
		return 0;
	inlets->taken = vm_shm_taken(port->fabric->shm, port->index);
	inlets->list = calloc(inlets->room, sizeof(*inlets->list));
	port->record = aligned_alloc(_Alignof(struct vm_packet),
				     sizeof(*port->record));
	return inlets->list && port->record ? 0 : -VMPI_ENOMEM;
}

void vm_near_fini(struct vm_port *port)
{
	free(port->inlets.list);
	free(port->record);
}

void vm_near_connect(struct vm_conn *conn)
{
	struct vm_port *port = conn->port;
	struct vm_shm *shm = port->fabric->shm;

	if (!vm_shm_near(shm, conn->process))
		return;
	if (vm_shm_outlet(&conn->outlet, shm, conn->process, conn->remote,
			  port->index) < 0)
		vm_log(VM_INFO,
		       "port %u: no ring to process %u is left; its packets "
		       "take the network",
		       port->index, conn->process);
}

/* After a record was published. */
static VM_ALWAYS_INLINE void published(struct vm_conn *conn)
{
	if (VM_UNLIKELY(!conn->resend.listed))
		vm_resend_unsure(conn);
	if (VM_UNLIKELY(vm_shm_sleeps(conn->outlet)))
		vm_shm_wake(conn->port->fabric->shm, conn->process);
}

/* Copies a payload that fits into a slot without a call. */
static VM_ALWAYS_INLINE void short_move(char *to, const char *from,
					uint32_t bytes)
{
	if (VM_LIKELY(bytes >= 8)) {
		uint64_t first, last;

		memcpy(&first, from, 8);
		memcpy(&last, from + bytes - 8, 8);
		memcpy(to, &first, 8);
		memcpy(to + bytes - 8, &last, 8);
	} else if (bytes >= 4) {
		uint32_t first, last;

		memcpy(&first, from, 4);
		memcpy(&last, from + bytes - 4, 4);
		memcpy(to, &first, 4);
		memcpy(to + bytes - 4, &last, 4);
	} else {
		for (uint32_t i = 0; i < bytes; i++)
			to[i] = from[i];
	}
}

int vm_near_send(struct vm_conn *conn, const struct vm_send *send)
{
	struct vm_shm_slot *slot;
	struct words *words;
	uint16_t credits;
	void *data;

	slot = vm_shm_room(conn->outlet, send->bytes, &data);
	if (VM_UNLIKELY(!slot))
		return -VMPI_EAGAIN;
	credits = vm_conn_number(conn);
	words = (struct words *)slot->head;
	if (send->bytes > VM_SHM_INLINE)
		vm_copy(data, send->data, send->bytes);
	else
		short_move(slot->data, send->data, send->bytes);
	memcpy(words->upper, send->upper, VM_UPPER_BYTES);
	words->kind = send->control ? VM_WIRE_CONTROL : VM_WIRE_DATA;
	words->upper_kind = send->kind;
	words->credits = credits;
	vm_shm_publish(conn->outlet, slot, send->bytes, data);
	published(conn);
	return 0;
}

int vm_near_put(struct vm_conn *conn, const struct vm_packet *pkt)
{
	struct vm_shm_slot *slot;
	void *data;

	slot = vm_shm_room(conn->outlet, pkt->wire_bytes + pkt->data_bytes,
			   &data);
	if (!slot)
		return -VMPI_EAGAIN;
	memcpy(data, pkt->wire, pkt->wire_bytes);
	if (pkt->data_bytes)
		memcpy((char *)data + pkt->wire_bytes, pkt->data,
		       pkt->data_bytes);
	((struct words *)slot->head)->kind = VM_WIRE_NONE;
	vm_shm_publish(conn->outlet, slot, pkt->wire_bytes + pkt->data_bytes,
		       data);
	published(conn);
	return 0;
}

void vm_near_left(struct vm_conn *conn, struct vm_packet *pkt)
{
	struct vm_port *port = conn->port;

	vm_list_remove(&pkt->sent);
	pkt->confirmed = true;
	if (VM_LIKELY(!pkt->watched)) {
		vm_resend_home(port, pkt);
		return;
	}
	pkt->place = VM_AT_END;
	if (pkt->left && pkt->left > vm_clock_ns())
		vm_due_put(&port->held, &pkt->due, pkt->left);
	else
		vm_list_append(&port->ended, &pkt->link);
}

/* Takes in rings whose senders have said who they are. */
static void inlets_open(struct vm_port *port)
{
	struct vm_inlets *inlets = &port->inlets;
	struct vm_shm *shm = port->fabric->shm;
	uint32_t taken = vm_shm_inlets(shm, port->index);

	if (VM_LIKELY(taken == inlets->count && !inlets->closed))
		return;
	vm_port_lock(port);
	inlets->count = taken;
	inlets->closed = 0;
	for (uint32_t i = 0; i < taken; i++) {
		struct vm_inlet *inlet = &inlets->list[i];

		if (!inlet->open)
			inlet->open = vm_shm_inlet(shm, port->index, i,
						   &inlet->reader,
						   &inlet->process,
						   &inlet->from);
		inlets->closed += !inlet->open;
	}
	if (!inlets->closed)
		/* Pairs with the load in vm_inlets_silent(). */
		atomic_store_explicit(&inlets->shown, taken,
				      memory_order_release);
	vm_port_unlock(port);
}

/* The connection of a ring, at its first record; NULL: it is not read now. */
static struct vm_conn *inlet_conn(struct vm_port *port, struct vm_inlet *inlet)
{
	struct vm_to from = { inlet->process, inlet->from };
	struct vm_contact *contact;

	if (VM_UNLIKELY(!inlet->conn))
		inlet->conn = vm_conn_from(port, from);
	if (VM_UNLIKELY(!inlet->conn))
		return NULL;
	/* Who was given up is heard until that is reported. */
	contact = port->contacts[inlet->process];
	return VM_UNLIKELY(contact->down && contact->error) ? NULL :
							      inlet->conn;
}

static bool is_whole(const struct vm_shm_slot *slot)
{
	const struct words *words = (const struct words *)slot->head;

	return words->kind == VM_WIRE_NONE;
}

/* Whether a record can be handed up where it lies: it has no header, and no
 * packet of its connection is held back. */
static bool is_short(const struct vm_conn *conn, const struct vm_shm_slot *slot)
{
	return !is_whole(slot) && conn->last_due == 0;
}

/* Checks a record and describes it, with the credits that come back; false: its
 * sender is given up. */
static bool record_read(struct vm_conn *conn, struct vm_inlet *inlet,
			const struct vm_shm_slot *slot, struct vm_pkt *view,
			uint16_t *credits)
{
	const struct words *words = (const struct words *)slot->head;
	uint8_t kind = *(const volatile uint8_t *)&words->kind;

	view->data = vm_shm_data(&inlet->reader, slot, &view->bytes);
	view->upper = words->upper;
	view->process = inlet->process;
	view->port = (uint16_t)inlet->from;
	view->kind = words->upper_kind;
	view->control = kind == VM_WIRE_CONTROL;
	*credits = words->credits;
	if (VM_LIKELY(view->data &&
		      (kind == VM_WIRE_DATA || kind == VM_WIRE_CONTROL) &&
		      view->bytes <= conn->port->fabric->limits.packet_bytes))
		return true;
	vm_peer_fail(conn->port->fabric, conn->process, -VMPI_EIO,
		     "a record in shared memory is impossible");
	return false;
}

/* What was handed up where it lies, in one poll of a ring. */
struct took {
	uint32_t data, control; /* records */
	uint32_t credits;
	uint64_t bytes;
};

/* Under polling: hands one record up where it lies. */
static VM_ALWAYS_INLINE bool record_deliver(struct vm_port *port,
					    struct vm_inlet *inlet,
					    const struct vm_shm_slot *slot,
					    struct took *took)
{
	struct vm_packet *pkt = port->record;
	uint16_t credits;

	vm_shm_ahead(&inlet->reader);
	if (!record_read(inlet->conn, inlet, slot, &pkt->view, &credits))
		return false;
	port->fabric->config.arrived[pkt->view.kind](port, &pkt->view);
	if (pkt->view.stays)
		return false;
	took->data += !pkt->view.control;
	took->control += pkt->view.control;
	took->credits += credits;
	took->bytes += pkt->view.bytes;
	vm_shm_take(&inlet->reader);
	return true;
}

/* Under polling: takes in what the records say of the connection, and counts
 * them. */
static void took_count(struct vm_port *port, struct vm_conn *conn,
		       const struct took *took, bool own)
{
	uint32_t records = took->data + took->control;

	vm_port_lock(port);
	vm_conn_took(conn, took->data, took->control, took->credits);
	vm_pvar_add(port->pvars.received, records);
	vm_pvar_add(port->pvars.received_bytes, took->bytes);
	port->counted += took->bytes;
	if (VM_LIKELY(own)) {
		vm_pvar_add(port->pvars.events_own, records);
	} else {
		vm_pvar_add(port->pvars.events_helped, records);
		vm_pvar_add(port->pvars.bytes_helped, took->bytes);
	}
	vm_port_unlock_calm(port);
}

/* A packet that is there when one is kept, and no memory is. */
static bool spare_get(struct vm_port *port)
{
	if (VM_LIKELY(port->spare != NULL))
		return true;
	vm_port_lock(port);
	port->spare = vm_packet_get(&port->pkts, port->wire_bytes);
	vm_port_unlock(port);
	return port->spare;
}

/* Under polling: hands up the records of a ring that begins with `slot`. */
static int inlet_deliver(struct vm_port *port, struct vm_inlet *inlet,
			 const struct vm_shm_slot *slot, bool own)
{
	struct vm_packet *pkt = port->record;
	struct took took = { 0 };
	int count = 0;

	if (VM_UNLIKELY(!inlet->conn)) {
		vm_port_lock(port);
		inlet_conn(port, inlet);
		vm_port_unlock(port);
	}
	/* What follows changes under polling only. */
	if (VM_UNLIKELY(!inlet->conn || !inlet_conn(port, inlet)))
		return 0;
	pkt->use = VM_PKT_RECORD;
	pkt->conn = inlet->conn;
	pkt->port = pkt->at = port;
	pkt->view.woke = pkt->view.stays = false;
	do {
		if (VM_UNLIKELY(!is_short(inlet->conn, slot) ||
				!spare_get(port) ||
				!record_deliver(port, inlet, slot, &took)))
			break;
		count++;
		slot = vm_shm_peek(&inlet->reader);
	} while (slot && count < AT_ONCE);
	if (VM_LIKELY(count))
		took_count(port, inlet->conn, &took, own);
	return count;
}

int vm_near_deliver(struct vm_port *port, bool own)
{
	struct vm_inlets *inlets = &port->inlets;
	int count = 0;

	if (!inlets->room)
		return 0;
	inlets_open(port);
	for (uint32_t i = 0; i < inlets->count; i++) {
		struct vm_inlet *inlet = &inlets->list[i];
		const struct vm_shm_slot *slot;

		if (VM_UNLIKELY(!inlet->open))
			continue;
		slot = vm_shm_peek(&inlet->reader);
		if (slot)
			count += inlet_deliver(port, inlet, slot, own);
	}
	return count;
}

/* The header that the network would have brought. */
static void header_rebuild(const struct vm_conn *conn, struct vm_wire *wire,
			   const struct vm_pkt *view, uint16_t credits)
{
	const struct vm_port *port = conn->port;

	*wire = (struct vm_wire){
		.magic = VM_WIRE_MAGIC,
		.version = VM_WIRE_VERSION,
		.kind = view->control ? VM_WIRE_CONTROL : VM_WIRE_DATA,
		.source = conn->process,
		.job_key = port->fabric->config.job_key,
		.seq = conn->rx_seq,
		.bytes = view->bytes,
		.source_port = (uint8_t)conn->remote,
		.port = (uint8_t)port->index,
		.received = (uint16_t)conn->confirmed,
		.credits = credits,
		.upper_kind = view->kind,
	};
	memcpy(wire->upper, view->upper, VM_UPPER_BYTES);
}

/* A packet for what is in a ring; NULL: no memory. */
static struct vm_packet *packet_new(struct vm_port *port, size_t bytes)
{
	struct vm_packet *pkt = vm_packet_get(&port->pkts, bytes);

	if (!pkt)
		return NULL;
	pkt->use = VM_PKT_RECEIVE;
	pkt->kept = pkt->moved = pkt->orphan = false;
	pkt->wire_bytes = (uint32_t)bytes;
	return pkt;
}

/* Copies a whole packet out of a ring; NULL: no memory, or its sender is given
 * up. */
static struct vm_packet *whole_copy(struct vm_port *port,
				    struct vm_inlet *inlet,
				    const struct vm_shm_slot *slot)
{
	struct vm_packet *pkt;
	uint32_t bytes;
	const char *data = vm_shm_data(&inlet->reader, slot, &bytes);

	if (!data || bytes > port->wire_bytes) {
		vm_peer_fail(port->fabric, inlet->process, -VMPI_EIO,
			     "a record in shared memory is impossible");
		return NULL;
	}
	pkt = packet_new(port, bytes);
	if (pkt)
		memcpy(pkt->wire, data, bytes);
	return pkt;
}

/* The same of a short one, with a header. */
static struct vm_packet *short_copy(struct vm_port *port,
				    struct vm_inlet *inlet,
				    const struct vm_shm_slot *slot)
{
	struct vm_conn *conn = inlet->conn;
	struct vm_packet *pkt;
	struct vm_pkt view;
	uint16_t credits;

	if (!record_read(conn, inlet, slot, &view, &credits))
		return NULL;
	pkt = packet_new(port, VM_WIRE_BYTES + view.bytes);
	if (!pkt)
		return NULL;
	header_rebuild(conn, (struct vm_wire *)pkt->wire, &view, credits);
	memcpy(pkt->wire + VM_WIRE_BYTES, view.data, view.bytes);
	return pkt;
}

/* Takes records up to the next one that can be handed up where it lies. */
static int inlet_take(struct vm_port *port, struct vm_inlet *inlet)
{
	const struct vm_shm_slot *slot;
	int count = 0;

	while (count < AT_ONCE && (slot = vm_shm_peek(&inlet->reader))) {
		struct vm_packet *pkt;

		if (!inlet_conn(port, inlet) || is_short(inlet->conn, slot))
			break;
		pkt = is_whole(slot) ? whole_copy(port, inlet, slot) :
				       short_copy(port, inlet, slot);
		if (!pkt)
			break;
		vm_shm_take(&inlet->reader);
		vm_packet_arrived(port, pkt, pkt->wire_bytes);
		count++;
	}
	return count;
}

int vm_near_take(struct vm_port *port)
{
	struct vm_inlets *inlets = &port->inlets;
	int count = 0;

	for (uint32_t i = 0; i < inlets->count; i++)
		if (inlets->list[i].open)
			count += inlet_take(port, &inlets->list[i]);
	return count;
}

/* Whether the records of a ring are still to be read. */
static bool inlet_busy(const struct vm_port *port, const struct vm_inlet *inlet)
{
	const struct vm_contact *contact;

	/* Its sender may just have said who it is. */
	if (!inlet->open)
		return vm_shm_named(port->fabric->shm, port->index,
				    (uint32_t)(inlet - port->inlets.list));
	if (!vm_shm_peek(&inlet->reader))
		return false;
	contact = port->contacts[inlet->process];
	return !contact || !contact->down || !contact->error;
}

bool vm_near_busy(const struct vm_port *port)
{
	const struct vm_inlets *inlets = &port->inlets;

	if (!inlets->room)
		return false;
	if (vm_shm_inlets(port->fabric->shm, port->index) != inlets->count)
		return true;
	for (uint32_t i = 0; i < inlets->count; i++)
		if (inlet_busy(port, &inlets->list[i]))
			return true;
	return false;
}

bool vm_near_pending(const struct vm_port *port, uint32_t process)
{
	const struct vm_inlets *inlets = &port->inlets;

	for (uint32_t i = 0; i < inlets->count; i++)
		if (inlets->list[i].open &&
		    inlets->list[i].process == process &&
		    inlet_busy(port, &inlets->list[i]))
			return true;
	return false;
}

#define LOOK_NS 20000000 /* without a reader until we look whether it lives */
#define LOOK_NS_MAX 1000000000

uint64_t vm_near_look(struct vm_conn *conn, uint64_t now)
{
	struct vm_resend *resend = &conn->resend;
	uint32_t taken = vm_shm_read(conn->outlet);

	if (conn->error || taken == conn->outlet->next)
		return UINT64_MAX;
	if (resend->next_ns == 0 || resend->seen != taken) {
		resend->seen = taken;
		resend->wait_ns = LOOK_NS;
	} else if (now < resend->next_ns) {
		return resend->next_ns;
	} else {
		if (vm_shm_dead(conn->port->fabric->shm, conn->process))
			vm_conn_gone(conn);
		if (resend->wait_ns < LOOK_NS_MAX)
			resend->wait_ns *= 2;
	}
	resend->next_ns = now + resend->wait_ns;
	return resend->next_ns;
}

static bool contact_settled(const struct vm_contact *contact)
{
	for (unsigned i = 0; contact && i < contact->count; i++) {
		const struct vm_conn *conn = &contact->conns[i];

		if (conn->outlet && !conn->error &&
		    vm_shm_read(conn->outlet) != conn->outlet->next)
			return false;
	}
	return true;
}

bool vm_near_settled(const struct vm_port *port)
{
	const struct vm_fabric *fabric = port->fabric;

	for (uint32_t i = 0; fabric->shm && i < fabric->config.processes; i++)
		if (!contact_settled(port->contacts[i]))
			return false;
	return true;
}

bool vm_near_all(const struct vm_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->config.processes; i++)
		if (i != fabric->config.process && !vm_shm_near(fabric->shm, i))
			return false;
	return true;
}

bool vm_fabric_moves(struct vm_fabric *fabric, uint32_t process)
{
	return vm_shm_near(fabric->shm, process) ?
		       vm_shm_moves_far(fabric->shm, process) :
		       fabric->limits.rma;
}
