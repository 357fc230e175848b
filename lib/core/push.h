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
	struct vmpi_req *req;
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

/* For the message of req, whose data are set; envelope->sender becomes its
 * number.  NULL: out of memory. */
struct vm_push *vm_push_new(struct vmpi_req *req, struct vm_port *port,
			    struct vm_to to, struct vm_wire_envelope *envelope);

/* Announces the message: 0, or an error and the push is gone. */
int vm_push_announce(struct vm_push *push,
		     const struct vm_wire_envelope *envelope);

/* Ends it, before anybody else has seen it. */
void vm_push_free(struct vm_push *push);

/* The process is down: ends all pushes of the port that go there. */
void vm_push_down(struct vm_port *port, uint32_t process, int error);

#endif
