/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sending packets: injected, copied or by reference; or by the loop.
 */
#include <string.h>

#include "base/clock.h"
#include "fabric/post/batch.h"
#include "fabric/conn.h"
#include "fabric/near.h"
#include "fabric/segment.h"
#include "fabric/state.h"

/* The times of the link model: of arrival, and when it has left; 0 when off. */
static uint64_t link_stamp(struct vm_conn *conn, uint64_t *left, size_t bytes)
{
	uint64_t due;

	*left = 0;
	if (VM_LIKELY(!vm_link_active()))
		return 0;
	due = vm_link_send(&conn->peer->link, left, vm_clock_ns(),
			   VM_WIRE_BYTES + bytes);
	return due;
}

/* Writes the header, with a stamp and a segment if there is one; returns its
 * length. */
static uint32_t header_write(struct vm_conn *conn, char *to,
			     const struct vm_send *send, uint64_t stamp,
			     const struct vm_wire_part *part)
{
	uint32_t bytes = VM_WIRE_BYTES;
	struct vm_wire wire;

	vm_conn_header(conn, &wire,
		       send->control ? VM_WIRE_CONTROL : VM_WIRE_DATA);
	wire.bytes = send->bytes;
	wire.upper_kind = send->kind;
	memcpy(wire.upper, send->upper, VM_UPPER_BYTES);
	if (VM_UNLIKELY(stamp)) {
		wire.flags = VM_WIRE_STAMP;
		memcpy(to + bytes, &stamp, sizeof(stamp));
		bytes += VM_WIRE_STAMP_BYTES;
	}
	if (VM_UNLIKELY(part != NULL)) {
		wire.flags |= VM_WIRE_PART;
		memcpy(to + bytes, part, sizeof(*part));
		bytes += VM_WIRE_PART_BYTES;
	}
	memcpy(to, &wire, sizeof(wire));
	return bytes;
}

/* Sends it in a batch: 0 or -VMPI_ENOMEM. */
static int batch_send(struct vm_conn *conn, const struct vm_send *send)
{
	struct vm_packet *pkt =
		vm_batch_room(conn, VM_WIRE_BYTES + send->bytes);
	char *to;

	if (!pkt)
		return -VMPI_ENOMEM;
	to = pkt->wire + pkt->last;
	header_write(conn, to, send, 0, NULL);
	pkt->end = conn->tx_seq;
	if (send->bytes)
		memcpy(to + VM_WIRE_BYTES, send->data, send->bytes);
	/* Only data may wait for more to come. */
	if (send->control)
		vm_conn_flush(conn);
	return VM_DONE;
}

/* Begins to observe the transfer of a packet; it ends when the packet has
 * left. */
static void packet_watch(struct vm_packet *pkt, const struct vm_send *send)
{
	pkt->watched = true;
	vm_overlap_begin(send->overlap, &pkt->xfer, vm_clock_ticks(),
			 VM_SIDE_SEND, VM_PATH_FABRIC, send->bytes);
}

/* Sends through a packet.  As vm_port_send(). */
static int packet_send(struct vm_conn *conn, const struct vm_send *send,
		       struct vm_send_op *op)
{
	struct vm_port *port = conn->port;
	bool refer = op && port->by_reference &&
		     send->bytes > (uint64_t)fabric_cvar.copy_limit;
	uint32_t copied = refer ? 0 : send->bytes;
	struct vm_packet *pkt =
		vm_packet_get(&port->pkts, VM_WIRE_MAX + copied);
	uint64_t stamp;

	if (!pkt)
		return -VMPI_ENOMEM;
	vm_conn_prepare(conn, pkt);
	stamp = link_stamp(conn, &pkt->left, send->bytes);
	if (refer) {
		pkt->op = op;
		pkt->data = send->data;
		pkt->data_bytes = send->bytes;
	}
	pkt->wire_bytes = header_write(conn, pkt->wire, send, stamp, NULL);
	if (copied) {
		memcpy(pkt->wire + pkt->wire_bytes, send->data, copied);
		pkt->wire_bytes += copied;
	}
	if (VM_UNLIKELY(send->overlap != NULL))
		packet_watch(pkt, send);
	vm_conn_send(conn, pkt);
	return refer ? VM_PENDING : VM_DONE;
}

