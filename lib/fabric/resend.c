/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is kept, what is asked, what is sent again.
 */
#include "fabric/resend.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "fabric/conn.h"
#include "fabric/near.h"
#include "fabric/rma.h"
#include "fabric/state.h"

#define ASK_NS 20000000	      /* without a confirmation until we ask */
#define ASK_NS_SOON 500000    /* ... after a failure, and before we end */
#define ASK_NS_MAX 1000000000 /* ... if there is no answer */
#define ASKS_LEFT 8	      /* questions to one that has said goodbye */
#define ANSWERS_STUCK 2	      /* answers that have overtaken a chunk */
#define TELL_EVERY 64	      /* packets until the other side is told */
#define FAILURES_MAX 64	      /* in a row until it is given up */

void vm_resend_unsure(struct vm_conn *conn)
{
	struct vm_resend *resend = &conn->resend;

	if (VM_LIKELY(resend->listed))
		return;
	resend->listed = true;
	resend->next_ns = 0;
	vm_list_append(&conn->port->unsure, &resend->link);
}

void vm_resend_keep(struct vm_conn *conn, struct vm_packet *pkt)
{
	vm_list_append(&conn->sent, &pkt->sent);
	vm_resend_unsure(conn);
}

/* Ends a packet that nobody needs any more: the owner of its data is told. */
static void packet_end(struct vm_port *port, struct vm_packet *pkt)
{
	if (!pkt->op) {
		vm_packet_put(&port->pkts, pkt);
		return;
	}
	pkt->place = VM_AT_END;
	if (pkt->left && !pkt->error && pkt->left > vm_clock_ns())
		vm_port_hold(port, &pkt->due, pkt->left);
	else
		vm_list_append(&port->ended, &pkt->link);
}

void vm_resend_home(struct vm_port *port, struct vm_packet *pkt)
{
	pkt->place = VM_AT_HOME;
	if (pkt->once)
		vm_packet_put(&port->pkts, pkt);
	else if (pkt->confirmed)
		packet_end(port, pkt);
}

void vm_resend_report(struct vm_packet *pkt)
{
	struct vm_send_op *op = pkt->op;

	if (pkt->watched)
		vm_overlap_end(&pkt->xfer, vm_clock_ticks());
	pkt->watched = false;
	if (!op || !pkt->confirmed)
		return;
	pkt->op = NULL;
	op->done(op, pkt->error);
}

/* Takes a packet out of the backlog before it has gone: it arrived earlier. */
static void backlog_leave(struct vm_conn *conn, struct vm_packet *pkt)
{
	vm_list_remove(&pkt->link);
	conn->backlogged--;
	vm_pvar_add(conn->port->pvars.backlog, (uint64_t)-1);
	if (vm_list_empty(&conn->backlog))
		vm_list_remove(&conn->waiting);
}

void vm_resend_confirm(struct vm_conn *conn, uint32_t received)
{
	struct vm_port *port = conn->port;

	if (received - conn->confirmed > conn->tx_seq - conn->confirmed)
		return;
	conn->confirmed = received;
	conn->resend.again = false;
	conn->resend.failures = 0;
	while (!vm_list_empty(&conn->sent)) {
		struct vm_packet *pkt = vm_container_of(conn->sent.next,
							struct vm_packet, sent);

		if ((int32_t)(pkt->end - received) > 0)
			return;
		vm_list_remove(&pkt->sent);
		pkt->confirmed = true;
		if (VM_UNLIKELY(pkt->place == VM_AT_BACKLOG)) {
			backlog_leave(conn, pkt);
			pkt->place = VM_AT_HOME;
		}
		if (pkt->place == VM_AT_HOME)
			packet_end(port, pkt);
		else if (pkt->place == VM_AT_NETWORK)
			conn->resend.late++;
	}
	if (conn->resend.late)
		vm_resend_unsure(conn);
}

