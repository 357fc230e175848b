/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections to processes of this host: their packets go through rings in
 * shared memory (fabric/shm/shm.h) instead of the network.
 *
 * Whatever a port sends on such a connection goes through its one ring, in
 * order; nothing is lost there, so nothing is kept until it is confirmed.  A
 * short packet of the layer above is written into the ring by its sender and
 * handed up by the poller where it lies; all others are copied to packets of
 * the pool first, and then handled as if the network had brought them.
 */
#ifndef FABRIC_NEAR_H
#define FABRIC_NEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/fabric.h"
#include "fabric/shm/ring.h"

struct vm_conn;
struct vm_packet;

/* A ring that comes in at a port. */
struct vm_inlet {
	struct vm_shm_reader reader;
	struct vm_conn *conn; /* NULL: not found yet */
	uint32_t process, from;
	bool open; /* its sender is known */
};

struct vm_inlets {
	struct vm_inlet *list;
	uint32_t count, room;
	uint32_t closed; /* of the first `count`: not open yet */
	/* For who takes no lock: how many senders there are, and how many of
	 * them the list shows. */
	const _Atomic uint32_t *taken;
	_Atomic uint32_t shown;
};

/* Opens the memory of the process, if `fabric_shm` wants it; never fails. */
void vm_near_open(struct vm_fabric *fabric);

/* Of one port: 0 or -VMPI_ENOMEM. */
int vm_near_init(struct vm_port *port);
void vm_near_fini(struct vm_port *port);

/* Under lock.  Takes a ring for a new connection, if its process is near. */
void vm_near_connect(struct vm_conn *conn);

/* Under lock.  Sends a payload of at most one packet: 0, or -VMPI_EAGAIN: it has
 * to go as a packet. */
int vm_near_send(struct vm_conn *conn, const struct vm_send *send);

/* Under lock.  Hands a packet to the ring: 0 or -VMPI_EAGAIN. */
int vm_near_put(struct vm_conn *conn, const struct vm_packet *pkt);

/* Under lock.  The ring has a packet that was to be kept until now: it ends. */
void vm_near_left(struct vm_conn *conn, struct vm_packet *pkt);

/* Under polling.  Hands short packets up; returns how many. */
int vm_near_deliver(struct vm_port *port, bool own);

/* Under no lock.  Whether there is nothing to be read. */
static inline bool vm_inlets_silent(const struct vm_inlets *inlets)
{
	/* Pairs with the store in inlets_open(). */
	uint32_t shown =
		atomic_load_explicit(&inlets->shown, memory_order_acquire);

	if (!inlets->room)
		return true;
	if (VM_UNLIKELY(atomic_load_explicit(inlets->taken,
					     memory_order_relaxed) != shown))
		return false;
	for (uint32_t i = 0; i < shown; i++)
		if (vm_shm_peek(&inlets->list[i].reader))
			return false;
	return true;
}

/* Under lock and polling.  Takes the other packets; returns how many. */
int vm_near_take(struct vm_port *port);

/* Under lock.  Whether there is something in the rings; in those of one
 * process. */
bool vm_near_busy(const struct vm_port *port);
bool vm_near_pending(const struct vm_port *port, uint32_t process);

/* Under lock.  Whether others who are there have read all that we have sent. */
bool vm_near_settled(const struct vm_port *port);

/* Under lock.  Checks whether the process is there, if it has not read for long
 * what we have sent.  When to check again; UINT64_MAX: it has read all. */
uint64_t vm_near_look(struct vm_conn *conn, uint64_t now);

/* Whether all other processes are near: the network is silent. */
bool vm_near_all(const struct vm_fabric *fabric);

#endif
