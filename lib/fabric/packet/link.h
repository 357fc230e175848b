/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The link model: makes a fast network behave like a slow one, with a heap that
 * holds packets back until their time.
 *
 * The sender computes when a message would arrive and stamps it with that time
 * (processes of one host share CLOCK_MONOTONIC); the receiver hides it until
 * then.  A link is busy for message_ns + bytes / bandwidth per message and adds
 * its latency.  Nothing waits: the head of the heap is a deadline for sleepers.
 * Pure: time is an argument.
 */
#ifndef FABRIC_PACKET_LINK_H
#define FABRIC_PACKET_LINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/packet/vars.h"

/* Both directions between us and one other process. */
struct vm_link {
	_Atomic uint64_t out_free, in_free; /* when the next may begin, ns */
};

static inline bool vm_link_active(void)
{
	return fabric_cvar.link_latency_ns | fabric_cvar.link_bandwidth |
	       fabric_cvar.link_message_ns;
}

/*
 * Gives a message of that many bytes its turn on the link at `now`, or when the
 * link is free.  *left: when its last byte has left (may be NULL); result: when
 * it has arrived.
 */
uint64_t vm_link_send(struct vm_link *link, uint64_t *left, uint64_t now,
		      size_t bytes);

/* What a remote operation waits for: a read asks first, a write is confirmed, and
 * a put is done when its last byte has left, as a packet is: what goes behind it
 * tells that it is there. */
enum vm_link_op { VM_LINK_READ, VM_LINK_WRITE, VM_LINK_PUT };

/* The time at which one that begins now is done. */
uint64_t vm_link_rma(struct vm_link *link, enum vm_link_op op, uint64_t now,
		     size_t bytes);

/* An item that is held back until a time; embedded.  A skew heap: no memory,
 * nothing that can fail.  Equal times come out in the order they went in. */
struct vm_due {
	uint64_t when; /* ns */
	uint64_t order;
	struct vm_due *left, *right;
};

struct vm_due_heap {
	struct vm_due *top; /* the earliest, or NULL */
	uint64_t order;	    /* of the next one that is put in */
};

void vm_due_put(struct vm_due_heap *heap, struct vm_due *due, uint64_t when);
/* Takes the earliest out if its time has come; else NULL. */
struct vm_due *vm_due_take(struct vm_due_heap *heap, uint64_t now);

/* Whether the link model (fabric_link_*) is on, with its text for people:
 * "latency 50 us, 1000 MB/s"; for the warning that vmpirun prints. */
bool vm_link_on(char *text, size_t bytes);

#endif
