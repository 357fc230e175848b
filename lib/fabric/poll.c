/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One poll of the network: arrivals, ends of operations, packets that can go
 * on.
 */
#include "fabric/poll.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/log.h"
#include "fabric/conn.h"
#include "fabric/near.h"
#include "fabric/notice.h"
#include "fabric/rma.h"
#include "fabric/state.h"

#define EVENTS 16	    /* read at a time */
#define SETTINGS_POLLS 1024 /* polls between checks of the settings */

/* Moves all of a list to the end of another one. */
static void list_move(struct vm_list *to, struct vm_list *from)
{
	if (vm_list_empty(from))
		return;
	from->next->prev = to->prev;
	to->prev->next = from->next;
	from->prev->next = to;
	to->prev = from->prev;
	vm_list_init(from);
}

/* Handles a send or chunk that the network is done with. */
static void send_ended(struct vm_port *port, struct vm_packet *pkt, int error)
{
	vm_port_landed(port);
	if (VM_UNLIKELY(pkt->orphan)) {
		pkt->orphan = false;
		port->orphans--;
		if (!pkt->op)
			vm_packet_put(&port->pkts, pkt);
		return;
	}
	if (pkt->use == VM_PKT_CHUNK) {
		vm_rma_chunk_end(port, pkt, error);
		return;
	}
	if (VM_UNLIKELY(pkt->confirmed))
		pkt->conn->resend.late--;
	vm_conn_room(pkt->conn);
	vm_list_remove(&pkt->link);
	if (VM_LIKELY(!pkt->watched || error)) {
		vm_resend_home(port, pkt);
		return;
	}
	pkt->place = VM_AT_END;
	if (pkt->left && pkt->left > vm_clock_ns())
		vm_port_hold(port, &pkt->due, pkt->left);
	else
		vm_list_append(&port->ended, &pkt->link);
}

/* Handles the failure of an operation in the network. */
static void event_failed(struct vm_port *port)
{
	struct fi_cq_err_entry entry = { 0 };
	char data[256];
	struct vm_packet *pkt;
	struct vm_conn *conn;
	bool lost;
	int error;

	entry.err_data = data;
	entry.err_data_size = sizeof(data);
	if (port->fi->cq_readerr(port->cq, &entry) != 1)
		return;
	pkt = entry.op_context;
	error = entry.err < 0 ? -entry.err : entry.err;
	if (error != FI_ECANCELED)
		vm_pvar_add(port->pvars.errors, 1);
	if (!pkt)
		return;
	if (pkt->use == VM_PKT_RECEIVE) {
		port->rx_posted--;
		vm_pvar_add(port->pvars.posted, (uint64_t)-1);
		if (!port->closing && error != FI_ECANCELED)
			vm_port_reject(port, VM_reject_length);
		vm_port_recycle(port, pkt);
		return;
	}
	conn = pkt->conn;
	if (pkt->use == VM_PKT_FREE) {
		vm_peer_fail(port->fabric, conn->process, -VMPI_EPEER,
			     "the provider says twice that a read has failed");
		return;
	}
	lost = !pkt->orphan && (pkt->use == VM_PKT_SEND ||
				port->fabric->lossy || vm_fi_lost(error));
	send_ended(port, pkt, lost ? -VMPI_EAGAIN : -VMPI_EIO);
	if (lost)
		vm_resend_failed(conn, vm_fi_text(error));
}

/* Reads events of the network, waits for one unless wait_ms is 0; returns how
 * many.  Most polls find none. */
