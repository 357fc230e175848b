/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shortest way of a message from process to process, as straight code: a
 * payload that fits into a packet, and a receive that waits for it.
 *
 * What is unusual in any respect, and whatever somebody observes, is left to
 * core/remote/send.c and core/remote/remote.c, which do the same: these return
 * false before they have changed anything.
 */
#ifndef CORE_REMOTE_STRAIGHT_H
#define CORE_REMOTE_STRAIGHT_H

#include <stdbool.h>
#include <stddef.h>

#include "core/rank/match.h"
#include "core/remote/wire.h"
#include "vmpi.h"

struct vm_rank;
struct vm_ult;

/* A standard send of the task or thread `self` to a rank of another process,
 * which needs nothing but the buffer until the return. */
bool vm_straight_send(struct vm_ult *self, const struct vm_rank *dest,
		      struct vm_env env, const void *addr, size_t bytes);

/*
 * A receive of a message from a rank of another process, without wildcards, by
 * the task or thread `self` for a rank of the same port, its own unless the
 * context is one of collectives.  If it waits, it does so for a moment: the message goes from
 * where its sender has written it, or the network has put it, to the buffer, and
 * the receive is never posted.  *status has no error.
 */
bool vm_straight_recv(struct vm_ult *self, struct vm_rank *rank,
		      const struct vm_rank *source, struct vm_env env,
		      void *addr, size_t bytes, bool waits,
		      vmpi_status *status);

/*
 * Delivers a message that has come along with its envelope to the oldest
 * receive that is posted.  If there is none, and somebody has been woken in this
 * poll, the packet stays where it is: who was woken most often posts the
 * receive for it, and then it need not be kept in between.
 */
bool vm_straight_take(struct vm_rank *rank, struct vm_pkt *pkt,
		      const struct vm_wire_envelope *envelope);

#endif
