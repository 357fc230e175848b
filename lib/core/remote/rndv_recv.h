/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiver's half of a rendezvous: it chooses how the payload comes.
 *
 * read: it reads the sender's memory, then says FIN; a sender of this host that is
 * about to wait writes a part of it.  write: it says where to, the sender writes,
 * and the write tells of its end, or WRITTEN does.  pipeline: the sender sends
 * the payload in pieces, no more than the receiver has asked for; this works
 * between any two layouts and without remote memory.
 */
#ifndef CORE_REMOTE_RNDV_RECV_H
#define CORE_REMOTE_RNDV_RECV_H

#include "core/local/layout.h"
#include "core/local/msg.h"
#include "core/rank/vars.h"
#include "core/remote/wire.h"
#include "fabric/near/share.h"
#include "introspect/measure/overlap.h"

struct vmpi_req;
struct vm_rndv_recv;

struct vm_protocol {
	enum vm_rndv rndv;
	bool (*fits)(const struct vm_rndv_recv *pull);
	/* VM_PENDING, or an error and nothing has begun. */
	int (*start)(struct vm_rndv_recv *pull);
};

struct vm_rndv_recv {
	/* Held back, to be read together: the one before it, how many these are,
	 * and their bytes. */
	struct vm_rndv_recv *held;
	unsigned held_count;
	size_t held_bytes;
	struct vmpi_req *req;
	struct vm_origin origin;
	struct vm_port *port;
	enum vm_rndv choice; /* of the protocol, or auto */
	uint64_t id;
	size_t wanted, received, granted;
	struct vm_cursor cursor; /* where the next piece goes */
	bool writes;		 /* the sender does; mr is open */
	struct vm_mr mr;
	struct vm_rma rma;
	bool shares; /* the sender moves the last pieces of: */
	struct vm_share share;
	struct iovec here, there; /* where that is */
	/* The transfer; of a pipeline the moment from which the next piece may
	 * have come, and that of those from next_from on (0: the same). */
	struct vm_overlap_xfer xfer, xfer_next;
	size_t next_from;
};

/* Fetches the payload of a message into a receive whose buffer and status are
 * set, and completes it, maybe before the return. */
void vm_rndv_recv_start(struct vmpi_req *req, const struct vm_origin *origin,
			struct vm_port *port);

/* The same inside the handler of the packet that has announced it; the payloads of
 * short messages that come one right behind the other are read together, by
 * vm_rndv_recv_held() (struct vm_fabric_config). */
void vm_rndv_recv_announced(struct vmpi_req *req,
			    const struct vm_origin *origin,
			    struct vm_port *port, struct vm_pkt *pkt);
void vm_rndv_recv_held(void *held);

/* The sender has written all: for struct vm_fabric_config. */
void vm_rndv_recv_noticed(void *arg, struct vm_port *port, uint32_t notice);

/* The process is down: ends all pulls of the port that come from there. */
void vm_rndv_recv_down(struct vm_port *port, uint32_t process, int error);

#endif
