/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Invalid arguments of calls on datatypes, packing and operations, call by
 * call.
 */
#include "wants.h"

#define SELF MPI_COMM_SELF
#define NONE MPI_DATATYPE_NULL

static MPI_Datatype out, vector;
static int n, lengths[2] = { 1, 1 }, minus[2] = { 1, -1 }, places[2] = { 0, 4 };
static MPI_Aint offsets[2] = { 0, 64 }, a, b;
static MPI_Datatype types[2], broken[2];

/* The old type, the new one and the count of a constructor. */
static void simple(void)
{
	WANTS(MPI_ERR_COUNT, MPI_Type_contiguous(-1, MPI_INT, &out));
	WANTS(MPI_ERR_TYPE, MPI_Type_contiguous(1, NONE, &out));
	WANTS(MPI_ERR_ARG, MPI_Type_contiguous(1, MPI_INT, NULL));
	WANTS(MPI_ERR_COUNT, MPI_Type_vector(-1, 1, 1, MPI_INT, &out));
	WANTS(MPI_ERR_ARG, MPI_Type_vector(1, -1, 1, MPI_INT, &out));
	WANTS(MPI_ERR_TYPE, MPI_Type_vector(1, 1, 1, NONE, &out));
	WANTS(MPI_ERR_ARG, MPI_Type_vector(1, 1, 1, MPI_INT, NULL));
	WANTS(MPI_ERR_COUNT, MPI_Type_create_hvector(-1, 1, 1, MPI_INT, &out));
	WANTS(MPI_ERR_ARG, MPI_Type_create_hvector(1, -1, 1, MPI_INT, &out));
	WANTS(MPI_ERR_TYPE, MPI_Type_create_hvector(1, 1, 1, NONE, &out));
	WANTS(MPI_ERR_ARG, MPI_Type_create_hvector(1, 1, 1, MPI_INT, NULL));
	WANTS(MPI_ERR_COUNT, MPI_Type_hvector(-1, 1, 1, MPI_INT, &out));
	WANTS(MPI_ERR_ARG, MPI_Type_hvector(1, -1, 1, MPI_INT, &out));
	WANTS(MPI_ERR_TYPE, MPI_Type_hvector(1, 1, 1, NONE, &out));
	WANTS(MPI_ERR_TYPE, MPI_Type_create_resized(NONE, 0, 8, &out));
	WANTS(MPI_ERR_ARG, MPI_Type_create_resized(MPI_INT, 0, 8, NULL));
	WANTS(MPI_ERR_TYPE, MPI_Type_dup(NONE, &out));
	WANTS(MPI_ERR_ARG, MPI_Type_dup(MPI_INT, NULL));
}

/* Constructors with arrays of lengths and displacements. */
#define LISTS(call, displs)                                             \
	WANTS(MPI_ERR_COUNT, call(-1, lengths, displs, MPI_INT, &out)); \
	WANTS(MPI_ERR_ARG, call(2, NULL, displs, MPI_INT, &out));       \
	WANTS(MPI_ERR_ARG, call(2, minus, displs, MPI_INT, &out));      \
	WANTS(MPI_ERR_ARG, call(2, lengths, NULL, MPI_INT, &out));      \
	WANTS(MPI_ERR_TYPE, call(2, lengths, displs, NONE, &out));      \
	WANTS(MPI_ERR_ARG, call(2, lengths, displs, MPI_INT, NULL))

#define BLOCKS(call, displs)                                      \
	WANTS(MPI_ERR_COUNT, call(-1, 1, displs, MPI_INT, &out)); \
	WANTS(MPI_ERR_ARG, call(2, -1, displs, MPI_INT, &out));   \
	WANTS(MPI_ERR_ARG, call(2, 1, NULL, MPI_INT, &out));      \
	WANTS(MPI_ERR_TYPE, call(2, 1, displs, NONE, &out));      \
	WANTS(MPI_ERR_ARG, call(2, 1, displs, MPI_INT, NULL))

