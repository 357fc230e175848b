/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether a process that takes nothing is still there.
 *
 * Providers of TCP answer "try again" for ever when the other process has died.
 * But then nobody listens at its address any more, and that can be asked: by a
 * connection that is closed at once.
 */
#ifndef FABRIC_LIVENESS_H
#define FABRIC_LIVENESS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Goes on with the question of *fd, or begins one (*fd < 0).  True: the answer
 * is that nobody listens.  Never waits; no address of TCP: false.
 */
bool vm_liveness_dead(int *fd, const void *address, size_t bytes);
void vm_liveness_end(int *fd);

#endif
