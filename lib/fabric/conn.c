/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of one connection: order, credits, backlog, the end.
 */
#include "fabric/conn.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "fabric/near.h"
#include "fabric/ofi/liveness.h"
#include "fabric/poll.h"
#include "fabric/rma.h"

#define PROBE_NS 500000000 /* between probes of one that takes nothing */
#define BRIM_POLLS 1024	   /* without a release until a sender is told */
#define BRIM_NS 200000	   /* ... when nobody polls because all sleep */

static void conn_init(struct vm_conn *conn, struct vm_port *port,
		      uint32_t process, unsigned remote)
{
	*conn = (struct vm_conn){ .port = port,
				  .peer = &port->fabric->peers[process],
				  .process = process,
				  .remote = (uint16_t)remote,
				  .there = port->fabric->peers[process].there,
				  .job_key =
					  port->fabric->peers[process].job_key,
				  .liveness_fd = -1,
				  .credits = VM_CREDITS_INITIAL,
				  .granted = VM_CREDITS_INITIAL };
	vm_list_init(&conn->backlog);
	vm_list_init(&conn->sent);
	if (process == port->fabric->config.process)
		conn->credits = (uint32_t)fabric_cvar.credits;
}

struct vm_contact *vm_contact_get(struct vm_port *port, uint32_t process)
{
	struct vm_contact *contact = port->contacts[process];
	unsigned count = port->fabric->ports_of[process];

	if (VM_LIKELY(contact != NULL))
		return contact;
	if (count == 0)
		count = 1;
	contact = calloc(1, sizeof(*contact) + count * sizeof(struct vm_conn));
	if (!contact)
		return NULL;
	contact->process = process;
	contact->count = count;
	for (unsigned i = 0; i < count; i++)
		conn_init(&contact->conns[i], port, process, i);
	port->contacts[process] = contact;
	return contact;
}

void vm_contact_free(struct vm_contact *contact)
{
	for (unsigned i = 0; contact && i < contact->count; i++) {
		vm_liveness_end(&contact->conns[i].liveness_fd);
		free(contact->conns[i].outlet);
	}
	free(contact);
}

/* Prepares its first use: it gets a ring, or the network learns the address, and
 * receives are posted for it. */
static int conn_open(struct vm_conn *conn)
{
	struct vm_port *port = conn->port;
	const struct vm_peer *peer = conn->peer;
	int n;

	vm_near_connect(conn);
	if (conn->outlet) {
		conn->ready = true;
		port->conns++;
		vm_port_retarget(port);
		return 0;
	}
	/* A guest has no address where it shares our memory only. */
	if (!port->fi || !peer->address_bytes)
		return -VMPI_EIO;
	n = port->fi->av_insert(
		port->av, peer->addresses + conn->remote * peer->address_bytes,
		&conn->address);
	if (n != 1) {
		vm_log(VM_ERROR,
		       "port %u: the address of process %u, port %u, is "
		       "refused: %s",
		       port->index, conn->process, conn->remote,
		       vm_fi_text(n < 0 ? -n : FI_EINVAL));
		return -VMPI_EIO;
	}
	conn->ready = true;
	port->conns++;
	vm_port_retarget(port);
	return 0;
}

int vm_conn_get(struct vm_conn **conn, struct vm_port *port, struct vm_to to)
{
	struct vm_fabric *fabric = port->fabric;
	struct vm_contact *contact;
	struct vm_conn *found;
	int rc;

	if (to.process >= fabric->config.processes ||
	    to.port >= fabric->ports_of[to.process])
		return -VMPI_EINVAL;
	/* Pairs with the store in vm_fabric_connect(). */
	if (!atomic_load_explicit(&fabric->peers[to.process].known,
				  memory_order_acquire))
		return -VMPI_EINVAL;
	contact = vm_contact_get(port, to.process);
	if (!contact)
		return -VMPI_ENOMEM;
	if (VM_UNLIKELY(contact->down))
		return -VMPI_EPEER;
	found = &contact->conns[to.port];
	if (VM_UNLIKELY(found->error || found->bye))
		return -VMPI_EPEER;
	if (VM_UNLIKELY(!found->ready) &&
	    to.process != fabric->config.process) {
		rc = conn_open(found);
		if (rc < 0)
			return rc;
	}
	*conn = found;
	return 0;
}

