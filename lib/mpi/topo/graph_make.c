/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that make graph topologies or map ranks to them.  Ranks are not
 * reordered, since ranks of one worker are already close to each other.
 */
#include "mpi/topo/graph_make.h"

#include <stdlib.h>

#include "core/meeting/meet.h"
#include "mpi/call/check.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/split.h"
#include "mpi/call/info.h"

/* nnodes, indx and edges of MPI_Graph_create. */
static int check_graph(struct vm_call *call, const struct vm_comm *comm,
		       int nodes, const int *index, const int *edges)
{
	int rc = 0, last;

	if (nodes < 0 || nodes > comm->size)
		return vm_error(call, MPI_ERR_ARG, "nnodes is %d of %d ranks",
				nodes, comm->size);
	if (nodes > 0)
		rc = vm_check_pointer(call, index, "indx");
	if (rc != 0)
		return rc;
	for (int i = 0; i < nodes; i++)
		if (index[i] < (i > 0 ? index[i - 1] : 0))
			return vm_error(call, MPI_ERR_ARG,
					"indx[%d] is %d, less than before", i,
					index[i]);
	last = nodes > 0 ? index[nodes - 1] : 0;
	if (last > 0)
		rc = vm_check_pointer(call, edges, "edges");
	for (int i = 0; i < last && rc == 0; i++)
		if (edges[i] < 0 || edges[i] >= nodes)
			rc = vm_error(call, MPI_ERR_ARG,
				      "edges[%d] is %d, but nodes are 0 to %d",
				      i, edges[i], nodes - 1);
	return rc;
}

/* The graph as node `rank` has it; NULL when out of memory. */
static struct vm_graph *graph_of_all(int nodes, const int *index,
				     const int *edges, int rank)
{
	struct vm_graph *graph = vm_graph_new(MPI_GRAPH);
	int total = nodes > 0 ? index[nodes - 1] : 0;

	if (!graph)
		return NULL;
	graph->nodes = nodes;
	graph->index = vm_ints_copy(index, nodes);
	graph->edges = vm_ints_copy(edges, total);
	if (rank < nodes) {
		int first = rank > 0 ? index[rank - 1] : 0;

		graph->in.count = graph->out.count = index[rank] - first;
		graph->in.ranks = vm_ints_copy(edges + first, graph->in.count);
		graph->out.ranks = vm_ints_copy(edges + first, graph->in.count);
	}
	if (graph->index && graph->edges &&
	    (rank >= nodes || (graph->in.ranks && graph->out.ranks)))
		return graph;
	vm_graph_drop(graph);
	return NULL;
}

int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[],
		      const int edges[], int reorder, MPI_Comm *comm_graph)
{
	struct vm_call call = vm_call_enter(VM_CALL_Graph_create);
	struct vm_graph *graph;
	struct vm_comm *c;
	int rc = vm_check_intra(&call, comm_old, &c);

	vm_comm_none(comm_graph);
	if (rc == 0)
		rc = check_graph(&call, c, nnodes, indx, edges);
	if (rc == 0)
		rc = vm_check_pointer(&call, comm_graph, "comm_graph");
	if (rc != 0)
		return vm_call_exit(&call, comm_old, rc);
	graph = graph_of_all(nnodes, indx, edges, c->rank);
	if (!graph)
		return vm_call_exit(&call, comm_old, MPI_ERR_NO_MEM);
	rc = vm_graph_comm(&call, c, c->rank < nnodes, graph, comm_graph);
	return vm_call_exit(&call, comm_old, rc);
}

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[],
		   const int edges[], int *newrank)
{
	struct vm_call call = vm_call_enter(VM_CALL_Graph_map);
	struct vm_comm *c;
	int rc = vm_check_intra(&call, comm, &c);

	if (rc == 0)
		rc = check_graph(&call, c, nnodes, indx, edges);
	if (rc == 0)
		rc = vm_check_pointer(&call, newrank, "newrank");
	if (rc == 0)
		*newrank = c->rank < nnodes ? c->rank : MPI_UNDEFINED;
	return vm_call_exit(&call, comm, rc);
}

/* Tells whether an argument of weights stands for none. */
static bool no_weights(const int *weights)
{
	return weights == MPI_UNWEIGHTED || weights == MPI_WEIGHTS_EMPTY;
}

