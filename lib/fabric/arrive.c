/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that have come over the network, or whole through a ring: their
 * checks, and what they say of their connection.
 */
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "fabric/conn.h"
#include "fabric/segment.h"
#include "fabric/state.h"

void vm_port_reject(struct vm_port *port, enum vm_reject why)
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
		vm_port_reject(port, why);
		return STOP;
	}
	conn = vm_conn_from(port,
			    (struct vm_to){ wire->source, wire->source_port });
	if (VM_UNLIKELY(!conn || vm_resend_signal(conn, wire)))
		return STOP;
	order = vm_resend_order(conn, wire->seq);
	if (VM_UNLIKELY(order != VM_ORDER_NEXT)) {
		if (order == VM_ORDER_WRONG)
			vm_port_reject(port, VM_reject_sequence);
		return order == VM_ORDER_REPEATED ? SKIP : STOP;
	}
	why = state_check(conn, wire, packet, *payload);
	if (VM_UNLIKELY(why != VM_reject_none)) {
		vm_port_reject(port, why);
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
	vm_port_hold(port, &pkt->due, due);
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