struct vm_conn *vm_conn_from(struct vm_port *port, struct vm_to from)
{
	struct vm_conn *conn;
	int rc = vm_conn_get(&conn, port, from);

	if (rc == 0)
		return conn;
	if (rc == -VMPI_ENOMEM)
		vm_peer_fail(port->fabric, from.process, rc,
			     "no memory for its packets");
	/* After goodbyes we still listen: more may come on other
	 * connections. */
	if (rc == -VMPI_EPEER && port->contacts[from.process] &&
	    !port->contacts[from.process]->error)
		return &port->contacts[from.process]->conns[from.port];
	return NULL;
}

/* The number of credits the other side may get besides those it has. */
static uint32_t owed(const struct vm_conn *conn)
{
	uint32_t window = conn->outlet ? conn->port->near_window :
					 conn->port->window;
	uint32_t placed = conn->granted + conn->held;

	return window > placed ? window - placed : 0;
}

/* Fills the header, without credits and before the next number is used up. */
static inline void header_begin(struct vm_conn *conn, struct vm_wire *wire,
				enum vm_wire_kind kind)
{
	const struct vm_port *port = conn->port;

	wire->magic = VM_WIRE_MAGIC;
	wire->version = VM_WIRE_VERSION;
	wire->kind = (uint8_t)kind;
	wire->source = conn->there;
	wire->job_key = conn->job_key;
	wire->seq = conn->tx_seq;
	wire->source_port = (uint8_t)port->index;
	wire->port = (uint8_t)conn->remote;
	wire->received = (uint16_t)conn->rx_seq;
	wire->credits = 0;
	wire->flags = 0;
	conn->told = conn->rx_seq;
}

void vm_conn_header(struct vm_conn *conn, struct vm_wire *wire,
		    enum vm_wire_kind kind)
{
	uint32_t credits = owed(conn);

	header_begin(conn, wire, kind);
	conn->tx_seq++;
	wire->credits = (uint16_t)credits;
	conn->granted += credits;
	conn->contact = true;
}

uint16_t vm_conn_number(struct vm_conn *conn)
{
	uint32_t credits = owed(conn);

	conn->tx_seq++;
	conn->granted += credits;
	conn->contact = true;
	return (uint16_t)credits;
}

void vm_conn_took(struct vm_conn *conn, uint32_t data, uint32_t control,
		  uint32_t credits)
{
	conn->rx_seq += data + control;
	conn->contact = true;
	if (credits)
		vm_conn_credits(conn, credits);
	if (!data)
		return;
	if (VM_UNLIKELY(conn->granted < data)) {
		vm_peer_fail(conn->port->fabric, conn->process, -VMPI_EIO,
			     "it has sent more than it may");
		return;
	}
	conn->granted -= data;
	vm_conn_credit(conn);
	if (VM_UNLIKELY(conn->granted == 0))
		vm_conn_brims(conn);
}

void vm_conn_credits(struct vm_conn *conn, uint32_t credits)
{
	vm_conn_low(conn, conn->credits);
	conn->credits += credits;
	conn->full = false;
	vm_conn_room(conn);
}

void vm_conn_brims(struct vm_conn *conn)
{
	if (conn->brims)
		return;
	conn->brims = true;
	conn->brim_polls = conn->port->pvars.polls;
	conn->brim_ns = 0;
	vm_list_append(&conn->port->brim, &conn->brim);
	vm_port_owe(conn->port);
}

static ssize_t packet_hand(struct vm_port *port, struct vm_conn *conn,
			   struct vm_packet *pkt)
{
	struct iovec iov[2] = { { pkt->wire, pkt->wire_bytes },
				{ (void *)pkt->data, pkt->data_bytes } };
	void *desc[2] = { pkt->slab->desc, NULL };
	ssize_t rc;

