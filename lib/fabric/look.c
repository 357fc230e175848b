/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks for one packet by who waits for it: in the ring of its sender, or by
 * polls of the network whose only packet is handed to the caller.
 */
#include "fabric/conn.h"
#include "fabric/poll.h"

/* A poll of the network is a system call, which takes as long as so many looks
 * at a ring. */
#define LOOKS_POLL 64

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

/* Whether there is something to be told. */
static bool found_any(const struct vm_found *found)
{
	return !vm_list_empty(&found->arrived) ||
	       !vm_list_empty(&found->ended) || !vm_list_empty(&found->gone) ||
	       found->room;
}

/* The packet that is all that was found, and can be used where it lies; or
 * NULL. */
static struct vm_packet *found_alone(const struct vm_found *found)
{
	struct vm_packet *pkt =
		vm_container_of(found->arrived.next, struct vm_packet, link);

	return !vm_list_empty(&found->arrived) &&
			       pkt->link.next == &found->arrived &&
			       pkt->use == VM_PKT_RECEIVE &&
			       vm_list_empty(&found->ended) &&
			       vm_list_empty(&found->gone) && !found->room ?
		       pkt :
		       NULL;
}

static int network_look(struct vm_port *port, int looks,
			const struct vm_pkt **pkt)
{
	struct vm_found found;
	int records;

	if (VM_UNLIKELY(!vm_bias_try(&port->polling)))
		return VM_PENDING;
	do {
		records = vm_inlets_deliver(port, true);
		vm_found_seek(&found, port);
		looks -= LOOKS_POLL;
	} while (looks > 0 && !records && !found_any(&found));
	port->looked = found_alone(&found);
	if (VM_LIKELY(port->looked != NULL)) {
		port->looked_bytes = found.received_bytes;
		*pkt = &port->looked->view;
		return VM_DONE;
	}
	records += vm_found_tell(&found, port, true) + found.room;
	vm_bias_give(&port->polling);
	return records ? VM_PENDING : -VMPI_EAGAIN;
}

/* Whether packets from there come by the network. */
static bool is_far(const struct vm_port *port, struct vm_to from)
{
	const struct vm_contact *contact = port->contacts[from.process];

	return contact && from.port < contact->count &&
	       !contact->conns[from.port].outlet && !contact->down;
}

int vm_port_look(struct vm_port *port, struct vm_to from, int looks,
		 const struct vm_pkt **pkt)
{
	if (!vm_port_silent(port) && is_far(port, from))
		return network_look(port, looks, pkt);
	return ring_look(port, from, looks, pkt);
}

/* Ends the poll that has found the packet. */
static void looked_end(struct vm_port *port, bool took)
{
	struct vm_found found = { .received_bytes = port->looked_bytes };
	struct vm_packet *pkt = port->looked;

	vm_list_init(&found.arrived);
	vm_list_init(&found.ended);
	vm_list_init(&found.gone);
	pkt->moved = false;
	vm_list_append(&found.arrived, &pkt->link);
	port->looked = NULL;
	if (VM_LIKELY(took))
		vm_found_end(&found, port, &found.arrived, 1, true);
	else
		vm_found_tell(&found, port, true);
}

void vm_port_look_end(struct vm_port *port, bool took)
{
	if (port->looked)
		looked_end(port, took);
	else if (VM_LIKELY(took))
		vm_inlets_took(port);
	vm_bias_give(&port->polling);
}
