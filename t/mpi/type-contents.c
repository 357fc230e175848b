/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes as objects: envelope and contents, handles, names, committing and
 * freeing, invalid arguments, and what MPI-1 had.
 */
#include <string.h>

#include "ranks.h"

static int ints[20];
static MPI_Aint aints[20];
static MPI_Datatype parts[20];

/* The envelope is (combiner, n, a, d); the contents are in the arrays then. */
static void contents(MPI_Datatype type, int combiner, int n, int a, int d,
		     const char *name)
{
	int got_n, got_a, got_d, got;

	MPI_Type_get_envelope(type, &got_n, &got_a, &got_d, &got);
	ok(got == combiner && got_n == n && got_a == a && got_d == d,
	   "the envelope of %s", name);
	is_int(MPI_Type_get_contents(type, n, a, d, ints, aints, parts), 0,
	       "the contents of %s", name);
}

static bool are(const int *want, int n)
{
	return memcmp(ints, want, (size_t)n * sizeof(int)) == 0;
}

#define ARE(...)                          \
	are((const int[]){ __VA_ARGS__ }, \
	    (int)(sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int)))

static void recipes(int rank, int size)
{
	const int lengths[] = { 3, 1 }, places[] = { 0, 5 };
	const int sizes[] = { 4, 6 }, sub[] = { 2, 3 }, starts[] = { 1, 2 };
	const MPI_Aint bytes[] = { 8, 64 };
	const MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE };
	MPI_Datatype t;

	MPI_Type_contiguous(4, MPI_INT, &t);
	contents(t, MPI_COMBINER_CONTIGUOUS, 1, 0, 1, "contiguous");
	ok(ARE(4) && parts[0] == MPI_INT, "are its arguments");
	MPI_Type_free(&t);
	MPI_Type_vector(4, 2, -3, MPI_INT, &t);
	contents(t, MPI_COMBINER_VECTOR, 3, 0, 1, "vector");
	ok(ARE(4, 2, -3), "are its arguments");
	MPI_Type_free(&t);
	MPI_Type_create_hvector(4, 2, 100, MPI_INT, &t);
	contents(t, MPI_COMBINER_HVECTOR, 2, 1, 1, "hvector");
	ok(ARE(4, 2) && aints[0] == 100, "are its arguments");
	MPI_Type_free(&t);
	MPI_Type_indexed(2, lengths, places, MPI_INT, &t);
	contents(t, MPI_COMBINER_INDEXED, 5, 0, 1, "indexed");
	ok(ARE(2, 3, 1, 0, 5), "are its arguments");
	MPI_Type_free(&t);
	MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &t);
	contents(t, MPI_COMBINER_HINDEXED, 3, 2, 1, "hindexed");
	ok(ARE(2, 3, 1) && aints[1] == 64, "are its arguments");
	MPI_Type_free(&t);
	MPI_Type_create_indexed_block(2, 7, places, MPI_INT, &t);
	contents(t, MPI_COMBINER_INDEXED_BLOCK, 4, 0, 1, "indexed_block");
	ok(ARE(2, 7, 0, 5), "are its arguments");
	MPI_Type_free(&t);
	MPI_Type_create_hindexed_block(2, 7, bytes, MPI_INT, &t);
	contents(t, MPI_COMBINER_HINDEXED_BLOCK, 2, 2, 1, "hindexed_block");
	ok(ARE(2, 7) && aints[0] == 8, "are its arguments");
	MPI_Type_free(&t);
	MPI_Type_create_struct(2, lengths, bytes, types, &t);
	contents(t, MPI_COMBINER_STRUCT, 3, 2, 2, "struct");
	ok(ARE(2, 3, 1) && aints[1] == 64 && parts[1] == MPI_DOUBLE,
	   "are its arguments");
	MPI_Type_free(&t);
	MPI_Type_create_resized(MPI_INT, -4, 12, &t);
	contents(t, MPI_COMBINER_RESIZED, 0, 2, 1, "resized");
	ok(aints[0] == -4 && aints[1] == 12, "are its arguments");
	MPI_Type_free(&t);
	MPI_Type_create_subarray(2, sizes, sub, starts, MPI_ORDER_FORTRAN,
				 MPI_INT, &t);
	contents(t, MPI_COMBINER_SUBARRAY, 8, 0, 1, "subarray");
	ok(ARE(2, 4, 6, 2, 3, 1, 2, MPI_ORDER_FORTRAN), "are its arguments");
	MPI_Type_free(&t);
}

