/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making graphs, and communicators that have one.
 */
#ifndef MPI_TOPO_GRAPH_MAKE_H
#define MPI_TOPO_GRAPH_MAKE_H

#include "mpi/call/call.h"
#include "mpi/topo/graph.h"

/* Without edges; NULL when out of memory. */
struct vm_graph *vm_graph_new(int kind);

/* A copy, never of 0 bytes; NULL when out of memory. */
int *vm_ints_copy(const int *from, int count);

/* Collective: a communicator of the members, which takes the graph over (on
 * errors, and for others, it is dropped); MPI_COMM_NULL for others. */
int vm_graph_comm(struct vm_call *call, struct vm_comm *parent, bool member,
		  struct vm_graph *graph, MPI_Comm *out);

#endif
