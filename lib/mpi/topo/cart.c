/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cartesian topologies on communicators.
 */
#include "mpi/topo/cart.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/comm/split.h"
#include "mpi/call/check.h"
#include "mpi/comm/comm.h"
#include "mpi/topo/graph.h"

static size_t topo_bytes(int count)
{
	return sizeof(struct vm_topo) +
	       (size_t)count * sizeof(struct vm_topo_dim);
}

static const struct vm_topo_ops cart_ops;

static bool cart_copy(struct vm_comm *to, const struct vm_comm *from)
{
	size_t bytes = topo_bytes(from->topo->count);
	struct vm_topo *copy = malloc(bytes);

	if (!copy)
		return false;
	memcpy(copy, from->topo, bytes);
	to->topo = copy;
	to->topo_ops = &cart_ops;
	return true;
}

static void cart_drop(struct vm_comm *comm)
{
	free(comm->topo);
}

static const struct vm_topo_ops cart_ops = { cart_copy, cart_drop };

static void topo_set_coords(struct vm_topo *topo, int rank)
{
	for (int i = topo->count - 1; i >= 0; i--) {
		topo->dims[i].coord = rank % topo->dims[i].size;
		rank /= topo->dims[i].size;
	}
}

/* The communicator and its topology. */
static int check_cart(struct vm_call *call, MPI_Comm handle,
		      struct vm_comm **comm)
{
	int rc = vm_check_comm(call, handle, comm);

	if (rc == 0 && !(*comm)->topo)
		rc = vm_error(call, MPI_ERR_TOPOLOGY,
			      "the communicator has no Cartesian topology");
	return rc;
}

/* An array of maxdims elements that gets a value per dimension. */
static int check_room(struct vm_call *call, const struct vm_topo *topo,
		      int maxdims, const int *array, const char *name)
{
	if (maxdims < topo->count)
		return vm_error(call, MPI_ERR_ARG,
				"maxdims is %d, but there are %d dimensions",
				maxdims, topo->count);
	return topo->count > 0 ? vm_check_pointer(call, array, name) : 0;
}

int PMPI_Topo_test(MPI_Comm comm, int *status)
{
	struct vm_call call = vm_call_enter(VM_CALL_Topo_test);
	struct vm_comm *c;
	int rc = vm_check_comm(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, status, "status");
	if (rc == 0)
		*status = c->topo  ? MPI_CART :
			  c->graph ? c->graph->kind :
				     MPI_UNDEFINED;
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Cartdim_get(MPI_Comm comm, int *ndims)
{
	struct vm_call call = vm_call_enter(VM_CALL_Cartdim_get);
	struct vm_comm *c;
	int rc = check_cart(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, ndims, "ndims");
	if (rc == 0)
		*ndims = c->topo->count;
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[],
		  int coords[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Cart_get);
	struct vm_comm *c;
	int rc = check_cart(&call, comm, &c);

	if (rc == 0)
		rc = check_room(&call, c->topo, maxdims, dims, "dims");
	if (rc == 0)
		rc = check_room(&call, c->topo, maxdims, periods, "periods");
	if (rc == 0)
		rc = check_room(&call, c->topo, maxdims, coords, "coords");
	for (int i = 0; rc == 0 && i < c->topo->count; i++) {
		dims[i] = c->topo->dims[i].size;
		periods[i] = c->topo->dims[i].periodic;
		coords[i] = c->topo->dims[i].coord;
	}
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Cart_coords);
	struct vm_comm *c;
	int rc = check_cart(&call, comm, &c);

	if (rc == 0)
		rc = check_room(&call, c->topo, maxdims, coords, "coords");
	if (rc == 0 && (rank < 0 || rank >= c->size))
		rc = vm_error(&call, MPI_ERR_RANK,
			      "rank %d, but ranks are 0 to %d", rank,
			      c->size - 1);
	for (int i = rc == 0 ? c->topo->count - 1 : -1; i >= 0; i--) {
		coords[i] = rank % c->topo->dims[i].size;
		rank /= c->topo->dims[i].size;
	}
	return vm_call_exit(&call, comm, rc);
}

/* The rank at these coordinates; those of periodic dimensions wrap. */
static int cart_rank(struct vm_call *call, const struct vm_topo *topo,
		     const int *coords, int *rank)
{
	*rank = 0;
	for (int i = 0; i < topo->count; i++) {
		int size = topo->dims[i].size, coord = coords[i];

		if (topo->dims[i].periodic)
			coord = (coord % size + size) % size;
		if (coord < 0 || coord >= size)
			return vm_error(call, MPI_ERR_ARG,
					"coordinate %d is %d, but the "
					"dimension has 0 to %d",
					i, coord, size - 1);
		*rank = *rank * size + coord;
	}
	return 0;
}

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int *rank)
{
	struct vm_call call = vm_call_enter(VM_CALL_Cart_rank);
	struct vm_comm *c;
	int rc = check_cart(&call, comm, &c);

	if (rc == 0)
		rc = vm_check_pointer(&call, rank, "rank");
	if (rc == 0 && c->topo->count > 0)
		rc = vm_check_pointer(&call, coords, "coords");
	if (rc == 0)
		rc = cart_rank(&call, c->topo, coords, rank);
	return vm_call_exit(&call, comm, rc);
}

