/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * File descriptors, whose lack libfabric takes for a lost connection, or waits
 * for ever.
 */
#ifndef FABRIC_OFI_DESCRIPTORS_H
#define FABRIC_OFI_DESCRIPTORS_H

#include <stdint.h>

/* Makes one that wakes who sleeps: 0, or -VMPI_ELIMIT, logged. */
int vm_descriptors_open(int *kick_fd);

/* Whether there are enough for that many ports and other processes; fd is any
 * that is open.  0, or -VMPI_ELIMIT, logged. */
int vm_descriptors_count(int fd, unsigned ports, uint32_t peers);

/* A connection that fails for want of a descriptor is no death: says so. */
void vm_descriptors_check(uint32_t process);

#endif