/* Ranks and weights of one direction. */
static int check_edges(struct vm_call *call, const struct vm_comm *comm,
		       int count, const int *ranks, const int *weights)
{
	int rc = 0;

	if (count < 0)
		return vm_error(call, MPI_ERR_ARG, "a number of edges is %d",
				count);
	if (count > 0)
		rc = vm_check_pointer(call, ranks, "the array of ranks");
	if (rc == 0 && count > 0 && !no_weights(weights))
		rc = vm_check_pointer(call, weights, "the array of weights");
	for (int i = 0; i < count && rc == 0; i++) {
		if (ranks[i] < 0 || ranks[i] >= comm->size)
			rc = vm_error(call, MPI_ERR_RANK,
				      "an edge leads to rank %d, but ranks are "
				      "0 to %d",
				      ranks[i], comm->size - 1);
		else if (!no_weights(weights) && weights[i] < 0)
			rc = vm_error(call, MPI_ERR_ARG,
				      "the weight of an edge is %d",
				      weights[i]);
	}
	return rc;
}

/* false when out of memory. */
static bool edges_copy(struct vm_edges *edges, int count, const int *ranks,
		       const int *weights, bool weighted)
{
	edges->count = count;
	edges->ranks = vm_ints_copy(ranks, count);
	if (weighted)
		edges->weights =
			vm_ints_copy(weights, no_weights(weights) ? 0 : count);
	return edges->ranks && (!weighted || edges->weights);
}

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree,
				    const int sources[],
				    const int *sourceweights, int outdegree,
				    const int destinations[],
				    const int *destweights, MPI_Info info,
				    int reorder, MPI_Comm *comm_dist_graph)
{
	struct vm_call call = vm_call_enter(VM_CALL_Dist_graph_create_adjacent);
	struct vm_graph *graph;
	struct vm_comm *c;
	int rc = vm_check_intra(&call, comm_old, &c);

	vm_comm_none(comm_dist_graph);
	if (rc == 0)
		rc = check_edges(&call, c, indegree, sources, sourceweights);
	if (rc == 0)
		rc = check_edges(&call, c, outdegree, destinations,
				 destweights);
	if (rc == 0)
		rc = vm_check_hints(&call, info);
	if (rc == 0)
		rc = vm_check_pointer(&call, comm_dist_graph,
				      "comm_dist_graph");
	if (rc != 0)
		return vm_call_exit(&call, comm_old, rc);
	graph = vm_graph_new(MPI_DIST_GRAPH);
	if (graph)
		graph->weighted = sourceweights != MPI_UNWEIGHTED &&
				  destweights != MPI_UNWEIGHTED;
	if (!graph ||
	    !edges_copy(&graph->in, indegree, sources, sourceweights,
			graph->weighted) ||
	    !edges_copy(&graph->out, outdegree, destinations, destweights,
			graph->weighted)) {
		vm_graph_drop(graph);
		return vm_call_exit(&call, comm_old, MPI_ERR_NO_MEM);
	}
	rc = vm_graph_comm(&call, c, true, graph, comm_dist_graph);
	return vm_call_exit(&call, comm_old, rc);
}

/* The arguments of MPI_Dist_graph_create; nodes is the length of sources and
 * degrees. */
struct graph_args {
	int nodes;
	const int *sources, *degrees, *destinations, *weights;
};

/* A rank's contribution: all of its edges. */
struct edge {
	int from, to, weight;
};

struct brought {
	struct vm_coll coll;	/* first: meetings know this */
	struct vm_graph *graph; /* its own edges of all; NULL: no memory */
};

/* NULL when out of memory. */
static struct edge *part_edges(const struct graph_args *part, size_t *count)
{
	struct edge *edges;
	size_t total = 0, at = 0;

	for (int i = 0; i < part->nodes; i++)
		total += (size_t)part->degrees[i];
	*count = total;
	edges = malloc((total + 1) * sizeof(*edges));
	if (!edges)
		return NULL;
	for (int i = 0; i < part->nodes; i++)
		for (int j = 0; j < part->degrees[i]; j++, at++)
			edges[at] = (struct edge){
				.from = part->sources[i],
				.to = part->destinations[at],
				.weight = no_weights(part->weights) ?
						  0 :
						  part->weights[at],
			};
	return edges;
}

static void edge_add(struct vm_edges *edges, int rank, int weight)
{
	if (edges->ranks)
		edges->ranks[edges->count] = rank;
	if (edges->weights)
		edges->weights[edges->count] = weight;
	edges->count++;
}

/* Finds this rank's edges among the contributions of all; without arrays only
 * counts them. */
