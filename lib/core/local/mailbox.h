/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mailboxes: where arrivals and receives of a rank meet.
 *
 * Everything here but looking runs under the lock of the rank's engine.
 */
#ifndef CORE_LOCAL_MAILBOX_H
#define CORE_LOCAL_MAILBOX_H

#include "core/local/engine.h"
#include "core/local/msg.h"
#include "core/rank/rank.h"
#include "core/local/req.h"

/* Queues an arrival that matched no posted receive, or hands it to a prober. */
void vm_mailbox_queue(struct vm_rank *rank, const struct vm_arrival *arrival);

/* Takes a queued message out. */
void vm_mailbox_take(struct vm_msg *msg);

/* Takes a prober out that waits no longer, and tells it. */
static inline void vm_prober_end(struct vm_prober *prober)
{
	vm_list_remove(&prober->link);
	if (VM_UNLIKELY(prober->req != NULL))
		vm_req_complete(prober->req);
	else
		vm_ult_wake(prober->ult);
}

/* Looks at all that is left in the mailbox of the caller's rank when everything
 * sent to it has arrived: the receives, then the messages. */
void vm_mailbox_each(struct vm_rank *rank, vm_match_visit posted,
		     vm_match_visit arrived, void *arg);

/* Posts a receive that matched no message. */
static inline void vm_mailbox_post(struct vm_rank *rank, struct vm_req *req)
{
	req->posted = true;
	vm_match_post(&rank->match, &req->node);
}

#endif
