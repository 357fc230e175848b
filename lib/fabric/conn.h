/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections: one of our ports to one port of another process.
 *
 * Sequence numbers both ways, credits both ways, and the packets that the
 * network does not take now, in order.  All under the port's lock.
 */
#ifndef FABRIC_CONN_H
#define FABRIC_CONN_H

#include "fabric/port.h"
#include "fabric/resend.h"
#include "fabric/state.h"

/*
 * Credits: the receiver lets a sender have `window` packets of data in three
 * states: granted (the sender may send them, or they are under way), held
 * (arrived, not released) and owed, the rest of the window.  Owed credits go
 * back with the next packet, or in one of its own when they are half of what
 * they can be.  When all of the window is held and stays so, the receiver says
 * that it is full: until credits come after all, its sender does not wait for
 * them.
 */

#define VM_CREDITS_INITIAL 8 /* of both ends, before anything is exchanged */

/* Whether data were refused, and whether they may go now. */
enum vm_room { VM_ROOM_UNWANTED, VM_ROOM_WANTED, VM_ROOM_LISTED };

struct vm_conn {
	struct vm_port *port;
	struct vm_peer *peer;
	uint32_t process;
	uint16_t remote;	      /* port there */
	uint32_t there;		      /* our number there, */
	uint64_t job_key;	      /* and its key */
	bool ready;		      /* address is known to the network */
	bool contact;		      /* something was sent or received */
	struct vm_shm_writer *outlet; /* what we send goes there; or NULL */
	bool left;		      /* it said goodbye */
	bool bye;		      /* we said goodbye, too */
	int error;		      /* 0, or the reason for its end */
	fi_addr_t address;
	uint32_t tx_seq, rx_seq;
	uint32_t confirmed;  /* our packets before that have arrived */
	uint32_t told;	     /* rx_seq as we have said it last */
	struct vm_list sent; /* packets that are not confirmed, by number */
	struct vm_resend resend;
	uint32_t credits;	/* for our data */
	uint32_t granted, held; /* of its data */
	bool full;		/* it holds all it lets us send, for good */
	uint8_t room_state;	/* it holds all it lets us send, and keeps it */
	struct vm_list room;	/* in port->room when it is VM_ROOM_LISTED */
	bool brims;		/* all of the window is held */
	struct vm_list brim;	/* in port->brim then */
	uint64_t brim_polls;	/* ... since that poll, */
	uint64_t brim_ns;	/* ... the first sleep after it */
	struct vm_packet *whole; /* a payload in segments that is arriving; */
	uint32_t whole_at;	 /* bytes of it that are there */
	uint32_t whole_data;	 /* where its payload is in `wire` */
	uint64_t last_due;	 /* of the link model */
	struct vm_list backlog;	 /* of packets that wait */
	uint64_t look; /* of the port, since when packets are counted */
	unsigned row;  /* ... that many */
	unsigned backlogged;
	uint64_t since;	    /* when the network first refused the oldest, ns */
	uint64_t rma_since; /* the same of chunks */
	uint64_t probed;    /* when its liveness was last probed, ns */
	bool doubted;	    /* an operation failed: probe at once */
	int liveness_fd;
	struct vm_list waiting; /* in port->waiting while there is a backlog */
};

/* Everything that a port knows of a process; made at first contact. */
struct vm_contact {
	uint32_t process;
	bool down; /* reported, or about to be */
	int error; /* to be reported */
	struct vm_list gone;
	unsigned count;
	struct vm_conn conns[]; /* by port there */
};

void vm_contact_free(struct vm_contact *contact); /* NULL is allowed. */

/* Finds or makes it; NULL: out of memory.  Ports of a process that is not
 * connected: 1. */
struct vm_contact *vm_contact_get(struct vm_port *port, uint32_t process);

/* Finds the connection, ready for sending.  0, -VMPI_EINVAL, -VMPI_ENOMEM,
 * -VMPI_EPEER, -VMPI_EIO. */
int vm_conn_get(struct vm_conn **conn, struct vm_port *port, struct vm_to to);

/* Finds the connection of what has arrived; NULL: it is dropped. */
struct vm_conn *vm_conn_from(struct vm_port *port, struct vm_to from);

/* Counts a packet that is sent without a header; returns the owed credits, which
 * go with it. */
uint16_t vm_conn_number(struct vm_conn *conn);

/* Takes in packets of data and of control that have come without a header, and
 * been delivered; those that were kept have been counted as held. */
void vm_conn_took(struct vm_conn *conn, uint32_t data, uint32_t control,
		  uint32_t credits);

/* Takes in credits that come back. */
void vm_conn_credits(struct vm_conn *conn, uint32_t credits);

/* The sender may have used up its credits, and has got none back. */
void vm_conn_brims(struct vm_conn *conn);

/* Fills the header of the next packet; owed credits are included. */
void vm_conn_header(struct vm_conn *conn, struct vm_wire *wire,
		    enum vm_wire_kind kind);

/* Prepares a packet for a send, without payload by reference.  Its header is
 * filled next. */
void vm_conn_prepare(struct vm_conn *conn, struct vm_packet *pkt);

/* Sends a packet whose header is filled, now or as soon as it can go; it is
 * kept until it is confirmed. */
void vm_conn_send(struct vm_conn *conn, struct vm_packet *pkt);

/* Sends a packet without payload and number, if it can go now: 0, or
 * -VMPI_EAGAIN, -VMPI_ENOMEM. */
int vm_conn_send_once(struct vm_conn *conn, enum vm_wire_kind kind,
		      const struct vm_wire_state *state);

/* Puts it behind the waiting packets, whether it could go or not. */
void vm_conn_queue(struct vm_conn *conn, struct vm_packet *pkt);

/* Hands waiting packets to the network, as far as it takes them. */
void vm_conn_flush(struct vm_conn *conn);

/* Notes that the network takes nothing for this connection, since *since (0:
 * from now on): after some time the process is probed, in the end it is given
 * up. */
void vm_conn_refused(struct vm_conn *conn, uint64_t *since);

/* Its process is there no more. */
void vm_conn_gone(struct vm_conn *conn);

/* Hands the backlogs of a port to the network, as far as it takes them. */
void vm_conns_flush(struct vm_port *port);

/* Counts how few credits the other side had left us. */
static inline void vm_conn_low(struct vm_conn *conn, uint64_t credits)
{
	struct fabric_port_pvars *pvars = &conn->port->pvars;

	if (VM_PVARS_COUNTED && VM_UNLIKELY(credits < pvars->credits_low))
		vm_pvar_set(pvars->credits_low, credits);
}

/* Gives credits back in a packet of their own if it is time. */
void vm_conn_credit(struct vm_conn *conn);

/* Tells a refused sender that data may be taken again, or never will be. */
void vm_conn_room(struct vm_conn *conn);

/* Checks whether connections that have no credit left at the other side are
 * full. now: 0 in a poll, else the time at which a thread goes to sleep.
 * Returns when to check again; UINT64_MAX: not by time. */
uint64_t vm_conns_brim(struct vm_port *port, uint64_t now);

/* Notes that so many packets of data are no longer held. */
void vm_conn_release(struct vm_conn *conn, unsigned packets);

/* Says goodbye; nothing is sent afterwards. */
void vm_conn_bye(struct vm_conn *conn);

/* Ends everything with a process on this port, and reports it. */
void vm_contact_fail(struct vm_port *port, struct vm_contact *contact,
		     int error);

#endif
