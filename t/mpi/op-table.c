/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The predefined operations on every predefined type: their results, and
 * MPI_ERR_OP where MPI 4.1, 6.9.2, defines none.
 */
#include <complex.h>
#include <stdbool.h>
#include <string.h>

#include "ranks.h"

/* The families of types in the standard. */
enum {
	INTEGER = 1,
	FORTRAN = 2,
	FLOATING = 4,
	LOGICAL = 8,
	COMPLEX = 16,
	BYTE = 32,
	ADDRESS = 64,
	PAIR = 128,
	OTHER = 0
};

static const struct {
	const char *name;
	MPI_Datatype type;
	int family, bytes;
} types[] = {
#define T(name, family, bytes)                   \
	{                                        \
#name, MPI_##name, family, bytes \
	}
	T(SIGNED_CHAR, INTEGER, 1),
	T(UNSIGNED_CHAR, INTEGER, 1),
	T(SHORT, INTEGER, 2),
	T(UNSIGNED_SHORT, INTEGER, 2),
	T(INT, INTEGER, 4),
	T(UNSIGNED, INTEGER, 4),
	T(LONG, INTEGER, 8),
	T(UNSIGNED_LONG, INTEGER, 8),
	T(LONG_LONG_INT, INTEGER, 8),
	T(LONG_LONG, INTEGER, 8),
	T(UNSIGNED_LONG_LONG, INTEGER, 8),
	T(INT8_T, INTEGER, 1),
	T(INT16_T, INTEGER, 2),
	T(INT32_T, INTEGER, 4),
	T(INT64_T, INTEGER, 8),
	T(UINT8_T, INTEGER, 1),
	T(UINT16_T, INTEGER, 2),
	T(UINT32_T, INTEGER, 4),
	T(UINT64_T, INTEGER, 8),
	T(CHAR, INTEGER, 1), /* ours: the standard has nothing for it */
	T(INTEGER, FORTRAN, 4),
	T(INTEGER1, FORTRAN, 1),
	T(INTEGER2, FORTRAN, 2),
	T(INTEGER4, FORTRAN, 4),
	T(INTEGER8, FORTRAN, 8),
	T(INTEGER16, FORTRAN, 16),
	T(FLOAT, FLOATING, 4),
	T(DOUBLE, FLOATING, 8),
	T(LONG_DOUBLE, FLOATING, sizeof(long double)),
	T(REAL, FLOATING, 4),
	T(DOUBLE_PRECISION, FLOATING, 8),
	T(REAL4, FLOATING, 4),
	T(REAL8, FLOATING, 8),
	T(REAL16, FLOATING, 16),
	T(LOGICAL, LOGICAL, 4),
	T(C_BOOL, LOGICAL, 1),
	T(CXX_BOOL, LOGICAL, 1),
	T(LOGICAL1, LOGICAL, 1),
	T(LOGICAL2, LOGICAL, 2),
	T(LOGICAL4, LOGICAL, 4),
	T(LOGICAL8, LOGICAL, 8),
	T(LOGICAL16, LOGICAL, 16),
	T(C_COMPLEX, COMPLEX, 8),
	T(C_FLOAT_COMPLEX, COMPLEX, 8),
	T(C_DOUBLE_COMPLEX, COMPLEX, 16),
	T(C_LONG_DOUBLE_COMPLEX, COMPLEX, 2 * sizeof(long double)),
	T(CXX_FLOAT_COMPLEX, COMPLEX, 8),
	T(CXX_DOUBLE_COMPLEX, COMPLEX, 16),
	T(CXX_LONG_DOUBLE_COMPLEX, COMPLEX, 2 * sizeof(long double)),
	T(COMPLEX, COMPLEX, 8),
	T(DOUBLE_COMPLEX, COMPLEX, 16),
	T(COMPLEX8, COMPLEX, 8),
	T(COMPLEX16, COMPLEX, 16),
	T(COMPLEX32, COMPLEX, 32),
	T(BYTE, BYTE, 1),
	T(AINT, ADDRESS, 8),
	T(COUNT, ADDRESS, 8),
	T(OFFSET, ADDRESS, 8),
	T(FLOAT_INT, PAIR, 8),
	T(DOUBLE_INT, PAIR, 12),
	T(LONG_INT, PAIR, 12),
	T(2INT, PAIR, 8),
	T(SHORT_INT, PAIR, 6),
	T(LONG_DOUBLE_INT, PAIR, sizeof(long double) + 4),
	T(2REAL, PAIR, 8),
	T(2DOUBLE_PRECISION, PAIR, 16),
	T(2INTEGER, PAIR, 8),
	T(WCHAR, OTHER, 4),
	T(CHARACTER, OTHER, 1),
	T(PACKED, OTHER, 1),
#undef T
};
#define TYPES ((int)(sizeof(types) / sizeof(types[0])))

