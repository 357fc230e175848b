/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes with large counts: sizes and bounds beyond 2^31, how they were made,
 * and packing.
 */
#include "large.h"
#include "mtap.h"

#define GIB ((MPI_Count)1 << 30)
#define SELF MPI_COMM_SELF

static bool sized(MPI_Datatype type, MPI_Count size, MPI_Count lb,
		  MPI_Count extent)
{
	MPI_Count large = -1, low = -1, wide = -1, true_low = -1, span = -1;
	MPI_Aint aint_low = -1, aint = -1;
	MPI_Count old = -1;
	int small = -1;

	MPI_Type_size_c(type, &large);
	MPI_Type_size_x(type, &old);
	MPI_Type_size(type, &small);
	MPI_Type_get_extent_c(type, &low, &wide);
	MPI_Type_get_extent(type, &aint_low, &aint);
	MPI_Type_get_true_extent_c(type, &true_low, &span);
	return large == size && old == size &&
	       small == (size > INT32_MAX ? MPI_UNDEFINED : (int)size) &&
	       low == lb && aint_low == lb && wide == extent &&
	       aint == extent && true_low == lb && span == extent;
}

static void sizes(void)
{
	MPI_Count places[2] = { 0, 6 * GIB }, lengths[2] = { 3 * GIB, 1 };
	MPI_Datatype type, parts[2] = { MPI_CHAR, MPI_CHAR };

	MPI_Type_contiguous_c(3 * GIB, MPI_INT, &type);
	all_ok(sized(type, 12 * GIB, 0, 12 * GIB), "3 * 2^30 integers");
	MPI_Type_free(&type);
	MPI_Type_vector_c(3 * GIB, 1, 2, MPI_CHAR, &type);
	all_ok(sized(type, 3 * GIB, 0, 6 * GIB - 1), "a vector as long");
	MPI_Type_free(&type);
	MPI_Type_vector_c(2, 3 * GIB, 4 * GIB, MPI_CHAR, &type);
	all_ok(sized(type, 6 * GIB, 0, 7 * GIB), "one of long blocks");
	MPI_Type_free(&type);
	MPI_Type_create_hvector_c(2, 3 * GIB, -4 * GIB, MPI_CHAR, &type);
	all_ok(sized(type, 6 * GIB, -4 * GIB, 7 * GIB), "one in bytes");
	MPI_Type_free(&type);
	MPI_Type_indexed_c(2, lengths, places, MPI_CHAR, &type);
	all_ok(sized(type, 3 * GIB + 1, 0, 6 * GIB + 1), "an indexed type");
	MPI_Type_free(&type);
	MPI_Type_create_hindexed_c(2, lengths, places, MPI_CHAR, &type);
	all_ok(sized(type, 3 * GIB + 1, 0, 6 * GIB + 1), "one in bytes");
	MPI_Type_free(&type);
	MPI_Type_create_indexed_block_c(2, 3 * GIB, places, MPI_CHAR, &type);
	all_ok(sized(type, 6 * GIB, 0, 9 * GIB), "one of equal blocks");
	MPI_Type_free(&type);
	MPI_Type_create_hindexed_block_c(2, 3 * GIB, places, MPI_CHAR, &type);
	all_ok(sized(type, 6 * GIB, 0, 9 * GIB), "one of these in bytes");
	MPI_Type_free(&type);
	MPI_Type_create_struct_c(2, lengths, places, parts, &type);
	all_ok(sized(type, 3 * GIB + 1, 0, 6 * GIB + 1), "a structure");
	MPI_Type_free(&type);
	MPI_Type_create_resized_c(MPI_CHAR, 0, 5 * GIB, &type);
	MPI_Type_free(&type);
}

static void arrays(void)
{
	MPI_Count whole[2] = { 3 * GIB, 4 }, part[2] = { 2 * GIB + 1, 2 };
	MPI_Count starts[2] = { 5, 1 }, size = 0, lb = 1, extent = 0;
	int cyclic[2] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_NONE };
	int args[2] = { MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG };
	int grid[2] = { 2, 1 };
	MPI_Datatype type;

	MPI_Type_create_subarray_c(2, whole, part, starts, MPI_ORDER_FORTRAN,
				   MPI_CHAR, &type);
	MPI_Type_size_c(type, &size);
	MPI_Type_get_extent_c(type, &lb, &extent);
	all_ok(size == 4 * GIB + 2 && lb == 0 && extent == 12 * GIB,
	       "a subarray of 2^31 + 1 rows");
	MPI_Type_get_true_extent_c(type, &lb, &extent);
	all_ok(lb == 3 * GIB + 5 && extent == 5 * GIB + 1,
	       "lies where it says");
	MPI_Type_free(&type);

	MPI_Type_create_darray_c(2, 1, 2, whole, cyclic, args, grid,
				 MPI_ORDER_FORTRAN, MPI_CHAR, &type);
	MPI_Type_size_c(type, &size);
	MPI_Type_get_extent_c(type, &lb, &extent);
	all_ok(size == 6 * GIB && lb == 0 && extent == 12 * GIB,
	       "half of a distributed array");
	MPI_Type_free(&type);
}