static void handles(int rank, int size)
{
	MPI_Datatype inner, outer, old, dup;
	int n, a, d, combiner, bytes;

	MPI_Type_vector(2, 1, 2, MPI_INT, &inner);
	MPI_Type_contiguous(3, inner, &outer);
	old = inner;
	is_int(MPI_Type_free(&inner), 0, "a type that another uses is freed");
	ok(inner == MPI_DATATYPE_NULL, "the handle is gone");
	is_int(MPI_Type_size(old, &bytes), MPI_ERR_TYPE, "and known to be");
	MPI_Type_size(outer, &bytes);
	is_int(bytes, 24, "the other type lives on");
	contents(outer, MPI_COMBINER_CONTIGUOUS, 1, 0, 1, "it");
	is_int(MPI_Type_size(parts[0], &bytes), 0,
	       "give out a handle of the old type");
	is_int(bytes, 8, "which it is");
	is_int(MPI_Type_free(&parts[0]), 0, "to be freed");
	MPI_Type_commit(&outer);
	MPI_Type_dup(outer, &dup);
	MPI_Type_free(&outer);
	contents(dup, MPI_COMBINER_DUP, 0, 0, 1, "a duplicate");
	is_int(MPI_Bcast(NULL, 0, dup, 0, MPI_COMM_WORLD), 0,
	       "the duplicate of a committed type is committed");
	MPI_Type_free(&parts[0]);
	MPI_Type_free(&dup);
	MPI_Type_get_envelope(MPI_DOUBLE_INT, &n, &a, &d, &combiner);
	ok(combiner == MPI_COMBINER_NAMED && n + a + d == 0,
	   "a predefined type is named");
	is_int(MPI_Type_get_contents(MPI_INT, 9, 9, 9, ints, aints, parts),
	       MPI_ERR_TYPE, "and has no contents");
	dup = MPI_INT;
	is_int(MPI_Type_free(&dup), MPI_ERR_TYPE, "and is never freed");
	is_int(MPI_Type_commit(&dup), 0, "but may be committed");
	dup = MPI_DATATYPE_NULL;
	is_int(MPI_Type_free(&dup), MPI_ERR_TYPE, "nothing cannot be freed");
	is_int(MPI_Type_commit(NULL), MPI_ERR_ARG, "no handle");
}

static void names(int rank, int size)
{
	char name[MPI_MAX_OBJECT_NAME], text[2 * MPI_MAX_OBJECT_NAME];
	MPI_Datatype type, dup;
	int length;

	MPI_Type_get_name(MPI_UNSIGNED_LONG_LONG, name, &length);
	is_string(name, "MPI_UNSIGNED_LONG_LONG",
		  "predefined types have names");
	is_int(length, 22, "of a length");
	MPI_Type_get_name(MPI_2DOUBLE_PRECISION, name, &length);
	is_string(name, "MPI_2DOUBLE_PRECISION", "pairs as well");
	MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length);
	is_string(name, "MPI_DATATYPE_NULL", "and no type");
	if (rank == 0)
		MPI_Type_set_name(MPI_FLOAT, "water level");
	MPI_Type_get_name(MPI_FLOAT, name, &length);
	is_string(name, rank == 0 ? "water level" : "MPI_FLOAT",
		  "each rank may name a predefined type anew");
	MPI_Type_contiguous(1, MPI_INT, &type);
	MPI_Type_get_name(type, name, &length);
	ok(length == 0 && !*name, "a new type has none");
	MPI_Type_set_name(type, "row");
	MPI_Type_get_name(type, name, &length);
	is_string(name, "row", "until it is given one");
	MPI_Type_dup(type, &dup);
	MPI_Type_get_name(dup, name, &length);
	is_string(name, "", "which a duplicate does not get");
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	MPI_Type_set_name(type, text);
	MPI_Type_get_name(type, name, &length);
	is_int(length, MPI_MAX_OBJECT_NAME - 1, "long names are cut");
	MPI_Type_free(&type);
	MPI_Type_free(&dup);
}

