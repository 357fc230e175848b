/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filling batches.
 */
#include "fabric/post/batch.h"

#include <string.h>

#include "fabric/state.h"

bool vm_batch_wanted(struct vm_conn *conn, const struct vm_send *send)
{
	const struct vm_port *port = conn->port;
	bool waits = !vm_list_empty(&conn->backlog);

	if (conn->look != port->pvars.polls) {
		conn->look = port->pvars.polls;
		conn->row = 0;
	}
	conn->row++;
	if (VM_WIRE_BYTES + send->bytes > port->fabric->limits.batch_bytes ||
	    vm_link_active())
		return false;
	return waits || (!send->control && fabric_cvar.gather &&
			 conn->row > (uint64_t)fabric_cvar.gather &&
			 port->fabric->gather.running);
}

/* The last waiting batch, if so many bytes fit in; or NULL. */
static struct vm_packet *batch_open(const struct vm_conn *conn, size_t bytes)
{
	struct vm_packet *pkt;

	if (vm_list_empty(&conn->backlog))
		return NULL;
	pkt = vm_container_of(conn->backlog.prev, struct vm_packet, link);
	return pkt->batch && vm_wire_next(pkt->wire_bytes) + bytes <=
				       conn->port->wire_bytes ?
		       pkt :
		       NULL;
}

static struct vm_packet *batch_new(struct vm_conn *conn)
{
	struct vm_port *port = conn->port;
	struct vm_packet *pkt;

	/* A full batch need not wait any longer. */
	if (!vm_list_empty(&conn->backlog))
		vm_conn_flush(conn);
	pkt = vm_packet_get(&port->pkts, port->wire_bytes);
	if (!pkt)
		return NULL;
	vm_conn_prepare(conn, pkt);
	pkt->wire_bytes = pkt->last = 0;
	pkt->batch = true;
	vm_resend_keep(conn, pkt);
	vm_conn_queue(conn, pkt);
	if (port->fabric->gather.running)
		vm_gather_arm(&port->fabric->gather);
	return pkt;
}

/* Marks that the last packet in a batch is followed by another one. */
static void batch_more(struct vm_packet *pkt)
{
	struct vm_wire *last = (struct vm_wire *)(pkt->wire + pkt->last);
	size_t next = vm_wire_next(pkt->wire_bytes);

	if (last->flags & VM_WIRE_MORE)
		return;
	last->flags |= VM_WIRE_MORE;
	memset(pkt->wire + pkt->wire_bytes, 0, next - pkt->wire_bytes);
}

struct vm_packet *vm_batch_room(struct vm_conn *conn, size_t bytes)
{
	struct fabric_port_pvars *pvars = &conn->port->pvars;
	struct vm_packet *pkt = batch_open(conn, bytes);

	if (pkt) {
		batch_more(pkt);
		if (pkt->last == 0) {
			vm_pvar_add(pvars->batches, 1);
			vm_pvar_add(pvars->gathered, 1);
		}
		vm_pvar_add(pvars->gathered, 1);
		pkt->last = (uint32_t)vm_wire_next(pkt->wire_bytes);
	} else {
		pkt = batch_new(conn);
		if (!pkt)
			return NULL;
	}
	pkt->wire_bytes = pkt->last + (uint32_t)bytes;
	return pkt;
}
