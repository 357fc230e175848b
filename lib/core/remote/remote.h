/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of other processes: sending to them, and packets that come from them.
 *
 * All messages of a pair of ranks take the path between their two home ports,
 * in order.  A small one is a packet (eager); it waits there when no receive is
 * posted, and holds the sender's credit; without a credit it waits at the
 * sender (core/remote/credit_queue.h).  A long one is announced (RTS) and waits
 * at the sender; the receiver then chooses how the payload comes
 * (core/remote/rndv_recv.h, core/remote/rndv_send.h).
 */
#ifndef CORE_REMOTE_REMOTE_H
#define CORE_REMOTE_REMOTE_H

#include <stdbool.h>

#include "core/local/layout.h"
#include "core/rank/match.h"
#include "fabric/fabric.h"

/*
 * Nothing here is called with an engine's lock held, because the callbacks of a
 * port take it.
 */

struct vm_boot;
struct vm_origin;
struct vm_outgoing;
struct vm_payload_ops;
struct vm_rndv_send;
struct vm_rank;
struct vm_window_head;
struct vm_wire_step;
struct vmpi_req;

/*
 * Joins the fabric, before the ranks are made: -VMPI_ENOMEM, -VMPI_ENOTSUP,
 * -VMPI_EIO, -VMPI_EINVAL, logged.  boot == NULL: one process, whose ranks talk
 * by the fabric's loop all the same.
 */
int vm_remote_open(struct vm_boot *boot);
/* The same for a process that is its whole job, while its ranks run: for
 * processes of other jobs.  Logged. */
int vm_remote_open_late(void);
/* Says goodbye and waits for that of the others; the workers have stopped, the
 * ranks are there.  Leaves it, after the same if need be. */
void vm_remote_stop(void);
void vm_remote_close(void);

/* Boot reports the end of a process, as in vm_boot_peer_event.  Any thread, while
 * the node runs. */
void vm_remote_dead(int process, int status);

/* Sets how others reach a rank; which process has it is known. */
void vm_remote_place(struct vm_rank *rank, int index_in_process,
		     int ranks_in_process);

/*
 * Sends to a rank elsewhere for the calling rank: 0; VM_PENDING: out->req is
 * armed and will be completed; if it was NULL it is a new one.  -VMPI_EPEER,
 * -VMPI_ENOMEM.
 */
int vm_remote_send(struct vm_outgoing *out);

/*
 * One try of a message that waits for credits, or is about to.  0: the payload
 * is out, the operation is the caller's; VM_PENDING: it is not the caller's any
 * more, its request will be completed.  -VMPI_EAGAIN: it has to wait.  Other
 * errors: it never goes.
 */
int vm_remote_try(struct vm_rndv_send *send);

/* Messages from other processes: in a packet; still at the sender; fetched from
 * there into memory of their handle. */
extern const struct vm_payload_ops vm_packet_payload, vm_remote_payload,
	vm_fetched_payload;

/* Asks the receiver to give a message back that it has not matched. */
void vm_remote_cancel(const struct vmpi_req *req);

/* Sends a step of a rendezvous; data may be NULL.  0, or -VMPI_EPEER. */
int vm_remote_step(struct vm_port *port, struct vm_to to, uint8_t kind,
		   const struct vm_wire_step *step, const void *data,
		   size_t bytes);

/*
 * Sends a piece of a payload, as a transfer of the sender (or NULL).  With op
 * long data are not copied: VM_PENDING: they must stay until op->done is
 * called.  0, -VMPI_EPEER.
 */
int vm_remote_fragment(struct vm_port *port, struct vm_to to,
		       const struct vm_wire_step *step, const void *data,
		       size_t bytes, struct vm_send_op *op,
		       struct vm_overlap *overlap);

/* Sends a packet of a window (core/window/wire.h), whose data are copied.  0, or
 * -VMPI_EPEER. */
int vm_remote_window_send(struct vm_port *port, struct vm_to to,
			  const struct vm_window_head *head, const void *data,
			  size_t bytes);

/* The payload is not needed any more, or never was. */
void vm_origin_end(const struct vm_origin *origin, struct vm_port *port,
		   int error);

#endif
