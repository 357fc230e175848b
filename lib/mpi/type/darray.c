/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distributed arrays (MPI 4.1, 5.1.4).
 */
#include "mpi/type/darray.h"

#include <string.h>

#include "mpi/call/check.h"

/* Where the arguments lie in the integers of a recipe of n dimensions. */
enum { SIZE, RANK, DIMS, FIRST };

static const int *argument(const struct vm_type_recipe *r, int which)
{
	return r->ints + FIRST + which * r->ints[DIMS];
}
#define GSIZES(r) argument(r, 0)
#define DISTRIBS(r) argument(r, 1)
#define DARGS(r) argument(r, 2)
#define PSIZES(r) argument(r, 3)
#define ORDER(r) (*argument(r, 4))

/* One dimension: blocks of `block` elements, of which the first of this process
 * begins at `first` and the others follow `round` apart. */
struct share {
	MPI_Count size, block, first, round;
	MPI_Count full;	   /* blocks of this process that are complete */
	MPI_Count partial; /* elements in one that is not */
};

static int block_size(int size, int distrib, int darg, int processes)
{
	if (distrib == MPI_DISTRIBUTE_NONE)
		return size;
	if (darg != MPI_DISTRIBUTE_DFLT_DARG)
		return darg;
	return distrib == MPI_DISTRIBUTE_CYCLIC ?
		       1 :
		       (int)(((MPI_Count)size + processes - 1) / processes);
}

/* The place of the process along dimension i of the grid, row by row. */
static int grid_coord(const struct vm_type_recipe *r, int i)
{
	int rank = r->ints[RANK];

	for (int j = r->ints[DIMS] - 1; j > i; j--)
		rank /= PSIZES(r)[j];
	return rank % PSIZES(r)[i];
}

/* Dimension number `order`, 0 being the one that varies fastest. */
static struct share share_of(const struct vm_type_recipe *r, int order)
{
	int n = r->ints[DIMS];
	int i = ORDER(r) == MPI_ORDER_C ? n - 1 - order : order;
	struct share share = { .size = GSIZES(r)[i] };
	MPI_Count left;

	share.block = block_size(GSIZES(r)[i], DISTRIBS(r)[i], DARGS(r)[i],
				 PSIZES(r)[i]);
	share.first = grid_coord(r, i) * share.block;
	share.round = PSIZES(r)[i] * share.block;
	left = share.size - share.first;
	if (left <= 0)
		return share;
	share.full = left / share.round;
	left %= share.round;
	if (left >= share.block)
		share.full++;
	else
		share.partial = left;
	return share;
}

static MPI_Count share_elements(const struct share *share)
{
	return share->full * share->block + share->partial;
}

/* The place in the whole of the process's element i. */
static MPI_Count share_place(const struct share *share, MPI_Count i)
{
	return share->first + i / share->block * share->round +
	       i % share->block;
}

/* The elements of all dimensions but the fastest. */
static MPI_Count rows(const struct vm_type_recipe *r)
{
	MPI_Count product = 1;

	for (int d = 1; d < r->ints[DIMS]; d++) {
		struct share share = share_of(r, d);

		product *= share_elements(&share);
	}
	return product;
}

MPI_Count vm_darray_elements(const struct vm_type_recipe *r)
{
	struct share share = share_of(r, 0);

	return rows(r) * share_elements(&share);
}

MPI_Count vm_darray_whole(const struct vm_type_recipe *r)
{
	MPI_Count product = 1;

	for (int i = 0; i < r->ints[DIMS]; i++)
		product *= GSIZES(r)[i];
	return product;
}

/* Counts blocks: each row has its complete ones, then the partial one. */
size_t vm_darray_block_count(const struct vm_type_recipe *r)
{
	struct share share = share_of(r, 0);

	return (size_t)rows(r) *
	       ((share.full > 0 ? 1u : 0) + (share.partial > 0 ? 1u : 0));
}

/* Returns where row `row` of the process begins, in elements. */
static MPI_Count row_place(const struct vm_type_recipe *r, MPI_Count row,
			   MPI_Count step)
{
	MPI_Count place = 0;

	for (int d = 1; d < r->ints[DIMS]; d++) {
		struct share share = share_of(r, d);
		MPI_Count n = share_elements(&share);

		place += share_place(&share, row % n) * step;
		row /= n;
		step *= share.size;
	}
	return place;
}

void vm_darray_blocks(const struct vm_type_recipe *r, struct vm_block *b)
{
	struct share share = share_of(r, 0);
	MPI_Count count = share_elements(&share) ? rows(r) : 0;

	for (MPI_Count row = 0; row < count; row++) {
		MPI_Count place = row_place(r, row, share.size) + share.first;

		if (share.full) {
			b->offset = place * b->type->extent;
			b->length = (size_t)share.block;
			b->times = (size_t)share.full;
			b->stride = share.round * b->type->extent;
			b++;
		}
		if (share.partial) {
			b->offset = (place + share.full * share.round) *
				    b->type->extent;
			b->length = (size_t)share.partial;
			b++;
		}
	}
}

