/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributed arrays: every process owns the elements given by the rule for
 * single elements, in memory order.
 */
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

#define DIMS 4
#define WHOLE 4096 /* elements, at most */

struct grid {
	int n, order;
	int sizes[DIMS], distribs[DIMS], dargs[DIMS], psizes[DIMS];
};

/* Returns the process along a dimension that owns element i. */
static int owner(const struct grid *g, int d, int i)
{
	int block = g->dargs[d];

	switch (g->distribs[d]) {
	case MPI_DISTRIBUTE_BLOCK:
		if (block == MPI_DISTRIBUTE_DFLT_DARG)
			block = (g->sizes[d] + g->psizes[d] - 1) / g->psizes[d];
		return i / block;
	case MPI_DISTRIBUTE_CYCLIC:
		if (block == MPI_DISTRIBUTE_DFLT_DARG)
			block = 1;
		return i / block % g->psizes[d];
	default:
		return 0;
	}
}

/* Returns the rank that owns the element at this place in memory. */
static int rank_of(const struct grid *g, int place)
{
	int coords[DIMS], rank = 0;

	for (int k = 0; k < g->n; k++) {
		int d = g->order == MPI_ORDER_C ? g->n - 1 - k : k;

		coords[d] = owner(g, d, place % g->sizes[d]);
		place /= g->sizes[d];
	}
	for (int d = 0; d < g->n; d++)
		rank = rank * g->psizes[d] + coords[d];
	return rank;
}

static int whole(const struct grid *g)
{
	int product = 1;

	for (int d = 0; d < g->n; d++)
		product *= g->sizes[d];
	return product;
}

static int processes(const struct grid *g)
{
	int product = 1;

	for (int d = 0; d < g->n; d++)
		product *= g->psizes[d];
	return product;
}

static bool right(const struct grid *g, int rank)
{
	static int array[WHOLE], packed[WHOLE];
	int n = whole(g), bytes = -1, at = 0, found = 0;
	MPI_Aint lb = -1, extent = -1;
	MPI_Datatype type;

	for (int i = 0; i < n; i++)
		array[i] = i;
	if (MPI_Type_create_darray(processes(g), rank, g->n, g->sizes,
				   g->distribs, g->dargs, g->psizes, g->order,
				   MPI_INT, &type) != MPI_SUCCESS)
		return false;
	MPI_Type_commit(&type);
	MPI_Type_size(type, &bytes);
	MPI_Type_get_extent(type, &lb, &extent);
	MPI_Pack(array, 1, type, packed, sizeof(packed), &at, MPI_COMM_SELF);
	MPI_Type_free(&type);
	for (int i = 0; i < n; i++)
		if (rank_of(g, i) == rank && packed[found++] != i)
			return false;
	return bytes == 4 * found && at == bytes && lb == 0 &&
	       extent == 4 * (MPI_Aint)n;
}

static void is_right(const struct grid *g, const char *name)
{
	int bad = -1;

	for (int rank = 0; rank < processes(g); rank++)
		if (!right(g, rank))
			bad = rank;
	is_int(bad, -1, "%s", name);
}

#define DFLT MPI_DISTRIBUTE_DFLT_DARG
#define NONE MPI_DISTRIBUTE_NONE
#define BLOCK MPI_DISTRIBUTE_BLOCK
#define CYCLIC MPI_DISTRIBUTE_CYCLIC

