/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graph topologies: that of MPI_Graph_create, which every rank knows
 * completely, and distributed graphs, of which a rank knows its own edges.
 */
#ifndef MPI_TOPO_GRAPH_H
#define MPI_TOPO_GRAPH_H

#include <stdatomic.h>
#include <stdbool.h>

struct vm_comm;

/* Edges of one rank, in the order of the neighbourhood collectives. */
struct vm_edges {
	int count;
	int *ranks, *weights; /* weights: NULL without */
};

/* Immutable once made; reference-counted, shared with duplicates. */
struct vm_graph {
	_Atomic int refs;
	int kind;		 /* MPI_GRAPH or MPI_DIST_GRAPH */
	struct vm_edges in, out; /* of the rank; of MPI_GRAPH both alike */
	bool weighted;
	/* MPI_GRAPH: as in the arguments of MPI_Graph_create. */
	int nodes, *index, *edges;
};

/* Drops a reference; graph may be NULL. */
void vm_graph_drop(struct vm_graph *graph);

#endif