static inline __attribute__((always_inline)) int
network_read(struct vm_port *port, int wait_ms)
{
	struct fi_cq_data_entry events[EVENTS];
	ssize_t n = wait_ms ? port->fi->cq_sread(port->cq, events, wait_ms) :
			      port->fi->cq_read(port->cq, events, EVENTS);

	if (n == -FI_EAVAIL) {
		event_failed(port);
		return 1;
	}
	for (ssize_t i = 0; i < n; i++) {
		struct vm_packet *pkt = events[i].op_context;

		if (events[i].flags & FI_RECV) {
			port->rx_posted--;
			vm_pvar_add(port->pvars.posted, (uint64_t)-1);
			if (n > 1 || !port->hoped ||
			    !vm_look_hit(port, pkt, events[i].len))
				vm_packet_arrived(port, pkt, events[i].len);
		} else if (VM_UNLIKELY(events[i].flags & FI_REMOTE_WRITE)) {
			if (events[i].flags & FI_REMOTE_CQ_DATA)
				vm_notice_take(port, events[i].data);
		} else {
			send_ended(port, pkt, 0);
		}
	}
	return n > 0 ? (int)n : 0;
}

int vm_port_read_wait(struct vm_port *port, int wait_ms)
{
	return network_read(port, wait_ms);
}

/* Takes packets that were held back and are due now. */
static void held_take(struct vm_port *port)
{
	uint64_t now = vm_clock_ns();
	struct vm_due *due;

	while ((due = vm_due_take(&port->held, now))) {
		struct vm_packet *pkt =
			vm_container_of(due, struct vm_packet, due);
		bool arrival = pkt->use == VM_PKT_RECEIVE ||
			       pkt->use == VM_PKT_LOOP;

		vm_list_append(arrival ? &port->arrived : &port->ended,
			       &pkt->link);
	}
}

/* Takes packets of the loop. */
static void inbox_take(struct vm_port *port)
{
	struct vm_list list;

	vm_list_init(&list);
	vm_lock_take(&port->inbox_lock);
	list_move(&list, &port->inbox);
	atomic_store_explicit(&port->inbox_full, false, memory_order_relaxed);
	vm_lock_give(&port->inbox_lock);
	while (!vm_list_empty(&list)) {
		struct vm_packet *pkt = vm_container_of(vm_list_pop(&list),
							struct vm_packet, link);

		vm_pvar_add(port->pvars.received, 1);
		vm_pvar_add(port->pvars.received_bytes, pkt->view.bytes);
		if (pkt->left)
			vm_port_hold(port, &pkt->due, pkt->left);
		else
			vm_list_append(&port->arrived, &pkt->link);
	}
}

/* Handles processes that were given up, here or by another port. */
static void deaths_see(struct vm_port *port)
{
	struct vm_fabric *fabric = port->fabric;
	/* Pairs with the addition in vm_peer_fail(). */
	uint32_t deaths =
		atomic_load_explicit(&fabric->deaths, memory_order_acquire);

	if (VM_LIKELY(deaths == atomic_load_explicit(&port->deaths,
						     memory_order_relaxed)))
		return;
	for (uint32_t i = 0; i < fabric->config.processes; i++) {
		int error = atomic_load_explicit(&fabric->peers[i].error,
						 memory_order_relaxed);
		struct vm_contact *contact;

		if (!error)
			continue;
		contact = vm_contact_get(port, i);
		/* What it has sent is delivered first. */
		if (contact && !vm_inlets_pending(port, i))
			vm_contact_fail(port, contact, error);
		else
			deaths--; /* again at the next poll */
	}
	atomic_store_explicit(&port->deaths, deaths, memory_order_relaxed);
}

/* Handles processes that said goodbye, once all their packets are delivered. */
static void leavers_see(struct vm_port *port)
{
	for (uint32_t i = 0; i < port->fabric->config.processes; i++) {
		struct vm_contact *contact = port->contacts[i];

		for (unsigned c = 0; contact && c < contact->count; c++)
			if (contact->conns[c].left)
				vm_contact_fail(port, contact, 0);
	}
	port->leavers = false;
}

/* Polls between looks at a network that is silent: each look is a system call,
 * so they become rarer while there is nothing. */
#define SILENT_POLLS 64
#define SILENT_POLLS_MAX 65536

/* Under lock: whether it is time to ask the network. */
static bool network_due(struct vm_port *port)
{
	if (!port->fi || (vm_port_silent(port) &&
			  port->pvars.polls - port->asked < port->unasked))
		return false;
	port->asked = port->pvars.polls;
	return true;
}

