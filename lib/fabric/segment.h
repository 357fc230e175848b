/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Payloads that are longer than a packet.
 *
 * They go as several packets of data, the segments, under the port's lock, so
 * that nothing else of the connection comes between.  The receiver puts them
 * together in a packet of their size, which then is like any other; it holds
 * the credits of all its segments.  All under the port's lock.
 */
#ifndef FABRIC_SEGMENT_H
#define FABRIC_SEGMENT_H

#include "fabric/conn.h"

/* The number of packets that so many bytes take. */
static inline uint32_t vm_segments(const struct vm_port *port, uint32_t bytes)
{
	uint32_t each = port->fabric->limits.packet_bytes;

	return VM_LIKELY(bytes <= each) ? 1 : (bytes - 1) / each + 1;
}

/* Whether a packet is the next segment, or the first one, of the connection's
 * segmented payload; if there is one under way, no other data or control packet
 * may come. */
bool vm_segment_fits(const struct vm_conn *conn, const struct vm_wire *wire,
		     const void *packet, size_t payload);

/*
 * Takes in a segment that fits and gives its packet back.  With the last one:
 * returns the whole, with its header and the place of the payload.  NULL: there
 * is more to come, or there is no memory and the process was given up.
 */
struct vm_packet *vm_segment_take(struct vm_conn *conn, struct vm_packet *pkt,
				  struct vm_wire *wire, size_t *payload);

#endif