/* Says what we expect next; number, lost: as in struct vm_wire_state. */
static bool answer(struct vm_conn *conn, uint32_t number, bool lost)
{
	const struct vm_wire_state state = { .received = conn->rx_seq,
					     .number = number,
					     .lost = lost };

	if (vm_conn_send_once(conn, VM_WIRE_ANSWER, &state) < 0)
		return false;
	vm_pvar_add(conn->port->pvars.answers, 1);
	return true;
}

void vm_resend_tell(struct vm_conn *conn)
{
	if (VM_UNLIKELY(conn->rx_seq - conn->told >= TELL_EVERY))
		answer(conn, 0, false);
}

void vm_resend_answer(struct vm_conn *conn)
{
	if (conn->rx_seq != conn->told)
		answer(conn, 0, false);
}

enum vm_seq_order vm_resend_order(struct vm_conn *conn, uint32_t seq)
{
	uint32_t ahead = seq - conn->rx_seq, behind = conn->rx_seq - seq;
	struct vm_resend *resend = &conn->resend;

	if (VM_LIKELY(ahead == 0))
		return VM_ORDER_NEXT;
	if (behind <= VM_RESEND_WINDOW) {
		/* The last of those that its sender has sent again. */
		if (behind == 1)
			answer(conn, 0, false);
		vm_pvar_add(conn->port->pvars.repeated, 1);
		return VM_ORDER_REPEATED;
	}
	if (ahead > VM_RESEND_WINDOW)
		return VM_ORDER_WRONG;
	if (!resend->reported || resend->gap != conn->rx_seq)
		resend->reported = answer(conn, 0, true);
	resend->gap = conn->rx_seq;
	vm_pvar_add(conn->port->pvars.gaps, 1);
	return VM_ORDER_GAP;
}

/* The network still has it, or its transfer is about to be reported: it is left
 * alone, and this one goes in its place.  NULL: no memory. */
static struct vm_packet *twin(struct vm_conn *conn, struct vm_packet *pkt)
{
	struct vm_port *port = conn->port;
	struct vm_packet *new = vm_packet_get(&port->pkts, pkt->wire_bytes);

	if (!new)
		return NULL;
	vm_conn_prepare(conn, new);
	memcpy(new->wire, pkt->wire, pkt->wire_bytes);
	new->wire_bytes = pkt->wire_bytes;
	new->data = pkt->data;
	new->data_bytes = pkt->data_bytes;
	new->op = pkt->op;
	new->end = pkt->end;
	vm_list_append(&pkt->sent, &new->sent);
	vm_list_remove(&pkt->sent);
	pkt->op = NULL;
	pkt->confirmed = true;
	if (pkt->place == VM_AT_NETWORK)
		vm_port_orphan(port, pkt);
	return new;
}

/* Sends all again that is not confirmed, in order. */
static void send_again(struct vm_conn *conn)
{
	bool waits = !vm_list_empty(&conn->backlog);
	struct vm_resend *resend = &conn->resend;
	struct vm_port *port = conn->port;
	struct vm_list *link;

	resend->again = true;
	resend->asked_before = resend->asked;
	vm_list_init(&conn->backlog);
	vm_list_each(link, &conn->sent) {
		struct vm_packet *pkt =
			vm_container_of(link, struct vm_packet, sent);

		if (pkt->place == VM_AT_NETWORK || pkt->place == VM_AT_END) {
			pkt = twin(conn, pkt);
			if (!pkt) {
				vm_peer_fail(port->fabric, conn->process,
					     -VMPI_ENOMEM,
					     "no memory to send packets again");
				break;
			}
			link = &pkt->sent;
		}
		vm_list_append(&conn->backlog, &pkt->link);
		if (pkt->place == VM_AT_BACKLOG)
			continue;
		pkt->place = VM_AT_BACKLOG;
		conn->backlogged++;
		vm_pvar_add(port->pvars.backlog, 1);
		vm_pvar_add(port->pvars.resent, 1);
	}
	if (!waits && !vm_list_empty(&conn->backlog)) {
		vm_list_append(&port->waiting, &conn->waiting);
		conn->since = 0;
	}
}