/* Sends one segment, in a packet that has room for it. */
static void part_send(struct vm_conn *conn, struct vm_packet *pkt,
		      const struct vm_send *piece,
		      const struct vm_wire_part *part)
{
	uint64_t stamp;

	vm_conn_prepare(conn, pkt);
	stamp = link_stamp(conn, &pkt->left, piece->bytes);
	pkt->wire_bytes = header_write(conn, pkt->wire, piece, stamp, part);
	memcpy(pkt->wire + pkt->wire_bytes, piece->data, piece->bytes);
	pkt->wire_bytes += piece->bytes;
	if (VM_UNLIKELY(piece->overlap != NULL))
		packet_watch(pkt, piece);
	vm_conn_send(conn, pkt);
}

/* Sends a payload that is longer than a packet: 0 or -VMPI_ENOMEM. */
static int parts_send(struct vm_conn *conn, const struct vm_send *send)
{
	struct vm_port *port = conn->port;
	uint32_t each = port->fabric->limits.packet_bytes;
	struct vm_list packets, *link;
	struct vm_send piece = *send;
	struct vm_wire_part part = { .total = send->bytes };
	int rc = VM_DONE;

	/* All or none: a missing segment would break the stream. */
	vm_list_init(&packets);
	for (uint32_t at = 0; rc == 0 && at < send->bytes; at += each) {
		uint32_t left = send->bytes - at;
		struct vm_packet *pkt = vm_packet_get(
			&port->pkts, VM_WIRE_MAX + (left < each ? left : each));

		if (pkt)
			vm_list_append(&packets, &pkt->link);
		else
			rc = -VMPI_ENOMEM;
	}
	while ((link = vm_list_pop(&packets))) {
		struct vm_packet *pkt =
			vm_container_of(link, struct vm_packet, link);

		if (rc < 0) {
			pkt->use = VM_PKT_SEND;
			vm_packet_put(&port->pkts, pkt);
			continue;
		}
		piece.data = (const char *)send->data + part.at;
		piece.bytes = send->bytes - part.at < each ?
				      send->bytes - part.at :
				      each;
		part_send(conn, pkt, &piece, &part);
		part.at += piece.bytes;
	}
	return rc;
}

/* Sends to ourselves: the packet itself goes to the other port. */
static int loop_send(struct vm_conn *conn, const struct vm_send *send)
{
	struct vm_port *port = conn->port;
	struct vm_port *to = &port->fabric->ports[conn->remote];
	struct vm_packet *pkt =
		vm_packet_get(&port->pkts, VM_UPPER_BYTES + send->bytes);
	uint64_t left, due;

	if (!pkt)
		return -VMPI_ENOMEM;
	due = link_stamp(conn, &left, send->bytes);
	/* Order is kept when the link model is switched off or made faster. */
	if (due < conn->last_due)
		due = conn->last_due;
	conn->last_due = due;
	pkt->use = VM_PKT_LOOP;
	pkt->conn = conn;
	pkt->orphan = pkt->kept = false;
	pkt->left = due;
	memcpy(pkt->wire, send->upper, VM_UPPER_BYTES);
	if (send->bytes)
		memcpy(pkt->wire + VM_UPPER_BYTES, send->data, send->bytes);
	pkt->view = (struct vm_pkt){ .upper = pkt->wire,
				     .data = pkt->wire + VM_UPPER_BYTES,
				     .bytes = send->bytes,
				     .process = conn->process,
				     .port = (uint16_t)port->index,
				     .kind = send->kind,
				     .control = send->control };
	vm_lock_take(&to->inbox_lock);
	vm_list_append(&to->inbox, &pkt->link);
	/* Pairs with the load in port_move() and vm_port_busy(). */
	atomic_store_explicit(&to->inbox_full, true, memory_order_release);
	vm_lock_give(&to->inbox_lock);
	return VM_DONE;
}

/* Whether packets have all the memory they may; unused memory is no reason to
 * refuse. */
static bool pool_full(struct vm_port *port)
{
	uint64_t most = (uint64_t)fabric_cvar.send_bytes_max;

	if (VM_LIKELY(port->pvars.pool_bytes <= most))
		return false;
	vm_pkts_shrink(&port->pkts);
	return port->pvars.pool_bytes > most;
}

