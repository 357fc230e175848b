/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent requests of messages and of collectives.
 */
#ifndef MPI_CALL_PERSIST_H
#define MPI_CALL_PERSIST_H

#include "core/comm/p2p.h"
#include "core/local/req.h"

struct vm_type;

/* Operation that MPI_Start starts: req->user of a persistent request, freed
 * with it. */
struct vm_persist {
	/* Starts the operation of req again: 0, an MPI error or a negative code
	 * of core. */
	int (*start)(struct vm_req *req, struct vm_persist *persist);
	struct vm_rank *peer;
	struct vm_data data; /* holds a reference on its layout */
	enum vm_send_mode mode;
	/* A message, while types are compared (mpi/p2p/typed.h): what a send
	 * contains, where a receive goes. */
	uint32_t signature;
	struct vm_type *type; /* held; or NULL */
	size_t count;
};

#endif