	if (!vm_port_room(port))
		return -FI_EAGAIN;
	rc = port->fi->sendv(port->ep, iov, desc, pkt->data ? 2 : 1,
			     conn->address, &pkt->context);
	if (rc == 0) {
		vm_port_inflight_add(port);
		vm_list_append(&port->inflight, &pkt->link);
		pkt->place = VM_AT_NETWORK;
	}
	return rc;
}

/* Tries once.  0; -VMPI_EAGAIN: not now; other errors are of the connection. */
static int transmit(struct vm_conn *conn, struct vm_packet *pkt)
{
	struct vm_port *port = conn->port;
	ssize_t rc;

	if (conn->outlet) {
		if (vm_near_put(conn, pkt) < 0)
			return -VMPI_EAGAIN;
		pkt->place = VM_AT_HOME;
		if (!pkt->once)
			vm_near_left(conn, pkt);
		return 0;
	}
	if (VM_UNLIKELY(!pkt->once &&
			pkt->end - conn->confirmed > VM_RESEND_WINDOW))
		return -VMPI_EAGAIN;
	/* What is injected has no end to report. */
	if (vm_port_injects(port, pkt->wire_bytes) && !pkt->data &&
	    !pkt->watched) {
		rc = port->fi->inject(port->ep, pkt->wire, pkt->wire_bytes,
				      conn->address);
		if (VM_LIKELY(rc == 0))
			pkt->place = VM_AT_HOME;
		else if (rc != -FI_EAGAIN && !vm_fi_lost((int)-rc))
			/* It may still be sent. */
			rc = packet_hand(port, conn, pkt);
	} else {
		rc = packet_hand(port, conn, pkt);
	}
	if (VM_LIKELY(rc == 0))
		return 0;
	if (rc == -FI_EAGAIN || vm_fi_lost((int)-rc)) {
		vm_pvar_add(port->pvars.again, 1);
		return -VMPI_EAGAIN;
	}
	vm_pvar_add(port->pvars.errors, 1);
	vm_peer_fail(port->fabric, conn->process, -VMPI_EPEER,
		     vm_fi_text((int)-rc));
	return -VMPI_EPEER;
}

void vm_conn_queue(struct vm_conn *conn, struct vm_packet *pkt)
{
	struct vm_port *port = conn->port;

	if (vm_list_empty(&conn->backlog)) {
		vm_list_append(&port->waiting, &conn->waiting);
		vm_port_owe(port);
		conn->since = 0;
	}
	vm_list_append(&conn->backlog, &pkt->link);
	pkt->place = VM_AT_BACKLOG;
	conn->backlogged++;
	vm_pvar_add(port->pvars.backlog, 1);
	vm_pvar_max(port->pvars.backlog_max, port->pvars.backlog);
}

void vm_conn_gone(struct vm_conn *conn)
{
	/* One that has said goodbye may have gone before it was said that our
	 * last packets had arrived. */
	if (conn->left)
		vm_resend_drop(conn, 0);
	else
		vm_peer_fail(conn->port->fabric, conn->process, -VMPI_EPEER,
			     "nobody listens at its address");
}

void vm_conn_refused(struct vm_conn *conn, uint64_t *since)
{
	uint64_t limit = (uint64_t)fabric_cvar.peer_timeout_s * 1000000000u;
	struct vm_fabric *fabric = conn->port->fabric;
	const struct vm_peer *peer = conn->peer;
	uint64_t now = vm_clock_ns();

	if (*since == 0) {
		*since = now;
		if (!conn->doubted)
			conn->probed = now;
	}
	if (now - *since > limit) {
		vm_peer_fail(
			fabric, conn->process, -VMPI_EPEER,
			"it has accepted nothing for fabric_peer_timeout_s");
	} else if (conn->doubted || now - conn->probed > PROBE_NS) {
		conn->doubted = false;
		conn->probed = now;
		if (vm_liveness_dead(&conn->liveness_fd,
				     peer->addresses +
					     conn->remote * peer->address_bytes,
				     peer->address_bytes))
			vm_conn_gone(conn);
	}
}

