/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that have arrived and are not received: the message handle.
 *
 * The payload lies in the message itself (inline), in a buffer of the runtime
 * (copy) or still in the sender's memory (direct, with the sender's request).
 * That of a message from another process lies in a packet or is still there
 * (remote).
 */
#ifndef CORE_COMM_MSG_H
#define CORE_COMM_MSG_H

#include <stddef.h>
#include <stdint.h>

#include "core/local/layout.h"
#include "core/rank/match.h"
#include "core/remote/remote.h"
#include "vmpi.h"

struct vmpi_req;

#define VM_INLINE_MAX 40 /* payload bytes that travel inside a message */

/* A slot with a call is no message, but something to do where it is read. */
enum vm_payload {
	VM_PAYLOAD_INLINE,
	VM_PAYLOAD_COPY,
	VM_PAYLOAD_DIRECT,
	VM_PAYLOAD_CALL,
	VM_PAYLOAD_PACKET,
	VM_PAYLOAD_REMOTE,
	VM_PAYLOAD_FETCHED /* was remote; the buffer is malloc'ed */
};

/* Whether the payload came from another process, and has an origin. */
static inline bool vm_payload_foreign(uint8_t payload)
{
	return payload >= VM_PAYLOAD_PACKET;
}

struct vmpi_msg {
	struct vm_match_node node;
	struct vm_rank *rank;	 /* whose mailbox it arrived in */
	struct vmpi_req *sender; /* DIRECT, or a synchronous send; else NULL */
	size_t bytes;
	void *buffer; /* where the bytes are; not DIRECT, REMOTE */
	union {
		char inline_data[VM_INLINE_MAX];
		void *packed; /* DIRECT: a borrowed copy, freed at the end */
		struct vm_origin origin; /* if foreign */
	};
	uint8_t payload; /* enum vm_payload */
};

#define vm_msg vmpi_msg

#endif
