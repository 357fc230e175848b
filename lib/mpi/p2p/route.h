/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments of messages, from MPI's to core's.  Begin with p2p.c, the entries.
 *
 * One condition tells whether anything is unusual; only then a second function
 * finds out what: a wrong argument, or a right one that is not the common case
 * (MPI_PROC_NULL, MPI_ANY_SOURCE, no bytes at NULL).
 */
#ifndef MPI_P2P_ROUTE_H
#define MPI_P2P_ROUTE_H

#include "core/comm/p2p.h"
#include "mpi/call/check.h"
#include "mpi/type/type.h"

struct vm_route {
	struct vm_rank *peer; /* sends; NULL: MPI_PROC_NULL (receives too) */
	struct vm_env env;
	struct vm_data data;
};

/* The second looks, at any message: 0 with the route filled, or an MPI error. */
int vm_route_send(struct vm_call *call, struct vm_route *route, const void *buf,
		  int count, MPI_Datatype datatype, int dest, int tag,
		  MPI_Comm handle);
int vm_route_recv(struct vm_call *call, struct vm_route *route, void *buf,
		  int count, MPI_Datatype datatype, int source, int tag,
		  MPI_Comm handle);

/* Starts the receive of a route, also one from MPI_PROC_NULL. */
int vm_route_irecv(const struct vm_route *route, struct vm_req **req);

/* The envelope of a receive or probe; route->peer NULL for MPI_PROC_NULL. */
int vm_route_match(struct vm_call *call, struct vm_route *route, int source,
		   int tag, MPI_Comm handle);

/*
 * The first look: fills the route of an ordinary message; false: it is odd.
 * The route of callers that do not give its address away stays in registers.
 */
static inline bool vm_route_plain(const struct vm_comm *comm,
				  struct vm_route *route, const void *buf,
				  int count, MPI_Datatype datatype, int peer,
				  int tag)
{
	const struct vm_type *type = vm_type_get(datatype);

	if (VM_UNLIKELY(!comm || !type || !type->committed || !buf ||
			(count | tag) < 0 ||
			(unsigned)peer >= (unsigned)comm->size))
		return false;
	route->peer = comm->ranks[peer];
	route->data = vm_type_data(type, buf, (size_t)count);
	return true;
}

static inline bool vm_route_plain_send(struct vm_mpi *mpi,
				       struct vm_route *route, const void *buf,
				       int count, MPI_Datatype datatype,
				       int dest, int tag, MPI_Comm handle)
{
	const struct vm_comm *comm = vm_comm_in(mpi, handle);

	if (!vm_route_plain(comm, route, buf, count, datatype, dest, tag))
		return false;
	route->env = (struct vm_env){ comm->context, comm->rank, tag };
	return true;
}

static inline bool vm_route_plain_recv(struct vm_mpi *mpi,
				       struct vm_route *route, const void *buf,
				       int count, MPI_Datatype datatype,
				       int source, int tag, MPI_Comm handle)
{
	const struct vm_comm *comm = vm_comm_in(mpi, handle);

	if (!vm_route_plain(comm, route, buf, count, datatype, source, tag))
		return false;
	route->env = (struct vm_env){ comm->context, source, tag };
	return true;
}

#endif
