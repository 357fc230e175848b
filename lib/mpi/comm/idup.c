/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking duplication of communicators, and hints.
 *
 * The new communicator has its attributes and topology from the start; the last
 * member to call makes the channels of all, and the handles become valid.  Until
 * then only the error handler exists.  No hints are supported: all are ignored
 * and none are returned.
 */
#include <stdlib.h>
#include <string.h>

#include "core/meeting/chan_make.h"
#include "core/rank/context.h"
#include "mpi/comm/split.h"
#include "mpi/call/errh.h"
#include "mpi/call/info.h"
#include "mpi/comm/inter.h"
#include "mpi/call/handle.h"
#include "mpi/call/status.h"
#include "mpi/comm/comm.h"
#include "mpi/icoll/start.h"

/* A member's data at the meeting; freed with the request. */
struct idup {
	struct vm_coll coll; /* first: meetings and requests know this */
	struct vm_mpi *mpi;
	struct vm_comm *comm;	/* the new one */
	struct vm_group *group; /* of all members; holds a reference */
	int first_size;		/* as of vm_inter_set(); 0: no sides */
	struct vm_chan *chan;	/* of the new one, until the end */
	uint32_t context;	/* the first member's: of the new one */
};

/* Returns a local member; NULL if it is in another process. */
static struct idup *member(const struct vm_meet *meet, int i)
{
	struct vm_coll *coll = vm_coll_of(meet, (size_t)i);

	return coll->owner ? (struct idup *)coll : NULL;
}

/* Returns the context that the first member has contributed. */
static uint32_t context_of(const struct vm_meet *meet)
{
	uint32_t context;

	memcpy(&context, vm_comm_coll_brought(vm_coll_of(meet, 0)),
	       sizeof(context));
	return context;
}

/* Makes the channels of all local members: 0 or -VMPI_ENOMEM. */
static int chans_make(const struct vm_meet *meet, struct vm_group *group)
{
	struct vm_meet *place = vm_meet_new(group, vm_rank_self());
	uint32_t context = context_of(meet);
	int rc = place ? 0 : -VMPI_ENOMEM;

	for (int i = 0; i < group->size && rc == 0; i++) {
		struct idup *idup = member(meet, i);

		if (!idup)
			continue;
		idup->chan =
			vm_chan_new(group->ranks[i], group, place, context, i);
		if (!idup->chan)
			rc = -VMPI_ENOMEM;
	}
	for (int i = 0; i < group->size && rc != 0; i++) {
		struct idup *idup = member(meet, i);

		if (!idup)
			continue;
		vm_chan_free(idup->chan);
		idup->chan = NULL;
	}
	vm_meet_drop(place);
	return rc;
}

/* Makes the handles valid. */
static void idup_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		      size_t last)
{
	int size = (int)meet->size;
	int rc = chans_make(meet, ((struct idup *)me)->group);

	for (int i = 0; i < size; i++) {
		struct idup *idup = member(meet, i);

		if (!idup)
			continue;
		if (rc != 0) {
			vm_coll_fail(&idup->coll, MPI_ERR_NO_MEM,
				     "no memory for a communicator");
			continue;
		}
		vm_comm_init(idup->comm, idup->chan);
		if (idup->first_size)
			vm_inter_set(idup->comm, idup->first_size);
		vm_object_mark(&idup->comm->object, VM_MAGIC_COMM);
	}
}

static const struct vm_coll_kind kind_idup = {
	.part = idup_part,
	.work = vm_comm_coll_work,
	.whole = true,
	.flow = VM_FLOW_ALL,
};

static void idup_end(struct vm_req *req)
{
	struct idup *idup = req->user;

	if (req->status.error != 0)
		vm_comm_discard(idup->mpi, idup->comm);
	vm_group_drop(idup->group);
	free(idup);
}

static struct vm_req *idup_req(struct vm_call *call, struct vm_comm *from,
			       struct vm_comm *to)
{
	struct idup *idup = malloc(sizeof(*idup));
	struct vm_req *req = idup ? vm_req_new(VM_REQ_COLL) : NULL;

	if (!req) {
		free(idup);
		return NULL;
	}
	*idup = (struct idup){ .mpi = call->mpi,
			       .comm = to,
			       .group = vm_group_hold(from->chan->group),
			       .first_size = vm_comm_first_size(from) };
	if (from->chan->rank == 0)
		idup->context = vm_context_new();
	vm_comm_coll_init(&idup->coll, &kind_idup, call, from, &idup->context,
			  sizeof(idup->context));
	idup->coll.req = req;
	req->user = idup;
	req->on_free = idup_end;
	req->status = vm_status_empty;
	req->node.env.context = from->context;
	req->node.env.tag = (int)(VM_CALL_MPI_FIRST + call->id);
	return req;
}

static int idup_start(struct vm_call *call, MPI_Comm handle,
		      struct vm_comm *from, MPI_Comm *newcomm,
		      MPI_Request *request)
{
	struct vm_comm *to =
		vm_object_new(call->mpi, VM_OBJECT_COMM, sizeof(*to));
	struct vm_req *req;
	int rc;

	if (!to)
		return MPI_ERR_NO_MEM;
	vm_object_mark(&to->object, VM_MAGIC_COMM_SOON);
	to->errh = vm_errh_hold(from->errh);
	to->session = from->session;
	rc = vm_comm_copy(call, to, from, handle);
	req = rc == 0 ? idup_req(call, from, to) : NULL;
	if (!req) {
		vm_comm_discard(call->mpi, to);
		return rc ? rc : MPI_ERR_NO_MEM;
	}
	rc = vm_meet_start(from->chan, req->user, vm_coll_started, req, NULL);
	if (rc != 0) {
		req->status.error = rc;
		vm_req_complete(req);
		vm_req_finish(req, NULL);
		return rc;
	}
	*newcomm = (MPI_Comm)to;
	*request = (MPI_Request)req;
	return 0;
}

static int idup(struct vm_call *call, MPI_Comm comm, MPI_Comm *newcomm,
		MPI_Request *request)
{
	struct vm_comm *c;
	int rc = vm_check_comm(call, comm, &c);

	if (rc == 0)
		rc = vm_check_pointer(call, newcomm, "newcomm");
	if (rc == 0)
		rc = vm_check_pointer(call, request, "request");
	return rc == 0 ? idup_start(call, comm, c, newcomm, request) : rc;
}

int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_idup);

	vm_comm_none(newcomm);
	return vm_call_exit(&call, comm, idup(&call, comm, newcomm, request));
}

int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
			     MPI_Request *request)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_idup_with_info);
	int rc = vm_check_hints(&call, info);

	vm_comm_none(newcomm);
	if (rc == 0)
		rc = idup(&call, comm, newcomm, request);
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_dup_with_info);
	int rc = vm_check_hints(&call, info);

	vm_comm_none(newcomm);
	if (rc != 0)
		return vm_call_exit(&call, comm, rc);
	return PMPI_Comm_dup(comm, newcomm);
}

int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_set_info);
	struct vm_comm *c;
	int rc = vm_check_comm(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_hints(&call, info);
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info *info_used)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_get_info);
	struct vm_comm *c;
	int rc = vm_check_comm(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, info_used, "info_used");
	if (rc == 0)
		rc = vm_info_new(call.mpi, info_used);
	return vm_call_exit(&call, comm, rc);
}