int vm_topo_shift(const struct vm_comm *comm, int direction, int disp)
{
	const struct vm_topo_dim *dim = &comm->topo->dims[direction];
	long coord = (long)dim->coord + disp;
	int stride = 1;

	for (int i = direction + 1; i < comm->topo->count; i++)
		stride *= comm->topo->dims[i].size;
	if (dim->periodic)
		coord = (coord % dim->size + dim->size) % dim->size;
	if (coord < 0 || coord >= dim->size)
		return MPI_PROC_NULL;
	return comm->rank + (int)(coord - dim->coord) * stride;
}

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int *rank_source,
		    int *rank_dest)
{
	struct vm_call call = vm_call_enter(VM_CALL_Cart_shift);
	struct vm_comm *c;
	int rc = check_cart(&call, comm, &c);

	if (rc == 0 && (direction < 0 || direction >= c->topo->count))
		rc = vm_error(&call, MPI_ERR_ARG,
			      "direction %d of %d dimensions", direction,
			      c->topo->count);
	if (rc == 0)
		rc = vm_check_pointer(&call, rank_source, "rank_source");
	if (rc == 0)
		rc = vm_check_pointer(&call, rank_dest, "rank_dest");
	if (rc == 0) {
		*rank_source = vm_topo_shift(c, direction, -disp);
		*rank_dest = vm_topo_shift(c, direction, disp);
	}
	return vm_call_exit(&call, comm, rc);
}

/* The arguments of Cart_create; *nodes is the product of the dimensions. */
static int check_dims(struct vm_call *call, const struct vm_comm *comm,
		      int ndims, const int *dims, const int *periods,
		      int *nodes)
{
	long product = 1;
	int rc = 0;

	if (ndims < 0)
		return vm_error(call, MPI_ERR_ARG, "ndims %d is negative",
				ndims);
	if (ndims > 0)
		rc = vm_check_pointer(call, dims, "dims");
	if (rc == 0 && ndims > 0)
		rc = vm_check_pointer(call, periods, "periods");
	for (int i = 0; i < ndims && rc == 0; i++) {
		if (dims[i] <= 0)
			return vm_error(call, MPI_ERR_DIMS,
					"dimension %d has size %d", i, dims[i]);
		product *= dims[i];
		if (product > comm->size)
			return vm_error(call, MPI_ERR_DIMS,
					"the grid has more points than the "
					"communicator's %d ranks",
					comm->size);
	}
	*nodes = (int)product;
	return rc;
}

/* A communicator of the ranks with this colour, ordered by key, with topo. */
static int cart_make(struct vm_call *call, struct vm_comm *parent, int color,
		     int key, struct vm_topo *topo, MPI_Comm *out)
{
	struct vm_chan *chan = NULL;
	struct vm_comm *comm;
	int rc = vm_comm_chan_split(call, parent, &chan, color, key);

	if (rc == 0 && !chan)
		*out = MPI_COMM_NULL;
	if (rc != 0 || !chan) {
		free(topo);
		return rc;
	}
	rc = vm_comm_new(call->mpi, &comm, chan, parent);
	if (rc != 0) {
		free(topo);
		return rc;
	}
	topo_set_coords(topo, comm->rank);
	comm->topo = topo;
	comm->topo_ops = &cart_ops;
	*out = (MPI_Comm)comm;
	return 0;
}

int PMPI_Cart_create(MPI_Comm comm_old, int ndims, const int dims[],
		     const int periods[], int reorder, MPI_Comm *comm_cart)
{
	struct vm_call call = vm_call_enter(VM_CALL_Cart_create);
	struct vm_topo *topo;
	struct vm_comm *c;
	int nodes = 0, rc = vm_check_intra(&call, comm_old, &c);

	vm_comm_none(comm_cart);
	if (rc == 0)
		rc = check_dims(&call, c, ndims, dims, periods, &nodes);
	if (rc == 0)
		rc = vm_check_pointer(&call, comm_cart, "comm_cart");
	if (rc != 0)
		return vm_call_exit(&call, comm_old, rc);
	topo = malloc(topo_bytes(ndims));
	if (!topo)
		return vm_call_exit(&call, comm_old, MPI_ERR_NO_MEM);
	topo->count = ndims;
	for (int i = 0; i < ndims; i++)
		topo->dims[i] =
			(struct vm_topo_dim){ .size = dims[i],
					      .periodic = periods[i] != 0 };
	rc = cart_make(&call, c, c->rank < nodes ? 0 : VMPI_UNDEFINED, c->rank,
		       topo, comm_cart);
	return vm_call_exit(&call, comm_old, rc);
}