static const struct {
	const char *name;
	MPI_Op op;
	int families;
} ops[] = {
#define O(name, families)                   \
	{                                   \
#name, MPI_##name, families \
	}
	O(MAX, INTEGER | FORTRAN | FLOATING | ADDRESS),
	O(MIN, INTEGER | FORTRAN | FLOATING | ADDRESS),
	O(SUM, INTEGER | FORTRAN | FLOATING | COMPLEX | ADDRESS),
	O(PROD, INTEGER | FORTRAN | FLOATING | COMPLEX | ADDRESS),
	O(LAND, INTEGER | LOGICAL | ADDRESS),
	O(LOR, INTEGER | LOGICAL | ADDRESS),
	O(LXOR, INTEGER | LOGICAL | ADDRESS),
	O(BAND, INTEGER | FORTRAN | BYTE | ADDRESS),
	O(BOR, INTEGER | FORTRAN | BYTE | ADDRESS),
	O(BXOR, INTEGER | FORTRAN | BYTE | ADDRESS),
	O(MINLOC, PAIR),
	O(MAXLOC, PAIR),
	O(REPLACE, 0),
	O(NO_OP, 0),
#undef O
};
#define OPS ((int)(sizeof(ops) / sizeof(ops[0])))

static void table(int rank, int size)
{
	_Alignas(64) char in[64] = { 0 }, inout[64] = { 0 };

	for (int t = 0; t < TYPES; t++) {
		int bytes = -1, wrong = 0;

		MPI_Type_size(types[t].type, &bytes);
		wrong += bytes != types[t].bytes;
		for (int o = 0; o < OPS; o++) {
			int rc = MPI_Reduce_local(in, inout, 1, types[t].type,
						  ops[o].op);
			bool good = types[t].family & ops[o].families;

			if (rc == (good ? MPI_SUCCESS : MPI_ERR_OP))
				continue;
			diag("MPI_%s with MPI_%s: %d", types[t].name,
			     ops[o].name, rc);
			wrong++;
		}
		is_int(wrong, 0, "MPI_%s has its size and its operations",
		       types[t].name);
	}
}