/* Takes in an ASK or ANSWER. */
static void signal_take(struct vm_conn *conn, const struct vm_wire *wire)
{
	struct vm_resend *resend = &conn->resend;
	struct vm_wire_state state;

	memcpy(&state, wire->upper, sizeof(state));
	vm_resend_confirm(conn, state.received);
	if (wire->kind == VM_WIRE_ASK) {
		uint32_t lost = wire->seq - conn->rx_seq;

		answer(conn, state.number,
		       lost > 0 && lost <= VM_RESEND_WINDOW);
		return;
	}
	if (state.number && state.number == resend->asked)
		resend->answers++;
	if (!state.lost || state.received != conn->confirmed ||
	    vm_list_empty(&conn->sent))
		return;
	/* What has been sent again meanwhile may be under way. */
	if (!resend->again ||
	    (state.number &&
	     (int32_t)(state.number - resend->asked_before) > 0))
		send_again(conn);
}

bool vm_resend_signal(struct vm_conn *conn, const struct vm_wire *wire)
{
	if (wire->kind == VM_WIRE_ASK || wire->kind == VM_WIRE_ANSWER) {
		signal_take(conn, wire);
		return true;
	}
	return false;
}

static void packet_drop(struct vm_port *port, struct vm_packet *pkt, int error)
{
	pkt->confirmed = true;
	pkt->error = error;
	if (pkt->place == VM_AT_END)
		return;
	if (pkt->place == VM_AT_NETWORK)
		vm_port_orphan(port, pkt);
	else if (pkt->watched)
		vm_overlap_forget(&pkt->xfer);
	pkt->watched = false;
	pkt->place = VM_AT_END;
	if (pkt->op)
		vm_list_append(&port->ended, &pkt->link);
	else if (!pkt->orphan)
		vm_packet_put(&port->pkts, pkt);
}

/* Gives up packets that the network still has, and of which nobody keeps a list:
 * they have no number, or were confirmed since they had been sent before. */
static void unlisted_drop(struct vm_port *port, struct vm_conn *conn)
{
	struct vm_list *link = port->inflight.next;

	while (link != &port->inflight) {
		struct vm_packet *pkt =
			vm_container_of(link, struct vm_packet, link);

		link = link->next;
		if (pkt->use == VM_PKT_SEND && pkt->conn == conn &&
		    (pkt->once || pkt->confirmed))
			packet_drop(port, pkt, 0);
	}
	conn->resend.late = 0;
}

void vm_resend_drop(struct vm_conn *conn, int error)
{
	struct vm_port *port = conn->port;
	struct vm_list *link;

	if (!vm_list_empty(&conn->backlog))
		vm_list_remove(&conn->waiting);
	vm_list_init(&conn->backlog);
	vm_pvar_add(port->pvars.backlog, -(uint64_t)conn->backlogged);
	conn->backlogged = 0;
	conn->confirmed = conn->tx_seq;
	while ((link = vm_list_pop(&conn->sent)))
		packet_drop(port, vm_container_of(link, struct vm_packet, sent),
			    error);
	unlisted_drop(port, conn);
}

void vm_resend_chunk_begin(struct vm_conn *conn)
{
	conn->resend.chunks++;
	vm_resend_unsure(conn);
}

void vm_resend_chunk_end(struct vm_conn *conn, bool done)
{
	conn->resend.chunks--;
	conn->resend.chunks_ended++;
	if (done)
		conn->resend.failures = 0;
}

/* Asks what has arrived. */
static void ask(struct vm_conn *conn)
{
	struct vm_resend *resend = &conn->resend;
	struct vm_wire_state state = { .received = conn->rx_seq,
				       .number = resend->asked + 1 };

	/* 0 is no number. */
	state.number += state.number == 0;
	if (vm_conn_send_once(conn, VM_WIRE_ASK, &state) < 0) {
		vm_conn_refused(conn, &resend->refused_ns);
		return;
	}
	resend->asked = state.number;
	resend->failed = false;
	resend->refused_ns = 0;
	resend->asks++;
	vm_pvar_add(conn->port->pvars.asks, 1);
}

