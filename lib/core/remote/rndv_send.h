/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sender's half of a rendezvous.
 *
 * A push is there from the RTS until the receiver's FIN, or until all of it has
 * been written, or has left in pieces.  It only answers: what happens is up to
 * the receiver.
 */
#ifndef CORE_REMOTE_RNDV_SEND_H
#define CORE_REMOTE_RNDV_SEND_H

#include "core/local/layout.h"
#include "base/list.h"
#include "core/remote/wire.h"
#include "introspect/measure/overlap.h"

struct vmpi_req;
struct vm_rank;

/* How a queued message is sent (core/remote/credit_queue.h). */
enum vm_rndv_send_how {
	VM_RNDV_SEND_SHORT,
	VM_RNDV_SEND_SYNC,
	VM_RNDV_SEND_LONG
};

struct vm_rndv_send {
	struct vmpi_req *req; /* NULL: the sender does not wait for it */
	struct vm_data data;
	void *buffer; /* of the pool, with the data; NULL: the sender's memory */
	struct vm_port *port;
	struct vm_to to;
	struct vm_rank *rank;		  /* the sender */
	struct vm_wire_envelope envelope; /* of the message */
	enum vm_rndv_send_how how;
	struct vm_list line; /* while it stands there */
	uint64_t id, puller;
	struct vm_cursor cursor; /* what comes next */
	size_t sent;
	struct vm_overlap *overlap;  /* of the sender, for pieces; or NULL */
	struct vm_overlap_xfer xfer; /* from the offer until it is taken */
	bool readable;		     /* mr is open */
	bool writing;		     /* rma is under way */
	bool told;		     /* ... needs no WRITTEN, unless it fails */
	bool over; /* ends, with error, when nothing is under way any more */
	int error;
	unsigned inflight;    /* pieces that are sent from where they lie */
	struct vm_send_op op; /* of each of them */
	struct vm_mr mr;
	struct vm_rma rma;
};

/* For a message of req; NULL: out of memory. */
struct vm_rndv_send *vm_rndv_send_new(struct vmpi_req *req,
				      const struct vm_data *data,
				      const struct vm_wire_envelope *envelope,
				      struct vm_to to);
/* The same with the data copied, for which nobody waits. */
struct vm_rndv_send *
vm_rndv_send_new_copy(const struct vm_data *data,
		      const struct vm_wire_envelope *envelope, struct vm_to to);
void vm_rndv_send_free(struct vm_rndv_send *push);

/* Ends a push that has no number, with its request; now, or when the last piece
 * has left. */
void vm_rndv_send_end(struct vm_rndv_send *push, int error);

/*
 * Gives it a number, which envelope->sender gets: 0 or -VMPI_ENOMEM.  From then
 * on others may end it, with its request, at any time: the caller does not
 * touch it any more, unless it can hide it again.
 */
int vm_rndv_send_show(struct vm_rndv_send *push,
		      struct vm_wire_envelope *envelope);
/* Takes the number back; false: somebody has ended the push. */
bool vm_rndv_send_hide(uint64_t id);

/* Announces the message: VM_PENDING, and the push is not the caller's any more;
 * or an error, and it is. */
int vm_rndv_send_announce(struct vm_rndv_send *push);

/* The process is down: ends all pushes of the port that go there. */
void vm_rndv_send_down(struct vm_port *port, uint32_t process, int error);
/* Likewise all for a rank, with -VMPI_EPEER; or all of a context, with -VMPI_EREVOKED. */
void vm_rndv_send_fail(int index);
void vm_rndv_send_revoke(uint32_t context);

#endif
