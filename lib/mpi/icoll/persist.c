/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent collectives: nonblocking collectives whose arguments are checked
 * once and that can be started repeatedly (MPI 4.1, 6.13).
 *
 * Members create them in the same order but may start them in any order, so
 * each has its own channel, and each start is a started meeting of it.  The
 * channel outlives the communicator.
 */
#include "mpi/icoll/start.h"

#include <stddef.h>
#include <stdlib.h>

#include "core/meeting/chan_make.h"
#include "core/rank/chan.h"
#include "mpi/call/persist.h"

struct persist_coll {
	struct vm_persist persist; /* first: what MPI_Start looks at */
	struct vm_coll coll;
	struct vm_chan *chan;
	max_align_t arrays[]; /* those of the call, copied */
};

struct vm_coll *vm_coll_kept(const struct vm_req *req)
{
	return &((struct persist_coll *)req->user)->coll;
}

static int start_kept(struct vm_req *req, struct vm_persist *persist)
{
	struct persist_coll *kept = req->user;
	struct vm_coll *coll = &kept->coll;
	int rc;

	coll->temp = NULL;
	atomic_store_explicit(&coll->error, 0, memory_order_relaxed);
	/* The request is not shared yet. */
	atomic_store_explicit(&req->state, VM_REQ_PENDING,
			      memory_order_relaxed);
	req->active = true;
	rc = vm_coll_leave(coll, kept->chan);
	if (rc != 0)
		req->active = false;
	return rc;
}

static void kept_end(struct vm_req *req)
{
	struct persist_coll *kept = req->user;

	vm_coll_let_go(&kept->coll);
	vm_chan_free(kept->chan);
	free(kept);
}

int vm_coll_keep(struct vm_call *call, const struct vm_coll *coll,
		 MPI_Request *request)
{
	struct persist_coll *kept =
		calloc(1, sizeof(*kept) + vm_coll_arrays_room(coll));
	struct vm_req *req = kept ? vm_req_new(VM_REQ_COLL) : NULL;
	int rc = req ? vm_chan_dup(coll->comm->chan, &kept->chan) :
		       -VMPI_ENOMEM;

	if (rc) {
		free(kept);
		if (req) {
			vm_req_complete(req);
			vm_req_finish(req, NULL);
		}
		return rc;
	}
	kept->persist.start = start_kept;
	kept->coll = *coll;
	kept->coll.req = req;
	vm_coll_hold(&kept->coll, kept->arrays);
	req->persistent = true;
	req->active = false;
	/* Selects the error handler. */
	req->node.env.context = coll->comm->context;
	req->user = kept;
	req->on_free = kept_end;
	*request = (MPI_Request)req;
	return 0;
}
