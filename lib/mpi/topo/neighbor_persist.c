/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent neighbourhood collectives: the call is kept, and each start is a
 * nonblocking collective that completes the same request.
 */
#include "mpi/topo/neighbor_persist.h"

#include <stddef.h>
#include <stdlib.h>

#include "mpi/call/array.h"
#include "mpi/call/check.h"
#include "mpi/call/info.h"
#include "mpi/p2p/joined.h"
#include "mpi/call/persist.h"

struct persist_nbr {
	struct vm_persist persist; /* first: what MPI_Start looks at */
	struct vm_nbr nbr;
	int in, out;	      /* numbers of blocks */
	max_align_t arrays[]; /* those of the call, copied */
};

static void side_count(const struct vm_nbr_side *side, int blocks,
		       void (*count)(struct vm_type *type))
{
	if (side->type)
		count((struct vm_type *)(uintptr_t)side->type);
	for (int j = 0; side->types && j < blocks; j++)
		if (vm_ints_get(side->counts, (size_t)j) > 0)
			count(vm_type_checked(side->types[j]));
}

static void type_hold(struct vm_type *type)
{
	vm_type_hold(type);
}

static size_t arrays_room(const struct vm_nbr_side *side, int blocks)
{
	size_t n = (size_t)blocks;

	return vm_ints_room(side->counts, n) + vm_ints_room(side->displs, n) +
	       vm_array_room(side->types, n * sizeof(*side->types));
}

static void arrays_keep(struct vm_nbr_side *side, int blocks, void **place)
{
	size_t n = (size_t)blocks;

	side->counts = vm_ints_keep(place, side->counts, n);
	side->displs = vm_ints_keep(place, side->displs, n);
	side->types =
		vm_array_keep(place, side->types, n * sizeof(*side->types));
}

/* Returns a copy of a call that holds what the user may change or free. */
static struct persist_nbr *kept_new(const struct vm_nbr *nbr)
{
	struct persist_nbr *kept;
	void *place;
	int in, out;

	vm_nbr_counts(nbr->comm, &in, &out);
	kept = calloc(1, sizeof(*kept) + arrays_room(&nbr->send, out) +
				 arrays_room(&nbr->recv, in));
	if (!kept)
		return NULL;
	kept->nbr = *nbr;
	kept->in = in;
	kept->out = out;
	place = kept->arrays;
	arrays_keep(&kept->nbr.send, out, &place);
	arrays_keep(&kept->nbr.recv, in, &place);
	side_count(&kept->nbr.send, out, type_hold);
	side_count(&kept->nbr.recv, in, type_hold);
	return kept;
}

static void kept_free(struct persist_nbr *kept)
{
	side_count(&kept->nbr.send, kept->out, vm_type_drop);
	side_count(&kept->nbr.recv, kept->in, vm_type_drop);
	free(kept);
}

static void kept_end(struct vm_req *req)
{
	kept_free(req->user);
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
	kept = kept_new(nbr);
	/* Of no rank: see vm_joined_new(). */
	req = kept ? vm_req_new(VM_REQ_RECV) : NULL;
	if (!req) {
		if (kept)
			kept_free(kept);
		return vm_call_exit(call, comm, MPI_ERR_NO_MEM);
	}
	kept->persist.start = start_kept;
	req->node.env = (struct vm_env){ .context = nbr->comm->context };
	req->data = (struct vm_data){ 0 };
	req->persistent = true;
	req->active = false;
	req->user = kept;
	req->on_free = kept_end;
	*request = (MPI_Request)req;
	return MPI_SUCCESS;
}
