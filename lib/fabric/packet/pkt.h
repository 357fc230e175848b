/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets and the pools they come from.
 *
 * A port has one pool with several sizes of packets.  The third one is that of
 * the wire: it takes any packet that arrives.  Those above it are for payloads
 * that came in several packets.  Memory comes in slabs of one size; a slab of
 * which no packet is in use can be given back.  A pool is guarded by its port's
 * lock.
 */
#ifndef FABRIC_PACKET_PKT_H
#define FABRIC_PACKET_PKT_H

#include "base/list.h"
#include "fabric/ofi/fi.h"
#include "fabric/packet/link.h"
#include "fabric/packet/vars.h"
#include "fabric/packet/view.h"
#include "fabric/packet/wire.h"
#include "introspect/measure/overlap.h"

/*
 * A packet is a buffer for the wire with the state that the port needs while
 * the network has it, the layer above keeps it, or it waits: it is in at most
 * one list, sends also in that of what is not confirmed.  Chunks of remote reads and writes use small packets as well.
 */

#define VM_PKT_WIRE 2	 /* the class of what is posted for arrivals */
#define VM_PKT_CLASSES 9 /* the others are powers of two up to ... */
#define VM_LONG_BYTES_MAX (UINT32_C(1) << 20)

struct vm_conn;
struct vm_port;
struct vm_slab;

/* Uses of a packet. */
enum vm_pkt_use {
	VM_PKT_FREE,
	VM_PKT_RECEIVE, /* posted, or arrived */
	VM_PKT_SEND,
	VM_PKT_CHUNK,
	VM_PKT_CARRIER, /* carries the end of a remote read or write */
	VM_PKT_NOTICE,	/* carries what another process's write tells */
	VM_PKT_LOOP,	/* from us to us */
	VM_PKT_RECORD,	/* none: stands for what lies in a ring */
};

/* Where a packet of a send is; at home it waits to be confirmed. */
enum vm_pkt_place { VM_AT_HOME, VM_AT_BACKLOG, VM_AT_NETWORK, VM_AT_END };

struct vm_packet {
	struct fi_context2 context; /* first: the network hands it back */
	struct vm_pkt view;	    /* the part that the layer above sees */
	struct vm_list link;
	struct vm_due due;
	struct vm_port *port; /* whose pool it is from */
	struct vm_port *at;   /* which delivers it, while it does */
	struct vm_conn *conn;
	struct vm_slab *slab;
	void *op;	     /* vm_send_op, of a send; vm_rma, of a chunk */
	const void *data;    /* of a send by reference */
	struct vm_list sent; /* of a send: in conn->sent, by number */
	uint32_t end;	     /* ... the number behind its last packet */
	struct vm_overlap_xfer xfer; /* of an observed send */
	uint64_t left; /* of a send: has left then, by the link model */
	size_t from;   /* of a chunk: its first byte */
	int error;
	uint32_t wire_bytes; /* in `wire` */
	uint32_t data_bytes; /* at `data`, or of a chunk */
	uint32_t notice;     /* of a notice: the number that it tells */
	uint8_t use;
	uint8_t place;	/* of a send */
	bool once;	/* ... has no number: it is not sent again */
	bool confirmed; /* ... its receiver has it, or is gone */
	bool watched;	/* ... is observed until it has left */
	bool kept;	/* the layer above has it */
	bool moved;	/* ... has another one in its place */
	bool orphan;	/* its owner was told, but the network still has it */
	bool batch;	/* of a send: others may be added behind the last one */
	uint16_t parts; /* of an arrival: packets that it came in */
	uint32_t last;	/* ... which begins there */
	char wire[] VM_ALIGNED(64);
};

struct vm_slab {
	struct vm_list link;
	struct vm_list free;
	unsigned used, class_, packets;
	size_t bytes;
	struct fid_mr *mr; /* where the provider wants local registration */
	void *desc;
};

struct vm_pkts {
	struct vm_pkt_class {
		struct vm_list some,
			none;	     /* slabs with, without free packets */
		uint32_t wire_bytes; /* room in each packet */
		unsigned idle;	     /* slabs without a used packet */
		unsigned used, peak; /* packets; most since the last shrink */
	} class_[VM_PKT_CLASSES];
	struct vm_port *port;
	struct fabric_port_pvars *pvars;
	/* Local registration of a slab; NULL where none is needed. */
	int (*reg)(struct vm_port *port, struct vm_slab *slab, bool open);
	/* Called at each change before it is counted; or NULL. */
	void (*changed)(struct vm_port *port, int64_t bytes, uint64_t total);
};

/* wire_bytes: space that the largest packets need. */
void vm_pkts_init(struct vm_pkts *pkts, struct vm_port *port,
		  struct fabric_port_pvars *pvars, uint32_t wire_bytes,
		  int (*reg)(struct vm_port *, struct vm_slab *, bool),
		  void (*changed)(struct vm_port *, int64_t, uint64_t));
/* Frees the slabs.  All packets are given up. */
void vm_pkts_fini(struct vm_pkts *pkts);

/* Takes a packet with space for so many bytes on the wire; NULL: out of
 * memory. */
struct vm_packet *vm_packet_get(struct vm_pkts *pkts, size_t wire_bytes);
void vm_packet_put(struct vm_pkts *pkts, struct vm_packet *pkt);

/* Moves what has arrived to another packet, which takes its place. */
void vm_packet_move(struct vm_packet *to, struct vm_packet *from);

/* Whether a packet for so many bytes would be smaller than this one. */
bool vm_packet_oversized(const struct vm_pkts *pkts,
			 const struct vm_packet *pkt, size_t wire_bytes);

/* Gives back slabs without used packets, except fabric_pool_keep of each size;
 * of those above the wire's all if none was used since the last time. */
void vm_pkts_shrink(struct vm_pkts *pkts);

/* Bytes of payload of a packet of each size (fabric_pool_packets). */
uint32_t vm_pool_payload(unsigned size);

#endif