/* What the envelope and the contents of a type say, in numbers. */
struct how {
	MPI_Count ints, aints, counts, types;
	int combiner;
	int int_values[16];
	MPI_Aint aint_values[8];
	MPI_Count count_values[8];
	MPI_Datatype type_values[4];
};

static struct how how(MPI_Datatype type)
{
	struct how how = { .ints = -1 };

	MPI_Type_get_envelope_c(type, &how.ints, &how.aints, &how.counts,
				&how.types, &how.combiner);
	if (how.combiner != MPI_COMBINER_NAMED)
		MPI_Type_get_contents_c(type, 16, 8, 8, 4, how.int_values,
					how.aint_values, how.count_values,
					how.type_values);
	return how;
}

static bool counts_are(MPI_Datatype *type, int combiner, int n,
		       const MPI_Count *want)
{
	struct how found = how(*type);
	int ints, aints, types, made;

	/* The calls with int do not tell, by an error. */
	bool refused = MPI_Type_get_envelope(*type, &ints, &aints, &types,
					     &made) != MPI_SUCCESS;

	MPI_Type_free(type);
	return refused && found.combiner == combiner && found.ints == 0 &&
	       found.aints == 0 && found.counts == n &&
	       found.type_values[0] == MPI_CHAR &&
	       memcmp(found.count_values, want, (size_t)n * sizeof(*want)) == 0;
}

static void large_contents(void)
{
	MPI_Count places[2] = { 7, 9 * GIB }, lengths[2] = { 3, 4 };
	MPI_Datatype parts[2] = { MPI_CHAR, MPI_INT }, type;
	bool held;

	MPI_Type_contiguous_c(5, MPI_CHAR, &type);
	held = counts_are(&type, MPI_COMBINER_CONTIGUOUS, 1,
			  (MPI_Count[]){ 5 });
	MPI_Type_vector_c(5, 6, 7, MPI_CHAR, &type);
	held &= counts_are(&type, MPI_COMBINER_VECTOR, 3,
			   (MPI_Count[]){ 5, 6, 7 });
	MPI_Type_create_hvector_c(5, 6, 7 * GIB, MPI_CHAR, &type);
	held &= counts_are(&type, MPI_COMBINER_HVECTOR, 3,
			   (MPI_Count[]){ 5, 6, 7 * GIB });
	MPI_Type_indexed_c(2, lengths, places, MPI_CHAR, &type);
	held &= counts_are(&type, MPI_COMBINER_INDEXED, 5,
			   (MPI_Count[]){ 2, 3, 4, 7, 9 * GIB });
	MPI_Type_create_hindexed_c(2, lengths, places, MPI_CHAR, &type);
	held &= counts_are(&type, MPI_COMBINER_HINDEXED, 5,
			   (MPI_Count[]){ 2, 3, 4, 7, 9 * GIB });
	MPI_Type_create_indexed_block_c(2, 3, places, MPI_CHAR, &type);
	held &= counts_are(&type, MPI_COMBINER_INDEXED_BLOCK, 4,
			   (MPI_Count[]){ 2, 3, 7, 9 * GIB });
	MPI_Type_create_hindexed_block_c(2, 3, places, MPI_CHAR, &type);
	held &= counts_are(&type, MPI_COMBINER_HINDEXED_BLOCK, 4,
			   (MPI_Count[]){ 2, 3, 7, 9 * GIB });
	MPI_Type_create_struct_c(2, lengths, places, parts, &type);
	held &= counts_are(&type, MPI_COMBINER_STRUCT, 5,
			   (MPI_Count[]){ 2, 3, 4, 7, 9 * GIB });
	MPI_Type_create_resized_c(MPI_CHAR, -1, 9 * GIB, &type);
	held &= counts_are(&type, MPI_COMBINER_RESIZED, 2,
			   (MPI_Count[]){ -1, 9 * GIB });
	all_ok(held,
	       "arguments are large counts, for the calls that have them");
}

