/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the networks that the processes of a job have chosen meet.
 */
#ifndef FABRIC_OFI_REACH_H
#define FABRIC_OFI_REACH_H

#include <stddef.h>
#include <stdint.h>

#include "fabric/ofi/address.h"
#include "fabric/ofi/select.h"

/* How the system gets from an address of ours to one of another host. */
enum vm_reach {
	VM_REACH_WELL,	 /* by the network of our address, or a router */
	VM_REACH_BESIDE, /* it is on another network of ours */
	VM_REACH_NOT,	 /* there is no route */
};

/* theirs: an address of IP (of sockaddr); of other kinds nothing is known, so all
 * is well.  `text` gets it in words. */
enum vm_reach vm_reach_find(char text[64], const struct vm_nets *nets,
			    const char *ours, const void *theirs, size_t bytes);

/*
 * Whether the bytes are the address of `process`, which agrees with ours and is
 * reached: 0, or -VMPI_EINVAL, logged.  The first process warns once of a network
 * beside the chosen one.
 */
int vm_reach_check(struct vm_select *select, const void *bytes, size_t length,
		   const struct vm_address *ours, uint32_t process);

/* A connection to there has failed with an error of the system: if that is for
 * want of a way, this says so, once in the process. */
void vm_reach_lost(const void *theirs, size_t bytes, int error);

#endif
