/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One poll of the network: arrivals, ends of operations, packets that can go
 * on.
 */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "fabric/conn.h"
#include "fabric/near.h"
#include "fabric/segment.h"
#include "fabric/rma.h"
#include "fabric/state.h"

#define EVENTS 16	    /* read at a time */
#define SETTINGS_POLLS 1024 /* polls between checks of the settings */

/* Moves all of a list to the end of another one. */
static void list_move(struct vm_list *to, struct vm_list *from)
{
	if (vm_list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	vm_list_init(from);
}

/* Counts why the packet was rejected. */
static void reject(struct vm_port *port, enum vm_reject why)
{
	uint64_t *counter = &port->pvars.reject_short + why;

	vm_pvar_keep(*counter, 1);
	if ((*counter & (*counter - 1)) == 0)
		vm_log(VM_INFO, "port %u: packet dropped: bad %s (%llu so far)",
		       port->index, vm_reject_name(why),
		       (unsigned long long)*counter);
}

/* Checks a header that is the next one against the state of its connection. */
static enum vm_reject state_check(struct vm_conn *conn,
				  const struct vm_wire *wire,
				  const void *packet, size_t payload)
{
	if (VM_UNLIKELY(conn->whole || wire->flags & VM_WIRE_PART) &&
	    !vm_segment_fits(conn, wire, packet, payload))
		return VM_reject_sequence;
	if (wire->kind == VM_WIRE_DATA && conn->granted == 0)
		return VM_reject_credit;
	if (wire->credits > UINT16_MAX - conn->credits)
		return VM_reject_credit;
	return VM_reject_none;
}

/* What becomes of a packet. */
enum verdict { TAKE, SKIP, STOP };

/*
 * Checks a packet; TAKE: it is the next one of *conn.  SKIP: it is dropped, but
 * what follows in its message may be wanted.  Who sends impossible packets in
 * the right order is given up.
 */
static enum verdict packet_check(struct vm_port *port,
				 struct vm_conn **conn_out,
				 struct vm_wire *wire, size_t *payload,
				 const void *packet, size_t bytes)
{
	const struct vm_fabric *fabric = port->fabric;
	const struct vm_wire_expect expect = {
		.job_key = fabric->config.job_key,
		.processes = fabric->config.processes,
		.process = fabric->config.process,
		.packet_bytes = fabric->limits.packet_bytes,
		.port = (uint16_t)port->index,
		.ports_of = fabric->ports_of,
	};
	struct vm_conn *conn = NULL;
	enum vm_reject why =
		vm_wire_check(wire, payload, packet, bytes, &expect);
	enum vm_seq_order order;

	if (VM_UNLIKELY(why != VM_reject_none)) {
		reject(port, why);
		return STOP;
	}
	conn = vm_conn_from(port,
			    (struct vm_to){ wire->source, wire->source_port });
	if (VM_UNLIKELY(!conn || vm_resend_signal(conn, wire)))
		return STOP;
	order = vm_resend_order(conn, wire->seq);
	if (VM_UNLIKELY(order != VM_ORDER_NEXT)) {
		if (order == VM_ORDER_WRONG)
			reject(port, VM_reject_sequence);
		return order == VM_ORDER_REPEATED ? SKIP : STOP;
	}
	why = state_check(conn, wire, packet, *payload);
	if (VM_UNLIKELY(why != VM_reject_none)) {
		reject(port, why);
		vm_peer_fail(port->fabric, conn->process, -VMPI_EIO,
			     "a packet does not fit those before it");
		return STOP;
	}
	*conn_out = conn;
	return TAKE;
}

/* Takes in credits that come back, or the message that none will. */
static void credits_take(struct vm_conn *conn, const struct vm_wire *wire)
{
	if (wire->credits) {
		vm_conn_credits(conn, wire->credits);
	} else if (VM_UNLIKELY(wire->kind == VM_WIRE_FULL)) {
		conn->full = conn->credits == 0;
		vm_conn_room(conn);
	}
}

/* Takes in what the header of a packet says about the connection. */
static void header_take(struct vm_conn *conn, const struct vm_wire *wire)
{
	uint16_t news = (uint16_t)(wire->received - conn->confirmed);

	conn->rx_seq++;
	conn->contact = true;
	/* Nothing is lost in a ring. */
	if (conn->outlet)
		conn->told = conn->rx_seq;
	else if (news)
		vm_resend_confirm(conn, conn->confirmed + news);
	credits_take(conn, wire);
	if (wire->kind != VM_WIRE_DATA) {
		vm_resend_tell(conn);
		return;
	}
	conn->granted--;
	conn->held++;
	vm_conn_credit(conn);
	vm_resend_tell(conn);
	if (VM_UNLIKELY(conn->granted == 0))
		vm_conn_brims(conn);
}

/* Takes in a packet without a payload. */
static void signal_take(struct vm_port *port, struct vm_conn *conn,
			struct vm_packet *pkt, const struct vm_wire *wire)
{
	vm_port_recycle(port, pkt);
	if (wire->kind != VM_WIRE_BYE)
		return;
	conn->left = port->leavers = true;
	/* First contact, and we are leaving as well. */
	if (port->goodbye)
		vm_conn_bye(conn);
	/* It waits for nothing else. */
	vm_resend_answer(conn);
}

/* Takes in data or control, to be delivered, or held back by the link model; a
 * segment waits for the rest of its payload. */
static void payload_take(struct vm_port *port, struct vm_conn *conn,
			 struct vm_packet *pkt, const struct vm_wire *wire,
			 size_t payload)
{
	uint64_t due = wire->flags & VM_WIRE_STAMP ? vm_wire_stamp(pkt->wire) :
						     0;
	struct vm_wire header = *wire;

	pkt->parts = 1;
	if (VM_UNLIKELY(wire->flags & VM_WIRE_PART)) {
		pkt = vm_segment_take(conn, pkt, &header, &payload);
		if (!pkt)
			return;
	}
	pkt->conn = conn;
	pkt->wire_bytes = (uint32_t)(payload + header.bytes);
	pkt->view = (struct vm_pkt){
		.upper = pkt->wire + offsetof(struct vm_wire, upper),
		.data = pkt->wire + payload,
		.bytes = header.bytes,
		.process = header.source,
		.port = header.source_port,
		.kind = header.upper_kind,
		.control = header.kind == VM_WIRE_CONTROL,
	};
	vm_pvar_add(port->pvars.received, 1);
	vm_pvar_add(port->pvars.received_bytes, header.bytes);
	if (VM_LIKELY(due <= conn->last_due && conn->last_due == 0)) {
		vm_list_append(&port->arrived, &pkt->link);
		return;
	}
	/* The link model may be switched off or made faster: order is kept. */
	if (due < conn->last_due)
		due = conn->last_due;
	conn->last_due = due;
	vm_due_put(&port->held, &pkt->due, due);
}

/* Copies one of several packets in a message to a packet of its own; or
 * NULL. */
static struct vm_packet *part_copy(struct vm_port *port, const char *wire,
				   size_t bytes)
{
	struct vm_packet *pkt = vm_packet_get(&port->pkts, bytes);

	if (!pkt)
		return NULL;
	pkt->use = VM_PKT_RECEIVE;
	pkt->kept = pkt->moved = pkt->orphan = false;
	memcpy(pkt->wire, wire, bytes);
	vm_pvar_add(port->pvars.gathered_received, 1);
	return pkt;
}

/* One packet, or several, which are handled one by one. */
__attribute__((noinline)) void
vm_packet_arrived(struct vm_port *port, struct vm_packet *pkt, size_t bytes)
{
	struct vm_wire wire = { .flags = VM_WIRE_MORE };
	bool alone = false;
	size_t payload;

	for (size_t at = 0; wire.flags & VM_WIRE_MORE;
	     at += vm_wire_next(payload + wire.bytes)) {
		struct vm_packet *part = pkt;
		struct vm_conn *conn;
		enum verdict verdict = packet_check(port, &conn, &wire,
						    &payload, pkt->wire + at,
						    bytes - at);

		if (VM_UNLIKELY(verdict == STOP))
			break;
		if (VM_UNLIKELY(verdict == SKIP))
			continue;
		alone = at == 0 && !(wire.flags & VM_WIRE_MORE);
		if (!alone)
			part = part_copy(port, pkt->wire + at,
					 payload + wire.bytes);
		if (!part) {
			vm_peer_fail(port->fabric, conn->process, -VMPI_ENOMEM,
				     "no memory for its packets");
			break;
		}
		header_take(conn, &wire);
		if (VM_LIKELY(wire.kind == VM_WIRE_DATA ||
			      wire.kind == VM_WIRE_CONTROL))
			payload_take(port, conn, part, &wire, payload);
		else
			signal_take(port, conn, part, &wire);
	}
	if (!alone)
		vm_port_recycle(port, pkt);
}

/* Handles a send or chunk that the network is done with. */
static void send_ended(struct vm_port *port, struct vm_packet *pkt, int error)
{
	vm_port_landed(port);
	if (VM_UNLIKELY(pkt->orphan)) {
		pkt->orphan = false;
		port->orphans--;
		if (!pkt->op)
			vm_packet_put(&port->pkts, pkt);
		return;
	}
	if (pkt->use == VM_PKT_CHUNK) {
		vm_rma_chunk_end(port, pkt, error);
		return;
	}
	vm_conn_room(pkt->conn);
	vm_list_remove(&pkt->link);
	if (VM_LIKELY(!pkt->watched || error)) {
		vm_resend_home(port, pkt);
		return;
	}
	pkt->place = VM_AT_END;
	if (pkt->left && pkt->left > vm_clock_ns())
		vm_due_put(&port->held, &pkt->due, pkt->left);
	else
		vm_list_append(&port->ended, &pkt->link);
}

/* Handles the failure of an operation in the network. */
static void event_failed(struct vm_port *port)
{
	struct fi_cq_err_entry entry = { 0 };
	char data[256];
	struct vm_packet *pkt;
	struct vm_conn *conn;
	bool lost;
	int error;

	entry.err_data = data;
	entry.err_data_size = sizeof(data);
	if (port->fi->cq_readerr(port->cq, &entry) != 1)
		return;
	pkt = entry.op_context;
	error = entry.err < 0 ? -entry.err : entry.err;
	if (error != FI_ECANCELED)
		vm_pvar_add(port->pvars.errors, 1);
	if (!pkt)
		return;
	if (pkt->use == VM_PKT_RECEIVE) {
		port->rx_posted--;
		vm_pvar_add(port->pvars.posted, (uint64_t)-1);
		if (!port->closing && error != FI_ECANCELED)
			reject(port, VM_reject_length);
		vm_port_recycle(port, pkt);
		return;
	}
	conn = pkt->conn;
	lost = !pkt->orphan && (pkt->use == VM_PKT_SEND ||
				port->fabric->lossy || vm_fi_lost(error));
	send_ended(port, pkt, lost ? -VMPI_EAGAIN : -VMPI_EIO);
	if (lost)
		vm_resend_failed(conn, vm_fi_text(error));
}

/* Reads events of the network, waits for one unless wait_ms is 0; returns how
 * many.  Most polls find none. */
static inline __attribute__((always_inline)) int
network_read(struct vm_port *port, int wait_ms)
{
	struct fi_cq_data_entry events[EVENTS];
	ssize_t n = wait_ms ? port->fi->cq_sread(port->cq, events, wait_ms) :
			      port->fi->cq_read(port->cq, events, EVENTS);

	if (n == -FI_EAVAIL) {
		event_failed(port);
		return 1;
	}
	for (ssize_t i = 0; i < n; i++) {
		struct vm_packet *pkt = events[i].op_context;

		if (events[i].flags & FI_RECV) {
			port->rx_posted--;
			vm_pvar_add(port->pvars.posted, (uint64_t)-1);
			vm_packet_arrived(port, pkt, events[i].len);
		} else {
			send_ended(port, pkt, 0);
		}
	}
	return n > 0 ? (int)n : 0;
}

int vm_port_read_wait(struct vm_port *port, int wait_ms)
{
	return network_read(port, wait_ms);
}

/* Takes packets that were held back and are due now. */
static void held_take(struct vm_port *port)
{
	uint64_t now = vm_clock_ns();
	struct vm_due *due;

	while ((due = vm_due_take(&port->held, now))) {
		struct vm_packet *pkt =
			vm_container_of(due, struct vm_packet, due);
		bool arrival = pkt->use == VM_PKT_RECEIVE ||
			       pkt->use == VM_PKT_LOOP;

		vm_list_append(arrival ? &port->arrived : &port->ended,
			       &pkt->link);
	}
}

/* Takes packets of the loop. */
static void inbox_take(struct vm_port *port)
{
	struct vm_list list;

	vm_list_init(&list);
	vm_lock_take(&port->inbox_lock);
	list_move(&list, &port->inbox);
	atomic_store_explicit(&port->inbox_full, false, memory_order_relaxed);
	vm_lock_give(&port->inbox_lock);
	while (!vm_list_empty(&list)) {
		struct vm_packet *pkt = vm_container_of(vm_list_pop(&list),
							struct vm_packet, link);

		vm_pvar_add(port->pvars.received, 1);
		vm_pvar_add(port->pvars.received_bytes, pkt->view.bytes);
		if (pkt->left)
			vm_due_put(&port->held, &pkt->due, pkt->left);
		else
			vm_list_append(&port->arrived, &pkt->link);
	}
}

/* Handles processes that were given up, here or by another port. */
static void deaths_see(struct vm_port *port)
{
	struct vm_fabric *fabric = port->fabric;
	/* Pairs with the addition in vm_peer_fail(). */
	uint32_t deaths =
		atomic_load_explicit(&fabric->deaths, memory_order_acquire);

	if (VM_LIKELY(deaths == port->deaths))
		return;
	port->deaths = deaths;
	for (uint32_t i = 0; i < fabric->config.processes; i++) {
		int error = atomic_load_explicit(&fabric->peers[i].error,
						 memory_order_relaxed);
		struct vm_contact *contact;

		if (!error)
			continue;
		contact = vm_contact_get(port, i);
		/* What it has sent is delivered first. */
		if (contact && !vm_near_pending(port, i))
			vm_contact_fail(port, contact, error);
		else
			port->deaths--; /* again at the next poll */
	}
}

/* Handles processes that said goodbye, once all their packets are delivered. */
static void leavers_see(struct vm_port *port)
{
	for (uint32_t i = 0; i < port->fabric->config.processes; i++) {
		struct vm_contact *contact = port->contacts[i];

		for (unsigned c = 0; contact && c < contact->count; c++)
			if (contact->conns[c].left)
				vm_contact_fail(port, contact, 0);
	}
	port->leavers = false;
}

#define SILENT_POLLS 64 /* polls between looks at a network that is silent */

/* Whether it is time to ask the network. */
static bool network_due(const struct vm_port *port)
{
	return port->fi && (!atomic_load_explicit(&port->fabric->silent,
						  memory_order_relaxed) ||
			    port->pvars.polls % SILENT_POLLS == 0);
}

/* Under lock: moves everything that can move. */
static int port_move(struct vm_port *port)
{
	int events = network_due(port) ? network_read(port, 0) : 0;

	events += vm_near_take(port);
	if (VM_UNLIKELY(atomic_load_explicit(&port->inbox_full,
					     memory_order_acquire)))
		inbox_take(port);
	if (VM_UNLIKELY(!vm_list_empty(&port->waiting)))
		vm_conns_flush(port);
	if (!vm_list_empty(&port->rma))
		vm_rma_push(port);
	if (VM_UNLIKELY(port->held.top != NULL))
		held_take(port);
	if (VM_UNLIKELY(port->leavers))
		leavers_see(port);
	if (VM_UNLIKELY(!vm_list_empty(&port->brim)))
		vm_conns_brim(port, 0);
	deaths_see(port);
	return events;
}

/* Calls the handler of each packet; those not kept go on to `used`. */
static int deliver(struct vm_port *port, struct vm_list *used,
		   struct vm_list *arrived)
{
	vm_pkt_handler *const *handlers = port->fabric->config.arrived;
	struct vm_list *link;
	int count = 0;

	while ((link = vm_list_pop(arrived))) {
		struct vm_packet *pkt =
			vm_container_of(link, struct vm_packet, link);

		pkt->at = port;
		pkt->moved = false;
		port->taken = false;
		handlers[pkt->view.kind](port, &pkt->view);
		count++;
		/* A kept packet may be free or in use again by now. */
		if (!port->taken)
			vm_list_append(used, &pkt->link);
	}
	return count;
}

/* Reports ended operations to their owners. */
static int ended_report(struct vm_list *ended)
{
	struct vm_list *link;
	int count = 0;

	vm_list_each(link, ended) {
		struct vm_packet *pkt =
			vm_container_of(link, struct vm_packet, link);

		count++;
		if (pkt->use == VM_PKT_CARRIER) {
			struct vm_rma *rma = pkt->op;

			rma->done(rma, pkt->error);
		} else {
			vm_resend_report(pkt);
		}
	}
	return count;
}

/* Reports processes that are gone. */
static void report(struct vm_port *port, struct vm_list *gone)
{
	const struct vm_fabric_config *config = &port->fabric->config;
	struct vm_list *link;

	while ((link = vm_list_pop(gone))) {
		struct vm_contact *contact =
			vm_container_of(link, struct vm_contact, gone);

		config->down(config->arg, port, contact->process,
			     contact->error);
	}
}

/* Under lock: recycles packets after their callbacks. */
static void clean(struct vm_port *port, struct vm_list *used,
		  struct vm_list *loops, struct vm_list *ended)
{
	struct vm_list *link;

	while ((link = vm_list_pop(used))) {
		struct vm_packet *pkt =
			vm_container_of(link, struct vm_packet, link);

		if (pkt->use == VM_PKT_LOOP) {
			vm_list_append(loops, link);
			continue;
		}
		if (!pkt->moved && !pkt->view.control)
			vm_conn_release(pkt->conn, pkt->parts);
		vm_port_recycle(port, pkt);
	}
	while ((link = vm_list_pop(ended))) {
		struct vm_packet *pkt =
			vm_container_of(link, struct vm_packet, link);

		if (pkt->use == VM_PKT_SEND && !pkt->orphan) {
			vm_resend_home(port, pkt);
			continue;
		}
		pkt->op = NULL;
		if (!pkt->orphan)
			vm_packet_put(&port->pkts, pkt);
	}
	if (port->fi)
		vm_port_fill(port);
}

/* The results of a poll, before their callbacks. */
struct found {
	struct vm_list arrived, ended, gone;
	bool room;		 /* for data that were refused */
	uint64_t received_bytes; /* the port's, up to now */
	int events;
};

/* Under polling: polls once and fills `found`. */
static void port_look(struct vm_port *port, struct found *found)
{
	vm_list_init(&found->arrived);
	vm_list_init(&found->ended);
	vm_list_init(&found->gone);
	vm_port_lock(port);
	found->events = port_move(port);
	list_move(&found->arrived, &port->arrived);
	list_move(&found->ended, &port->ended);
	list_move(&found->gone, &port->gone);
	found->room = !vm_list_empty(&port->room);
	found->received_bytes = port->pvars.received_bytes;
	vm_pvar_keep(port->pvars.polls, 1);
	if (VM_UNLIKELY(port->pvars.polls % SETTINGS_POLLS == 0) && port->fi) {
		uint64_t now = vm_clock_ns();

		atomic_store_explicit(&port->fabric->silent,
				      vm_near_all(port->fabric),
				      memory_order_relaxed);
		vm_port_retarget(port);
		vm_port_shrink(port, now);
		vm_resend_look(port, now);
	}
	if (VM_UNLIKELY(port->woken)) {
		port->spurious++;
		port->woken = false;
	}
	if (found->events) {
		port->spurious = 0;
		vm_pvar_add(port->pvars.polls_found, 1);
		vm_pvar_max(port->pvars.events_max, (uint64_t)found->events);
	}
	vm_port_unlock(port);
}

/* Under polling: makes the callbacks, and handles what follows from them. */
static int callbacks_make(struct vm_port *port, struct found *found, bool own)
{
	struct vm_list used, loops, *link;
	int count;

	vm_list_init(&used);
	vm_list_init(&loops);
	count = deliver(port, &used, &found->arrived) +
		ended_report(&found->ended);
	report(port, &found->gone);
	vm_port_lock(port);
	clean(port, &used, &loops, &found->ended);
	if (own) {
		vm_pvar_add(port->pvars.events_own, (uint64_t)count);
	} else {
		vm_pvar_add(port->pvars.events_helped, (uint64_t)count);
		vm_pvar_add(port->pvars.bytes_helped,
			    found->received_bytes - port->counted);
	}
	port->counted = found->received_bytes;
	vm_port_unlock(port);
	while ((link = vm_list_pop(&loops)))
		vm_loop_release(vm_container_of(link, struct vm_packet, link));
	return count;
}

/* Under polling: tells refused senders that they may try again. */
static void room_report(struct vm_port *port)
{
	const struct vm_fabric_config *config = &port->fabric->config;
	struct vm_list *link;

	vm_port_lock(port);
	while ((link = vm_list_pop(&port->room))) {
		struct vm_conn *conn =
			vm_container_of(link, struct vm_conn, room);

		conn->room_state = VM_ROOM_UNWANTED;
		vm_port_unlock(port);
		if (config->room)
			config->room(config->arg, port, conn->process,
				     conn->remote);
		vm_port_lock(port);
	}
	vm_port_unlock(port);
}

int vm_port_poll(struct vm_port *port, bool own)
{
	struct found found;
	int count = 0, records;

	if (!vm_lock_try(&port->polling)) {
		__atomic_fetch_add(&port->pvars.polls_busy, 1,
				   __ATOMIC_RELAXED);
		return -VMPI_EAGAIN;
	}
	records = vm_near_deliver(port, own);
	port_look(port, &found);
	if (!vm_list_empty(&found.arrived) || !vm_list_empty(&found.ended) ||
	    VM_UNLIKELY(!vm_list_empty(&found.gone)))
		count = callbacks_make(port, &found, own);
	if (VM_UNLIKELY(found.room))
		room_report(port);
	vm_lock_give(&port->polling);
	return records + count + found.events;
}

bool vm_port_busy(const struct vm_port *port)
{
	/* Pairs with the release stores of other ports' sends and of deaths. */
	return !vm_list_empty(&port->arrived) || !vm_list_empty(&port->ended) ||
	       !vm_list_empty(&port->gone) || port->leavers ||
	       !vm_list_empty(&port->room) || vm_near_busy(port) ||
	       atomic_load_explicit(&port->inbox_full, memory_order_acquire) ||
	       port->deaths != atomic_load_explicit(&port->fabric->deaths,
						    memory_order_acquire);
}
