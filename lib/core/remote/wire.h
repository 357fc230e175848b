/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packets between node processes: kinds and headers.
 *
 * One row of VM_PACKETS is all there is to a kind: its number, and its handler.
 * Headers are the fabric's upper header, 32 bytes in the byte order of the
 * machine (the fabric refuses others).  Operations are named by numbers of
 * base/id_table.h, never by addresses, and every field is checked where it is
 * used.
 */
#ifndef CORE_REMOTE_WIRE_H
#define CORE_REMOTE_WIRE_H

#include <stdint.h>

#include "base/err.h"
#include "core/rank/match.h"
#include "fabric/fabric.h"

/*
 *	kind, header, handler, text
 */
#define VM_PACKETS(X)                                                           \
	X(EAGER, envelope, vm_remote_eager, "a message with its payload")       \
	X(RTS, envelope, vm_remote_rts,                                         \
	  "a message whose payload waits at the sender")                        \
	X(WITHDRAW, envelope, vm_remote_withdraw,                               \
	  "the sender cancels a message that may not be matched yet")           \
	X(CTS, step, vm_rndv_send_cts,                                          \
	  "the receiver wants (more of) the payload")                           \
	X(FIN, step, vm_rndv_send_fin, "the receiver needs nothing any more")   \
	X(FRAGMENT, step, vm_rndv_recv_fragment, "a piece of the payload")      \
	X(WRITTEN, step, vm_rndv_recv_written,                                  \
	  "the sender has written what was wanted")                             \
	X(QUIET, step, vm_remote_quiet,                                         \
	  "whether anything moves (core/runtime/deadlock.h)")                   \
	X(REVOKE, step, vm_remote_revoke,                                       \
	  "nobody is to use the context `to` any more (core/comm/revoke.h)")    \
	X(FAILED, step, vm_remote_failed,                                       \
	  "the rank with the number `to` has failed (core/comm/fail.h)")        \
	X(WINDOW, window, vm_remote_window,                                     \
	  "between ends of a window (core/window/wire.h)")                      \
	X(SHARE, step, vm_rndv_send_share,                                      \
	  "the receiver reads: the sender may take part (fabric/near/share.h)") \
	X(SHARED, step, vm_rndv_recv_shared,                                    \
	  "the sender has, and the receiver waits for it")

enum vm_packet_kind {
#define VM_PACKET_ENUM(kind, header, handler, text) VM_PACKET_##kind,
	VM_PACKETS(VM_PACKET_ENUM)
#undef VM_PACKET_ENUM
		VM_PACKET_KINDS
};

/* A message. */
struct vm_wire_envelope {
	uint32_t context;
	int32_t source; /* the sender's number in the channel */
	int32_t tag;
	uint32_t rank; /* destination, in the world */
	/* Of the payload; above VM_WIRE_LENGTH_BITS the signature of what it
	 * contains, while these are wanted. */
	uint64_t bytes;
	uint64_t sender; /* its operation, which a FIN ends; 0: none */
};

/* No message has more bytes than fit. */
#define VM_WIRE_LENGTH_BITS 40

static inline uint64_t vm_wire_length(const struct vm_wire_envelope *envelope)
{
	return envelope->bytes & ((1ull << VM_WIRE_LENGTH_BITS) - 1);
}

static inline uint32_t
vm_wire_signature(const struct vm_wire_envelope *envelope)
{
	return (uint32_t)(envelope->bytes >> VM_WIRE_LENGTH_BITS);
}

/* A step of a rendezvous.  QUIET uses the same words, for the members of enum
 * vm_deadlock_step in `to`, a number of the question in `from`, two counts of
 * packets in `bytes`, and a count of ranks in `error`. */
struct vm_wire_step {
	uint64_t to; /* the operation of the receiving side */
	/* CTS: the operation of the receiver; WRITTEN: that of the sender. */
	uint64_t from;
	/* CTS: payload bytes the receiver takes from now on, in all; SHARE: all
	 * of them; FRAGMENT: where this piece begins. */
	uint64_t bytes;
	int32_t error;	 /* FIN, WRITTEN: 0, or why it ended */
	uint32_t number; /* SHARE */
};

VM_STATIC_ASSERT(sizeof(struct vm_wire_envelope) == VM_UPPER_BYTES,
		 "an envelope is an upper header");
VM_STATIC_ASSERT(sizeof(struct vm_wire_step) == VM_UPPER_BYTES,
		 "a step is an upper header");

#define VM_PACKET_HANDLER(kind, header, handler, text) vm_pkt_handler handler;
VM_PACKETS(VM_PACKET_HANDLER)
#undef VM_PACKET_HANDLER

#endif
