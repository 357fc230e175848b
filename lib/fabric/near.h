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
#include "fabric/packet/wire.h"
#include "fabric/shm/ring.h"

struct vm_conn;
struct vm_packet;

/* The words of a record.  A whole packet has its own header in the payload. */
struct vm_near_words {
	uint16_t credits;
	uint8_t kind; /* VM_WIRE_DATA, VM_WIRE_CONTROL, or NONE: a packet */
	uint8_t upper_kind;
	uint8_t upper[VM_UPPER_BYTES];
};

VM_STATIC_ASSERT(sizeof(struct vm_near_words) == VM_SHM_HEAD, "they fit");

/* Under lock.  Takes a ring for a new connection, if its process is near. */
void vm_near_connect(struct vm_conn *conn);

/* Under lock.  Sends a payload of at most one packet: 0, or -VMPI_EAGAIN: it has
 * to go as a packet. */
int vm_near_send(struct vm_conn *conn, const struct vm_send *send);

/* Under lock.  Hands a packet to the ring: 0 or -VMPI_EAGAIN. */
int vm_near_put(struct vm_conn *conn, const struct vm_packet *pkt);

/* Under lock.  The ring has a packet that was to be kept until now: it ends. */
void vm_near_left(struct vm_conn *conn, struct vm_packet *pkt);

/* Under lock.  Whether others who are there have read all that we have sent. */
bool vm_near_settled(const struct vm_port *port);

/* Under lock.  Checks whether the process is there, if it has not read for long
 * what we have sent.  When to check again; UINT64_MAX: it has read all. */
uint64_t vm_near_look(struct vm_conn *conn, uint64_t now);

/* Whether all other processes are near: the network is silent. */
bool vm_near_all(const struct vm_fabric *fabric);

#endif
