/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Check whether a process that takes no packets is still there.
 *
 * Providers of TCP answer "try again" forever when the other process has died.
 * But then nobody listens at its address any more, and that can be checked, by
 * a connection that is closed at once.
 */
#ifndef FABRIC_OFI_LIVENESS_H
#define FABRIC_OFI_LIVENESS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Continues the check of *fd, or begins one (*fd < 0).  True: nobody listens.
 * Never waits; no address of TCP: false.
 */
bool vm_liveness_dead(int *fd, const void *address, size_t bytes);
void vm_liveness_end(int *fd);

#endif
