/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Revoking a channel: all its members, in all processes, are to stop using it.
 *
 * Receives and probes there end with -VMPI_EREVOKED, those under way and those
 * begun later, and sends that wait for their receivers; messages that nobody has
 * received are dropped.  Layers above refuse to begin what they can refuse.
 */
#ifndef CORE_COMM_REVOKE_H
#define CORE_COMM_REVOKE_H

#include "core/rank/chan.h"

/* Does so, and tells the other processes of the channel, which tell it each
 * other, so that all that live hear of it.  Any task.  0 or -VMPI_ENOMEM. */
int vm_revoke(const struct vm_chan *chan);

/* The same, by its context; vm_node->revoke_take. */
int vm_revoke_context(uint32_t context);

static inline bool vm_is_revoked(const struct vm_chan *chan)
{
	/* Set under vm_node->chans_lock. */
	return atomic_load_explicit(&chan->revoked, memory_order_relaxed);
}

#endif