/* Ranks keep their numbers, as in MPI_Cart_create. */
int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[],
		  const int periods[], int *newrank)
{
	struct vm_call call = vm_call_enter(VM_CALL_Cart_map);
	struct vm_comm *c;
	int nodes = 0, rc = vm_check_intra(&call, comm, &c);

	if (rc == 0)
		rc = check_dims(&call, c, ndims, dims, periods, &nodes);
	if (rc == 0)
		rc = vm_check_pointer(&call, newrank, "newrank");
	if (rc == 0)
		*newrank = c->rank < nodes ? c->rank : MPI_UNDEFINED;
	return vm_call_exit(&call, comm, rc);
}

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm)
{
	struct vm_call call = vm_call_enter(VM_CALL_Cart_sub);
	struct vm_topo *topo, *old;
	struct vm_comm *c;
	int color = 0, rc = check_cart(&call, comm, &c);

	vm_comm_none(newcomm);
	if (rc == 0 && c->topo->count > 0)
		rc = vm_check_pointer(&call, remain_dims, "remain_dims");
	if (rc == 0)
		rc = vm_check_pointer(&call, newcomm, "newcomm");
	if (rc != 0)
		return vm_call_exit(&call, comm, rc);
	old = c->topo;
	topo = malloc(topo_bytes(old->count));
	if (!topo)
		return vm_call_exit(&call, comm, MPI_ERR_NO_MEM);
	topo->count = 0;
	/* The coordinates in the dimensions that go are the colour. */
	for (int i = 0; i < old->count; i++) {
		if (remain_dims[i])
			topo->dims[topo->count++] = old->dims[i];
		else
			color = color * old->dims[i].size + old->dims[i].coord;
	}
	rc = cart_make(&call, c, color, c->rank, topo, newcomm);
	return vm_call_exit(&call, comm, rc);
}

/* Tells whether the largest factor less the smallest is less than in best.
 * Where they are the same: the larger largest one, the smaller sum, the larger
 * first ones, as other MPIs choose. */
static bool spread_better(const int *dims, const int *best, int count)
{
	int further = dims[0] - dims[count - 1] - best[0] + best[count - 1];
	int more = 0, first = 0;

	if (best[0] == 0 || further != 0)
		return best[0] == 0 || further < 0;
	for (int i = 0; i < count; i++) {
		more += dims[i] - best[i];
		if (first == 0)
			first = dims[i] - best[i];
	}
	if (dims[0] != best[0] || more == 0)
		return first > 0;
	return more < 0;
}

/*
 * Tries all ways to write `nodes` as a product of dims[i..count-1], none larger
 * than `most`, and keeps the best one in best[].  The numbers of divisors are
 * small.
 */
static void spread_try(int nodes, int i, int count, int most, int *dims,
		       int *best)
{
	if (i == count - 1) {
		if (nodes > most)
			return;
		dims[i] = nodes;
		if (spread_better(dims, best, count))
			memcpy(best, dims, (size_t)count * sizeof(*dims));
		return;
	}
	for (int d = 1; d <= nodes / d; d++) {
		if (nodes % d != 0)
			continue;
		for (int pair = 0; pair < 2; pair++) {
			int factor = pair ? nodes / d : d;

			if (factor > most || (pair && factor == d))
				continue;
			dims[i] = factor;
			spread_try(nodes / factor, i + 1, count, factor, dims,
				   best);
		}
	}
}

/*
 * Spreads `nodes` over the dimensions that are 0 in dims, as evenly as their
 * factors allow, in non-increasing order.  0, MPI_ERR_DIMS if nodes is no
 * multiple of the product of the others, MPI_ERR_NO_MEM.
 */
static int dims_spread(int nodes, int count, int *dims)
{
	int open = 0;
	long fixed = 1;
	int *tried, *best;

	for (int i = 0; i < count; i++) {
		if (dims[i] == 0)
			open++;
		else
			fixed *= dims[i];
		if (fixed > nodes)
			return MPI_ERR_DIMS;
	}
	if (nodes % fixed != 0 || (open == 0 && fixed != nodes))
		return MPI_ERR_DIMS;
	if (open == 0)
		return 0;
	tried = calloc(2 * (size_t)open, sizeof(*tried));
	if (!tried)
		return MPI_ERR_NO_MEM;
	best = tried + open;
	spread_try(nodes / (int)fixed, 0, open, nodes, tried, best);
	for (int i = 0, next = 0; i < count; i++)
		if (dims[i] == 0)
			dims[i] = best[next++];
	free(tried);
	return 0;
}

int PMPI_Dims_create(int nnodes, int ndims, int dims[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Dims_create);
	int rc = 0;

	if (nnodes <= 0)
		rc = vm_error(&call, MPI_ERR_ARG, "nnodes is %d", nnodes);
	else if (ndims < 0)
		rc = vm_error(&call, MPI_ERR_DIMS, "ndims is %d", ndims);
	else if (ndims > 0)
		rc = vm_check_pointer(&call, dims, "dims");
	for (int i = 0; i < ndims && rc == 0; i++)
		if (dims[i] < 0)
			rc = vm_error(&call, MPI_ERR_DIMS, "dimension %d is %d",
				      i, dims[i]);
	if (rc == 0 && ndims > 0)
		rc = dims_spread(nnodes, ndims, dims);
	if (rc == MPI_ERR_DIMS)
		vm_error(&call, rc,
			 "%d nodes cannot be spread over the given dimensions",
			 nnodes);
	return vm_call_exit_self(&call, rc);
}
