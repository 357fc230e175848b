/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that wait for credits.
 *
 * Each pair of ports has a queue at the sender.  A message that finds no credit
 * enters it, and so does every later one of that pair, of whatever kind,
 * because messages are matched in the order of their sends.
 */
#ifndef CORE_REMOTE_CREDIT_QUEUE_H
#define CORE_REMOTE_CREDIT_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/lock.h"
#include "core/rank/state.h"
#include "core/remote/rndv_send.h"
#include "fabric/fabric.h"

/*
 * Messages of the queue go when the fabric says that there is room: short ones
 * as if they had never waited, so that they also complete in order.  Only when
 * the receiver says that it keeps all it may (its next receive may be for a
 * message behind those) are they announced instead.
 *
 * A short message waits as a copy, and the sender goes on, up to
 * core_copies_max for each process; those beyond it are not complete until they
 * have left.
 */

struct vm_credit_queue {
	struct vm_lock lock; /* guards the list; is held while one is tried */
	struct vm_list list; /* of pushes */
	_Atomic uint32_t count;
	_Atomic bool vain; /* since one left nobody who polled got credits */
};

/* By our port and process; each has the lines to all ports there, made when the
 * first message has to wait. */
struct vm_credit_queues {
	struct vm_lock lock; /* of those who make them */
	size_t count;
	_Atomic(struct vm_credit_queue *) table[];
};

static inline struct vm_credit_queue *
vm_credit_queue_of(const struct vm_port *port, struct vm_to to)
{
	size_t at = vm_port_index(port) * (size_t)vm_node->process_room +
		    to.process;
	/* Pairs with the store in line_make(). */
	struct vm_credit_queue *lines = atomic_load_explicit(
		&vm_node->credit_queues->table[at], memory_order_acquire);

	return VM_LIKELY(!lines) ? NULL : &lines[to.port];
}

/* Whether messages wait there.  Those of the caller's rank are seen. */
static inline bool vm_credit_queue_waits(const struct vm_port *port,
					 struct vm_to to)
{
	struct vm_credit_queue *line = vm_credit_queue_of(port, to);

	return VM_UNLIKELY(line != NULL) &&
	       atomic_load_explicit(&line->count, memory_order_relaxed) > 0;
}

/*
 * Polls for credits there for a message that was refused, or found others waiting;
 * at most *looks times, which is less afterwards and initially
 * VM_CREDIT_LOOKS, but on as long as those who wait leave.  Whether to try it:
 * nobody waits, and something has come.  A receiver that keeps up is a moment
 * behind, which is shorter than the way through the queue, as a copy.
 */
#define VM_CREDIT_LOOKS 256
bool vm_credits_await(struct vm_port *port, struct vm_to to, int *looks);

/* It is pending in the queue; with VM_PENDING it has been announced, or sent,
 * and the receiver will answer. */
enum { VM_QUEUED = VM_PENDING + 1 };

/* Sends a message, or puts it into the queue; the push is the caller's no more:
 * 0, VM_PENDING, VM_QUEUED; or an error, and its request is as if nothing had
 * begun. */
int vm_credit_queue_enter(struct vm_rndv_send *push);

/* Takes the message of a request out of the line and ends it with
 * -VMPI_ECANCELED; false: it does not stand there. */
bool vm_credit_queue_cancel(const struct vm_port *port, struct vm_to to,
			    const struct vmpi_req *req);

/* There is room: sends what can go. */
void vm_credit_queue_room(struct vm_port *port, struct vm_to to);

/* The process is down: what waits for it never goes. */
void vm_credit_queue_down(const struct vm_port *port, uint32_t process,
			  int error);

/* 0 or -VMPI_ENOMEM; the fabric is open. */
int vm_credit_queues_init(struct vm_node *node);
void vm_credit_queues_fini(struct vm_node *node);

/* Polls until all queues are empty. */
void vm_credit_queues_drain(struct vm_fabric *fabric);

#endif
