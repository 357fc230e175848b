/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of the arguments of collectives, which they store in a struct vm_coll.
 *
 * Arguments that could cause accesses out of bounds (negative counts, missing
 * arrays) are checked even with mpi_check off.  All return 0 or an MPI error.
 */
#ifndef MPI_JOINT_ARGS_H
#define MPI_JOINT_ARGS_H

#include "mpi/icoll/start.h"
#include "mpi/call/info.h"
#include "mpi/call/twin.h"

/* Checks the communicator, which must support the kind, and initialises the
 * description of the call, which meets as `as`. */
static inline int vm_coll_open_as(struct vm_call *call, struct vm_coll *coll,
				  const struct vm_coll_kind *kind,
				  MPI_Comm handle, enum vm_call_id as)
{
	struct vm_comm *comm;
	int rc = vm_check_comm(call, handle, &comm);

	if (VM_UNLIKELY(rc != 0))
		return rc;
	if (VM_UNLIKELY(comm->inter && !kind->cross))
		return vm_error(call, MPI_ERR_COMM,
				"it is not defined on intercommunicators");
	vm_coll_init(coll, kind, call, comm);
	coll->as = (uint16_t)as;
	return 0;
}

/* The same; members may call either twin. */
static inline int vm_coll_open(struct vm_call *call, struct vm_coll *coll,
			       const struct vm_coll_kind *kind, MPI_Comm comm)
{
	return vm_coll_open_as(call, coll, kind, comm,
			       (enum vm_call_id)(call->id - VM_TWIN_AFTER));
}

/* Checks and sets the root of a rooted collective. */
int vm_coll_root(struct vm_call *call, struct vm_coll *coll, int root);

/* Check and set a side of equal blocks; of blocks with counts; of blocks with
 * types. */
int vm_coll_side(struct vm_call *call, struct vm_coll *coll,
		 struct vm_blocks *side, const void *buf, MPI_Count count,
		 MPI_Datatype datatype);
int vm_coll_side_v(struct vm_call *call, struct vm_coll *coll,
		   struct vm_blocks *side, const void *buf,
		   struct vm_ints counts, struct vm_ints displs,
		   MPI_Datatype datatype);
int vm_coll_side_w(struct vm_call *call, struct vm_coll *coll,
		   struct vm_blocks *side, const void *buf,
		   struct vm_ints counts, struct vm_ints displs,
		   const MPI_Datatype types[]);

/* Checks and sets the shares of the members in a reduce-scatter, by counts or
 * all alike; *total is their sum. */
int vm_coll_shares(struct vm_call *call, struct vm_coll *coll,
		   struct vm_ints counts, MPI_Count *total);
int vm_coll_blocks(struct vm_call *call, struct vm_coll *coll, MPI_Count count,
		   MPI_Count *total);

/* Checks and sets both sides of a reduction of count elements.  recvbuf is only
 * used if receives is set, sendbuf only by members for which
 * vm_coll_is_leaf(). */
int vm_coll_operands(struct vm_call *call, struct vm_coll *coll,
		     const void *sendbuf, void *recvbuf, MPI_Count count,
		     MPI_Datatype datatype, MPI_Op op, bool receives);

/* Tells whether buf is MPI_IN_PLACE, where that is allowed, and stores it in
 * coll. */
static inline bool vm_coll_in_place(struct vm_coll *coll, const void *buf)
{
	return coll->in_place = buf == MPI_IN_PLACE && !coll->first_size;
}

/* Rejects data to send that lie where those from the same member are to be
 * received; both sides are set. */
int vm_coll_check_same(struct vm_call *call, const struct vm_coll *coll);

/* Returns where a member's own block begins, of sides without counts. */
static inline const char *vm_coll_own_block(const struct vm_coll *coll,
					    const struct vm_blocks *blocks,
					    bool many)
{
	ptrdiff_t before = many ? (ptrdiff_t)blocks->count * coll->rank : 0;

	return vm_at(blocks->buf, before * blocks->type->extent);
}

/* The same, if it is a collective of one group that moves data.  Most calls end
 * at the comparison of the addresses. */
static inline int vm_coll_check_sides(struct vm_call *call,
				      const struct vm_coll *coll)
{
	bool scatters = coll->kind == &vm_coll_scatter;

	if (coll->op || !coll->send.buf || !coll->recv.buf || coll->in_place ||
	    coll->first_size)
		return 0;
	if (!coll->send.counts.array && !coll->recv.counts.array &&
	    vm_coll_own_block(coll, &coll->send,
			      scatters || coll->kind == &vm_coll_alltoall) !=
		    vm_coll_own_block(coll, &coll->recv, !scatters))
		return 0;
	return vm_coll_check_same(call, coll);
}

/* Ends the call: runs the collective if rc is 0. */
static inline int vm_coll_close(struct vm_call *call, struct vm_coll *coll,
				MPI_Comm comm, int rc)
{
	if (rc == 0)
		rc = vm_coll_check_sides(call, coll);
	if (rc == 0)
		rc = vm_coll_run(call, coll);
	return vm_call_exit(call, comm, rc);
}

/* Ends the call: starts the nonblocking collective if rc is 0. */
static inline int vm_coll_close_start(struct vm_call *call,
				      const struct vm_coll *coll, MPI_Comm comm,
				      int rc, MPI_Request *request)
{
	if (rc == 0)
		rc = vm_coll_check_sides(call, coll);
	if (rc == 0)
		rc = vm_check_pointer(call, request, "request");
	if (rc == 0)
		rc = vm_coll_start(call, coll, request);
	return vm_call_exit(call, comm, rc);
}

/* Ends the call: keeps the collective for MPI_Start if rc is 0. */
static inline int vm_coll_close_init(struct vm_call *call,
				     const struct vm_coll *coll, MPI_Comm comm,
				     int rc, MPI_Info info,
				     MPI_Request *request)
{
	if (rc == 0)
		rc = vm_coll_check_sides(call, coll);
	if (rc == 0)
		rc = vm_check_hints(call, info);
	if (rc == 0)
		rc = vm_check_pointer(call, request, "request");
	if (rc == 0)
		rc = vm_coll_keep(call, coll, request);
	return vm_call_exit(call, comm, rc);
}

#endif