/* Seven elements at a time: loops that work on several have a rest. */
#define N 7
#define CHECK(mpi_type, c_type, mpi_op, x, y, want)                     \
	do {                                                            \
		c_type in_[N], out_[N];                                 \
		int wrong_ = 0;                                         \
                                                                        \
		for (int i = 0; i < N; i++) {                           \
			in_[i] = (c_type)(x);                           \
			out_[i] = (c_type)(y);                          \
		}                                                       \
		MPI_Reduce_local(in_, out_, N, mpi_type, mpi_op);       \
		for (int i = 0; i < N; i++)                             \
			wrong_ += out_[i] != (c_type)(want);            \
		is_int(wrong_, 0, "%s of %s %s is %s", #mpi_op, #x, #y, \
		       #want);                                          \
	} while (0)

static void values(int rank, int size)
{
	CHECK(MPI_INT, int, MPI_SUM, 40, 2, 42);
	CHECK(MPI_INT, int, MPI_SUM, 2147483647, 1, -2147483647 - 1);
	CHECK(MPI_INT, int, MPI_PROD, -3, 7, -21);
	CHECK(MPI_INT, int, MPI_MAX, -3, -7, -3);
	CHECK(MPI_INT, int, MPI_MIN, -3, 7, -3);
	CHECK(MPI_UNSIGNED, unsigned, MPI_MAX, -3, 7, -3);
	CHECK(MPI_UNSIGNED, unsigned, MPI_MIN, -3, 7, 7);
	CHECK(MPI_UNSIGNED_SHORT, unsigned short, MPI_PROD, 65535, 65535, 1);
	CHECK(MPI_SIGNED_CHAR, signed char, MPI_SUM, 100, 100, -56);
	CHECK(MPI_INT64_T, int64_t, MPI_MIN, INT64_MIN, 0, INT64_MIN);
	CHECK(MPI_INTEGER16, __int128, MPI_PROD, (__int128)1 << 100, 4,
	      (__int128)1 << 102);
	CHECK(MPI_INT, int, MPI_BAND, 12, 10, 8);
	CHECK(MPI_INT, int, MPI_BOR, 12, 10, 14);
	CHECK(MPI_INT, int, MPI_BXOR, 12, 10, 6);
	CHECK(MPI_INT, int, MPI_LAND, 12, 10, 1);
	CHECK(MPI_INT, int, MPI_LAND, 12, 0, 0);
	CHECK(MPI_INT, int, MPI_LOR, 0, 10, 1);
	CHECK(MPI_INT, int, MPI_LXOR, 12, 10, 0);
	CHECK(MPI_INT, int, MPI_LXOR, 0, 10, 1);
	/* Ours: the standard has nothing for addresses. */
	CHECK(MPI_AINT, MPI_Aint, MPI_LAND, 12, 10, 1);
	CHECK(MPI_OFFSET, MPI_Offset, MPI_LOR, 0, 0, 0);
	CHECK(MPI_COUNT, MPI_Count, MPI_LXOR, 7, 0, 1);
	CHECK(MPI_C_BOOL, bool, MPI_LAND, true, false, false);
	CHECK(MPI_C_BOOL, bool, MPI_LOR, true, false, true);
	CHECK(MPI_C_BOOL, bool, MPI_LXOR, true, true, false);
	CHECK(MPI_FLOAT, float, MPI_SUM, 1.5f, 2.25f, 3.75f);
	CHECK(MPI_DOUBLE, double, MPI_PROD, 1.5, -2, -3);
	CHECK(MPI_DOUBLE, double, MPI_MAX, 1.5, -2, 1.5);
	CHECK(MPI_LONG_DOUBLE, long double, MPI_MIN, 1.5L, -2, -2);
	CHECK(MPI_C_COMPLEX, float complex, MPI_PROD, I, I, -1);
	CHECK(MPI_C_DOUBLE_COMPLEX, double complex, MPI_SUM, 1 + I, 2 - 3 * I,
	      3 - 2 * I);
	CHECK(MPI_C_LONG_DOUBLE_COMPLEX, long double complex, MPI_PROD, 2 * I,
	      3, 6 * I);
	CHECK(MPI_AINT, MPI_Aint, MPI_MAX, -1, 1, 1);
	CHECK(MPI_BYTE, unsigned char, MPI_BXOR, 255, 15, 240);
}

/* Pairs: the value decides, then the lower index. */
#define PAIR_CHECK(mpi_type, value_type, index_type)                  \
	do {                                                          \
		struct {                                              \
			value_type value;                             \
			index_type index;                             \
		} in[3] = { { 1, 5 }, { 3, 4 }, { 2, 9 } },           \
		  out[3] = { { 2, 6 }, { 3, 3 }, { 2, 10 } }, low[3]; \
                                                                      \
		memcpy(low, out, sizeof(low));                        \
		MPI_Reduce_local(in, out, 3, mpi_type, MPI_MAXLOC);   \
		MPI_Reduce_local(in, low, 3, mpi_type, MPI_MINLOC);   \
		ok(out[0].value == 2 && out[0].index == 6 &&          \
			   out[1].value == 3 && out[1].index == 3 &&  \
			   out[2].value == 2 && out[2].index == 9,    \
		   "MPI_MAXLOC on " #mpi_type);                       \
		ok(low[0].value == 1 && low[0].index == 5 &&          \
			   low[1].value == 3 && low[1].index == 3 &&  \
			   low[2].value == 2 && low[2].index == 9,    \
		   "MPI_MINLOC on " #mpi_type);                       \
	} while (0)

static void pairs(int rank, int size)
{
	PAIR_CHECK(MPI_FLOAT_INT, float, int);
	PAIR_CHECK(MPI_DOUBLE_INT, double, int);
	PAIR_CHECK(MPI_LONG_INT, long, int);
	PAIR_CHECK(MPI_2INT, int, int);
	PAIR_CHECK(MPI_SHORT_INT, short, int);
	PAIR_CHECK(MPI_LONG_DOUBLE_INT, long double, int);
	PAIR_CHECK(MPI_2REAL, float, float);
	PAIR_CHECK(MPI_2DOUBLE_PRECISION, double, double);
	PAIR_CHECK(MPI_2INTEGER, int, int);
}

static int calls;

static void count_call(void *in, void *inout, int *n, MPI_Datatype *type)
{
	calls += *n == 3 && *type == MPI_INT;
	for (int i = 0; i < *n; i++)
		((int *)inout)[i] = ((int *)in)[i] - ((int *)inout)[i];
}

static void user(int rank, int size)
{
	int in[3] = { 1, 2, 3 }, inout[3] = { 10, 20, 30 }, commute = -1;
	MPI_Datatype dup;
	MPI_Op op;

	is_int(MPI_Op_create(count_call, 0, &op), 0, "an operation is made");
	MPI_Op_commutative(op, &commute);
	is_int(commute, 0, "that does not commute");
	MPI_Reduce_local(in, inout, 3, MPI_INT, op);
	is_int(calls, 1, "its function gets the count and the type");
	is_int(inout[2], -27, "and the operands in order");
	MPI_Reduce_local(in, inout, 0, MPI_INT, op);
	is_int(calls, 1, "it is not called for nothing");
	is_int(MPI_Op_free(&op), 0, "it is freed");
	ok(op == MPI_OP_NULL, "the handle is gone");
	is_int(MPI_Op_free(&op), MPI_ERR_OP, "what is gone cannot be freed");
	op = MPI_SUM;
	is_int(MPI_Op_free(&op), MPI_ERR_OP, "nor what is predefined");
	MPI_Op_commutative(MPI_SUM, &commute);
	is_int(commute, 1, "a sum commutes");
	is_int(MPI_Op_create(NULL, 0, &op), MPI_ERR_ARG, "no function");
	is_int(MPI_Op_commutative(MPI_OP_NULL, &commute), MPI_ERR_OP,
	       "no operation");
	MPI_Type_dup(MPI_INT, &dup);
	is_int(MPI_Reduce_local(in, inout, 1, dup, MPI_SUM), MPI_ERR_OP,
	       "predefined operations take predefined types only");
	MPI_Type_free(&dup);
	is_int(MPI_Reduce_local(in, inout, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT,
	       "a negative count");
	is_int(MPI_Reduce_local(NULL, inout, 1, MPI_INT, MPI_SUM),
	       MPI_ERR_BUFFER, "no buffer");
}

int main(void)
{
	ranks_run(1, 1, table);
	ranks_run(1, 1, values);
	ranks_run(1, 1, pairs);
	ranks_run(1, 1, user);
	return done_testing();
}