static inline int sent_count(struct vm_conn *conn, const struct vm_send *send,
			     unsigned packets, int rc)
{
	struct vm_port *port = conn->port;

	if (rc < 0)
		return rc;
	if (send->control)
		vm_pvar_add(port->pvars.sent_control, 1);
	else
		conn->credits -= packets;
	vm_pvar_add(port->pvars.sent, packets);
	vm_pvar_add(port->pvars.shm_sent, conn->outlet ? packets : 0);
	vm_pvar_add(port->pvars.sent_bytes, send->bytes);
	return rc;
}

/*
 * Refuses data: -VMPI_EAGAIN, and the caller is told when to try again; or
 * -VMPI_ELIMIT.  The loop does not report when it has room.
 */
static int refused(struct vm_conn *conn)
{
	if (conn->full || conn->process == conn->port->fabric->config.process)
		return -VMPI_ELIMIT;
	if (conn->room_state == VM_ROOM_UNWANTED)
		conn->room_state = VM_ROOM_WANTED;
	return -VMPI_EAGAIN;
}

/* Whether data may go now, under lock: 0, -VMPI_EAGAIN, -VMPI_ELIMIT. */
static inline int data_check(struct vm_conn *conn, unsigned packets)
{
	struct vm_port *port = conn->port;

	if (VM_UNLIKELY(conn->credits == 0)) {
		vm_pvar_add(port->pvars.no_credit, 1);
		vm_conn_low(conn, 0);
		return refused(conn);
	}
	/* The receiver may keep the rest until this has come. */
	if (VM_UNLIKELY(conn->credits < packets)) {
		vm_pvar_add(port->pvars.no_credit, 1);
		return -VMPI_ELIMIT;
	}
	if (VM_UNLIKELY(conn->backlogged >=
			(uint64_t)fabric_cvar.backlog_limit))
		return refused(conn);
	if (VM_UNLIKELY(pool_full(port))) {
		vm_pvar_add(port->pvars.no_memory, 1);
		/* Packets that are kept may hold the memory. */
		return conn->backlogged ? refused(conn) : -VMPI_ELIMIT;
	}
	return 0;
}

/* For what has gone by the loop, in a batch or injected nothing reports when it
 * has left. */
static inline void observe_unreported(const struct vm_send *send, int rc)
{
	if (VM_UNLIKELY(send->overlap != NULL) && rc == 0)
		vm_overlap_half(send->overlap, VM_SIDE_SEND, VM_PATH_FABRIC,
				send->bytes);
}

/* How a packet goes. */
enum way { IN_PARTS, BY_LOOP, BY_RING, IN_BATCH, INJECTED, AS_PACKET };

static inline enum way way_of(struct vm_conn *conn, const struct vm_send *send,
			      unsigned packets)
{
	if (VM_UNLIKELY(packets > 1))
		return IN_PARTS;
	if (conn->process == conn->port->fabric->config.process)
		return BY_LOOP;
	if (conn->outlet)
		return vm_list_empty(&conn->backlog) && !vm_link_active() ?
			       BY_RING :
			       AS_PACKET;
	if (vm_batch_wanted(conn, send))
		return IN_BATCH;
	if (vm_port_injects(conn->port, VM_WIRE_BYTES + send->bytes) &&
	    vm_list_empty(&conn->backlog) && !vm_link_active())
		return INJECTED;
	return AS_PACKET;
}

/* Sends a short packet, which the network copies.  As vm_port_send(). */
static inline int short_send(struct vm_conn *conn, const struct vm_send *send)
{
	struct vm_packet *pkt =
		vm_packet_get(&conn->port->pkts, VM_WIRE_BYTES + send->bytes);

	if (VM_UNLIKELY(!pkt))
		return -VMPI_ENOMEM;
	vm_conn_prepare(conn, pkt);
	header_write(conn, pkt->wire, send, 0, NULL);
	if (send->bytes)
		memcpy(pkt->wire + VM_WIRE_BYTES, send->data, send->bytes);
	pkt->wire_bytes = VM_WIRE_BYTES + send->bytes;
	vm_conn_send(conn, pkt);
	return VM_DONE;
}

/* Sends it in another way than injected: as vm_port_send(). */
static int other_send(struct vm_conn *conn, const struct vm_send *send,
		      enum way way, struct vm_send_op *op)
{
	switch (way) {
	case IN_PARTS:
		return parts_send(conn, send);
	case BY_LOOP:
		return loop_send(conn, send);
	case IN_BATCH:
		return batch_send(conn, send);
	default:
		return packet_send(conn, send, op);
	}
}

