/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Point to point: send, receive, and what becomes of matched messages
 * (core/comm/probe.h).
 *
 * All work for the calling task's rank.  env.source of a send is the sender's
 * number in the channel; env of a receive may hold VM_ANY.  Arguments are
 * checked above (core/runtime/api.c, lib/mpi).
 */
#ifndef CORE_COMM_P2P_H
#define CORE_COMM_P2P_H

#include "core/local/layout.h"
#include "core/local/msg.h"
#include "core/local/protocol.h"
#include "core/local/req.h"
#include "core/rank/match.h"

struct vm_rank;

/* Returns when the buffer may be used again.  0, -VMPI_ENOMEM,
 * -VMPI_EPEER.  May switch. */
int vm_send(struct vm_rank *dest, struct vm_env env, const struct vm_data *data,
	    enum vm_send_mode mode);
/* *req may be &vm_req_done_send.  Does not wait (may poll). */
int vm_isend(struct vm_rank *dest, struct vm_env env,
	     const struct vm_data *data, enum vm_send_mode mode,
	     struct vm_req **req);

/* 0, -VMPI_ETRUNC, -VMPI_ENOMEM, -VMPI_EPEER; status may be NULL.  May
 * switch. */
int vm_recv(struct vm_env env, const struct vm_data *data, vmpi_status *status);
/* The same for a rank of this process, of a message that has come with its bytes,
 * which fit, and that nobody else wants; false: there is none. */
bool vm_recv_arrived(struct vm_rank *rank, struct vm_env env, void *addr,
		     size_t bytes, vmpi_status *status);
int vm_irecv(struct vm_env env, const struct vm_data *data,
	     struct vm_req **req);
/* From the mailbox of another rank of this process, by any of its tasks. */
int vm_irecv_for(struct vm_rank *rank, struct vm_env env,
		 const struct vm_data *data, struct vm_req **req);

/* Starts req again, or for the first time: kind, data, node.env, (send) dest
 * are set; for persistent requests. */
int vm_send_start(struct vm_req *req, struct vm_rank *dest,
		  enum vm_send_mode mode);
int vm_recv_start(struct vm_req *req);

/* Handles (core/comm/msg.c).  The first moves the payload into a receive that
 * has been made, and ends the handle: 0; VM_PENDING: the receive will be
 * completed. */
int vm_msg_land(struct vm_msg *msg, struct vm_req *req);
/* Ends a handle: receives it; the second form into a request. */
int vm_msg_receive(struct vm_msg *msg, const struct vm_data *data,
		   vmpi_status *status);
int vm_msg_ireceive(struct vm_msg *msg, const struct vm_data *data,
		    struct vm_req **req);
void vm_msg_drop(struct vm_msg *msg);
/* A remote payload is fetched first, and that may switch. */
int vm_msg_borrow(struct vm_msg *msg, const void **data);

#endif