#define STRUCTS(call)                                                  \
	WANTS(MPI_ERR_COUNT, call(-1, lengths, offsets, types, &out)); \
	WANTS(MPI_ERR_ARG, call(2, NULL, offsets, types, &out));       \
	WANTS(MPI_ERR_ARG, call(2, minus, offsets, types, &out));      \
	WANTS(MPI_ERR_ARG, call(2, lengths, NULL, types, &out));       \
	WANTS(MPI_ERR_ARG, call(2, lengths, offsets, NULL, &out));     \
	WANTS(MPI_ERR_TYPE, call(2, lengths, offsets, broken, &out));  \
	WANTS(MPI_ERR_ARG, call(2, lengths, offsets, types, NULL))

static void lists(void)
{
	LISTS(MPI_Type_indexed, places);
	LISTS(MPI_Type_create_hindexed, offsets);
	LISTS(MPI_Type_hindexed, offsets);
	BLOCKS(MPI_Type_create_indexed_block, places);
	BLOCKS(MPI_Type_create_hindexed_block, offsets);
	STRUCTS(MPI_Type_create_struct);
	STRUCTS(MPI_Type_struct);
}

static void subarrays(void)
{
	int sizes[2] = { 4, 4 }, subs[2] = { 2, 2 }, starts[2] = { 1, 1 };
	int none[2] = { 0, 4 }, large[2] = { 5, 1 }, far[2] = { 3, 0 };

#define SUBARRAY(class, ndims, sizes, subs, starts, order, type, out)     \
	WANTS(class, MPI_Type_create_subarray(ndims, sizes, subs, starts, \
					      order, type, out))
	SUBARRAY(MPI_ERR_ARG, 0, sizes, subs, starts, MPI_ORDER_C, MPI_INT,
		 &out);
	SUBARRAY(MPI_ERR_ARG, 2, NULL, subs, starts, MPI_ORDER_C, MPI_INT,
		 &out);
	SUBARRAY(MPI_ERR_ARG, 2, sizes, NULL, starts, MPI_ORDER_C, MPI_INT,
		 &out);
	SUBARRAY(MPI_ERR_ARG, 2, sizes, subs, NULL, MPI_ORDER_C, MPI_INT, &out);
	SUBARRAY(MPI_ERR_ARG, 2, none, subs, starts, MPI_ORDER_C, MPI_INT,
		 &out);
	SUBARRAY(MPI_ERR_ARG, 2, sizes, large, starts, MPI_ORDER_C, MPI_INT,
		 &out);
	SUBARRAY(MPI_ERR_ARG, 2, sizes, subs, far, MPI_ORDER_C, MPI_INT, &out);
	SUBARRAY(MPI_ERR_ARG, 2, sizes, subs, minus, MPI_ORDER_C, MPI_INT,
		 &out);
	SUBARRAY(MPI_ERR_ARG, 2, sizes, subs, starts, 7, MPI_INT, &out);
	SUBARRAY(MPI_ERR_TYPE, 2, sizes, subs, starts, MPI_ORDER_C, NONE, &out);
	SUBARRAY(MPI_ERR_ARG, 2, sizes, subs, starts, MPI_ORDER_C, MPI_INT,
		 NULL);
}

