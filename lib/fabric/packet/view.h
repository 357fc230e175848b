/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the layer above sees of a packet.
 */
#ifndef FABRIC_PACKET_VIEW_H
#define FABRIC_PACKET_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#define VM_UPPER_BYTES 32 /* header of the layer above in each packet */

/* A packet that has arrived. */
struct vm_pkt {
	const void *upper; /* VM_UPPER_BYTES, 8-byte aligned */
	const void *data;  /* 8-byte aligned */
	uint32_t bytes;
	uint32_t process; /* the sender, and its port */
	uint16_t port;
	uint8_t kind;
	bool control;
	/* Set by the handler: it has woken somebody, which the handlers of the
	 * packets that follow in the same poll see; then they may leave theirs
	 * to the next poll (stays), untouched. */
	bool woke, stays;
	/* ... and what it holds back until those that follow have been handled
	 * (vm_pkt_followed()); NULL: nothing. */
	void *held;
};

#endif