/* The same queries, answered in MPI_Count; and types by size. */
static void counts(int rank, int size)
{
	MPI_Count bytes = -1, lb = -1, extent = -1, elements = -1;
	MPI_Datatype type, resized;
	MPI_Status status = { 0 };

	MPI_Type_contiguous(3, MPI_INT, &type);
	MPI_Type_create_resized(type, -4, 20, &resized);
	MPI_Type_size_x(resized, &bytes);
	MPI_Type_get_extent_x(resized, &lb, &extent);
	ok(bytes == 12 && lb == -4 && extent == 20, "size and extent");
	MPI_Type_get_true_extent_x(resized, &lb, &extent);
	ok(lb == 0 && extent == 12, "true extent");
	MPI_Status_set_elements_x(&status, resized, (MPI_Count)1 << 33);
	MPI_Get_elements_x(&status, MPI_INT, &elements);
	ok(elements == (MPI_Count)1 << 33, "elements of a status");
	MPI_Type_free(&type);
	MPI_Type_free(&resized);
	MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type);
	ok(type == MPI_REAL8, "a type of a class and size");
	MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 16, &type);
	ok(type == MPI_INTEGER16, "and one that C has not");
	is_int(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, &type),
	       MPI_ERR_ARG, "there are not all sizes");
	is_int(MPI_Type_match_size(1, 4, &type), MPI_ERR_ARG,
	       "nor all classes");
	(void)rank, (void)size;
}

static void old_names(int rank, int size)
{
	int lengths[] = { 1, 2 };
	MPI_Aint bytes[] = { 0, 8 }, aint = 0;
	MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE }, t;

	MPI_Type_struct(2, lengths, bytes, types, &t);
	MPI_Type_extent(t, &aint);
	is_int(aint, 24, "Type_struct, Type_extent");
	MPI_Type_free(&t);
	MPI_Type_hindexed(2, lengths, bytes, MPI_DOUBLE, &t);
	MPI_Type_ub(t, &aint);
	is_int(aint, 24, "Type_hindexed, Type_ub");
	MPI_Type_free(&t);
	MPI_Type_hvector(2, 1, -16, MPI_DOUBLE, &t);
	MPI_Type_lb(t, &aint);
	is_int(aint, -16, "Type_hvector, Type_lb");
	MPI_Type_free(&t);
}

/* The type of n parts, one element of each, has these bounds. */
static void bounds_are(int n, const MPI_Datatype *types, const MPI_Aint *bytes,
		       MPI_Aint low, MPI_Aint high, int data, const char *name)
{
	int ones[] = { 1, 1, 1 }, size = -1;
	MPI_Aint lb = -1, extent = -1;
	MPI_Datatype t;

	MPI_Type_create_struct(n, ones, bytes, types, &t);
	MPI_Type_get_extent(t, &lb, &extent);
	MPI_Type_size(t, &size);
	ok(lb == low && lb + extent == high && size == data, "%s", name);
	MPI_Type_free(&t);
}