/* One dimension of the arguments. */
static int check_dimension(struct vm_call *call, int i, int size, int distrib,
			   int darg, int processes)
{
	if (size < 1)
		return vm_error(call, MPI_ERR_ARG,
				"array_of_gsizes[%d] is %d, must be positive",
				i, size);
	if (processes < 1)
		return vm_error(call, MPI_ERR_ARG,
				"array_of_psizes[%d] is %d, must be positive",
				i, processes);
	if (distrib != MPI_DISTRIBUTE_NONE && distrib != MPI_DISTRIBUTE_BLOCK &&
	    distrib != MPI_DISTRIBUTE_CYCLIC)
		return vm_error(call, MPI_ERR_ARG,
				"array_of_distribs[%d] is %d, which is no "
				"distribution",
				i, distrib);
	if (distrib == MPI_DISTRIBUTE_NONE)
		return processes == 1 ?
			       0 :
			       vm_error(call, MPI_ERR_ARG,
					"dimension %d is not distributed, but "
					"the grid has %d processes in it",
					i, processes);
	if (darg < 1)
		return vm_error(call, MPI_ERR_ARG,
				"array_of_dargs[%d] is %d, must be positive", i,
				darg);
	if (distrib == MPI_DISTRIBUTE_BLOCK &&
	    (MPI_Count)block_size(size, distrib, darg, processes) * processes <
		    size)
		return vm_error(call, MPI_ERR_ARG,
				"dimension %d: %d blocks of %d do not hold %d "
				"elements",
				i, processes, darg, size);
	return 0;
}

static int check_grid(struct vm_call *call, int size, int rank, int ndims,
		      const int psizes[])
{
	MPI_Count processes = 1;

	for (int i = 0; i < ndims && processes <= size; i++)
		processes *= psizes[i];
	if (processes != size)
		return vm_error(call, MPI_ERR_ARG,
				"size is %d, which is not the product of "
				"array_of_psizes",
				size);
	if (rank < 0 || rank >= size)
		return vm_error(call, MPI_ERR_ARG, "rank is %d of %d", rank,
				size);
	return 0;
}

static int check_darray(struct vm_call *call, int ndims, const int gsizes[],
			const int distribs[], const int dargs[],
			const int psizes[], int order)
{
	int rc = 0;

	if (ndims < 1 || ndims > 1 << 20)
		return vm_error(call, MPI_ERR_ARG, "ndims is %d", ndims);
	if (!gsizes || !distribs || !dargs || !psizes)
		return vm_error(call, MPI_ERR_ARG,
				"an array of the dimensions is NULL");
	for (int i = 0; i < ndims && rc == 0; i++)
		rc = check_dimension(call, i, gsizes[i], distribs[i], dargs[i],
				     psizes[i]);
	if (rc == 0 && order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
		rc = vm_error(call, MPI_ERR_ARG,
			      "order is %d, must be MPI_ORDER_C or "
			      "MPI_ORDER_FORTRAN",
			      order);
	return rc;
}

/* Bounds are products of all sizes. */
static int check_bounds(struct vm_call *call, int ndims, const int gsizes[],
			MPI_Count extent)
{
	__int128 bytes = extent < 0 ? -(__int128)extent : extent;

	for (int i = 0; i < ndims; i++) {
		bytes *= gsizes[i];
		if (bytes > PTRDIFF_MAX)
			return vm_error(call, MPI_ERR_ARG,
					"the array would be larger than the "
					"address space");
	}
	return 0;
}

int PMPI_Type_create_darray(int size, int rank, int ndims,
			    const int array_of_gsizes[],
			    const int array_of_distribs[],
			    const int array_of_dargs[],
			    const int array_of_psizes[], int order,
			    MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_create_darray);
	const int *arrays[] = { array_of_gsizes, array_of_distribs,
				array_of_dargs, array_of_psizes };
	struct vm_type_recipe *recipe = NULL;
	struct vm_type *old, *type = NULL;
	int rc = check_darray(&call, ndims, array_of_gsizes, array_of_distribs,
			      array_of_dargs, array_of_psizes, order);

	if (rc == 0)
		rc = check_grid(&call, size, rank, ndims, array_of_psizes);
	if (rc == 0)
		rc = vm_check_type(&call, oldtype, &old);
	if (rc == 0)
		rc = check_bounds(&call, ndims, array_of_gsizes, old->extent);
	if (rc == 0)
		rc = vm_check_pointer(&call, newtype, "newtype");
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	recipe =
		vm_recipe_new(MPI_COMBINER_DARRAY, FIRST + 4 * ndims + 1, 0, 1);
	if (!recipe)
		return vm_call_exit_self(&call, MPI_ERR_NO_MEM);
	recipe->ints[SIZE] = size;
	recipe->ints[RANK] = rank;
	recipe->ints[DIMS] = ndims;
	for (int i = 0; i < 4; i++)
		memcpy(recipe->ints + FIRST + i * ndims, arrays[i],
		       (size_t)ndims * sizeof(int));
	recipe->ints[FIRST + 4 * ndims] = order;
	recipe->types[0] = vm_type_hold(old);
	rc = vm_type_build(&call, &type, recipe);
	if (rc == 0)
		*newtype = vm_type_handle(type);
	return vm_call_exit_self(&call, rc);
}