static void edges_find(const struct vm_meet *meet, struct vm_graph *graph,
		       int rank)
{
	graph->in.count = graph->out.count = 0;
	for (uint32_t i = 0; i < meet->size; i++) {
		const struct vm_coll *coll = vm_coll_of(meet, i);
		const struct edge *edges = vm_comm_coll_brought(coll);
		size_t n = coll->send.count / sizeof(*edges);

		for (size_t j = 0; j < n; j++) {
			if (edges[j].from == rank)
				edge_add(&graph->out, edges[j].to,
					 edges[j].weight);
			if (edges[j].to == rank)
				edge_add(&graph->in, edges[j].from,
					 edges[j].weight);
		}
	}
}

static bool edges_room(struct vm_edges *edges, bool weighted)
{
	size_t bytes = ((size_t)edges->count + 1) * sizeof(int);

	edges->ranks = malloc(bytes);
	edges->weights = weighted ? malloc(bytes) : NULL;
	return edges->ranks && (!weighted || edges->weights);
}

static void graph_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		       size_t last)
{
	for (size_t i = first; i < last; i++) {
		struct vm_coll *coll = vm_coll_of(meet, i);
		struct vm_graph *graph = ((struct brought *)coll)->graph;

		edges_find(meet, graph, coll->rank);
		if (edges_room(&graph->in, graph->weighted) &&
		    edges_room(&graph->out, graph->weighted))
			edges_find(meet, graph, coll->rank);
		else
			vm_coll_fail(coll, MPI_ERR_NO_MEM,
				     "no memory for the graph");
	}
}

static const struct vm_coll_kind kind_graph = {
	.part = graph_part,
	.work = vm_comm_coll_work,
	.flow = VM_FLOW_ALL,
};

static int check_parts(struct vm_call *call, const struct vm_comm *comm,
		       const struct graph_args *part)
{
	int rc, total = 0;

	rc = check_edges(call, comm, part->nodes, part->sources,
			 MPI_UNWEIGHTED);
	if (rc == 0 && part->nodes > 0)
		rc = vm_check_pointer(call, part->degrees, "degrees");
	for (int i = 0; i < part->nodes && rc == 0; i++) {
		if (part->degrees[i] < 0)
			return vm_error(call, MPI_ERR_ARG, "degrees[%d] is %d",
					i, part->degrees[i]);
		total += part->degrees[i];
	}
	if (rc == 0)
		rc = check_edges(call, comm, total, part->destinations,
				 part->weights);
	return rc;
}

/* The graph of the caller's rank from the parts of all: 0 with *graph set. */
static int parts_exchange(struct vm_call *call, struct vm_comm *comm,
			  const struct graph_args *part, struct vm_graph **out)
{
	struct brought brought = { .graph = vm_graph_new(MPI_DIST_GRAPH) };
	size_t count;
	struct edge *edges = part_edges(part, &count);
	int rc;

	if (!brought.graph || !edges) {
		vm_graph_drop(brought.graph);
		free(edges);
		return MPI_ERR_NO_MEM;
	}
	brought.graph->weighted = part->weights != MPI_UNWEIGHTED;
	vm_comm_coll_init(&brought.coll, &kind_graph, call, comm, edges,
			  count * sizeof(*edges));
	rc = vm_coll_run(call, &brought.coll);
	free(edges);
	if (rc == 0)
		*out = brought.graph;
	else
		vm_graph_drop(brought.graph);
	return rc;
}

int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[],
			   const int degrees[], const int destinations[],
			   const int *weights, MPI_Info info, int reorder,
			   MPI_Comm *comm_dist_graph)
{
	struct vm_call call = vm_call_enter(VM_CALL_Dist_graph_create);
	struct graph_args part = { n, sources, degrees, destinations, weights };
	struct vm_graph *graph;
	struct vm_comm *c;
	int rc = vm_check_intra(&call, comm_old, &c);

	vm_comm_none(comm_dist_graph);
	if (rc == 0)
		rc = check_parts(&call, c, &part);
	if (rc == 0)
		rc = vm_check_hints(&call, info);
	if (rc == 0)
		rc = vm_check_pointer(&call, comm_dist_graph,
				      "comm_dist_graph");
	if (rc == 0)
		rc = parts_exchange(&call, c, &part, &graph);
	if (rc == 0)
		rc = vm_graph_comm(&call, c, true, graph, comm_dist_graph);
	return vm_call_exit(&call, comm_old, rc);
}
