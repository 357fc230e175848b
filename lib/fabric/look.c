/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks for one packet by who waits for it: in the ring of its sender, or by
 * polls of the network whose only packet is handed to the caller.
 */
#include "fabric/conn.h"
#include "fabric/poll.h"

static int ring_look(struct vm_port *port, struct vm_to from, int looks,
		     const struct vm_pkt **pkt)
{
	int rc;

	if (VM_UNLIKELY(!vm_port_still(port) || !vm_port_looks_count(port) ||
			!vm_bias_try(&port->polling)))
		return VM_PENDING;
	rc = vm_inlets_look(port, from.process, from.port, looks);
	if (rc == VM_DONE)
		*pkt = &port->record->view;
	else
		vm_bias_give(&port->polling);
	return rc;
}

/*
 * Whether it is the next packet of data on its connection, and nothing about it
 * is unusual.  Who looks may use it before all is checked: what is not checked
 * here is about the connection only.
 */
static bool is_next(const struct vm_conn *conn, const struct vm_wire *wire,
		    size_t bytes)
{
	const struct vm_port *port = conn->port;

	return bytes >= VM_WIRE_BYTES && wire->magic == VM_WIRE_MAGIC &&
	       wire->version == VM_WIRE_VERSION && wire->kind == VM_WIRE_DATA &&
	       wire->job_key == port->fabric->config.job_key &&
	       wire->source == conn->process &&
	       wire->source_port == conn->remote && wire->port == port->index &&
	       !wire->flags && VM_WIRE_BYTES + wire->bytes == bytes &&
	       wire->seq == conn->rx_seq && conn->granted && !conn->whole &&
	       !conn->last_due;
}

bool vm_look_hit(struct vm_port *port, struct vm_packet *pkt, size_t bytes)
{
	const struct vm_wire *wire = (const struct vm_wire *)pkt->wire;

	if (VM_UNLIKELY(!is_next(port->hoped, wire, bytes)))
		return false;
	pkt->view = (struct vm_pkt){ .upper = wire->upper,
				     .data = pkt->wire + VM_WIRE_BYTES,
				     .bytes = wire->bytes,
				     .process = wire->source,
				     .port = wire->source_port,
				     .kind = wire->upper_kind };
	port->looked = pkt;
	port->looked_bytes = bytes;
	return true;
}

void vm_look_leave(struct vm_port *port)
{
	struct vm_packet *pkt = port->looked;

	port->looked = NULL;
	if (pkt)
		vm_packet_arrived(port, pkt, port->looked_bytes);
}

void vm_look_took(struct vm_port *port)
{
	struct vm_packet *pkt = port->took;

	port->took = NULL;
	vm_packet_arrived(port, pkt, port->looked_bytes);
	/* It is not there if its process was given up meanwhile. */
	if (VM_UNLIKELY(port->arrived.prev != &pkt->link))
		return;
	vm_list_remove(&pkt->link);
	vm_packet_spend(port, pkt);
	vm_pvar_add(port->pvars.events_own, 1);
	port->counted = port->pvars.received_bytes;
}

/* Whether there is something to be told. */
static bool found_any(const struct vm_found *found)
{
	return !vm_list_empty(&found->arrived) ||
	       !vm_list_empty(&found->ended) || !vm_list_empty(&found->gone) ||
	       found->room;
}

/* Under polling: polls until there is something, or so often; whether there
 * is. */
static bool found_await(struct vm_found *found, struct vm_port *port,
			struct vm_conn *from, int polls)
{
	int records;

	do {
		records = vm_inlets_deliver(port, true);
		vm_found_seek(found, port, from);
	} while (--polls > 0 && !records && !port->looked && !found_any(found));
	return records || found_any(found);
}

static int network_look(struct vm_port *port, struct vm_conn *from, int polls,
			const struct vm_pkt **pkt)
{
	struct vm_found found;

	if (VM_UNLIKELY(!vm_bias_try(&port->polling)))
		return VM_PENDING;
	if (VM_UNLIKELY(found_await(&found, port, from, polls))) {
		vm_port_lock(port);
		vm_look_leave(port);
		vm_port_unlock(port);
		vm_found_tell(&found, port, true);
		vm_bias_give(&port->polling);
		return VM_PENDING;
	}
	if (port->looked) {
		*pkt = &port->looked->view;
		return VM_DONE;
	}
	vm_bias_give(&port->polling);
	return -VMPI_EAGAIN;
}

/* The connection by which packets come from there over the network; or NULL. */
static struct vm_conn *far_conn(const struct vm_port *port, struct vm_to from)
{
	struct vm_contact *contact = port->contacts[from.process];
	struct vm_conn *conn;

	if (VM_UNLIKELY(!contact || contact->down ||
			from.port >= contact->count))
		return NULL;
	conn = &contact->conns[from.port];
	return conn->ready && !conn->outlet && !conn->error && !conn->bye ?
		       conn :
		       NULL;
}

int vm_port_look(struct vm_port *port, struct vm_to from, int looks, int polls,
		 const struct vm_pkt **pkt)
{
	struct vm_conn *conn = vm_port_silent(port) ? NULL :
						      far_conn(port, from);

	return conn ? network_look(port, conn, polls, pkt) :
		      ring_look(port, from, looks, pkt);
}

void vm_port_look_end(struct vm_port *port, bool took)
{
	if (port->looked) {
		vm_port_lock(port);
		if (VM_LIKELY(took)) {
			port->took = port->looked;
			port->looked = NULL;
		}
		vm_look_leave(port);
		vm_port_unlock(port);
	} else if (VM_LIKELY(took)) {
		vm_inlets_took(port);
	}
	vm_bias_give(&port->polling);
}
