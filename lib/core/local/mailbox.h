/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mailboxes: where arrivals and receives of a rank meet.
 *
 * Everything here but landing and looking runs under the lock of the rank's
 * engine.
 */
#ifndef CORE_LOCAL_MAILBOX_H
#define CORE_LOCAL_MAILBOX_H

#include <string.h>

#include "core/local/engine.h"
#include "core/local/layout.h"
#include "core/rank/rank.h"
#include "core/local/req.h"

/* A message that is here and belongs to no queue. */
struct vm_arrival {
	struct vm_env env;
	uint8_t payload; /* enum vm_payload */
	size_t bytes;
	void *buffer;	       /* INLINE, COPY, PACKET, FETCHED: the bytes */
	struct vm_req *sender; /* DIRECT: its data and request */
	const struct vm_origin *origin; /* if foreign */
	struct vm_port *port;		/* if foreign: of the receiver */
};

/* memcpy() with the most frequent sizes done on the spot. */
static inline void vm_bytes_copy(void *to, const void *from, size_t bytes)
{
	if (bytes == 8)
		memcpy(to, from, 8);
	else if (bytes == 4)
		memcpy(to, from, 4);
	else if (bytes)
		memcpy(to, from, bytes);
}

static inline size_t vm_data_copy(const struct vm_data *to,
				  const struct vm_data *from)
{
	size_t bytes = to->bytes < from->bytes ? to->bytes : from->bytes;

	if (VM_UNLIKELY(to->layout || from->layout))
		return vm_data_copy_slow(to, from);
	vm_bytes_copy(to->addr, from->addr, bytes);
	return bytes;
}

/* Copies `from` into the receive's buffer and fills its status. */
static inline void vm_data_land(const struct vm_data *from,
				const struct vm_env *env, struct vm_req *req)
{
	req->status.source = env->source;
	req->status.tag = env->tag;
	req->status.bytes = vm_data_copy(&req->data, from);
	req->status.error = from->bytes > req->data.bytes ? -VMPI_ETRUNC : 0;
}

/* As vm_arrival_land(), counted as an event of the receiver: `rank` gets it by
 * `way`. */
void vm_arrival_receive(struct vm_arrival *arrival, struct vm_req *req,
			const struct vm_rank *rank, enum vm_path way);

/* Ends an arrival without a receive (drop). */
void vm_arrival_end(struct vm_arrival *arrival);

/* Queues an arrival that matched no posted receive, or hands it to a prober. */
void vm_mailbox_queue(struct vm_rank *rank, const struct vm_arrival *arrival);

/* Takes a queued message out. */
void vm_mailbox_take(struct vm_msg *msg);

/* Looks at all that is left in the mailbox of the caller's rank when everything
 * sent to it has arrived: the receives, then the messages. */
void vm_mailbox_each(struct vm_rank *rank, vm_match_visit posted,
		     vm_match_visit arrived, void *arg);

/* Posts a receive that matched no message. */
static inline void vm_mailbox_post(struct vm_rank *rank, struct vm_req *req)
{
	req->posted = true;
	vm_match_post(&rank->match, &req->node);
	vm_pvar_max(rank->match.pvars.posted_max, rank->match.pvars.posted_len);
}

#endif
