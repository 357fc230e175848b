/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading the rings of a port.
 */
#include "fabric/inlets.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "fabric/conn.h"
#include "fabric/near.h"
#include "fabric/state.h"

#define AT_ONCE 32 /* records of a ring in one poll */
#define LATER 16   /* records that are counted together, at most */

int vm_inlets_init(struct vm_port *port)
{
	struct vm_inlets *inlets = &port->inlets;

	inlets->room = vm_shm_rings(port->fabric->shm);
	if (!inlets->room)
		return 0;
	inlets->taken = vm_shm_taken(port->fabric->shm, port->index);
	vm_watch_init(&inlets->watch,
		      vm_shm_bell(port->fabric->shm, port->index));
	inlets->list = calloc(inlets->room, sizeof(*inlets->list));
	port->record = aligned_alloc(_Alignof(struct vm_packet),
				     sizeof(*port->record));
	return inlets->list && port->record ? 0 : -VMPI_ENOMEM;
}

void vm_inlets_fini(struct vm_port *port)
{
	free(port->inlets.list);
	free(port->record);
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
	const struct vm_near_words *words =
		(const struct vm_near_words *)slot->head;

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
	const struct vm_near_words *words =
		(const struct vm_near_words *)slot->head;
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

/* Under polling: notes that a record was handed up where it lies. */
static VM_ALWAYS_INLINE void record_took(struct vm_port *port,
					 struct vm_inlet *inlet,
					 const struct vm_pkt *view,
					 uint16_t credits)
{
	/* Pairs with the load in vm_port_partner_runs(). */
	atomic_store_explicit(&port->inlets.last, inlet, memory_order_release);
	inlet->took.data += !view->control;
	inlet->took.control += view->control;
	inlet->took.credits += credits;
	inlet->took.bytes += view->bytes;
	vm_shm_take(&inlet->reader);
}

/* Under polling: hands one record up where it lies. */
static VM_ALWAYS_INLINE bool record_deliver(struct vm_port *port,
					    struct vm_inlet *inlet,
					    const struct vm_shm_slot *slot)
{
	struct vm_packet *pkt = port->record;
	uint16_t credits;

	vm_shm_ahead(&inlet->reader);
	if (!record_read(inlet->conn, inlet, slot, &pkt->view, &credits))
		return false;
	port->fabric->config.arrived[pkt->view.kind](port, &pkt->view);
	if (pkt->view.stays)
		return false;
	record_took(port, inlet, &pkt->view, credits);
	return true;
}

/* Under polling: takes in what the records say of the connection, and counts
 * them. */
static void took_count(struct vm_port *port, struct vm_inlet *inlet, bool own)
{
	const struct vm_took *took = &inlet->took;
	uint32_t records = took->data + took->control;
	struct vm_conn *conn = inlet->conn;

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
	/* So that its sender always has credits left that we know nothing of. */
	inlet->later = conn->granted / 4 < LATER ? conn->granted / 4 : LATER;
	vm_port_unlock_calm(port);
	inlet->took = (struct vm_took){ 0 };
}

/* Under polling: those of all rings. */
static __attribute__((noinline)) void all_count(struct vm_port *port)
{
	struct vm_inlets *inlets = &port->inlets;

	atomic_store_explicit(&inlets->uncounted, false, memory_order_relaxed);
	for (uint32_t i = 0; i < inlets->count; i++)
		if (inlets->list[i].took.data || inlets->list[i].took.control)
			took_count(port, &inlets->list[i], true);
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
	pkt->view.held = NULL;
	do {
		if (VM_UNLIKELY(!is_short(inlet->conn, slot) ||
				!spare_get(port) ||
				!record_deliver(port, inlet, slot)))
			break;
		count++;
		slot = vm_shm_peek(&inlet->reader);
	} while (slot && count < AT_ONCE);
	if (VM_UNLIKELY(pkt->view.held != NULL))
		port->fabric->config.held(pkt->view.held);
	if (VM_LIKELY(count))
		took_count(port, inlet, own);
	return count;
}

/* Under polling.  The rings that are not watched. */
static int others_deliver(struct vm_port *port, bool own)
{
	struct vm_inlets *inlets = &port->inlets;
	int count = 0;

	vm_watch_clear(&inlets->watch);
	for (uint32_t i = 0; i < inlets->count; i++) {
		struct vm_inlet *inlet = &inlets->list[i];
		const struct vm_shm_slot *slot;

		if (!inlet->open || inlet->reader.watched.listed)
			continue;
		slot = vm_shm_peek(&inlet->reader);
		if (!slot)
			continue;
		vm_watch_add(&inlets->watch, &inlet->reader.watched);
		count += inlet_deliver(port, inlet, slot, own);
		/* There may be more. */
		if (!inlet->reader.watched.listed &&
		    vm_shm_peek(&inlet->reader))
			vm_watch_ring(&inlets->watch);
	}
	return count;
}

int vm_inlets_deliver(struct vm_port *port, bool own)
{
	struct vm_inlets *inlets = &port->inlets;
	uint32_t watched;
	int count = 0;

	if (!inlets->room)
		return 0;
	inlets_open(port);
	if (VM_UNLIKELY(atomic_load_explicit(&inlets->uncounted,
					     memory_order_relaxed)))
		all_count(port);
	watched = vm_watch_count(&inlets->watch);
	for (uint32_t i = 0; i < watched; i++) {
		struct vm_shm_reader *reader = vm_inlets_watched(inlets, i);
		const struct vm_shm_slot *slot = vm_shm_peek(reader);

		if (slot) {
			reader->watched.active = true;
			count += inlet_deliver(port,
					       vm_container_of(reader,
							       struct vm_inlet,
							       reader),
					       slot, own);
		}
	}
	if (VM_LIKELY(count && !vm_watch_rung(&inlets->watch)))
		return count;
	/* Now and then it is worth to look without a bell. */
	return count + others_deliver(port, own);
}

struct vm_inlet *vm_inlet_find(struct vm_port *port, uint32_t process,
			       uint32_t from)
{
	struct vm_inlets *inlets = &port->inlets;
	struct vm_inlet **found =
		&inlets->found[(process + from * 31) % VM_INLETS_FOUND];

	if (VM_LIKELY(*found && (*found)->process == process &&
		      (*found)->from == from))
		return *found;
	for (uint32_t i = 0; i < inlets->count; i++) {
		struct vm_inlet *inlet = &inlets->list[i];

		if (inlet->conn && inlet->process == process &&
		    inlet->from == from)
			return *found = inlet;
	}
	return NULL;
}

bool vm_pkt_followed(struct vm_port *port, const struct vm_pkt *pkt)
{
	const struct vm_inlet *inlet =
		pkt == &port->record->view ?
			vm_inlet_find(port, pkt->process, pkt->port) :
			NULL;

	return inlet && vm_shm_more(&inlet->reader);
}

static const struct vm_shm_slot *inlet_await(const struct vm_inlet *inlet,
					     int looks)
{
	const struct vm_shm_slot *slot = NULL;

	for (int i = 0; i < looks && !slot; i++)
		slot = vm_shm_peek(&inlet->reader);
	return slot;
}

int vm_inlets_look(struct vm_port *port, uint32_t process, uint32_t from,
		   int looks)
{
	struct vm_inlet *inlet = vm_inlet_find(port, process, from);
	struct vm_packet *pkt = port->record;
	const struct vm_shm_slot *slot;

	if (VM_UNLIKELY(!inlet || !inlet_conn(port, inlet)))
		return VM_PENDING;
	slot = inlet_await(inlet, looks);
	if (!slot) {
		if (atomic_load_explicit(&port->inlets.uncounted,
					 memory_order_relaxed))
			all_count(port);
		return vm_inlets_silent(&port->inlets) ? -VMPI_EAGAIN :
							 VM_PENDING;
	}
	vm_shm_ahead(&inlet->reader);
	if (VM_UNLIKELY(!is_short(inlet->conn, slot) ||
			!record_read(inlet->conn, inlet, slot, &pkt->view,
				     &port->inlets.credits)))
		return VM_PENDING;
	port->inlets.looked = inlet;
	return VM_DONE;
}

void vm_inlets_took(struct vm_port *port)
{
	struct vm_inlet *inlet = port->inlets.looked;

	inlet->reader.watched.active = true;
	record_took(port, inlet, &port->record->view, port->inlets.credits);
	if (VM_UNLIKELY(inlet->took.data + inlet->took.control >= inlet->later))
		took_count(port, inlet, true);
	else
		atomic_store_explicit(&port->inlets.uncounted, true,
				      memory_order_relaxed);
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
	if (count)
		atomic_store_explicit(&port->inlets.last, inlet,
				      memory_order_release);
	return count;
}

int vm_inlets_take(struct vm_port *port)
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

bool vm_inlets_busy(const struct vm_port *port)
{
	const struct vm_inlets *inlets = &port->inlets;

	if (!inlets->room)
		return false;
	if (vm_shm_inlets(port->fabric->shm, port->index) != inlets->count ||
	    atomic_load_explicit(&inlets->uncounted, memory_order_relaxed))
		return true;
	for (uint32_t i = 0; i < inlets->count; i++)
		if (inlet_busy(port, &inlets->list[i]))
			return true;
	return false;
}

bool vm_inlets_pending(const struct vm_port *port, uint32_t process)
{
	const struct vm_inlets *inlets = &port->inlets;

	for (uint32_t i = 0; i < inlets->count; i++)
		if (inlets->list[i].open &&
		    inlets->list[i].process == process &&
		    inlet_busy(port, &inlets->list[i]))
			return true;
	return false;
}
