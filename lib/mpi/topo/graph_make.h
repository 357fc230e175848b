/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Creation of graphs and of communicators with a graph topology.
 */
#ifndef MPI_TOPO_GRAPH_MAKE_H
#define MPI_TOPO_GRAPH_MAKE_H

#include "mpi/call/call.h"
#include "mpi/topo/graph.h"

/* Allocates a graph without edges; NULL when out of memory. */
struct vm_graph *vm_graph_new(int kind);

/* Copies an array, without ever allocating 0 bytes; NULL when out of memory. */
int *vm_ints_copy(const int *from, int count);

/* Collective: makes a communicator of the members, which takes over the graph
 * (dropped on error and for others); MPI_COMM_NULL for others. */
int vm_graph_comm(struct vm_call *call, struct vm_comm *parent, bool member,
		  struct vm_graph *graph, MPI_Comm *out);

#endif
