/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From MPI's arguments of a message to core's.
 *
 * One condition tells whether anything is odd; only then somebody looks what it
 * is: a wrong argument, or a right one that is not the common case
 * (MPI_PROC_NULL, MPI_ANY_SOURCE, no bytes at NULL).
 */
#ifndef MPI_ROUTE_H
#define MPI_ROUTE_H

#include "core/p2p.h"
#include "mpi/check.h"
#include "mpi/type.h"

struct vm_route {
	struct vm_rank *peer; /* sends; NULL: MPI_PROC_NULL (receives too) */
	struct vm_env env;
	struct vm_data data;
};

/* The second looks: 0 with the route filled, or an MPI error. */
int vm_route_send_odd(struct vm_call *call, struct vm_route *route,
		      const void *buf, int count, MPI_Datatype datatype,
		      int dest, int tag, MPI_Comm handle);
int vm_route_recv_odd(struct vm_call *call, struct vm_route *route, void *buf,
		      int count, MPI_Datatype datatype, int source, int tag,
		      MPI_Comm handle);

/* The envelope of a receive or probe; route->peer NULL for MPI_PROC_NULL. */
int vm_route_match(struct vm_call *call, struct vm_route *route, int source,
		   int tag, MPI_Comm handle);

static inline int vm_route_send(struct vm_call *call, struct vm_route *route,
				const void *buf, int count,
				MPI_Datatype datatype, int dest, int tag,
				MPI_Comm handle)
{
	const struct vm_comm *comm = vm_comm_in(call->mpi, handle);
	const struct vm_type *type = vm_type_get(datatype);

	if (VM_UNLIKELY(!comm || !type || !type->committed || !buf ||
			count < 0 || tag < 0 ||
			(unsigned)dest >= (unsigned)comm->size))
		return vm_route_send_odd(call, route, buf, count, datatype,
					 dest, tag, handle);
	route->peer = comm->ranks[dest];
	route->env = (struct vm_env){ comm->context, comm->rank, tag };
	route->data = vm_type_data(type, buf, (size_t)count);
	return 0;
}

static inline int vm_route_recv(struct vm_call *call, struct vm_route *route,
				void *buf, int count, MPI_Datatype datatype,
				int source, int tag, MPI_Comm handle)
{
	const struct vm_comm *comm = vm_comm_in(call->mpi, handle);
	const struct vm_type *type = vm_type_get(datatype);

	if (VM_UNLIKELY(!comm || !type || !type->committed || !buf ||
			count < 0 || tag < 0 ||
			(unsigned)source >= (unsigned)comm->size))
		return vm_route_recv_odd(call, route, buf, count, datatype,
					 source, tag, handle);
	route->peer = comm->ranks[source];
	route->env = (struct vm_env){ comm->context, source, tag };
	route->data = vm_type_data(type, buf, (size_t)count);
	return 0;
}

#endif