static void questions(void)
{
	MPI_Count c, d;
	char name[MPI_MAX_OBJECT_NAME];

#define ASK(call, out)                        \
	WANTS(MPI_ERR_TYPE, call(NONE, out)); \
	WANTS(MPI_ERR_ARG, call(MPI_INT, NULL))
#define ASK2(call, x, y)                            \
	WANTS(MPI_ERR_TYPE, call(NONE, x, y));      \
	WANTS(MPI_ERR_ARG, call(MPI_INT, NULL, y)); \
	WANTS(MPI_ERR_ARG, call(MPI_INT, x, NULL))
	ASK(MPI_Type_size, &n);
	ASK(MPI_Type_size_x, &c);
	ASK(MPI_Type_extent, &a);
	ASK(MPI_Type_lb, &a);
	ASK(MPI_Type_ub, &a);
	ASK2(MPI_Type_get_extent, &a, &b);
	ASK2(MPI_Type_get_extent_x, &c, &d);
	ASK2(MPI_Type_get_true_extent, &a, &b);
	ASK2(MPI_Type_get_true_extent_x, &c, &d);
	ASK(MPI_Type_set_name, "name");
	WANTS(MPI_ERR_ARG, MPI_Type_get_name(MPI_INT, NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Type_get_name(MPI_INT, name, NULL));
	WANTS(MPI_SUCCESS, MPI_Type_get_name(NONE, name, &n));
	is_string(name, "MPI_DATATYPE_NULL", "the null datatype has a name");
	WANTS(MPI_ERR_ARG, MPI_Type_match_size(-1, 4, &out));
	WANTS(MPI_ERR_ARG, MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &out));
	WANTS(MPI_ERR_ARG, MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, NULL));
}

static void lives(void)
{
	MPI_Datatype basic = MPI_INT, none = NONE;

	WANTS(MPI_ERR_ARG, MPI_Type_commit(NULL));
	WANTS(MPI_ERR_TYPE, MPI_Type_commit(&none));
	WANTS(MPI_SUCCESS, MPI_Type_commit(&basic));
	WANTS(MPI_ERR_ARG, MPI_Type_free(NULL));
	WANTS(MPI_ERR_TYPE, MPI_Type_free(&none));
	WANTS(MPI_ERR_TYPE, MPI_Type_free(&basic));
}

static void contents(void)
{
	MPI_Datatype part[1];
	int m, o, combiner, ints[3];
	MPI_Aint addresses[1];

	WANTS(MPI_ERR_TYPE, MPI_Type_get_envelope(NONE, &n, &m, &o, &combiner));
	WANTS(MPI_ERR_ARG,
	      MPI_Type_get_envelope(MPI_INT, NULL, &m, &o, &combiner));
	WANTS(MPI_ERR_ARG,
	      MPI_Type_get_envelope(MPI_INT, &n, NULL, &o, &combiner));
	WANTS(MPI_ERR_ARG,
	      MPI_Type_get_envelope(MPI_INT, &n, &m, NULL, &combiner));
	WANTS(MPI_ERR_ARG, MPI_Type_get_envelope(MPI_INT, &n, &m, &o, NULL));
#define CONTENTS(class, type, i, a, d, ints, addresses, part) \
	WANTS(class,                                          \
	      MPI_Type_get_contents(type, i, a, d, ints, addresses, part))
	CONTENTS(MPI_ERR_TYPE, NONE, 3, 0, 1, ints, addresses, part);
	/* Predefined types have no contents (MPI 4.1, 5.1.13). */
	CONTENTS(MPI_ERR_TYPE, MPI_INT, 3, 0, 1, ints, addresses, part);
	CONTENTS(MPI_ERR_ARG, vector, 2, 0, 1, ints, addresses, part);
	CONTENTS(MPI_ERR_ARG, vector, 3, 0, 0, ints, addresses, part);
	CONTENTS(MPI_ERR_ARG, vector, 3, 0, 1, NULL, addresses, part);
	CONTENTS(MPI_ERR_ARG, vector, 3, 0, 1, ints, addresses, NULL);
	CONTENTS(MPI_SUCCESS, vector, 3, 0, 1, ints, NULL, part);
}