static void known(int rank, int size)
{
	const int c = MPI_ORDER_C, f = MPI_ORDER_FORTRAN;
	const struct {
		const char *name;
		struct grid grid;
	} cases[] = {
		{ "block", { 1, c, { 10 }, { BLOCK }, { DFLT }, { 3 } } },
		{ "block of 6", { 1, c, { 10 }, { BLOCK }, { 6 }, { 3 } } },
		{ "cyclic", { 1, c, { 10 }, { CYCLIC }, { DFLT }, { 3 } } },
		{ "cyclic by 4", { 1, c, { 13 }, { CYCLIC }, { 4 }, { 3 } } },
		{ "none", { 1, c, { 7 }, { NONE }, { DFLT }, { 1 } } },
		{ "more processes than elements",
		  { 1, c, { 3 }, { CYCLIC }, { DFLT }, { 5 } } },
		{ "block by cyclic, rows",
		  { 2,
		    c,
		    { 9, 11 },
		    { BLOCK, CYCLIC },
		    { DFLT, 2 },
		    { 2, 3 } } },
		{ "block by cyclic, columns",
		  { 2,
		    f,
		    { 9, 11 },
		    { BLOCK, CYCLIC },
		    { DFLT, 2 },
		    { 2, 3 } } },
		{ "three dimensions",
		  { 3,
		    f,
		    { 5, 6, 7 },
		    { CYCLIC, NONE, BLOCK },
		    { 2, DFLT, 4 },
		    { 2, 1, 2 } } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_right(&cases[i].grid, cases[i].name);
}

static void random_grids(int rank, int size)
{
	const int distribs[] = { NONE, BLOCK, CYCLIC };
	unsigned seed = 20260101;
	int bad = 0;

	for (int round = 0; round < 400; round++) {
		struct grid g = { .n = 1 + rand_r(&seed) % DIMS,
				  .order = rand_r(&seed) % 2 ?
						   MPI_ORDER_C :
						   MPI_ORDER_FORTRAN };

		for (int d = 0; d < g.n; d++) {
			g.sizes[d] = 1 + rand_r(&seed) % 8;
			g.distribs[d] = distribs[rand_r(&seed) % 3];
			g.psizes[d] = g.distribs[d] == NONE ?
					      1 :
					      1 + rand_r(&seed) % 3;
			g.dargs[d] = DFLT;
			if (rand_r(&seed) % 2)
				g.dargs[d] = g.distribs[d] == BLOCK ?
						     g.sizes[d] :
						     1 + rand_r(&seed) % 4;
		}
		for (int r = 0; r < processes(&g); r++)
			bad += !right(&g, r);
	}
	is_int(bad, 0, "400 random grids");
}

static void contents(int rank, int size)
{
	struct grid g = { 2,	       MPI_ORDER_C,
			  { 9, 11 },   { BLOCK, CYCLIC },
			  { DFLT, 2 }, { 2, 3 } };
	const int want[] = { 6,	     4,	   2, 9, 11, BLOCK,
			     CYCLIC, DFLT, 2, 2, 3,  MPI_ORDER_C };
	int n, a, d, combiner, ints[12];
	MPI_Datatype type, old;
	MPI_Aint none;

	MPI_Type_create_darray(6, 4, g.n, g.sizes, g.distribs, g.dargs,
			       g.psizes, g.order, MPI_DOUBLE, &type);
	MPI_Type_get_envelope(type, &n, &a, &d, &combiner);
	ok(combiner == MPI_COMBINER_DARRAY && n == 12 && a == 0 && d == 1,
	   "the envelope");
	MPI_Type_get_contents(type, 12, 0, 1, ints, &none, &old);
	is_blob(ints, want, sizeof(want), "the contents");
	ok(old == MPI_DOUBLE, "and the old type");
	MPI_Type_free(&type);
}

static int try(int size, int rank, int gsize, int distrib, int darg, int psize,
	       int order)
{
	MPI_Datatype type;
	int rc = MPI_Type_create_darray(size, rank, 1, &gsize, &distrib, &darg,
					&psize, order, MPI_INT, &type);

	if (rc == MPI_SUCCESS)
		MPI_Type_free(&type);
	return rc;
}

static void errors(int rank, int size)
{
	const int c = MPI_ORDER_C;

	is_int(try(2, 0, 8, BLOCK, DFLT, 2, c), MPI_SUCCESS, "a right one");
	is_int(try(3, 0, 8, BLOCK, DFLT, 2, c), MPI_ERR_ARG,
	       "size is not that of the grid");
	is_int(try(2, 2, 8, BLOCK, DFLT, 2, c), MPI_ERR_ARG,
	       "a rank out of the grid");
	is_int(try(2, 0, 0, BLOCK, DFLT, 2, c), MPI_ERR_ARG, "no elements");
	is_int(try(2, 0, 8, 77, DFLT, 2, c), MPI_ERR_ARG,
	       "an unknown distribution");
	is_int(try(2, 0, 8, BLOCK, 3, 2, c), MPI_ERR_ARG,
	       "blocks that do not hold the array");
	is_int(try(2, 0, 8, CYCLIC, 0, 2, c), MPI_ERR_ARG, "blocks of nothing");
	is_int(try(2, 0, 8, NONE, DFLT, 2, c), MPI_ERR_ARG,
	       "no distribution over two processes");
	is_int(try(2, 0, 8, BLOCK, DFLT, 2, 5), MPI_ERR_ARG, "a wrong order");
}

int main(void)
{
	ranks_run(1, 1, known);
	ranks_run(1, 1, random_grids);
	ranks_run(1, 1, contents);
	ranks_run(1, 1, errors);
	return done_testing();
}
