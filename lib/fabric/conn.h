/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections: one of our ports to one port of another process.
 *
 * Sequence numbers both ways, credits both ways, and the packets that the
 * network does not take now, in order.  All under the port's lock.
 *
 * Credits: the receiver lets a sender have `window` packets of data in three
 * places: granted (the sender may send them, or they are under way) and held
 * (arrived, not released).  What is missing to the window is owed, and goes back
 * with the next packet, or in one of its own when it is half of what can be.
 */
#ifndef FABRIC_CONN_H
#define FABRIC_CONN_H

#include "fabric/port.h"
#include "fabric/state.h"

#define VM_CREDITS_INITIAL 8 /* of both ends, before anything is exchanged */

struct vm_conn {
	struct vm_port *port;
	struct vm_peer *peer;
	uint32_t process;
	uint16_t remote; /* port there */
	bool ready;	 /* address is there */
	bool contact;	 /* something was sent or has come */
	bool left;	 /* it said goodbye */
	bool bye;	 /* so did we */
	int error;	 /* 0, or why it ended */
	fi_addr_t address;
	uint32_t tx_seq, rx_seq;
	uint32_t credits;	/* for our data */
	uint32_t granted, held; /* of its data */
	uint64_t last_due;	/* of the link model */
	struct vm_list backlog; /* packets */
	unsigned backlogged;
	uint64_t since;	    /* when the network first refused the oldest, ns */
	uint64_t rma_since; /* the same of chunks */
	uint64_t probed;    /* when it was last looked for, ns */
	int probe_fd;
	struct vm_list waiting; /* in port->waiting while there is a backlog */
};

/* All that a port knows of a process; made at first contact. */
struct vm_contact {
	uint32_t process;
	bool down; /* reported, or about to be */
	int error; /* to be reported */
	struct vm_list gone;
	unsigned count;
	struct vm_conn conns[]; /* by port there */
};

void vm_contact_free(struct vm_contact *contact); /* or NULL */

/* NULL: out of memory.  Ports of a process that is not connected: 1. */
struct vm_contact *vm_contact_get(struct vm_port *port, uint32_t process);

/* The connection, ready for sending.  0, -VMPI_EINVAL, -VMPI_ENOMEM,
 * -VMPI_EPEER, -VMPI_EIO. */
int vm_conn_get(struct vm_conn **conn, struct vm_port *port, struct vm_to to);

/* Fills the header of the next packet; credits owed ride along. */
void vm_conn_header(struct vm_conn *conn, struct vm_wire *wire,
		    enum vm_wire_kind kind);

/* Sends a packet whose header is filled, now or as soon as it can go. */
void vm_conn_send(struct vm_conn *conn, struct vm_packet *pkt);

/* The network takes nothing for this connection, since *since (0: from now on):
 * after some time the process is looked for, in the end it is given up. */
void vm_conn_refused(struct vm_conn *conn, uint64_t *since);

/* Hands the backlogs of a port to the network, as far as it takes them. */
void vm_conns_flush(struct vm_port *port);

/* Gives credits back in a packet of their own if it is time. */
void vm_conn_credit(struct vm_conn *conn);

/* A packet of data is no longer held. */
void vm_conn_release(struct vm_conn *conn);

/* Says goodbye; nothing is sent afterwards. */
void vm_conn_bye(struct vm_conn *conn);

/* Ends everything with a process on this port, and reports it. */
void vm_contact_fail(struct vm_port *port, struct vm_contact *contact,
		     int error);

#endif
