/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbourhood collectives: each member exchanges blocks with the members to
 * which it has an edge.  The topologies are in cart.h and graph.h.
 *
 * They are messages in the context of collectives, all started at once.  The
 * tag has the sequence number of the call on the communicator, so that
 * concurrent calls do not mix.  Edges between the same two ranks match in
 * order, but in a grid by direction (MPI 4.1, 8.6): data sent to the lower
 * neighbour is received from the upper one.
 */
#ifndef MPI_TOPO_NEIGHBOR_H
#define MPI_TOPO_NEIGHBOR_H

#include "mpi/call/call.h"
#include "mpi/call/ints.h"
#include "mpi/type/type.h"

/*
 * One side: a block per neighbour.  Block j is counts[j] elements at displs[j],
 * in elements, or in bytes if types is set; without counts it is count elements
 * after j * count others.
 */
struct vm_nbr_side {
	const void *buf;
	const struct vm_type *type;
	MPI_Count count;
	bool same; /* the first block is sent to all neighbours */
	struct vm_ints counts, displs;
	const MPI_Datatype *types;
};

struct vm_nbr {
	struct vm_comm *comm;
	struct vm_nbr_side send, recv;
};

struct vm_joined;

/* Checks the communicator: it must have a topology. */
int vm_nbr_open(struct vm_call *call, struct vm_nbr *nbr, MPI_Comm comm);

/* Set the sides, with a block for each neighbour: 0 or an MPI error. */
int vm_nbr_send(struct vm_call *call, struct vm_nbr *nbr,
		const struct vm_nbr_side *side, MPI_Datatype type);
int vm_nbr_recv(struct vm_call *call, struct vm_nbr *nbr,
		const struct vm_nbr_side *side, MPI_Datatype type);

/* Returns the numbers of blocks received and sent. */
void vm_nbr_counts(const struct vm_comm *comm, int *in, int *out);

/* Starts all messages: 0 with *joined set, or an error with nothing left to
 * clean up. */
int vm_nbr_start(struct vm_nbr *nbr, struct vm_joined **joined);

#endif
