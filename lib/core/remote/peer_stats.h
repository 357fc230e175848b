/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of processes that send long messages here: which side of a pair is
 * late, and by which protocol such messages come.
 *
 * A message is offered by its sender and asked for by its receiver
 * (core/remote/remote.h).  This process counts, for each process that sends to
 * it, whether the offer or the receive was there first; only the receiver knows
 * that.  It also chooses the protocol, so nothing has to be agreed upon.
 */
#ifndef CORE_REMOTE_PEER_STATS_H
#define CORE_REMOTE_PEER_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rank/vars.h"

/*
 * Counters and choices are words of an array and bits of a number: process p
 * has place p % VM_PEER_STATS_PLACES.  Processes that share a place are counted
 * together and treated alike.
 *
 * Any thread.  Nothing here is on the path of short messages.
 */

static inline unsigned vm_peer_stats_place(uint32_t process)
{
	return process % VM_PEER_STATS_PLACES;
}

/* The process has offered a message, whose receive was posted already or
 * not. */
void vm_peer_stats_offered(uint32_t process, bool posted);

/* The protocol for a message that the process has offered to a rank with the
 * settings `cvars`; auto: the first protocol that fits. */
enum vm_rndv vm_peer_stats_protocol(const struct core_cvars *cvars,
				    uint32_t process);

/* A message of so many bytes is being fetched by this protocol. */
void vm_peer_stats_asked(enum vm_rndv protocol, uint64_t bytes);

/* So many more (or fewer) of them are under way. */
void vm_peer_stats_inflight(int64_t more);
#endif
