/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The header of every packet, and the one place that decides whether an arrived
 * packet is accepted.
 */
#ifndef FABRIC_PACKET_WIRE_H
#define FABRIC_PACKET_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fabric/ofi/address.h"
#include "fabric/packet/view.h"

/*
 * 64 bytes, little endian: 32 of the fabric, 32 of the layer above.  With the
 * flag STAMP eight more follow, the time of arrival by the link model.  With
 * the flag PART eight more: the payload is a segment of a longer one, which
 * comes in several packets of data, one right after the other on its
 * connection.  With the flag MORE another packet follows in the same message of
 * the network, at the next multiple of eight bytes; each is checked by itself.
 * Checking is a pure function of the bytes and of what we expect: no part of a
 * packet is used before it has passed.  Sequence numbers and credits need the
 * state of the connection and are checked by port.c.
 */

#define VM_WIRE_MAGIC 0x4d56 /* "VM" */
#define VM_WIRE_VERSION 5
#define VM_WIRE_BYTES 64
#define VM_WIRE_STAMP_BYTES 8
#define VM_WIRE_PART_BYTES 8
#define VM_WIRE_MAX (VM_WIRE_BYTES + VM_WIRE_STAMP_BYTES + VM_WIRE_PART_BYTES)

/* Kinds of packets: name, whether it may have a payload.  ASK and ANSWER have no
 * number of their own (fabric/resend.h). */
#define VM_WIRE_KINDS(X) \
	X(DATA, true)    \
	X(CONTROL, true) \
	X(CREDIT, false) \
	X(FULL, false)   \
	X(BYE, false)    \
	X(ASK, false)    \
	X(ANSWER, false)

enum vm_wire_kind {
	VM_WIRE_NONE, /* never sent: a packet of zeros is none */
#define VM_WIRE_KIND_(name, payload) VM_WIRE_##name,
	VM_WIRE_KINDS(VM_WIRE_KIND_)
#undef VM_WIRE_KIND_
		VM_WIRE_KIND_END
};

enum vm_wire_flag { VM_WIRE_STAMP = 1, VM_WIRE_MORE = 2, VM_WIRE_PART = 4 };

/* The place of a segment in the longer payload. */
struct vm_wire_part {
	uint32_t at;	/* its first byte */
	uint32_t total; /* bytes of the whole */
};

struct vm_wire {
	uint16_t magic;
	uint8_t version;
	uint8_t kind;
	uint32_t source; /* process */
	uint64_t job_key;
	uint32_t seq;
	uint32_t bytes; /* of payload */
	uint8_t source_port;
	uint8_t port;	   /* of the receiver */
	uint16_t received; /* low bits of the number expected next */
	uint16_t credits;  /* given back */
	uint8_t flags;
	uint8_t upper_kind;
	uint8_t upper[VM_UPPER_BYTES];
};

VM_STATIC_ASSERT(sizeof(struct vm_wire) == VM_WIRE_BYTES,
		 "the header has no gaps");
VM_STATIC_ASSERT(VM_PORTS_MAX <= 256, "ports have numbers of a byte");

/* The upper header of ASK and ANSWER. */
struct vm_wire_state {
	uint32_t received; /* the number expected next */
	uint32_t number;   /* of the ASK; in a report of a gap 0 */
	uint32_t lost;	   /* of an ANSWER: packets from `received` on are */
};
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the wire header is little endian"
#endif

/* Reasons for dropping a packet, in the order of the checks; rows of the
 * counters of fabric/packet/vars.h.  Up to reject_key it may come from any sender. */
#define VM_WIRE_REJECTS(X)                                               \
	X(COUNTER, reject_short, "packets", WORKER, DD, fabric,          \
	  "Packets dropped: shorter than a header")                      \
	X(COUNTER, reject_magic, "packets", WORKER, DD, fabric,          \
	  "Packets dropped: not from vmpi")                              \
	X(COUNTER, reject_version, "packets", WORKER, DD, fabric,        \
	  "Packets dropped: from another version of vmpi")               \
	X(COUNTER, reject_key, "packets", WORKER, DD, fabric,            \
	  "Packets dropped: from another job")                           \
	X(COUNTER, reject_kind, "packets", WORKER, DD, fabric,           \
	  "Packets dropped: unknown kind")                               \
	X(COUNTER, reject_flags, "packets", WORKER, DD, fabric,          \
	  "Packets dropped: unknown flags")                              \
	X(COUNTER, reject_source, "packets", WORKER, DD, fabric,         \
	  "Packets dropped: from a process or port that does not exist") \
	X(COUNTER, reject_port, "packets", WORKER, DD, fabric,           \
	  "Packets dropped: for another port")                           \
	X(COUNTER, reject_length, "packets", WORKER, DD, fabric,         \
	  "Packets dropped: payload length differs from the header")     \
	X(COUNTER, reject_sequence, "packets", WORKER, DD, fabric,       \
	  "Packets dropped: the sequence number is impossible")          \
	X(COUNTER, reject_credit, "packets", WORKER, DD, fabric,         \
	  "Packets dropped: data without credit, or impossible credits")

enum vm_reject {
#define VM_REJECT_(class, field, unit, of, level, category, text) VM_##field,
	VM_WIRE_REJECTS(VM_REJECT_)
#undef VM_REJECT_
		VM_reject_end,
	VM_reject_none = -1
};

/* The values that a packet must agree with. */
struct vm_wire_expect {
	uint64_t job_key;
	uint32_t processes;
	uint32_t process; /* ours: packets from there do not come by wire */
	uint32_t packet_bytes;
	uint16_t port;		  /* the one it arrived at */
	const uint16_t *ports_of; /* by process; 0: not connected */
};

/*
 * Checks everything that can be checked without the connection.  bytes: up to
 * the end of the message.  VM_reject_none, or the reason; *header is set on
 * success only, and *payload then is the offset of its payload.
 */
enum vm_reject vm_wire_check(struct vm_wire *header, size_t *payload,
			     const void *packet, size_t bytes,
			     const struct vm_wire_expect *expect);

/* The offset of the packet that follows one of so many bytes. */
static inline size_t vm_wire_next(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

/* The stamp of a packet that has one. */
uint64_t vm_wire_stamp(const void *packet);

/* The segment in a packet with the flag PART; its payload is at `payload`. */
struct vm_wire_part vm_wire_part(const void *packet, size_t payload);

/* The name of a reason for the log: "from another job". */
const char *vm_reject_name(enum vm_reject reject);

#endif