/* MPI_LB and MPI_UB, which MPI 3 removed. */
static void markers(int rank, int size)
{
	MPI_Datatype types[] = { MPI_LB, MPI_INT, MPI_UB }, outer[2];
	MPI_Aint bytes[] = { -4, 4, 21 }, far[] = { 100, 0, -7 }, lb, extent;
	int ones[] = { 1, 1, 1 }, from[4] = { 1, 2, 3, 4 }, to[4] = { 0 };
	char name[MPI_MAX_OBJECT_NAME];
	MPI_Status status;
	int length = 0;
	MPI_Win win;

	bounds_are(3, types, bytes, -4, 21, 4, "both bounds are marked");
	bounds_are(2, types, bytes, -4, 8, 4, "the lower one");
	bounds_are(2, types + 1, bytes + 1, 4, 21, 4, "the upper one");
	bounds_are(2, types, far, 100, 4, 4, "a lower one above the data");
	bounds_are(2, types + 1, far + 1, 0, -7, 4, "an upper one below them");
	bounds_are(1, types, far, 100, 0, 0, "a bound without data");
	bounds_are(1, types + 2, far + 2, 0, -7, 0, "or the other one");
	MPI_Type_create_struct(3, ones, bytes, types, &outer[0]);
	outer[1] = MPI_DOUBLE;
	bytes[1] = 40;
	bounds_are(2, outer, bytes, -8, 17, 12,
		   "a mark in a part holds for the whole");
	MPI_Type_get_name(MPI_UB, name, &length);
	is_string(name, "MPI_UB", "they have names");
	MPI_Type_get_extent(MPI_LB, &lb, &extent);
	ok(lb == 0 && extent == 0, "and no extent");
	MPI_Type_free(&outer[0]);
	far[0] = 0, far[1] = 8;
	types[0] = MPI_INT, types[1] = MPI_UB;
	MPI_Type_struct(2, ones, far, types, &outer[0]);
	MPI_Type_commit(&outer[0]);
	MPI_Sendrecv(from, 2, outer[0], 0, 0, to, 2, outer[0], 0, 0,
		     MPI_COMM_SELF, MPI_STATUS_IGNORE);
	ok(to[0] == 1 && to[1] == 0 && to[2] == 3 && to[3] == 0,
	   "elements are sent as far apart as the mark says");
	MPI_Type_free(&outer[0]);
	MPI_Sendrecv(from, 3, MPI_LB, 0, 0, to, 0, MPI_INT, 0, 0, MPI_COMM_SELF,
		     &status);
	MPI_Get_count(&status, MPI_UB, &length);
	is_int(length, 0, "by themselves they are no data");
	MPI_Win_create(to, sizeof(to), 4, MPI_INFO_NULL, MPI_COMM_SELF, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_fence(0, win);
	is_int(MPI_Fetch_and_op(from, &length, MPI_LB, 0, 0, MPI_REPLACE, win),
	       MPI_ERR_TYPE, "nor can they be fetched");
	is_int(MPI_Accumulate(from, 4, MPI_UB, 0, 0, 4, MPI_UB, MPI_REPLACE,
			      win),
	       MPI_SUCCESS, "elsewhere they stand for nothing");
	MPI_Win_free(&win);
	is_int(MPI_Allreduce(from, to, 1, MPI_LB, MPI_SUM, MPI_COMM_SELF),
	       MPI_ERR_OP, "a mark cannot be added");
	(void)rank, (void)size;
}

static void wrong(int rank, int size)
{
	int bad[] = { 1, -1 }, good[] = { 1, 1 }, zero[] = { 0, 0 };
	int four[] = { 4, 4 }, five[] = { 4, 5 }, x = 0;
	MPI_Aint bytes[] = { 0, 8 };
	MPI_Datatype types[] = { MPI_INT, MPI_DATATYPE_NULL }, t;

	is_int(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT,
	       "a negative count");
	is_int(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE,
	       "no old type");
	is_int(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_ERR_ARG,
	       "no new type");
	is_int(MPI_Type_vector(1, -1, 1, MPI_INT, &t), MPI_ERR_ARG,
	       "a negative block length");
	is_int(MPI_Type_indexed(2, bad, good, MPI_INT, &t), MPI_ERR_ARG,
	       "a negative block length among others");
	is_int(MPI_Type_indexed(2, NULL, good, MPI_INT, &t), MPI_ERR_ARG,
	       "no block lengths");
	is_int(MPI_Type_indexed(2, good, NULL, MPI_INT, &t), MPI_ERR_ARG,
	       "no displacements");
	is_int(MPI_Type_create_struct(2, good, bytes, types, &t), MPI_ERR_TYPE,
	       "no type among others");
	is_int(MPI_Type_create_subarray(0, four, good, zero, MPI_ORDER_C,
					MPI_INT, &t),
	       MPI_ERR_ARG, "no dimensions");
	is_int(MPI_Type_create_subarray(2, four, five, zero, MPI_ORDER_C,
					MPI_INT, &t),
	       MPI_ERR_ARG, "a part larger than the whole");
	is_int(MPI_Type_create_subarray(2, four, good, five, MPI_ORDER_C,
					MPI_INT, &t),
	       MPI_ERR_ARG, "a part beyond the whole");
	is_int(MPI_Type_create_subarray(2, four, good, zero, 7, MPI_INT, &t),
	       MPI_ERR_ARG, "an order that is none");
	MPI_Type_contiguous(2147483647, MPI_INT64_T, &t);
	is_int(MPI_Type_contiguous(2147483647, t, &t), MPI_ERR_ARG,
	       "a type larger than the address space");
	is_int(MPI_Type_size(t, &x), 0, "a large type");
	is_int(x, MPI_UNDEFINED, "has a size that no int can hold");
	MPI_Type_free(&t);
	is_int(MPI_Type_size(MPI_INT, NULL), MPI_ERR_ARG, "no place for it");
	x = 0;
	is_int(MPI_Pack(good, 2, MPI_INT, four, 4, &x, MPI_COMM_SELF),
	       MPI_ERR_TRUNCATE, "a packed buffer that is too small");
	is_int(MPI_Unpack(good, 4, &x, four, 2, MPI_INT, MPI_COMM_SELF),
	       MPI_ERR_TRUNCATE, "or too short");
	is_int(x, 0, "the position stays");
}

int main(void)
{
	ranks_run(1, 1, recipes);
	ranks_run(1, 1, handles);
	ranks_run(1, 1, names);
	ranks_run(1, 1, counts);
	ranks_run(1, 1, old_names);
	ranks_run(1, 1, markers);
	ranks_run(1, 1, wrong);
	return done_testing();
}