/* Under lock: asks the network, and notes when to ask again if it is silent. */
static int network_ask(struct vm_port *port)
{
	int events = network_read(port, 0);

	if (events || port->unasked < SILENT_POLLS)
		port->unasked = SILENT_POLLS;
	else if (port->unasked < SILENT_POLLS_MAX)
		port->unasked *= 2;
	return events;
}

/* Under lock: moves everything that can move. */
static int port_move(struct vm_port *port)
{
	int events = 0;

	/* Now, and not when they were delivered: who got them may answer, and
	 * this can be done while the answer is under way. */
	if (port->took)
		vm_look_took(port);
	if (port->rx_posted < port->rx_target)
		vm_port_fill(port);
	if (network_due(port))
		events = network_ask(port);
	events += vm_inlets_take(port);
	if (VM_UNLIKELY(atomic_load_explicit(&port->inbox_full,
					     memory_order_acquire)))
		inbox_take(port);
	if (VM_UNLIKELY(!vm_list_empty(&port->waiting)))
		vm_conns_flush(port);
	if (!vm_list_empty(&port->rma))
		vm_rma_push(port);
	if (VM_UNLIKELY(port->held.top != NULL))
		held_take(port);
	if (VM_UNLIKELY(port->leavers))
		leavers_see(port);
	if (VM_UNLIKELY(!vm_list_empty(&port->brim)))
		vm_conns_brim(port, 0);
	deaths_see(port);
	return events;
}

/* Moves the packets that ask for much data behind the others. */
static void asking_last(struct vm_list *arrived, uint8_t kind)
{
	struct vm_list asking, *link, *next;

	if (!kind || arrived->next == arrived->prev)
		return;
	vm_list_init(&asking);
	for (link = arrived->next; link != arrived; link = next) {
		next = link->next;
		if (vm_container_of(link, struct vm_packet, link)->view.kind !=
		    kind)
			continue;
		vm_list_remove(link);
		vm_list_append(&asking, link);
	}
	list_move(arrived, &asking);
}

/* Takes in what has come meanwhile, before more is answered. */
static void look_again(struct vm_found *found, struct vm_port *port)
{
	vm_port_lock(port);
	found->events += port_move(port);
	list_move(&found->arrived, &port->arrived);
	list_move(&found->ended, &port->ended);
	vm_port_unlock(port);
	asking_last(&found->arrived, port->fabric->config.asking);
}

/* Calls the handler of each packet; those not kept go on to `used`. */
static int deliver(struct vm_found *found, struct vm_list *used,
		   struct vm_port *port)
{
	const struct vm_fabric_config *config = &port->fabric->config;
	struct vm_list *link;
	int count = 0;

	asking_last(&found->arrived, config->asking);
	while ((link = vm_list_pop(&found->arrived))) {
		struct vm_packet *pkt =
			vm_container_of(link, struct vm_packet, link);
		uint8_t kind = pkt->view.kind;

		pkt->at = port;
		pkt->moved = false;
		port->taken = false;
		config->arrived[kind](port, &pkt->view);
		count++;
		/* A kept packet may be free or in use again by now. */
		if (!port->taken)
			vm_list_append(used, &pkt->link);
		if (kind == config->asking && kind &&
		    !vm_list_empty(&found->arrived))
			look_again(found, port);
	}
	return count;
}

/* Reports ended operations to their owners, and those of others. */
static int ended_report(struct vm_port *port, struct vm_list *ended)
{
	const struct vm_fabric_config *config = &port->fabric->config;
	struct vm_list *link;
	int count = 0;

	vm_list_each(link, ended) {
		struct vm_packet *pkt =
			vm_container_of(link, struct vm_packet, link);

		count++;
		if (pkt->use == VM_PKT_CARRIER) {
			struct vm_rma *rma = pkt->op;

			rma->done(rma, pkt->error);
		} else if (pkt->use == VM_PKT_NOTICE) {
			if (config->noticed)
				config->noticed(config->arg, port, pkt->notice);
		} else {
			vm_resend_report(pkt);
		}
	}
	return count;
}