void vm_conn_flush(struct vm_conn *conn)
{
	struct vm_port *port = conn->port;

	while (!vm_list_empty(&conn->backlog)) {
		struct vm_list *link = vm_list_pop(&conn->backlog);
		struct vm_packet *pkt =
			vm_container_of(link, struct vm_packet, link);

		if (transmit(conn, pkt) < 0) {
			/* Back to the front. */
			vm_list_append(conn->backlog.next, link);
			/* Only a port that has room was refused. */
			if (conn->outlet || vm_port_room(port))
				vm_conn_refused(conn, &conn->since);
			return;
		}
		conn->backlogged--;
		conn->since = 0;
		vm_pvar_add(port->pvars.backlog, (uint64_t)-1);
	}
	vm_list_remove(&conn->waiting);
	vm_conn_room(conn);
}

void vm_conn_send(struct vm_conn *conn, struct vm_packet *pkt)
{
	pkt->end = conn->tx_seq;
	if (conn->outlet)
		vm_list_append(&conn->sent, &pkt->sent);
	else
		vm_resend_keep(conn, pkt);
	/* Packets that were only held back for a batch go with this one. */
	if (VM_UNLIKELY(!vm_list_empty(&conn->backlog)))
		vm_conn_flush(conn);
	/* A connection that has just failed is cleared by the next poll. */
	if (vm_list_empty(&conn->backlog) && transmit(conn, pkt) == 0)
		return;
	vm_pvar_add(conn->port->pvars.backlogged, 1);
	vm_conn_queue(conn, pkt);
}

void vm_conns_flush(struct vm_port *port)
{
	struct vm_list *link = port->waiting.next;

	while (link != &port->waiting) {
		struct vm_conn *conn =
			vm_container_of(link, struct vm_conn, waiting);

		link = link->next;
		vm_conn_flush(conn);
	}
}

void vm_conn_prepare(struct vm_conn *conn, struct vm_packet *pkt)
{
	pkt->use = VM_PKT_SEND;
	pkt->place = VM_AT_HOME;
	pkt->conn = conn;
	pkt->op = NULL;
	pkt->data = NULL;
	pkt->data_bytes = 0;
	pkt->left = 0;
	pkt->error = 0;
	pkt->once = pkt->confirmed = pkt->watched = false;
	pkt->orphan = pkt->batch = false;
}

/* A packet without payload. */
static void bare_send(struct vm_conn *conn, enum vm_wire_kind kind)
{
	struct vm_port *port = conn->port;
	struct vm_packet *pkt = vm_packet_get(&port->pkts, VM_WIRE_BYTES);

	if (!pkt)
		return;
	vm_conn_prepare(conn, pkt);
	pkt->wire_bytes = VM_WIRE_BYTES;
	memset(pkt->wire, 0, VM_WIRE_BYTES);
	vm_conn_header(conn, (struct vm_wire *)pkt->wire, kind);
	vm_conn_send(conn, pkt);
}

int vm_conn_send_once(struct vm_conn *conn, enum vm_wire_kind kind,
		      const struct vm_wire_state *state)
{
	struct vm_port *port = conn->port;
	struct vm_packet *pkt = vm_packet_get(&port->pkts, VM_WIRE_BYTES);
	struct vm_wire *wire;
	int rc;

	if (!pkt)
		return -VMPI_ENOMEM;
	vm_conn_prepare(conn, pkt);
	pkt->once = true;
	pkt->wire_bytes = VM_WIRE_BYTES;
	wire = (struct vm_wire *)pkt->wire;
	memset(wire, 0, VM_WIRE_BYTES);
	header_begin(conn, wire, kind);
	memcpy(wire->upper, state, sizeof(*state));
	rc = transmit(conn, pkt);
	if (pkt->place != VM_AT_NETWORK)
		vm_packet_put(&port->pkts, pkt);
	return rc;
}

