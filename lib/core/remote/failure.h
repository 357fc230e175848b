/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failed processes: ends the receives and probes of messages that their ranks
 * will never send.
 *
 * A receive or a probe that only such a rank could answer, or one from any
 * source of a channel with such a rank, ends with -VMPI_EPEER.  Messages that
 * had arrived before can still be received.
 */
#ifndef CORE_REMOTE_FAILURE_H
#define CORE_REMOTE_FAILURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/rank/match.h"
#include "core/rank/rank.h"

struct vm_node;
struct vm_port;
struct vmpi_req;

/* 0 or -VMPI_ENOMEM; the fabric is open. */
int vm_failure_init(struct vm_node *node);
void vm_failure_fini(struct vm_node *node);

/* A callback of the port: the process is gone, all it sent has been delivered;
 * it died, or has said goodbye. */
void vm_failure_down(struct vm_port *port, uint32_t process, bool died);

/* Whether a port has been told so. */
bool vm_failure_seen(uint32_t process);

/* Writes which processes are gone: "node 1 (ranks 2-3) has died"; false: none
 * is known. */
bool vm_failure_text(char *text, size_t bytes);

/* Whether a rank has failed, or its process has died, as far as this process
 * knows; the second one: or has left. */
bool vm_failure_died(const struct vm_rank *rank);
bool vm_failure_gone(const struct vm_rank *rank);

/* Whether that may be so of any rank. */
bool vm_failure_any(void);

/* Ends the receives and probes of all ranks here that can never complete any
 * more. */
void vm_failure_sweep(void);

/* Why a receive of the rank can never complete, -VMPI_EPEER or -VMPI_EREVOKED,
 * or 0; the engine's lock is held. */
int vm_failure_wanted_slow(const struct vm_rank *rank,
			   const struct vm_env *env);
/* Whether a receive that is posted, or will be, is stalled instead of ending
 * with that error: one with a request, from any source of a communicator, is,
 * until all failures have been acknowledged.  The engine's lock is held. */
bool vm_failure_stalls(struct vmpi_req *req, int error);

/* The rank has acknowledged failures: some of its receives are stalled no
 * more. */
void vm_failure_acked(struct vm_rank *rank);

/* Ends a stalled receive with -VMPI_EPEER, or with the message that has just
 * come.  May switch. */
void vm_failure_settle(struct vmpi_req *req);

static inline int vm_failure_wanted(const struct vm_rank *rank,
				    const struct vm_env *env)
{
	return __builtin_expect(atomic_load_explicit(&rank->peer_failed,
						     memory_order_relaxed),
				false) ?
		       vm_failure_wanted_slow(rank, env) :
		       0;
}

#endif
