/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sender's half of a rendezvous.
 *
 * A push is there from the RTS until the receiver's FIN, or until this side has
 * written all.  It only answers: what happens is up to the receiver.
 */
#ifndef CORE_PUSH_H
#define CORE_PUSH_H

#include "core/layout.h"
#include "core/wire.h"

struct vmpi_req;

struct vm_push {
	struct vmpi_req *req; /* NULL: the sender does not wait for it */
	struct vm_data data;
	void *buffer; /* of the pool, with the data; NULL: the sender's memory */
	struct vm_port *port;
	struct vm_to to;
	uint64_t id, puller;
	struct vm_cursor cursor; /* what comes next */
	size_t sent;
	bool readable; /* mr is open */
	bool writing;  /* rma is under way */
	struct vm_mr mr;
	struct vm_rma rma;
};

/* For a message of req; NULL: out of memory. */
struct vm_push *vm_push_new(struct vmpi_req *req, const struct vm_data *data,
			    struct vm_port *port, struct vm_to to);
/* The same with the data copied, for which nobody waits. */
struct vm_push *vm_push_new_copy(const struct vm_data *data,
				 struct vm_port *port, struct vm_to to);
void vm_push_free(struct vm_push *push);

/*
 * Gives it a number, which envelope->sender gets: 0 or -VMPI_ENOMEM.  From then
 * on others may end it, with its request, at any time: the caller does not touch
 * it any more, unless it can hide it again.
 */
int vm_push_show(struct vm_push *push, struct vm_wire_envelope *envelope);
/* Takes the number back; false: somebody has ended the push. */
bool vm_push_hide(uint64_t id);

/* Announces the message; the push is not the caller's any more.  0, or an error
 * and the request is as if nothing had begun. */
int vm_push_announce(struct vm_push *push, struct vm_wire_envelope *envelope);

/* The process is down: ends all pushes of the port that go there. */
void vm_push_down(struct vm_port *port, uint32_t process, int error);

#endif
