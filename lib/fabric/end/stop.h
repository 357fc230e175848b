/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether anything is under way in the fabric, and its orderly end.
 */
#ifndef FABRIC_END_STOP_H
#define FABRIC_END_STOP_H

#include <stdbool.h>
#include <stdint.h>

struct vm_fabric;

/*
 * Whether nothing moves here now: nobody polls, no packet is held back, waits
 * or is to be delivered, no memory is read or written.  Then *sent and
 * *received are the packets that were exchanged with other processes up to now;
 * those that are under way have been sent, and not yet received.  Counts
 * overflow.
 */
bool vm_fabric_quiet(struct vm_fabric *fabric, uint32_t *sent,
		     uint32_t *received);

/* Sends all waiting packets, says goodbye and waits for the others of the job to
 * do so, at most so long; polls meanwhile.  The layer above has nothing
 * outstanding.  0, or -VMPI_EPEER when not all did. */
int vm_fabric_stop(struct vm_fabric *fabric, uint64_t wait_ns);

#endif