/* Reports processes that are gone. */
static void report(struct vm_port *port, struct vm_list *gone)
{
	const struct vm_fabric_config *config = &port->fabric->config;
	struct vm_list *link;

	while ((link = vm_list_pop(gone))) {
		struct vm_contact *contact =
			vm_container_of(link, struct vm_contact, gone);

		config->down(config->arg, port, contact->process,
			     contact->error);
	}
}

void vm_packet_spend(struct vm_port *port, struct vm_packet *pkt)
{
	if (!pkt->moved && !pkt->view.control)
		vm_conn_release(pkt->conn, pkt->parts);
	if (port->rx_posted < port->rx_target)
		vm_list_append(&port->spent, &pkt->link);
	else
		vm_port_recycle(port, pkt);
}

/* Under lock: what becomes of packets after their callbacks. */
static void clean(struct vm_port *port, struct vm_list *used,
		  struct vm_list *loops, struct vm_list *ended)
{
	struct vm_list *link;

	while ((link = vm_list_pop(used))) {
		struct vm_packet *pkt =
			vm_container_of(link, struct vm_packet, link);

		if (pkt->use == VM_PKT_LOOP) {
			vm_list_append(loops, link);
			continue;
		}
		vm_packet_spend(port, pkt);
	}
	while ((link = vm_list_pop(ended))) {
		struct vm_packet *pkt =
			vm_container_of(link, struct vm_packet, link);

		if (pkt->use == VM_PKT_SEND && !pkt->orphan) {
			vm_resend_home(port, pkt);
			continue;
		}
		pkt->op = NULL;
		if (!pkt->orphan)
			vm_packet_put(&port->pkts, pkt);
	}
}

/* Under both locks: counts this poll and those that took no lock; whether it is
 * time to check the settings. */
static bool polls_count(struct vm_port *port)
{
	uint64_t before = port->pvars.polls;

	vm_pvar_keep(port->pvars.polls,
		     1 + atomic_load_explicit(&port->looks,
					      memory_order_relaxed));
	atomic_store_explicit(&port->looks, 0, memory_order_relaxed);
	return before / SETTINGS_POLLS != port->pvars.polls / SETTINGS_POLLS;
}

/* Under lock: whether the next poll has nothing to do, unless something
 * comes. */
static bool is_done(const struct vm_port *port)
{
	return vm_port_silent(port) && vm_list_empty(&port->waiting) &&
	       vm_list_empty(&port->rma) && vm_list_empty(&port->brim) &&
	       vm_list_empty(&port->room) && !port->held.top && !port->leavers;
}

void vm_found_seek(struct vm_found *found, struct vm_port *port,
		   struct vm_conn *from)
{
	vm_list_init(&found->arrived);
	vm_list_init(&found->ended);
	vm_list_init(&found->gone);
	vm_port_lock(port);
	port->hoped = from;
	found->events = port_move(port);
	port->hoped = NULL;
	list_move(&found->arrived, &port->arrived);
	list_move(&found->ended, &port->ended);
	list_move(&found->gone, &port->gone);
	found->room = !vm_list_empty(&port->room);
	found->received_bytes = port->pvars.received_bytes;
	if (VM_UNLIKELY(polls_count(port)) && port->fi) {
		uint64_t now = vm_clock_ns();

		atomic_store_explicit(&port->fabric->silent,
				      vm_near_all(port->fabric),
				      memory_order_relaxed);
		vm_port_retarget(port);
		vm_port_shrink(port, now);
		vm_resend_look(port, now);
	}
	if (VM_UNLIKELY(port->woken)) {
		port->spurious++;
		port->woken = false;
	}
	if (found->events) {
		port->spurious = 0;
		vm_pvar_add(port->pvars.polls_found, 1);
		vm_pvar_max(port->pvars.events_max, (uint64_t)found->events);
	}
	atomic_store_explicit(&port->calm, is_done(port), memory_order_relaxed);
	vm_port_unlock_calm(port);
}

