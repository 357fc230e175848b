/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A load that the kernel moves between a member's memory and the caller's, out of
 * one process: or out of both at once, if the member's one polls just then
 * (fabric/near/share.h).
 */
#ifndef CORE_WINDOW_HAUL_H
#define CORE_WINDOW_HAUL_H

#include "core/window/wire.h"
#include "fabric/near/share.h"

/* Moves it out of this process: 0, -VMPI_EPEER, -VMPI_EINVAL: there is no such
 * memory, or -VMPI_ENOTSUP: the data have to go in packets. */
int vm_window_move(struct vm_to to, const struct vm_load *load, bool write);

/* Takes the connection for a load, which has share->number: false, and nothing
 * has begun: it is not worth it, or there is one. */
bool vm_window_haul_begin(struct vm_share *share, struct vm_port *port,
			  struct vm_to to, const struct vm_load *load,
			  bool write);

/* Moves pieces until none is left; whether all are there, or when all is answered
 * that was sent. */
bool vm_window_haul_move(struct vm_share *share);

/* All are, or the other process is down.  As vm_window_move(). */
int vm_window_haul_end(struct vm_share *share);

/* Takes part in a load of the sender of a packet. */
void vm_window_haul_help(const struct vm_window_packet *packet,
			 const struct vm_load *load, uint32_t number,
			 bool write);

#endif
