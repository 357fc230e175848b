/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graph topologies on communicators.
 */
#include "mpi/topo/graph.h"

#include <stdlib.h>
#include <string.h>

#include "core/meeting/chan_make.h"
#include "mpi/call/check.h"
#include "mpi/comm/comm.h"
#include "mpi/topo/graph_make.h"

static void edges_free(struct vm_edges *edges)
{
	free(edges->ranks);
	free(edges->weights);
}

void vm_graph_drop(struct vm_graph *graph)
{
	/* Acquire-release: as vm_object_drop(). */
	if (!graph || atomic_fetch_sub_explicit(&graph->refs, 1,
						memory_order_acq_rel) != 1)
		return;
	edges_free(&graph->in);
	edges_free(&graph->out);
	free(graph->index);
	free(graph->edges);
	free(graph);
}

static const struct vm_topo_ops graph_ops;

static bool graph_copy(struct vm_comm *to, const struct vm_comm *from)
{
	atomic_fetch_add_explicit(&from->graph->refs, 1, memory_order_relaxed);
	to->graph = from->graph;
	to->topo_ops = &graph_ops;
	return true;
}

static void graph_drop(struct vm_comm *comm)
{
	vm_graph_drop(comm->graph);
}

static const struct vm_topo_ops graph_ops = { graph_copy, graph_drop };

struct vm_graph *vm_graph_new(int kind)
{
	struct vm_graph *graph = calloc(1, sizeof(*graph));

	if (graph) {
		atomic_init(&graph->refs, 1);
		graph->kind = kind;
	}
	return graph;
}

int *vm_ints_copy(const int *from, int count)
{
	size_t bytes = (size_t)count * sizeof(*from);
	int *copy = malloc(bytes + sizeof(*from));

	if (copy && count > 0)
		memcpy(copy, from, bytes);
	return copy;
}

int vm_graph_comm(struct vm_call *call, struct vm_comm *parent, bool member,
		  struct vm_graph *graph, MPI_Comm *out)
{
	struct vm_chan *chan = NULL;
	struct vm_comm *comm;
	int rc = vm_chan_split(parent->chan, &chan, member ? 0 : VMPI_UNDEFINED,
			       parent->rank);

	if (rc == 0 && !chan)
		*out = MPI_COMM_NULL;
	if (rc == 0 && chan)
		rc = vm_comm_new(call->mpi, &comm, chan, parent);
	if (rc != 0 || !chan) {
		vm_graph_drop(graph);
		return rc;
	}
	comm->graph = graph;
	comm->topo_ops = &graph_ops;
	*out = (MPI_Comm)comm;
	return 0;
}

/* A communicator with a graph of this kind. */
static int check_graph(struct vm_call *call, MPI_Comm handle, int kind,
		       struct vm_graph **graph)
{
	struct vm_comm *comm;
	int rc = vm_check_comm(call, handle, &comm);

	if (rc == 0 && (!comm->graph || comm->graph->kind != kind))
		rc = vm_error(call, MPI_ERR_TOPOLOGY,
			      "the communicator has no %sgraph topology",
			      kind == MPI_DIST_GRAPH ? "distributed " : "");
	if (rc == 0)
		*graph = comm->graph;
	return rc;
}

static int check_node(struct vm_call *call, const struct vm_graph *graph,
		      int rank)
{
	if (rank >= 0 && rank < graph->nodes)
		return 0;
	return vm_error(call, MPI_ERR_RANK, "rank %d of a graph of %d nodes",
			rank, graph->nodes);
}

/* Where the edges of a node begin. */
static int first_edge(const struct vm_graph *graph, int node)
{
	return node > 0 ? graph->index[node - 1] : 0;
}

int PMPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
	struct vm_call call = vm_call_enter(VM_CALL_Graphdims_get);
	struct vm_graph *graph;
	int rc = check_graph(&call, comm, MPI_GRAPH, &graph);

	if (rc == 0)
		rc = vm_check_pointer(&call, nnodes, "nnodes");
	if (rc == 0)
		rc = vm_check_pointer(&call, nedges, "nedges");
	if (rc == 0) {
		*nnodes = graph->nodes;
		*nedges = first_edge(graph, graph->nodes);
	}
	return vm_call_exit(&call, comm, rc);
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