/* Notes how far all has come; when to ask if it comes no further. */
static uint64_t moved(struct vm_conn *conn, uint64_t now, uint64_t wait_ns)
{
	struct vm_resend *resend = &conn->resend;

	resend->seen = conn->confirmed;
	resend->seen_chunks = resend->chunks_ended;
	resend->asks = resend->answers = 0;
	resend->refused_ns = 0;
	resend->wait_ns = wait_ns;
	resend->next_ns = now + wait_ns;
	return resend->next_ns;
}

void vm_resend_failed(struct vm_conn *conn, const char *why)
{
	struct vm_resend *resend = &conn->resend;
	uint64_t wait_ns = ASK_NS_SOON;

	conn->doubted = true;
	/* Usually all that the network has fails at the same time. */
	if (resend->failed)
		return;
	resend->failed = true;
	vm_log(VM_INFO, "port %u: the connection to process %u is lost: %s",
	       conn->port->index, conn->process, why);
	if (++resend->failures > FAILURES_MAX) {
		vm_peer_fail(conn->port->fabric, conn->process, -VMPI_EPEER,
			     why);
		return;
	}
	vm_resend_unsure(conn);
	for (unsigned i = 1; i < resend->failures && wait_ns < ASK_NS_MAX; i++)
		wait_ns *= 2;
	moved(conn, vm_clock_ns(), wait_ns);
}

/* Nothing has moved for a while. */
static void doubt(struct vm_conn *conn)
{
	struct vm_resend *resend = &conn->resend;

	/* An answer follows what was sent before its question: what has not
	 * ended by the second one never will. */
	if ((resend->chunks || resend->late) &&
	    resend->answers >= ANSWERS_STUCK && conn->port->fabric->lossy) {
		resend->answers = 0;
		vm_rma_lost(conn);
		unlisted_drop(conn->port, conn);
	}
	/* While packets wait for the network it is asked for each of them. */
	if (vm_list_empty(&conn->backlog))
		ask(conn);
	/* It had said all it had to, and needs nothing from us any more. */
	if (resend->asks >= ASKS_LEFT && conn->left)
		vm_resend_drop(conn, 0);
}

/* When to check the connection again; UINT64_MAX: there is nothing to check. */
static uint64_t conn_look(struct vm_conn *conn, uint64_t now)
{
	struct vm_resend *resend = &conn->resend;

	if (conn->outlet)
		return vm_near_look(conn, now);
	if (conn->error || (vm_list_empty(&conn->sent) && !resend->chunks &&
			    !resend->late && !resend->failed))
		return UINT64_MAX;
	if (resend->next_ns == 0 || resend->seen != conn->confirmed ||
	    resend->seen_chunks != resend->chunks_ended)
		return moved(conn, now,
			     conn->port->ending || resend->failed ?
				     ASK_NS_SOON :
				     ASK_NS);
	if (now < resend->next_ns)
		return resend->next_ns;
	doubt(conn);
	if (resend->wait_ns < ASK_NS_MAX)
		resend->wait_ns *= 2;
	resend->next_ns = now + resend->wait_ns;
	return resend->next_ns;
}

uint64_t vm_resend_look(struct vm_port *port, uint64_t now)
{
	struct vm_list *link = port->unsure.next;
	uint64_t again = UINT64_MAX;

	while (link != &port->unsure) {
		struct vm_conn *conn =
			vm_container_of(link, struct vm_conn, resend.link);
		uint64_t next = conn_look(conn, now);

		link = link->next;
		if (next == UINT64_MAX) {
			vm_list_remove(&conn->resend.link);
			conn->resend.listed = false;
		} else if (next < again) {
			again = next;
		}
	}
	return again;
}

bool vm_resend_settled(const struct vm_port *port)
{
	struct vm_list *link;

	vm_list_each(link, &port->unsure) {
		const struct vm_conn *conn = vm_container_of(
			link, const struct vm_conn, resend.link);

		if (!conn->error && !vm_list_empty(&conn->sent))
			return false;
	}
	return true;
}
