/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The steps of a poll, and what it may leave out.
 */
#ifndef FABRIC_POLL_H
#define FABRIC_POLL_H

#include "fabric/state.h"

/* The results of a poll, before their callbacks. */
struct vm_found {
	struct vm_list arrived, ended, gone;
	bool room;		 /* for data that were refused */
	uint64_t received_bytes; /* the port's, up to now */
	int events;
};

/* Under polling: polls once, and fills it.  from: who looks wants what comes
 * from there; or NULL. */
void vm_found_seek(struct vm_found *found, struct vm_port *port,
		   struct vm_conn *from);

/* Under polling: makes the callbacks, and handles what follows from them.
 * Returns how many. */
int vm_found_tell(struct vm_found *found, struct vm_port *port, bool own);

/* Under lock: a packet has been used and is to be posted again, by the next
 * poll. */
void vm_packet_spend(struct vm_port *port, struct vm_packet *pkt);

/* Under lock: whether a message of the network is for who looks; if so it is in
 * port->looked (look.c). */
bool vm_look_hit(struct vm_port *port, struct vm_packet *pkt, size_t bytes);

/* Under lock: what was found for who looks, if anything, comes as any other. */
void vm_look_leave(struct vm_port *port);

/* Under lock: what follows from a message that was taken by who looked. */
void vm_look_took(struct vm_port *port);

/* Polls that do not look at the lists, in a row. */
#define VM_LOOKS_ROW 64

/* Whether the network has something only now and then, if there is one. */
static inline bool vm_port_silent(const struct vm_port *port)
{
	return !port->fi || atomic_load_explicit(&port->fabric->silent,
						 memory_order_relaxed);
}

/* Counts a poll that did not look at the lists; false: it is time to. */
static inline bool vm_port_looks_count(struct vm_port *port)
{
	uint32_t looks =
		atomic_load_explicit(&port->looks, memory_order_relaxed);

	if (VM_UNLIKELY(looks >= VM_LOOKS_ROW - 1))
		return false;
	/* Two at a time count as one. */
	atomic_store_explicit(&port->looks, looks + 1, memory_order_relaxed);
	return true;
}

/* Whether the lists have nothing for a poll. */
static inline bool vm_port_calm(const struct vm_port *port)
{
	/* Pairs with the stores under lock, of which the last one is seen some
	 * time; who goes to sleep looks under lock. */
	return atomic_load_explicit(&port->calm, memory_order_relaxed);
}

/* Whether a poll would find nothing but in the rings, as far as that is seen
 * without a lock. */
static inline bool vm_port_still(const struct vm_port *port)
{
	const struct vm_fabric *fabric = port->fabric;

	return vm_port_calm(port) &&
	       !atomic_load_explicit(&port->inbox_full, memory_order_relaxed) &&
	       atomic_load_explicit(&port->deaths, memory_order_relaxed) ==
		       atomic_load_explicit(&fabric->deaths,
					    memory_order_relaxed);
}

#endif
