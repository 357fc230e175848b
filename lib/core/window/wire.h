/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets between the ends of a window in different processes.
 *
 * All packets of a pair of members take one path, in order.  What is in them
 * and what they do is the matter of the layer above.
 */
#ifndef CORE_WINDOW_WIRE_H
#define CORE_WINDOW_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "fabric/fabric.h"

struct vm_group;
struct vm_window;

/* The header. */
struct vm_window_head {
	uint64_t to, from; /* the ends, by number; of the receiver first */
	uint32_t member;   /* the sender's number */
	uint32_t sequence; /* of the question; in its answer too */
	uint32_t runs;	   /* of memory, in the payload before the data */
	uint8_t what;	   /* of the layer above: */
	uint8_t op, type, flag;
};

VM_STATIC_ASSERT(sizeof(struct vm_window_head) == VM_UPPER_BYTES,
		 "the header is an upper header");

/* A packet that has come. */
struct vm_window_packet {
	struct vm_window_head head;
	const void *data; /* 8-byte aligned; until the return */
	size_t bytes;
	struct vm_window *window; /* whose number it names */
	struct vm_port *port;	  /* where answers leave, */
	struct vm_to from;	  /* and where they go */
};

/*
 * Gives the end of a member of a group a number, by which others find it: from
 * now on its packets go to take(), called by who polls, which must not switch.
 * The number ends with the window.  false: no memory.
 */
bool vm_window_publish(struct vm_window *window, struct vm_group *group,
		       void (*take)(const struct vm_window_packet *packet));

/* Sends a packet to the end of another process: 0 or -VMPI_EPEER. */
int vm_window_send(struct vm_port *port, struct vm_to to,
		   const struct vm_window_head *head, const void *data,
		   size_t bytes);

/* The most bytes of a packet's payload. */
size_t vm_window_packet_bytes(void);

#endif
