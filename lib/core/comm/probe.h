/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Probes: which message is there, and taking it as a handle.
 *
 * All look into the mailbox of the calling task's rank; env may hold VM_ANY.
 * Arguments are checked above (core/runtime/api.c, lib/mpi).
 */
#ifndef CORE_COMM_PROBE_H
#define CORE_COMM_PROBE_H

#include "core/rank/match.h"
#include "core/local/msg.h"
#include "core/local/req.h"
#include "core/rank/rank.h"
#include "vmpi.h"

/* Looks at the oldest message that fits and leaves it: status describes it.
 * vm_iprobe: 0 or -VMPI_EAGAIN (it polled; does not switch).  All: -VMPI_EPEER
 * when every possible sender is gone. */
int vm_probe(struct vm_env env, vmpi_status *status);
int vm_iprobe(struct vm_env env, vmpi_status *status);

/* Takes the oldest message that fits. */
int vm_match_wait(struct vm_env env, struct vm_msg **msg);
int vm_match_try(struct vm_env env, struct vm_msg **msg);
/* ... that has come by the deadline (CLOCK_MONOTONIC), or -VMPI_ETIMEDOUT. */
int vm_match_until(struct vm_env env, struct vm_msg **msg,
		   uint64_t deadline_ns);

/*
 * In two steps: 0, with take a message; or -VMPI_EAGAIN, and req, which is made
 * here, completes when one fits or none can come any more.  Afterwards, or
 * earlier, the prober leaves: true, it was still waiting; false: its msg (with
 * take) or its error is set.
 */
int vm_match_enter(struct vm_prober *prober, struct vm_env env,
		   struct vm_req *req, bool take, struct vm_msg **msg);
bool vm_match_leave(struct vm_prober *prober);

#endif
