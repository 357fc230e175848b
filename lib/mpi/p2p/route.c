/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message arguments outside the common case.
 */
#include "mpi/p2p/route.h"

#include "core/comm/revoke.h"
#include "mpi/call/status.h"
#include "mpi/p2p/typed.h"

static int route_data(struct vm_call *call, struct vm_route *route,
		      const void *buf, MPI_Count count, MPI_Datatype datatype)
{
	int rc = vm_check_buffer(call, buf, count, datatype);

	if (rc != 0)
		return rc;
	route->type = vm_type_of_buffer(datatype);
	route->count = count < 0 ? 0 : (size_t)count;
	route->data = vm_type_data(route->type, buf, route->count);
	return 0;
}

/* Checks a communicator for a message: the common case does not occur any more
 * once there is one that is revoked. */
static int check_usable(struct vm_call *call, MPI_Comm handle,
			struct vm_comm **comm)
{
	int rc = vm_check_comm(call, handle, comm);

	return rc == 0 && vm_is_revoked((*comm)->chan) ? -VMPI_EREVOKED : rc;
}

int vm_route_send(struct vm_call *call, struct vm_route *route, const void *buf,
		  MPI_Count count, MPI_Datatype datatype, int dest, int tag,
		  MPI_Comm handle)
{
	struct vm_comm *comm;
	int rc = check_usable(call, handle, &comm);

	if (rc == 0)
		rc = vm_check_dest(call, comm, dest);
	if (rc == 0)
		rc = vm_check_tag(call, tag);
	if (rc == 0)
		rc = route_data(call, route, buf, count, datatype);
	if (rc == 0) {
		route->peer = dest == MPI_PROC_NULL ? NULL : comm->ranks[dest];
		route->env = (struct vm_env){ comm->context, comm->rank, tag };
		vm_typed_send(route->type, route->count);
	}
	return rc;
}

int vm_route_match(struct vm_call *call, struct vm_route *route, int source,
		   int tag, MPI_Comm handle)
{
	struct vm_comm *comm;
	int rc = check_usable(call, handle, &comm);

	if (rc == 0)
		rc = vm_check_source(call, comm, source);
	if (rc == 0)
		rc = vm_check_tag_or_any(call, tag);
	if (rc == 0) {
		route->peer = source == MPI_PROC_NULL ? NULL : call->mpi->rank;
		route->env = (struct vm_env){
			comm->context,
			source == MPI_ANY_SOURCE ? VM_ANY : source,
			tag == MPI_ANY_TAG ? VM_ANY : tag,
		};
	}
	return rc;
}

int vm_route_recv(struct vm_call *call, struct vm_route *route, void *buf,
		  MPI_Count count, MPI_Datatype datatype, int source, int tag,
		  MPI_Comm handle)
{
	int rc = vm_route_match(call, route, source, tag, handle);

	return rc == 0 ? route_data(call, route, buf, count, datatype) : rc;
}

int vm_route_irecv(const struct vm_route *route, struct vm_req **req)
{
	if (route->peer) {
		int rc = vm_irecv(route->env, &route->data, req);

		return rc ? rc :
			    vm_typed_receive(*req, route->type, route->count);
	}
	*req = vm_req_new_done(VM_REQ_RECV, &vm_status_proc_null);
	return *req ? 0 : -VMPI_ENOMEM;
}