static void array_contents(void)
{
	MPI_Count whole[2] = { 9 * GIB, 4 }, part[2] = { 8, 2 };
	MPI_Count starts[2] = { 5, 1 };
	const MPI_Count subarray[] = { 9 * GIB, 4, 8, 2, 5, 1 };
	int block[2] = { MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE };
	int args[2] = { 3, MPI_DISTRIBUTE_DFLT_DARG }, grid[2] = { 2, 1 };
	const int darray[] = {
		2,	 1,	  2,	   block[0], block[1],
		args[0], args[1], grid[0], grid[1],  MPI_ORDER_FORTRAN
	};
	MPI_Datatype type;
	struct how found;

	MPI_Type_create_subarray_c(2, whole, part, starts, MPI_ORDER_C,
				   MPI_CHAR, &type);
	found = how(type);
	all_ok(found.ints == 2 && found.counts == 6 && found.aints == 0 &&
		       found.int_values[0] == 2 &&
		       found.int_values[1] == MPI_ORDER_C &&
		       memcmp(found.count_values, subarray, sizeof(subarray)) ==
			       0,
	       "those of a subarray, but not its number of dimensions");
	MPI_Type_free(&type);
	MPI_Type_create_darray_c(2, 1, 2, whole, block, args, grid,
				 MPI_ORDER_FORTRAN, MPI_CHAR, &type);
	found = how(type);
	all_ok(found.ints == 10 && found.counts == 2 &&
		       memcmp(found.int_values, darray, sizeof(darray)) == 0 &&
		       memcmp(found.count_values, whole, sizeof(whole)) == 0,
	       "the sizes of a distributed array");
	MPI_Type_free(&type);
}

static void small_contents(void)
{
	MPI_Datatype type, copy;
	struct how found;
	int ints = -1, aints, types, combiner = -1;
	int values[2];
	MPI_Aint places[1];
	MPI_Datatype old[1];
	int rc;

	MPI_Type_create_hvector(5, 6, 70, MPI_CHAR, &type);
	found = how(type);
	all_ok(found.ints == 2 && found.aints == 1 && found.counts == 0 &&
		       found.int_values[0] == 5 && found.int_values[1] == 6 &&
		       found.aint_values[0] == 70,
	       "those of a constructor with int stay integers");
	MPI_Type_free(&type);

	MPI_Type_contiguous_c(3, MPI_CHAR, &type);
	rc = MPI_Type_get_envelope(type, &ints, &aints, &types, &combiner);
	all_class(rc, MPI_ERR_TYPE, "the others are an error for int");
	rc = MPI_Type_get_contents(type, 2, 1, 1, values, places, old);
	all_class(rc, MPI_ERR_TYPE, "also their contents");
	rc = MPI_Type_get_contents_c(type, 2, 1, 0, 1, values, places, NULL,
				     old);
	all_class(rc, MPI_ERR_ARG, "there must be room for large counts");
	MPI_Type_dup(type, &copy);
	MPI_Type_get_envelope(copy, &ints, &aints, &types, &combiner);
	all_ok(combiner == MPI_COMBINER_DUP && types == 1 && ints == 0,
	       "a copy has none");
	MPI_Type_free(&copy);
	MPI_Type_free(&type);
	found = how(MPI_INT);
	all_ok(found.combiner == MPI_COMBINER_NAMED && found.counts == 0,
	       "a predefined type has none either");
}

