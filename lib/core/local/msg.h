/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages: while one arrives, and while it is queued or held by a handle.
 *
 * The payload lies in the message itself (inline), in a buffer of the runtime
 * (copy) or still in the sender's memory (direct, with the sender's request).
 * That of a message from another process lies in a packet or is still there
 * (remote).
 */
#ifndef CORE_LOCAL_MSG_H
#define CORE_LOCAL_MSG_H

#include <stddef.h>
#include <stdint.h>

#include "core/local/layout.h"
#include "core/rank/match.h"
#include "fabric/fabric.h"
#include "vmpi.h"

struct vmpi_req;

#define VM_INLINE_MAX 40 /* payload bytes that travel inside a message */

/*
 * The protocols inside a process, in the order of preference.  One row is all
 * there is to the sender's side of one: its payload, its number in events, and
 * its functions prefix_fits() and prefix_start() (core/local/protocol.h).
 *	kind, prefix, text
 */
#define VM_LOCAL_PROTOCOLS(X)                                         \
	X(INLINE, vm_inline, "the bytes travel with the envelope")    \
	X(COPY, vm_copy, "the bytes wait in a buffer of the runtime") \
	X(DIRECT, vm_direct, "the bytes stay with the sender, who waits")

/* Protocols, as events number them. */
enum vm_proto {
#define VM_PROTO_ENUM(kind, prefix, text) VM_PROTO_##kind,
	VM_LOCAL_PROTOCOLS(VM_PROTO_ENUM)
#undef VM_PROTO_ENUM
		VM_PROTO_EAGER,
	VM_PROTO_RENDEZVOUS,
};

/* Where a payload lies.  A slot with a call is no message, but something to do
 * where it is read. */
enum vm_payload {
#define VM_PAYLOAD_ENUM(kind, prefix, text) VM_PAYLOAD_##kind,
	VM_LOCAL_PROTOCOLS(VM_PAYLOAD_ENUM)
#undef VM_PAYLOAD_ENUM
		VM_PAYLOAD_CALL,
	VM_PAYLOAD_LENT, /* with the sender, until the delivery returns */
	VM_PAYLOAD_PACKET,
	VM_PAYLOAD_REMOTE,
	VM_PAYLOAD_FETCHED /* was remote; the buffer is malloc'ed */
};

/* Whether it came from another process, and has an origin. */
static inline bool vm_payload_foreign(uint8_t payload)
{
	return payload >= VM_PAYLOAD_PACKET;
}

/* Where the payload of a message from another process is: part of an arrival
 * and of a message. */
struct vm_origin {
	struct vm_pkt *pkt;	 /* here, in its packet; NULL: at the sender */
	uint64_t sender;	 /* operation that a FIN ends; 0: none */
	struct vm_remote memory; /* to read it from; key 0: cannot be read */
	struct vm_to from;	 /* port that the answer goes to */
};

/* A message that is here and belongs to no queue. */
struct vm_arrival {
	struct vm_env env;
	uint8_t payload;		/* enum vm_payload */
	uint8_t path;			/* enum vm_path, which it came by */
	uint32_t signature;		/* while signatures are wanted */
	const struct vm_data *data;	/* the bytes; REMOTE: how many */
	struct vmpi_req *sender;	/* DIRECT: whom to tell; else NULL */
	const struct vm_origin *origin; /* if foreign */
	struct vm_port *port;		/* if foreign: of the receiver */
};

struct vmpi_msg {
	union {
		struct vm_match_node node;
		struct vm_match_queued queued;
	};
	struct vm_rank *rank;	 /* whose mailbox it arrived in */
	struct vmpi_req *sender; /* DIRECT, or a synchronous send; else NULL */
	size_t bytes;
	void *buffer;	    /* where the bytes are; not DIRECT, REMOTE */
	uint8_t payload;    /* enum vm_payload */
	bool matched;	    /* the layer above has a handle of it */
	uint32_t signature; /* while signatures are wanted */
	union {
		char inline_data[VM_INLINE_MAX];
		void *packed; /* DIRECT: a borrowed copy, freed at the end */
		struct vm_origin origin; /* if foreign */
	};
};

#define vm_msg vmpi_msg

#endif