/* Under polling: makes the callbacks, and handles what follows from them. */
static int callbacks_make(struct vm_found *found, struct vm_port *port,
			  bool own)
{
	struct vm_list used, loops, *link;
	int count;

	vm_list_init(&used);
	vm_list_init(&loops);
	count = deliver(found, &used, port) + ended_report(port, &found->ended);
	report(port, &found->gone);
	vm_port_lock(port);
	clean(port, &used, &loops, &found->ended);
	if (own) {
		vm_pvar_add(port->pvars.events_own, (uint64_t)count);
	} else {
		vm_pvar_add(port->pvars.events_helped, (uint64_t)count);
		vm_pvar_add(port->pvars.bytes_helped,
			    found->received_bytes - port->counted);
	}
	port->counted = found->received_bytes;
	vm_port_unlock(port);
	while ((link = vm_list_pop(&loops)))
		vm_loop_release(vm_container_of(link, struct vm_packet, link));
	return count;
}

/* Under polling: tells refused senders that they may try again. */
static void room_report(struct vm_port *port)
{
	const struct vm_fabric_config *config = &port->fabric->config;
	struct vm_list *link;

	vm_port_lock(port);
	while ((link = vm_list_pop(&port->room))) {
		struct vm_conn *conn =
			vm_container_of(link, struct vm_conn, room);

		conn->room_state = VM_ROOM_UNWANTED;
		vm_port_unlock(port);
		if (config->room)
			config->room(config->arg, port, conn->process,
				     conn->remote);
		vm_port_lock(port);
	}
	vm_port_unlock(port);
}

int vm_found_tell(struct vm_found *found, struct vm_port *port, bool own)
{
	int count = 0;

	if (!vm_list_empty(&found->arrived) || !vm_list_empty(&found->ended) ||
	    VM_UNLIKELY(!vm_list_empty(&found->gone)))
		count = callbacks_make(found, port, own);
	if (VM_UNLIKELY(found->room))
		room_report(port);
	return count;
}

/* Whether it would find nothing at all. */
static bool is_vain(struct vm_port *port)
{
	return vm_port_still(port) && vm_inlets_silent(&port->inlets) &&
	       !atomic_load_explicit(&port->inlets.uncounted,
				     memory_order_relaxed) &&
	       vm_port_looks_count(port);
}

int vm_port_poll(struct vm_port *port, bool own)
{
	struct vm_found found;
	int count, records, cards = 0;

	if (VM_UNLIKELY(port->fabric->lanes.count) && !port->index)
		cards = vm_lanes_poll(port->fabric);
	if (is_vain(port))
		return cards;
	/* Who helps may have interrupted who has the lock, and must not wait. */
	if ((!own && vm_bias_taken(&port->lock)) ||
	    !vm_bias_try(&port->polling)) {
		__atomic_fetch_add(&port->pvars.polls_busy, 1,
				   __ATOMIC_RELAXED);
		return -VMPI_EAGAIN;
	}
	records = vm_inlets_deliver(port, own);
	if (records && vm_port_calm(port) && vm_port_looks_count(port)) {
		vm_bias_give(&port->polling);
		return cards + records;
	}
	vm_found_seek(&found, port, NULL);
	count = vm_found_tell(&found, port, own);
	vm_bias_give(&port->polling);
	return cards + records + count + found.events;
}

uint64_t vm_port_polls(const struct vm_port *port)
{
	return __atomic_load_n(&port->pvars.polls, __ATOMIC_RELAXED) +
	       atomic_load_explicit(&port->looks, memory_order_relaxed);
}

bool vm_port_busy(const struct vm_port *port)
{
	/* Pairs with the release stores of other ports' sends and of deaths. */
	return !vm_list_empty(&port->arrived) || !vm_list_empty(&port->ended) ||
	       !vm_list_empty(&port->gone) || port->leavers ||
	       !vm_list_empty(&port->room) || port->looked || port->took ||
	       vm_inlets_busy(port) ||
	       (!port->index && vm_lanes_busy(port->fabric)) ||
	       atomic_load_explicit(&port->inbox_full, memory_order_acquire) ||
	       atomic_load_explicit(&port->deaths, memory_order_relaxed) !=
		       atomic_load_explicit(&port->fabric->deaths,
					    memory_order_acquire);
}
