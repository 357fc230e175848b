/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graph topologies: that of MPI_Graph_create, which every rank knows whole, and
 * the distributed one, of which a rank knows its own edges.
 */
#ifndef MPI_TOPO_GRAPH_H
#define MPI_TOPO_GRAPH_H

#include <stdatomic.h>
#include <stdbool.h>

struct vm_comm;

/* Edges at one rank, in the order of the neighbourhood collectives. */
struct vm_edges {
	int count;
	int *ranks, *weights; /* weights: NULL without */
};

/* Immutable once made; shared, by count, with duplicates. */
struct vm_graph {
	_Atomic int refs;
	int kind;		 /* MPI_GRAPH or MPI_DIST_GRAPH */
	struct vm_edges in, out; /* of the rank; of MPI_GRAPH both alike */
	bool weighted;
	/* MPI_GRAPH: as in the arguments of MPI_Graph_create. */
	int nodes, *index, *edges;
};

/* Gives a reference up; NULL is fine. */
void vm_graph_drop(struct vm_graph *graph);

#endif
