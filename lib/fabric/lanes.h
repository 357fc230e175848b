/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lanes (fabric/shm/lane.h) of the processes of a host that share its cores:
 * short messages that come long before they are wanted stay there, and cost
 * neither a packet nor a credit.
 *
 * Nothing orders them among packets.
 */
#ifndef FABRIC_LANES_H
#define FABRIC_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "fabric/shm/lane.h"
#include "fabric/shm/shm.h"

struct vm_fabric;

struct vm_lane_in {
	struct vm_lane *lane;
	_Atomic uint32_t next; /* under the lock; its cards have been taken */
};

struct vm_lane_out {
	/* Set once, by the first use; NULL before. */
	_Atomic(struct vm_lane *) lane;
	_Atomic uint32_t next; /* under the lock */
	uint32_t taken;	       /* as it was when we last looked */
	struct vm_shm_sleeper reader;
};

struct vm_lanes {
	uint32_t count; /* the processes of the job; 0: there are no lanes */
	const _Atomic uint32_t *open; /* how many others have opened one here */
	struct vm_lane_in *in;
	struct vm_lane_out *out;
	struct vm_lock in_lock VM_ALIGNED(VM_CACHELINE);
	unsigned vain; /* polls in which nobody wanted what there was */
	struct vm_lock out_lock VM_ALIGNED(VM_CACHELINE);
};

/* When the memory of the process is open: 0 or -VMPI_ENOMEM. */
int vm_lanes_open(struct vm_fabric *fabric);
void vm_lanes_close(struct vm_fabric *fabric);

/* Hands up what is wanted, and at last all; returns how many. */
int vm_lanes_poll(struct vm_fabric *fabric);

/* Whether there is something in them. */
bool vm_lanes_busy(const struct vm_fabric *fabric);

/* Adds the cards that were put and taken. */
void vm_lanes_count(const struct vm_fabric *fabric, uint32_t *sent,
		    uint32_t *received);

#endif
