/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Putting segments together.
 */
#include "fabric/segment.h"

#include <string.h>

bool vm_segment_fits(const struct vm_conn *conn, const struct vm_wire *wire,
		     const void *packet, size_t payload)
{
	uint32_t most = conn->port->fabric->limits.data_bytes;
	struct vm_wire_part part;

	if (!(wire->flags & VM_WIRE_PART))
		return wire->kind != VM_WIRE_DATA &&
		       wire->kind != VM_WIRE_CONTROL;
	part = vm_wire_part(packet, payload);
	if (wire->kind != VM_WIRE_DATA || wire->bytes == 0 ||
	    part.total > most || part.at > part.total ||
	    wire->bytes > part.total - part.at)
		return false;
	if (!conn->whole)
		return part.at == 0;
	return part.at == conn->whole_at &&
	       part.total == conn->whole->data_bytes;
}

/* Begins the whole with the first segment: its packet has the same header. */
static bool whole_begin(struct vm_conn *conn, const struct vm_packet *pkt,
			uint32_t total, size_t payload)
{
	struct vm_packet *whole =
		vm_packet_get(&conn->port->pkts, VM_WIRE_MAX + total);

	if (!whole)
		return false;
	whole->use = VM_PKT_RECEIVE;
	whole->kept = whole->moved = whole->orphan = false;
	whole->parts = 0;
	whole->data_bytes = total;
	memcpy(whole->wire, pkt->wire, payload);
	conn->whole = whole;
	conn->whole_at = 0;
	conn->whole_data = (uint32_t)payload;
	return true;
}

struct vm_packet *vm_segment_take(struct vm_conn *conn, struct vm_packet *pkt,
				  struct vm_wire *wire, size_t *payload)
{
	struct vm_wire_part part = vm_wire_part(pkt->wire, *payload);
	struct vm_port *port = conn->port;
	struct vm_packet *whole;

	if (!conn->whole && !whole_begin(conn, pkt, part.total, *payload)) {
		vm_port_recycle(port, pkt);
		vm_peer_fail(port->fabric, conn->process, -VMPI_ENOMEM,
			     "no memory for its packets");
		return NULL;
	}
	whole = conn->whole;
	memcpy(whole->wire + conn->whole_data + part.at, pkt->wire + *payload,
	       wire->bytes);
	conn->whole_at += wire->bytes;
	whole->parts++;
	vm_port_recycle(port, pkt);
	if (conn->whole_at < part.total) {
		vm_pvar_add(port->pvars.received, 1);
		return NULL;
	}
	conn->whole = NULL;
	wire->bytes = part.total;
	*payload = conn->whole_data;
	return whole;
}