static void packing(void)
{
	int x[4] = { 0 };
	char bytes[16];

	n = 0;
#define PACK(class, buf, count, type, to, size, position, comm) \
	WANTS(class, MPI_Pack(buf, count, type, to, size, position, comm))
	PACK(MPI_ERR_COMM, x, 1, MPI_INT, bytes, 16, &n, MPI_COMM_NULL);
	PACK(MPI_ERR_COUNT, x, -1, MPI_INT, bytes, 16, &n, SELF);
	PACK(MPI_ERR_TYPE, x, 1, NONE, bytes, 16, &n, SELF);
	PACK(MPI_ERR_TYPE, x, 1, vector, bytes, 16, &n, SELF);
	PACK(MPI_ERR_BUFFER, NULL, 1, MPI_INT, bytes, 16, &n, SELF);
	PACK(MPI_ERR_BUFFER, x, 1, MPI_INT, NULL, 16, &n, SELF);
	PACK(MPI_ERR_ARG, x, 1, MPI_INT, bytes, -1, &n, SELF);
	PACK(MPI_ERR_ARG, x, 1, MPI_INT, bytes, 16, NULL, SELF);
	PACK(MPI_ERR_TRUNCATE, x, 4, MPI_INT, bytes, 15, &n, SELF);
	is_int(n, 0, "nothing was packed");
#define UNPACK(class, from, size, position, buf, count, type, comm) \
	WANTS(class, MPI_Unpack(from, size, position, buf, count, type, comm))
	UNPACK(MPI_ERR_COMM, bytes, 16, &n, x, 1, MPI_INT, MPI_COMM_NULL);
	UNPACK(MPI_ERR_COUNT, bytes, 16, &n, x, -1, MPI_INT, SELF);
	UNPACK(MPI_ERR_TYPE, bytes, 16, &n, x, 1, NONE, SELF);
	UNPACK(MPI_ERR_BUFFER, bytes, 16, &n, NULL, 1, MPI_INT, SELF);
	UNPACK(MPI_ERR_BUFFER, NULL, 16, &n, x, 1, MPI_INT, SELF);
	UNPACK(MPI_ERR_ARG, bytes, -1, &n, x, 1, MPI_INT, SELF);
	UNPACK(MPI_ERR_ARG, bytes, 16, NULL, x, 1, MPI_INT, SELF);
	UNPACK(MPI_ERR_TRUNCATE, bytes, 15, &n, x, 4, MPI_INT, SELF);
	is_int(n, 0, "nothing was unpacked");
	WANTS(MPI_ERR_COMM, MPI_Pack_size(1, MPI_INT, MPI_COMM_NULL, &n));
	WANTS(MPI_ERR_COUNT, MPI_Pack_size(-1, MPI_INT, SELF, &n));
	WANTS(MPI_ERR_TYPE, MPI_Pack_size(1, NONE, SELF, &n));
	WANTS(MPI_ERR_ARG, MPI_Pack_size(1, MPI_INT, SELF, NULL));
}

static void operations(void)
{
	MPI_Op op, sum = MPI_SUM, none = MPI_OP_NULL;
	int x = 1, y = 2;
	float f = 0;

	WANTS(MPI_ERR_ARG, MPI_Op_create(NULL, 1, &op));
	WANTS(MPI_ERR_ARG, MPI_Op_create(freed_op, 1, NULL));
	WANTS(MPI_ERR_ARG, MPI_Op_free(NULL));
	WANTS(MPI_ERR_OP, MPI_Op_free(&none));
	WANTS(MPI_ERR_OP, MPI_Op_free(&sum));
	WANTS(MPI_ERR_OP, MPI_Op_commutative(MPI_OP_NULL, &n));
	WANTS(MPI_ERR_ARG, MPI_Op_commutative(MPI_SUM, NULL));
	WANTS(MPI_ERR_OP, MPI_Reduce_local(&x, &y, 1, MPI_INT, MPI_OP_NULL));
	WANTS(MPI_ERR_OP, MPI_Reduce_local(&f, &f, 1, MPI_FLOAT, MPI_BAND));
	WANTS(MPI_ERR_OP, MPI_Reduce_local(&x, &y, 1, vector, MPI_SUM));
	WANTS(MPI_ERR_TYPE, MPI_Reduce_local(&x, &y, 1, NONE, MPI_SUM));
	WANTS(MPI_ERR_COUNT, MPI_Reduce_local(&x, &y, -1, MPI_INT, MPI_SUM));
	WANTS(MPI_ERR_BUFFER,
	      MPI_Reduce_local(MPI_IN_PLACE, &y, 1, MPI_INT, MPI_SUM));
	WANTS(MPI_ERR_BUFFER,
	      MPI_Reduce_local(&x, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM));
	WANTS(MPI_ERR_BUFFER, MPI_Reduce_local(&x, &x, 1, MPI_INT, MPI_SUM));
	WANTS(MPI_ERR_BUFFER, MPI_Reduce_local(NULL, &y, 1, MPI_INT, MPI_SUM));
	WANTS(MPI_ERR_BUFFER, MPI_Reduce_local(&x, NULL, 1, MPI_INT, MPI_SUM));
	is_int(y, 2, "nothing was reduced");
}