static void ints_out(int *to, const int *from, int count)
{
	if (count > 0)
		memcpy(to, from, (size_t)count * sizeof(*to));
}

int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[],
		   int edges[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Graph_get);
	struct vm_graph *graph;
	int rc = check_graph(&call, comm, MPI_GRAPH, &graph);

	if (rc == 0 && (maxindex < 0 || maxedges < 0))
		rc = vm_error(&call, MPI_ERR_ARG,
			      "maxindex is %d, maxedges is %d", maxindex,
			      maxedges);
	if (rc == 0 && maxindex > 0)
		rc = vm_check_pointer(&call, indx, "indx");
	if (rc == 0 && maxedges > 0)
		rc = vm_check_pointer(&call, edges, "edges");
	if (rc == 0) {
		ints_out(indx, graph->index, least(maxindex, graph->nodes));
		ints_out(edges, graph->edges,
			 least(maxedges, first_edge(graph, graph->nodes)));
	}
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{
	struct vm_call call = vm_call_enter(VM_CALL_Graph_neighbors_count);
	struct vm_graph *graph;
	int rc = check_graph(&call, comm, MPI_GRAPH, &graph);

	if (rc == 0)
		rc = check_node(&call, graph, rank);
	if (rc == 0)
		rc = vm_check_pointer(&call, nneighbors, "nneighbors");
	if (rc == 0)
		*nneighbors = graph->index[rank] - first_edge(graph, rank);
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors,
			 int neighbors[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Graph_neighbors);
	struct vm_graph *graph;
	int rc = check_graph(&call, comm, MPI_GRAPH, &graph);

	if (rc == 0)
		rc = check_node(&call, graph, rank);
	if (rc == 0 && maxneighbors < 0)
		rc = vm_error(&call, MPI_ERR_ARG, "maxneighbors is %d",
			      maxneighbors);
	if (rc == 0 && maxneighbors > 0)
		rc = vm_check_pointer(&call, neighbors, "neighbors");
	if (rc == 0) {
		int first = first_edge(graph, rank);

		ints_out(neighbors, graph->edges + first,
			 least(maxneighbors, graph->index[rank] - first));
	}
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree,
				    int *outdegree, int *weighted)
{
	struct vm_call call = vm_call_enter(VM_CALL_Dist_graph_neighbors_count);
	struct vm_graph *graph;
	int rc = check_graph(&call, comm, MPI_DIST_GRAPH, &graph);

	if (rc == 0)
		rc = vm_check_pointer(&call, indegree, "indegree");
	if (rc == 0)
		rc = vm_check_pointer(&call, outdegree, "outdegree");
	if (rc == 0)
		rc = vm_check_pointer(&call, weighted, "weighted");
	if (rc == 0) {
		*indegree = graph->in.count;
		*outdegree = graph->out.count;
		*weighted = graph->weighted;
	}
	return vm_call_exit(&call, comm, rc);
}

/* One direction of Dist_graph_neighbors. */
static int edges_out(struct vm_call *call, const struct vm_edges *edges,
		     int most, int *ranks, int *weights)
{
	int count = least(most, edges->count), rc = 0;

	if (most < 0)
		return vm_error(call, MPI_ERR_ARG,
				"the room for neighbours is %d", most);
	if (count > 0)
		rc = vm_check_pointer(call, ranks, "the array of neighbours");
	if (rc != 0)
		return rc;
	ints_out(ranks, edges->ranks, count);
	if (edges->weights && weights && weights != MPI_UNWEIGHTED &&
	    weights != MPI_WEIGHTS_EMPTY)
		ints_out(weights, edges->weights, count);
	return 0;
}

int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[],
			      int *sourceweights, int maxoutdegree,
			      int destinations[], int *destweights)
{
	struct vm_call call = vm_call_enter(VM_CALL_Dist_graph_neighbors);
	struct vm_graph *graph;
	int rc = check_graph(&call, comm, MPI_DIST_GRAPH, &graph);

	if (rc == 0)
		rc = edges_out(&call, &graph->in, maxindegree, sources,
			       sourceweights);
	if (rc == 0)
		rc = edges_out(&call, &graph->out, maxoutdegree, destinations,
			       destweights);
	return vm_call_exit(&call, comm, rc);
}
