/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graph topologies, of MPI_Graph_create and distributed.
 */
#include "mtap.h"

static void proposals(void)
{
	int dims[1] = { size }, periods[1] = { 0 }, newrank = -9;
	int index[1] = { 0 };

	MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &newrank);
	all_ok(newrank == rank, "MPI_Cart_map");
	dims[0] = 1;
	MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &newrank);
	all_ok(newrank == (rank == 0 ? 0 : MPI_UNDEFINED),
	       "ranks outside of the grid are undefined");
	MPI_Graph_map(MPI_COMM_WORLD, 1, index, NULL, &newrank);
	all_ok(newrank == (rank == 0 ? 0 : MPI_UNDEFINED), "MPI_Graph_map");
}

/* The example of MPI 4.1, 8.5.4: four nodes, edges 0-1, 0-3, 2-3. */
static void example(void)
{
	const int index[4] = { 2, 3, 4, 6 }, edges[6] = { 1, 3, 0, 3, 0, 2 };
	int nodes = -1, count = -1, got_index[4] = { 0 }, got[6] = { 0 };
	int status = -1, n = -1, near[3] = { -1, -1, -1 };
	MPI_Comm graph, dup;

	if (size < 4)
		return;
	MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 1, &graph);
	all_ok((graph == MPI_COMM_NULL) == (rank >= 4),
	       "ranks that are no nodes get MPI_COMM_NULL");
	if (graph != MPI_COMM_NULL) {
		MPI_Comm_dup(graph, &dup);
		MPI_Comm_free(&graph);
		MPI_Topo_test(dup, &status);
		MPI_Graphdims_get(dup, &nodes, &count);
		MPI_Graph_get(dup, 4, 6, got_index, got);
		MPI_Graph_neighbors_count(dup, 3, &n);
		MPI_Graph_neighbors(dup, 3, 3, near);
		MPI_Comm_free(&dup);
	}
	all_ok(rank >= 4 || status == MPI_GRAPH, "MPI_Topo_test");
	all_ok(rank >= 4 || (nodes == 4 && count == 6), "MPI_Graphdims_get");
	all_ok(rank >= 4 || (memcmp(got_index, index, sizeof(index)) == 0 &&
			     memcmp(got, edges, sizeof(edges)) == 0),
	       "MPI_Graph_get");
	all_ok(rank >= 4 || (n == 2 && near[0] == 0 && near[1] == 2 &&
			     near[2] == -1),
	       "MPI_Graph_neighbors of any node, on a duplicate");
}

/* A ring in which each rank specifies its own edges. */
static void adjacent(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	int in = -1, out = -1, weighted = -1, status = -1;
	int from[2] = { -1, -1 }, to[2] = { -1, -1 };
	int from_weight[2] = { -1, -1 }, to_weight[2] = { -1, -1 };
	int weight = 10 + rank, before_weight = 10 + before;
	MPI_Comm ring;

	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before,
				       &before_weight, 1, &next, &weight,
				       MPI_INFO_NULL, 0, &ring);
	MPI_Topo_test(ring, &status);
	MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted);
	all_ok(status == MPI_DIST_GRAPH && in == 1 && out == 1 && weighted,
	       "a ring with weights");
	MPI_Dist_graph_neighbors(ring, 2, from, from_weight, 2, to, to_weight);
	all_ok(from[0] == before && to[0] == next && from[1] == -1 &&
		       from_weight[0] == before_weight &&
		       to_weight[0] == weight,
	       "its neighbours");
	MPI_Comm_free(&ring);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED,
				       0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL,
				       0, &ring);
	MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted);
	all_ok(in == 0 && out == 0 && !weighted, "no edges and no weights");
	MPI_Comm_free(&ring);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL,
				       MPI_WEIGHTS_EMPTY, 0, NULL,
				       MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0,
				       &ring);
	MPI_Dist_graph_neighbors_count(ring, &in, &out, &weighted);
	all_ok(in == 0 && out == 0 && weighted, "MPI_WEIGHTS_EMPTY");
	MPI_Comm_free(&ring);
}

