/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that are sent again: a lost connection is not a death.
 *
 * Networks of TCP drop a connection for many reasons, with what was under way,
 * and connect anew.  So a packet is kept until its receiver has confirmed it;
 * a receiver takes packets in the order of their numbers, each once, and when
 * one is missing all from there on are sent again.
 */
#ifndef FABRIC_RESEND_H
#define FABRIC_RESEND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "fabric/packet/pkt.h"
#include "fabric/port.h"
#include "fabric/packet/wire.h"

/*
 * Each header says which number its sender expects next: that confirms all
 * before.  Where nothing flows back the receiver confirms every now and then by
 * an ANSWER; and a sender whose packets stay unconfirmed sends an ASK, which is
 * answered.  Losses are seen by the sender, when an operation fails; by the
 * receiver, as a gap, which it reports once by an ANSWER; and in the answer to
 * an ASK, since that has followed all packets before it.  ASK and ANSWER have no
 * numbers: they may be lost.
 *
 * A process that does not answer may compute.  It is dead when nobody listens
 * at its address, or nothing could be sent to it for fabric_peer_timeout_s.
 *
 * All under the port's lock.
 */

struct vm_conn;

/* The most numbers that may be unconfirmed: headers have 16 bits of them. */
#define VM_RESEND_WINDOW 0x7fffu

/* The state of a connection. */
struct vm_resend {
	struct vm_list link; /* in port->unsure, when `listed` */
	bool listed;
	bool again;    /* has been sent again since a confirmation */
	bool reported; /* a gap at `gap` */
	uint32_t gap;
	uint32_t asked;		/* number of the last ASK */
	uint32_t asked_before;	/* ... when it was sent again */
	unsigned answers, asks; /* since something has moved */
	unsigned failures;	/* in a row */
	bool failed;		/* not asked since the last one */
	unsigned chunks;	/* remote operations the network has */
	uint32_t chunks_ended;
	unsigned late; /* confirmed packets the network still has */
	uint32_t seen, seen_chunks; /* `confirmed` and chunks_ended, */
	uint64_t next_ns, wait_ns;  /* when to ask next, if these stay */
	uint64_t refused_ns;	    /* since when an ASK cannot be sent */
};

/* Something of the connection has to be confirmed: it is looked at. */
void vm_resend_unsure(struct vm_conn *conn);

/* Keeps a packet, the next one in order. */
void vm_resend_keep(struct vm_conn *conn, struct vm_packet *pkt);

/* Takes in that all packets before that number have arrived there; an impossible
 * number is ignored. */
void vm_resend_confirm(struct vm_conn *conn, uint32_t received);

/* What to do with a packet that has a number. */
enum vm_seq_order {
	VM_ORDER_NEXT,
	VM_ORDER_REPEATED,
	VM_ORDER_GAP,
	VM_ORDER_WRONG
};

/* Compares its number with the expected one; a gap is reported. */
enum vm_seq_order vm_resend_order(struct vm_conn *conn, uint32_t seq);

/* Confirms by a packet if the other side has not heard of many; or at once, if
 * it has not heard of all. */
void vm_resend_tell(struct vm_conn *conn);
void vm_resend_answer(struct vm_conn *conn);

/* Takes in an ASK or ANSWER; false: it is another packet. */
bool vm_resend_signal(struct vm_conn *conn, const struct vm_wire *wire);

/* An operation failed in the network, and with it perhaps others. */
void vm_resend_failed(struct vm_conn *conn, const char *why);

/* The network is done with a packet, which then waits at home or has been
 * confirmed. */
void vm_resend_home(struct vm_port *port, struct vm_packet *pkt);

/* Under no lock: reports that the transfer of a packet has ended, or that its
 * data are not needed any more, or both. */
void vm_resend_report(struct vm_packet *pkt);

/* Gives up everything that is not confirmed; error: what senders by reference
 * are told. */
void vm_resend_drop(struct vm_conn *conn, int error);

/* A chunk has been handed to the network; or its end. */
void vm_resend_chunk_begin(struct vm_conn *conn);
void vm_resend_chunk_end(struct vm_conn *conn, bool done);

/* Checks on what has not been confirmed for long.  Returns when to check again;
 * UINT64_MAX: not by time. */
uint64_t vm_resend_look(struct vm_port *port, uint64_t now);

/* Whether all that was sent to processes that are there is confirmed. */
bool vm_resend_settled(const struct vm_port *port);

#endif
