/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent neighbourhood collectives: the call is kept, and each start is a
 * nonblocking collective that completes the same request.
 */
#include "mpi/topo/neighbor_persist.h"

#include <stdlib.h>

#include "mpi/call/check.h"
#include "mpi/call/info.h"
#include "mpi/p2p/joined.h"
#include "mpi/call/persist.h"

struct persist_nbr {
	struct vm_persist persist; /* first: what MPI_Start looks at */
	struct vm_nbr nbr;
	int in, out; /* numbers of blocks */
};

static void side_count(const struct vm_nbr_side *side, int blocks,
		       void (*count)(struct vm_type *type))
{
	if (side->type)
		count((struct vm_type *)(uintptr_t)side->type);
	for (int j = 0; side->types && j < blocks; j++)
		if (side->counts[j] > 0)
			count(vm_type_checked(side->types[j]));
}

static void type_hold(struct vm_type *type)
{
	vm_type_hold(type);
}

static void kept_end(struct vm_req *req)
{
	struct persist_nbr *kept = req->user;

	side_count(&kept->nbr.send, kept->out, vm_type_drop);
	side_count(&kept->nbr.recv, kept->in, vm_type_drop);
	free(kept);
}

static int start_kept(struct vm_req *req, struct vm_persist *persist)
{
	struct persist_nbr *kept = (struct persist_nbr *)persist;
	struct vm_joined *joined;
	int rc = vm_nbr_start(&kept->nbr, &joined);

	if (rc == 0)
		vm_joined_restart(joined, req);
	return rc;
}

int vm_nbr_close_init(struct vm_call *call, const struct vm_nbr *nbr,
		      MPI_Comm comm, int rc, MPI_Info info,
		      MPI_Request *request)
{
	struct persist_nbr *kept = NULL;
	struct vm_req *req = NULL;

	if (rc == 0)
		rc = vm_check_hints(call, info);
	if (rc == 0)
		rc = vm_check_pointer(call, request, "request");
	if (rc != 0)
		return vm_call_exit(call, comm, rc);
	kept = calloc(1, sizeof(*kept));
	/* Of no rank: see vm_joined_new(). */
	req = kept ? vm_req_new(VM_REQ_RECV) : NULL;
	if (!req) {
		free(kept);
		return vm_call_exit(call, comm, MPI_ERR_NO_MEM);
	}
	kept->persist.start = start_kept;
	kept->nbr = *nbr;
	vm_nbr_counts(nbr->comm, &kept->in, &kept->out);
	side_count(&nbr->send, kept->out, type_hold);
	side_count(&nbr->recv, kept->in, type_hold);
	req->node.env = (struct vm_env){ .context = nbr->comm->context };
	req->data = (struct vm_data){ 0 };
	req->persistent = true;
	req->active = false;
	req->user = kept;
	req->on_free = kept_end;
	*request = (MPI_Request)req;
	return MPI_SUCCESS;
}