/* The connection of a packet that can go right away, if nothing is unusual; or
 * NULL. */
static VM_ALWAYS_INLINE struct vm_conn *straight(const struct vm_port *port,
						 struct vm_to to,
						 const struct vm_send *send)
{
	const struct vm_fabric *fabric = port->fabric;
	struct vm_contact *contact;
	struct vm_conn *conn;

	if (VM_UNLIKELY(to.process >= fabric->config.processes ||
			send->bytes > fabric->limits.packet_bytes))
		return NULL;
	contact = port->contacts[to.process];
	if (VM_UNLIKELY(!contact || contact->down || to.port >= contact->count))
		return NULL;
	conn = &contact->conns[to.port];
	return VM_LIKELY(conn->ready && !conn->error && !conn->bye &&
			 (send->control || conn->credits > 0) &&
			 vm_list_empty(&conn->backlog) && !send->overlap &&
			 !vm_link_active()) ?
		       conn :
		       NULL;
}

/* Whether it can go over the network at once, and by itself. */
static inline bool is_short(struct vm_conn *conn, const struct vm_send *send)
{
	const struct vm_port *port = conn->port;

	return VM_LIKELY(vm_port_injects(port, VM_WIRE_BYTES + send->bytes) &&
			 port->pvars.pool_bytes <=
				 (uint64_t)fabric_cvar.send_bytes_max &&
			 !vm_batch_wanted(conn, send));
}

/* Sends it right away, on the connection that straight() has found: as
 * vm_port_send(), or -VMPI_EAGAIN: another way. */
static VM_ALWAYS_INLINE int straight_send(struct vm_conn *conn,
					  const struct vm_send *send)
{
	if (conn->outlet)
		return vm_near_send(conn, send);
	return is_short(conn, send) ? short_send(conn, send) : -VMPI_EAGAIN;
}

/* Under lock, which it gives back: as vm_port_send(). */
static __attribute__((noinline)) int locked_send(struct vm_port *port,
						 struct vm_to to,
						 const struct vm_send *send,
						 struct vm_send_op *op)
{
	unsigned packets = to.process == port->fabric->config.process ?
				   1 :
				   vm_segments(port, send->bytes);
	struct vm_conn *conn;
	enum way way = AS_PACKET;
	int rc;

	rc = vm_conn_get(&conn, port, to);
	if (VM_LIKELY(rc == 0) && !send->control)
		rc = data_check(conn, packets);
	if (VM_UNLIKELY(rc < 0))
		goto unlock;
	way = way_of(conn, send, packets);
	if (way == BY_RING)
		rc = vm_near_send(conn, send);
	/* A full one lets packets wait. */
	if (way == BY_RING && VM_UNLIKELY(rc == -VMPI_EAGAIN))
		way = AS_PACKET;
	if (way == INJECTED)
		rc = short_send(conn, send);
	else if (way != BY_RING)
		rc = other_send(conn, send, way, op);
	if (way != IN_PARTS && way != AS_PACKET)
		observe_unreported(send, rc);
	rc = sent_count(conn, send, packets, rc);
unlock:
	if (VM_LIKELY(way == BY_RING))
		vm_port_unlock_calm(port);
	else
		vm_port_unlock(port);
	if (rc >= 0 && way == BY_LOOP)
		vm_fabric_kick(port->fabric);
	return rc;
}

int vm_port_send(struct vm_port *port, struct vm_to to,
		 const struct vm_send *send, struct vm_send_op *op)
{
	struct vm_conn *conn;

	VM_ASSERT(send->bytes <= (send->control ?
					  port->fabric->limits.packet_bytes :
					  port->fabric->limits.data_bytes));
	vm_port_lock(port);
	conn = straight(port, to, send);
	if (VM_UNLIKELY(!conn || straight_send(conn, send) < 0))
		return locked_send(port, to, send, op);
	sent_count(conn, send, 1, VM_DONE);
	vm_port_unlock_calm(port);
	return VM_DONE;
}

unsigned vm_port_credits(struct vm_port *port, struct vm_to to)
{
	struct vm_conn *conn;
	unsigned credits = 0;

	vm_port_lock(port);
	if (vm_conn_get(&conn, port, to) == 0)
		credits = conn->credits;
	vm_port_unlock(port);
	return credits;
}
