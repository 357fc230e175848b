/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translation of message arguments from MPI to core.  Begin with p2p.c, the
 * entries.
 *
 * One condition detects the common case.  Otherwise a second function finds out
 * what is unusual: an invalid argument, or a valid but less common one
 * (MPI_PROC_NULL, MPI_ANY_SOURCE, no bytes at NULL).
 */
#ifndef MPI_P2P_ROUTE_H
#define MPI_P2P_ROUTE_H

#include "core/comm/p2p.h"
#include "mpi/call/check.h"
#include "mpi/call/twin.h"
#include "mpi/type/type.h"

struct vm_route {
	struct vm_rank *peer; /* sends; NULL: MPI_PROC_NULL (receives too) */
	struct vm_env env;
	struct vm_data data;
	/* While types are compared: */
	struct vm_type *type;
	size_t count;
};

/* Check all arguments, of any message, and fill the route: 0 or an MPI
 * error. */
int vm_route_send(struct vm_call *call, struct vm_route *route, const void *buf,
		  MPI_Count count, MPI_Datatype datatype, int dest, int tag,
		  MPI_Comm handle);
int vm_route_recv(struct vm_call *call, struct vm_route *route, void *buf,
		  MPI_Count count, MPI_Datatype datatype, int source, int tag,
		  MPI_Comm handle);

/* Starts the receive of a route, which may be from MPI_PROC_NULL; an MPI error
 * or a negative code of core. */
int vm_route_irecv(const struct vm_route *route, struct vm_req **req);

/* Sets the envelope of a receive or probe; route->peer is NULL for
 * MPI_PROC_NULL. */
int vm_route_match(struct vm_call *call, struct vm_route *route, int source,
		   int tag, MPI_Comm handle);

/* Whether all arguments but the buffer are those of the common case. */
static inline bool vm_route_plain(const struct vm_comm *comm,
				  const struct vm_type *type, vm_count count,
				  int peer, int tag)
{
	int from =
		atomic_load_explicit(&vm_mpi_plain_from, memory_order_relaxed);

	return !VM_UNLIKELY(!comm || !type || !type->plain ||
			    (count | tag) < from || vm_count_is_large(count) ||
			    (unsigned)peer >= (unsigned)comm->size);
}

/*
 * Fill the route in the common case; false in all others.  The route stays in
 * registers if the caller does not let its address escape.
 */
static VM_ALWAYS_INLINE bool
vm_route_plain_send(struct vm_mpi *mpi, struct vm_route *route, const void *buf,
		    vm_count count, MPI_Datatype datatype, int dest, int tag,
		    MPI_Comm handle)
{
	const struct vm_comm *comm = vm_comm_in(mpi, handle);
	const struct vm_type *type = vm_type_get(datatype);

	if (VM_UNLIKELY(!buf || !vm_route_plain(comm, type, count, dest, tag)))
		return false;
	route->peer = comm->ranks[dest];
	route->data = vm_type_data(type, buf, (size_t)count);
	route->env = (struct vm_env){ comm->context, comm->rank, tag };
	return true;
}

static VM_ALWAYS_INLINE bool
vm_route_plain_recv(struct vm_mpi *mpi, struct vm_route *route, const void *buf,
		    vm_count count, MPI_Datatype datatype, int source, int tag,
		    MPI_Comm handle)
{
	const struct vm_comm *comm = vm_comm_in(mpi, handle);
	const struct vm_type *type = vm_type_get(datatype);

	if (VM_UNLIKELY(!buf ||
			!vm_route_plain(comm, type, count, source, tag)))
		return false;
	route->peer = comm->ranks[source];
	route->data = vm_type_data(type, buf, (size_t)count);
	route->env = (struct vm_env){ comm->context, source, tag };
	return true;
}

/*
 * The data of count elements of a predefined type that are one block; false: it
 * is another type, or the arguments of a message are not those of the common
 * case.
 */
static VM_ALWAYS_INLINE bool
vm_route_quick(struct vm_ult *self, struct vm_comm **comm, size_t *bytes,
	       const void *buf, vm_count count, MPI_Datatype datatype, int peer,
	       int tag, MPI_Comm handle)
{
	uintptr_t value = (uintptr_t)datatype - (uintptr_t)MPI_DATATYPE_NULL;
	const struct vm_rank *rank = self ? self->owner : NULL;
	struct vm_mpi *mpi = rank ? rank->mpi : NULL;
	size_t size;

	if (VM_UNLIKELY(!mpi || mpi->phase != VM_MPI_RUNNING || !buf ||
			value >= VM_TYPE_BUILTINS))
		return false;
	size = vm_type_dense_bytes[value];
	*comm = vm_comm_in(mpi, handle);
	if (VM_UNLIKELY(!*comm || !size || (count | tag) < vm_mpi_plain_from ||
			vm_count_is_large(count) ||
			(unsigned)peer >= (unsigned)(*comm)->size))
		return false;
	*bytes = size * (size_t)count;
	return true;
}

#endif