static void attributes(void)
{
	int key, flag, *value;

	MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN,
			       &key, NULL);
	WANTS(MPI_ERR_ARG,
	      MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN,
				     MPI_TYPE_NULL_DELETE_FN, NULL, NULL));
	WANTS(MPI_ERR_TYPE, MPI_Type_set_attr(NONE, key, &n));
	WANTS(MPI_ERR_TYPE, MPI_Type_get_attr(NONE, key, &value, &flag));
	WANTS(MPI_ERR_ARG, MPI_Type_get_attr(MPI_INT, key, NULL, &flag));
	WANTS(MPI_ERR_ARG, MPI_Type_get_attr(MPI_INT, key, &value, NULL));
	WANTS(MPI_ERR_TYPE, MPI_Type_delete_attr(NONE, key));
	WANTS(MPI_ERR_KEYVAL,
	      MPI_Type_set_attr(MPI_INT, MPI_KEYVAL_INVALID, &n));
	WANTS(MPI_ERR_KEYVAL, MPI_Type_get_attr(MPI_INT, -1, &value, &flag));
	WANTS(MPI_ERR_KEYVAL, MPI_Type_delete_attr(MPI_INT, -1));
	WANTS(MPI_ERR_ARG, MPI_Type_free_keyval(NULL));
	WANTS(MPI_SUCCESS, MPI_Type_free_keyval(&key));
}

static void fortran(void)
{
	MPI_Datatype type = MPI_INT;

	WANTS(MPI_ERR_ARG, MPI_Type_create_f90_real(6, 30, NULL));
	WANTS(MPI_ERR_ARG, MPI_Type_create_f90_real(34, 30, &type));
	WANTS(MPI_ERR_ARG, MPI_Type_create_f90_real(6, 5000, &type));
	WANTS(MPI_ERR_ARG,
	      MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &type));
	WANTS(MPI_ERR_ARG, MPI_Type_create_f90_complex(34, 30, &type));
	WANTS(MPI_ERR_ARG, MPI_Type_create_f90_complex(6, 30, NULL));
	WANTS(MPI_ERR_ARG, MPI_Type_create_f90_integer(39, &type));
	WANTS(MPI_ERR_ARG, MPI_Type_create_f90_integer(MPI_UNDEFINED, &type));
	WANTS(MPI_ERR_ARG, MPI_Type_create_f90_integer(9, NULL));
	WANTS(MPI_ERR_TYPE, MPI_Type_get_value_index(NONE, MPI_INT, &type));
	WANTS(MPI_ERR_TYPE, MPI_Type_get_value_index(MPI_INT, NONE, &type));
	WANTS(MPI_ERR_ARG, MPI_Type_get_value_index(MPI_INT, MPI_INT, NULL));
	ok(type == MPI_INT, "nothing was made");
}

static void body(int rank, int size)
{
	if (rank >= size)
		return;
	types[0] = types[1] = broken[0] = MPI_INT;
	broken[1] = NONE;
	MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
	simple();
	lists();
	subarrays();
	questions();
	lives();
	contents();
	packing();
	MPI_Type_commit(&vector);
	operations();
	attributes();
	fortran();
	MPI_Type_free(&vector);
}

int main(void)
{
	ranks_run(1, 1, body);
	return done_testing();
}