void vm_conn_credit(struct vm_conn *conn)
{
	uint32_t credits, room;

	credits = owed(conn);
	room = credits + conn->granted;
	if (credits > 0 && 2 * credits >= room && !conn->bye &&
	    !conn->port->contacts[conn->process]->down) {
		vm_pvar_add(conn->port->pvars.credit_packets, 1);
		bare_send(conn, VM_WIRE_CREDIT);
	}
}

void vm_conn_room(struct vm_conn *conn)
{
	if (VM_LIKELY(conn->room_state != VM_ROOM_WANTED))
		return;
	conn->room_state = VM_ROOM_LISTED;
	vm_list_append(&conn->port->room, &conn->room);
	vm_port_owe(conn->port);
}

/* Whether it has been full for long enough that this is not just a moment
 * between two receives. */
static bool brims_long(struct vm_conn *conn, uint64_t now)
{
	if (!now)
		return conn->port->pvars.polls - conn->brim_polls > BRIM_POLLS;
	if (!conn->brim_ns)
		conn->brim_ns = now;
	return now - conn->brim_ns >= BRIM_NS;
}

uint64_t vm_conns_brim(struct vm_port *port, uint64_t now)
{
	struct vm_list *link = port->brim.next;
	uint64_t again = UINT64_MAX;

	/* Packets held back by the link model are not the receiver's yet. */
	if (port->held.top)
		return again;
	while (link != &port->brim) {
		struct vm_conn *conn =
			vm_container_of(link, struct vm_conn, brim);
		bool over = conn->granted || owed(conn);

		link = link->next;
		if (!over && !brims_long(conn, now)) {
			if (again > conn->brim_ns + BRIM_NS)
				again = conn->brim_ns + BRIM_NS;
			continue;
		}
		vm_list_remove(&conn->brim);
		conn->brims = false;
		if (over)
			vm_conn_credit(conn);
		else if (!conn->bye && !port->contacts[conn->process]->down)
			bare_send(conn, VM_WIRE_FULL);
	}
	return again;
}

void vm_conn_release(struct vm_conn *conn, unsigned packets)
{
	VM_ASSERT(conn->held >= packets);
	conn->held -= packets;
	vm_conn_credit(conn);
}

void vm_conn_bye(struct vm_conn *conn)
{
	if (conn->bye || conn->error || !conn->contact)
		return;
	bare_send(conn, VM_WIRE_BYE);
	conn->bye = true;
}

static void conn_fail(struct vm_conn *conn, int error)
{
	struct vm_port *port = conn->port;

	conn->error = error;
	if (conn->whole)
		vm_packet_put(&port->pkts, conn->whole);
	conn->whole = NULL;
	/* What the network still has is freed when it gives it back, or when
	 * the port closes. */
	vm_resend_drop(conn, -VMPI_EPEER);
}

/* Releases packets held back by the link model: they have arrived all the
 * same. */
static void held_hurry(struct vm_port *port, uint32_t process)
{
	struct vm_due_heap later = { 0 };
	struct vm_due *due;

	while ((due = vm_due_take(&port->held, UINT64_MAX))) {
		struct vm_packet *pkt =
			vm_container_of(due, struct vm_packet, due);

		if (pkt->use == VM_PKT_RECEIVE && pkt->conn->process == process)
			vm_list_append(&port->arrived, &pkt->link);
		else
			vm_due_put(&later, due, due->when);
	}
	later.order += port->held.order;
	port->held = later;
}

void vm_contact_fail(struct vm_port *port, struct vm_contact *contact,
		     int error)
{
	if (contact->down && (contact->error || !error))
		return;
	/* What has come from it is delivered first. */
	vm_look_leave(port);
	contact->error = error;
	/* A process that has left still takes what was sent before, and our
	 * goodbye. */
	for (unsigned i = 0; error && i < contact->count; i++)
		conn_fail(&contact->conns[i], error);
	vm_rma_fail(port, contact->process);
	held_hurry(port, contact->process);
	if (!contact->down)
		vm_list_append(&port->gone, &contact->gone);
	contact->down = true;
}