/* Rank 0 says all edges: from everybody to everybody, weight 100 * from +
 * to. */
static void by_one(void)
{
	int n = rank == 0 ? size : 0, at = 0, good = 1;
	int in = -1, out = -1, weighted = -1;
	int *sources = malloc(sizeof(int) * (size_t)size);
	int *degrees = malloc(sizeof(int) * (size_t)size);
	int *ends = malloc(sizeof(int) * (size_t)(size * size));
	int *weights = malloc(sizeof(int) * (size_t)(size * size));
	int *seen = calloc((size_t)size, sizeof(int));
	MPI_Comm graph;

	for (int i = 0; i < n; i++) {
		sources[i] = i;
		degrees[i] = size;
		for (int j = 0; j < size; j++, at++) {
			ends[at] = j;
			weights[at] = 100 * i + j;
		}
	}
	MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, ends,
			      weights, MPI_INFO_NULL, 0, &graph);
	MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
	all_ok(in == size && out == size && weighted,
	       "one rank says the edges of all");
	MPI_Dist_graph_neighbors(graph, size, sources, weights, size, ends,
				 degrees);
	for (int i = 0; i < size; i++) {
		seen[sources[i]]++;
		good = good && weights[i] == 100 * sources[i] + rank &&
		       degrees[i] == 100 * rank + ends[i];
	}
	for (int i = 0; i < size; i++)
		good = good && seen[i] == 1;
	all_ok(good, "each has its edges and their weights");
	MPI_Comm_free(&graph);
	free(sources);
	free(degrees);
	free(ends);
	free(weights);
	free(seen);
}

/* Each rank specifies edges of the next one, some of them twice. */
static void by_others(void)
{
	int source = (rank + 1) % size, degree = 2, ends[2] = { 0, 0 };
	int in = -1, out = -1, weighted = -1, to[2] = { -1, -1 };
	MPI_Comm graph;

	MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, ends,
			      MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
	all_ok(in == (rank == 0 ? 2 * size : 0) && out == 2 && !weighted,
	       "edges that others say, twice the same");
	MPI_Dist_graph_neighbors(graph, 0, NULL, MPI_UNWEIGHTED, 2, to,
				 MPI_UNWEIGHTED);
	all_ok(to[0] == 0 && to[1] == 0, "their ends");
	MPI_Comm_free(&graph);
}

static void errors(void)
{
	int one[1] = { 1 }, wrong[1] = { size }, n, m;
	MPI_Comm comm;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	all_class(MPI_Graphdims_get(MPI_COMM_WORLD, &n, &m), MPI_ERR_TOPOLOGY,
		  "a communicator without a graph");
	all_class(MPI_Dist_graph_neighbors_count(MPI_COMM_WORLD, &n, &m, &n),
		  MPI_ERR_TOPOLOGY, "or without a distributed one");
	all_class(MPI_Graph_create(MPI_COMM_WORLD, size + 1, one, one, 0,
				   &comm),
		  MPI_ERR_ARG, "more nodes than ranks");
	all_class(MPI_Graph_create(MPI_COMM_WORLD, 1, one, wrong, 0, &comm),
		  MPI_ERR_ARG, "an edge to no node");
	all_class(MPI_Dist_graph_create_adjacent(
			  MPI_COMM_WORLD, 1, wrong, MPI_UNWEIGHTED, 0, NULL,
			  MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm),
		  MPI_ERR_RANK, "an edge from no rank");
	all_class(MPI_Dist_graph_create(MPI_COMM_WORLD, -1, NULL, NULL, NULL,
					MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
					&comm),
		  MPI_ERR_ARG, "a negative number of sources");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	proposals();
	example();
	adjacent();
	by_one();
	by_others();
	errors();
	return mtap_end();
}
