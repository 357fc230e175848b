/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrived packets that the layer above keeps, and their release.
 */
#include <string.h>

#include "fabric/conn.h"
#include "fabric/state.h"

void vm_loop_release(struct vm_packet *pkt)
{
	struct vm_port *owner = pkt->port;

	vm_port_lock(owner);
	if (!pkt->view.control)
		pkt->conn->credits++;
	if (pkt->kept)
		vm_pvar_add(owner->pvars.kept, (uint64_t)-1);
	vm_packet_put(&owner->pkts, pkt);
	vm_port_unlock(owner);
}

/* Under lock: copies what lies in a ring to a packet. */
static struct vm_packet *record_keep(const struct vm_packet *record)
{
	struct vm_port *port = record->port;
	uint32_t bytes = VM_UPPER_BYTES + record->view.bytes;
	struct vm_packet *pkt = vm_packet_get(&port->pkts, bytes);

	if (VM_UNLIKELY(!pkt)) {
		pkt = port->spare;
		port->spare = NULL;
	}
	pkt->use = VM_PKT_RECEIVE;
	pkt->conn = record->conn;
	pkt->parts = 1;
	pkt->orphan = pkt->moved = false;
	pkt->wire_bytes = bytes;
	memcpy(pkt->wire, record->view.upper, VM_UPPER_BYTES);
	if (record->view.bytes)
		memcpy(pkt->wire + VM_UPPER_BYTES, record->view.data,
		       record->view.bytes);
	pkt->view = record->view;
	pkt->view.upper = pkt->wire;
	pkt->view.data = pkt->wire + VM_UPPER_BYTES;
	if (!pkt->view.control)
		pkt->conn->held++;
	vm_pvar_add(port->pvars.kept_moved, 1);
	return pkt;
}

struct vm_pkt *vm_pkt_keep(struct vm_pkt *view)
{
	struct vm_packet *pkt = vm_container_of(view, struct vm_packet, view);
	struct vm_port *port = pkt->port;
	struct vm_packet *moved = NULL;

	vm_port_lock(port);
	if (pkt->use == VM_PKT_RECEIVE &&
	    vm_packet_oversized(&port->pkts, pkt, pkt->wire_bytes))
		moved = vm_packet_get(&port->pkts, pkt->wire_bytes);
	if (pkt->use == VM_PKT_RECORD) {
		moved = record_keep(pkt);
	} else if (moved) {
		vm_packet_move(moved, pkt);
		vm_pvar_add(port->pvars.kept_moved, 1);
	} else {
		pkt->at->taken = true;
		moved = pkt;
	}
	moved->kept = true;
	vm_pvar_add(port->pvars.kept, 1);
	vm_pvar_max(port->pvars.kept_max, port->pvars.kept);
	vm_port_unlock_calm(port);
	return &moved->view;
}

void vm_pkt_release(struct vm_pkt *view)
{
	struct vm_packet *pkt = vm_container_of(view, struct vm_packet, view);
	struct vm_port *port = pkt->port;

	VM_ASSERT(pkt->kept);
	if (pkt->use == VM_PKT_LOOP) {
		vm_loop_release(pkt);
		return;
	}
	vm_port_lock(port);
	if (!view->control)
		vm_conn_release(pkt->conn, pkt->parts);
	vm_pvar_add(port->pvars.kept, (uint64_t)-1);
	vm_port_recycle(port, pkt);
	vm_port_unlock_calm(port);
}