/* Sizes that no address space has are errors, not cut. */
static void errors(void)
{
	const MPI_Count most = INT64_MAX;
	MPI_Count one[1] = { 1 }, far[1] = { most };
	MPI_Count whole[3] = { most / 4, most / 4, 2 }, start[3] = { 0, 0, 0 };
	MPI_Count part[3] = { 1, 1, 1 };
	int dist[1] = { MPI_DISTRIBUTE_BLOCK };
	int args[1] = { MPI_DISTRIBUTE_DFLT_DARG }, grid[1] = { 1 };
	MPI_Datatype type = MPI_DATATYPE_NULL;
	int rc;

	rc = MPI_Type_contiguous_c(-1, MPI_INT, &type);
	all_class(rc, MPI_ERR_COUNT, "a negative count is an error");
	rc = MPI_Type_contiguous_c(most / 4 + 1, MPI_INT, &type);
	all_class(rc, MPI_ERR_ARG, "so is a type larger than all memory");
	rc = MPI_Type_vector_c(most, most, 1, MPI_INT, &type);
	all_class(rc, MPI_ERR_ARG, "also as a vector");
	rc = MPI_Type_vector_c(2, 1, most, MPI_INT, &type);
	all_class(rc, MPI_ERR_ARG, "also by its stride");
	rc = MPI_Type_indexed_c(1, one, far, MPI_INT, &type);
	all_class(rc, MPI_ERR_ARG, "also by a displacement");
	rc = MPI_Type_create_hindexed_c(1, one, far, MPI_INT, &type);
	all_class(rc, MPI_ERR_ARG, "also by one in bytes");
	rc = MPI_Type_create_subarray_c(3, whole, part, start, MPI_ORDER_C,
					MPI_INT, &type);
	all_class(rc, MPI_ERR_ARG, "also as a part of an array");
	rc = MPI_Type_create_darray_c(1, 0, 1, far, dist, args, grid,
				      MPI_ORDER_C, MPI_INT, &type);
	all_class(rc, MPI_ERR_ARG, "also distributed");
	all_ok(type == MPI_DATATYPE_NULL, "no type is made");
	rc = MPI_Type_contiguous_c(0, MPI_INT, &type);
	all_class(rc, MPI_SUCCESS, "no elements are none");
	MPI_Type_free(&type);
}

static void packing(void)
{
	char *far = far_new();
	const char text[5] = "here";
	char back[5] = "";
	MPI_Count at = (MPI_Count)FAR_LAST, bytes = -1;
	int small = -1, rc;

	MPI_Pack_c(text, 5, MPI_CHAR, far, (MPI_Count)FAR_BYTES, &at, SELF);
	all_ok(at == (MPI_Count)FAR_LAST + 5 && !far[0] &&
		       strcmp(far + FAR_LAST, text) == 0,
	       "bytes are packed behind 2^31 others");
	at -= 5;
	MPI_Unpack_c(far, (MPI_Count)FAR_BYTES, &at, back, 5, MPI_CHAR, SELF);
	all_ok(at == (MPI_Count)FAR_LAST + 5 && strcmp(back, text) == 0,
	       "and unpacked");
	memset(far + FAR_LAST, 0, 5);
	memset(back, 0, 5);
	at -= 5;
	MPI_Pack_external_c("external32", text, 5, MPI_CHAR, far,
			    (MPI_Count)FAR_BYTES, &at);
	at -= 5;
	MPI_Unpack_external_c("external32", far, (MPI_Count)FAR_BYTES, &at,
			      back, 5, MPI_CHAR);
	all_ok(at == (MPI_Count)FAR_LAST + 5 && strcmp(back, text) == 0,
	       "also portably");
	MPI_Pack_size_c(3 * GIB, MPI_DOUBLE, SELF, &bytes);
	MPI_Pack_size(1 << 30, MPI_DOUBLE, SELF, &small);
	all_ok(bytes == 24 * GIB && small == MPI_UNDEFINED,
	       "int has no room for 2^33 bytes, MPI_Count has");
	MPI_Pack_external_size_c("external32", 3 * GIB, MPI_LONG, &bytes);
	all_ok(bytes == 12 * GIB || bytes == 24 * GIB,
	       "their portable size has it, too");
	at = 0;
	rc = MPI_Pack_c(text, INT64_MAX, MPI_INT, far, (MPI_Count)FAR_BYTES,
			&at, SELF);
	all_class(rc, MPI_ERR_COUNT, "more bytes than there are are an error");
	far_free(far);
}

/* One element of more than 2^31 bytes. */
static void received(void)
{
	MPI_Datatype type;
	MPI_Status status;
	MPI_Count count = -1, elements = -1;
	int small = -1, few = -1;

	MPI_Type_contiguous_c(3 * GIB, MPI_SHORT, &type);
	MPI_Type_commit(&type);
	memset(&status, 0, sizeof(status));
	MPI_Status_set_elements_c(&status, type, 6 * GIB);
	MPI_Get_count_c(&status, type, &count);
	MPI_Get_count(&status, type, &small);
	MPI_Get_elements_c(&status, type, &elements);
	MPI_Get_elements(&status, type, &few);
	all_ok(count == 2 && small == 2, "two elements are two");
	all_ok(elements == 6 * GIB && few == MPI_UNDEFINED,
	       "of more numbers than int has");
	MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(SELF, MPI_ERRORS_RETURN);
	sizes();
	arrays();
	large_contents();
	array_contents();
	small_contents();
	errors();
	packing();
	received();
	return mtap_end();
}
