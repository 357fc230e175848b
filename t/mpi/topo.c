/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cartesian topologies.
 */
#include "mtap.h"

static bool spread(int nodes, int count, int a, int b, int c, int wa, int wb,
		   int wc)
{
	int dims[3] = { a, b, c };

	MPI_Dims_create(nodes, count, dims);
	return dims[0] == wa && (count < 2 || dims[1] == wb) &&
	       (count < 3 || dims[2] == wc);
}

static void dims(void)
{
	int bad[2] = { 5, 0 };

	/* The table of MPI 4.1, 8.5.2. */
	all_ok(spread(6, 2, 0, 0, 0, 3, 2, 0) &&
		       spread(7, 2, 0, 0, 0, 7, 1, 0) &&
		       spread(6, 3, 0, 3, 0, 2, 3, 1),
	       "MPI_Dims_create gives the standard's examples");
	all_ok(spread(64, 3, 0, 0, 0, 4, 4, 4) &&
		       spread(36, 2, 0, 0, 0, 6, 6, 0) &&
		       spread(12, 3, 0, 0, 0, 3, 2, 2) &&
		       spread(1024, 2, 0, 0, 0, 32, 32, 0) &&
		       spread(1, 3, 0, 0, 0, 1, 1, 1),
	       "it makes the dimensions as even as can be");
	all_ok(spread(5040, 3, 0, 0, 0, 21, 16, 15),
	       "of equally even ones it takes the largest first");
	all_class(MPI_Dims_create(7, 2, bad), MPI_ERR_DIMS,
		  "dimensions that do not divide");
}

static void grid(void)
{
	int dims[2] = { 4, 3 }, periods[2] = { 1, 0 }, coords[2] = { -1, -1 };
	int got_dims[2], got_periods[2], kind = -1, n = -1, r = -1;
	int source = -9, dest = -9;
	MPI_Comm cart, row;

	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
	MPI_Topo_test(cart, &kind);
	MPI_Cartdim_get(cart, &n);
	all_ok(kind == MPI_CART && n == 2, "the topology is Cartesian");
	MPI_Cart_get(cart, 2, got_dims, got_periods, coords);
	all_ok(got_dims[0] == 4 && got_dims[1] == 3 && got_periods[0] == 1 &&
		       got_periods[1] == 0 && coords[0] == rank / 3 &&
		       coords[1] == rank % 3,
	       "ranks are numbered row by row");
	MPI_Cart_coords(cart, 7, 2, coords);
	MPI_Cart_rank(cart, coords, &r);
	all_ok(coords[0] == 2 && coords[1] == 1 && r == 7,
	       "coordinates and ranks are each other's inverse");
	coords[0] = -1;
	coords[1] = 2;
	MPI_Cart_rank(cart, coords, &r);
	all_ok(r == 11, "periodic coordinates wrap");
	MPI_Cart_shift(cart, 0, 1, &source, &dest);
	all_ok(source == (rank + 9) % 12 && dest == (rank + 3) % 12,
	       "a shift in a periodic dimension goes around");
	MPI_Cart_shift(cart, 1, 1, &source, &dest);
	all_ok(source == (rank % 3 == 0 ? MPI_PROC_NULL : rank - 1) &&
		       dest == (rank % 3 == 2 ? MPI_PROC_NULL : rank + 1),
	       "and ends at the edge in another");
	MPI_Cart_sub(cart, (int[]){ 0, 1 }, &row);
	MPI_Comm_size(row, &n);
	MPI_Comm_rank(row, &r);
	MPI_Cartdim_get(row, &kind);
	all_ok(n == 3 && r == rank % 3 && kind == 1, "MPI_Cart_sub");
	MPI_Comm_free(&row);
	MPI_Comm_dup(cart, &row);
	MPI_Topo_test(row, &kind);
	all_ok(kind == MPI_CART, "a duplicate has the topology too");
	MPI_Comm_free(&row);
	MPI_Comm_set_errhandler(cart, MPI_ERRORS_RETURN);
	all_class(MPI_Cart_rank(cart, (int[]){ 0, 3 }, &r), MPI_ERR_ARG,
		  "coordinates off the grid");
	MPI_Comm_free(&cart);
}

static void smaller(void)
{
	int dims[1] = { 1 }, periods[1] = { 0 }, kind;
	MPI_Comm cart;

	MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &cart);
	all_ok((rank == 0) == (cart != MPI_COMM_NULL),
	       "ranks without a place get MPI_COMM_NULL");
	if (cart != MPI_COMM_NULL)
		MPI_Comm_free(&cart);
	MPI_Topo_test(MPI_COMM_WORLD, &kind);
	all_ok(kind == MPI_UNDEFINED, "MPI_COMM_WORLD has no topology");
	dims[0] = size + 1;
	all_class(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart),
		  MPI_ERR_DIMS, "a grid that is too large");
	all_class(MPI_Cartdim_get(MPI_COMM_WORLD, &kind), MPI_ERR_TOPOLOGY,
		  "a communicator without topology");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	dims();
	if (size == 12)
		grid();
	smaller();
	return mtap_end();
}
