/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packing to and unpacking from external32, a portable representation.
 */
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "ranks.h"

#define X32 "external32"

/* Packs and compares with the bytes the standard defines (MPI 4.1, 14.5.2). */
static void is_packed(const void *value, int count, MPI_Datatype type,
		      const void *want, int bytes, const char *name)
{
	char packed[64], back[64];
	MPI_Aint at = 0, size = -1;
	int native = 0;

	MPI_Pack_external_size(X32, count, type, &size);
	is_int(size, bytes, "%s takes %d bytes", name, bytes);
	MPI_Pack_external(X32, value, count, type, packed, sizeof(packed), &at);
	is_int(at, bytes, "and the position moves so far");
	is_blob(packed, want, (size_t)bytes, "%s: the bytes", name);
	at = 0;
	memset(back, 0, sizeof(back));
	MPI_Unpack_external(X32, packed, bytes, &at, back, count, type);
	MPI_Type_size(type, &native);
	is_blob(back, value, (size_t)(count * native), "%s: and back", name);
}

static void numbers(int rank, int size)
{
	int32_t i = 0x01020304;
	int16_t s[2] = { 1, -2 };
	long l[2] = { 5, -6 };
	unsigned long u = 0xfedcba98u;
	double d = 1.0;
	float f[2] = { -2.0f, 0.5f };
	struct {
		double value;
		int index;
	} pair = { 1.0, 7 };
	wchar_t w = L'A';
	char c[3] = { 'a', 'b', 'c' };

	is_packed(&i, 1, MPI_INT, "\1\2\3\4", 4, "MPI_INT");
	is_packed(s, 2, MPI_SHORT, "\0\1\377\376", 4, "MPI_SHORT");
	is_packed(l, 2, MPI_LONG, "\0\0\0\5\377\377\377\372", 8, "MPI_LONG");
	is_packed(&u, 1, MPI_UNSIGNED_LONG, "\376\334\272\230", 4,
		  "MPI_UNSIGNED_LONG");
	is_packed(&d, 1, MPI_DOUBLE, "\77\360\0\0\0\0\0\0", 8, "MPI_DOUBLE");
	is_packed(f, 1, MPI_C_COMPLEX, "\300\0\0\0\77\0\0\0", 8,
		  "MPI_C_COMPLEX");
	is_packed(&pair, 1, MPI_DOUBLE_INT, "\77\360\0\0\0\0\0\0\0\0\0\7", 12,
		  "MPI_DOUBLE_INT");
	is_packed(&w, 1, MPI_WCHAR, "\0A", 2, "MPI_WCHAR");
	is_packed(c, 3, MPI_CHAR, "abc", 3, "MPI_CHAR");
}

/* A long double is a quadruple one there: of 1.5 and -2, in two bytes each. */
static void long_double(int rank, int size)
{
	long double in[2] = { 1.5L, -2.0L }, back[2] = { 0 };
	unsigned char packed[32];
	MPI_Aint at = 0;

	MPI_Pack_external(X32, in, 2, MPI_LONG_DOUBLE, packed, 32, &at);
	is_int(at, 32, "two of MPI_LONG_DOUBLE take 32 bytes");
	is_blob(packed, "\77\377\200\0\0", 5, "1.5 as a quadruple number");
	is_blob(packed + 16, "\300\0\0\0\0", 5, "-2 as one");
	at = 0;
	MPI_Unpack_external(X32, packed, 32, &at, back, 2, MPI_LONG_DOUBLE);
	ok(back[0] == in[0] && back[1] == in[1], "and back");
}

/* A structure with holes, a vector in it, and MPI_LONG, which is converted to
 * fewer bytes. */
static void derived(int rank, int size)
{
	struct item {
		char tag;
		long number;
		short grid[2][3];
	} items[2] = { { 'x', 258, { { 1, 2, 3 }, { 4, 5, 6 } } },
		       { 'y', -1, { { 7, 8, 9 }, { 10, 11, 12 } } } },
	  back[2];
	const char want[] = "x\0\0\1\2\0\1\0\4"
			    "y\377\377\377\377\0\7\0\n";
	MPI_Datatype column, type, types[3];
	MPI_Aint at[3] = { offsetof(struct item, tag),
			   offsetof(struct item, number),
			   offsetof(struct item, grid) };
	MPI_Aint position = 0, bytes = 0;
	int lengths[3] = { 1, 1, 1 };
	char packed[40];

	MPI_Type_vector(2, 1, 3, MPI_SHORT, &column);
	types[0] = MPI_CHAR;
	types[1] = MPI_LONG;
	types[2] = column;
	MPI_Type_create_struct(3, lengths, at, types, &column);
	MPI_Type_create_resized(column, 0, sizeof(struct item), &type);
	MPI_Type_commit(&type);
	MPI_Pack_external_size(X32, 2, type, &bytes);
	is_int(bytes, 18, "the size of two structures");
	MPI_Pack_external(X32, items, 2, type, packed, 40, &position);
	is_int(position, 18, "is what they take");
	is_blob(packed, want, 18, "in the order of the type map");
	memset(back, 0, sizeof(back));
	position = 0;
	MPI_Unpack_external(X32, packed, 18, &position, back, 2, type);
	ok(back[1].number == -1 && back[1].grid[1][0] == 10 &&
		   back[0].tag == 'x' && back[0].grid[0][1] == 0,
	   "and back, without the holes");
	MPI_Type_free(&types[2]);
	MPI_Type_free(&column);
	MPI_Type_free(&type);
}

static void pieces(int rank, int size)
{
	int in[3] = { 1, 2, 3 }, out[3] = { 0 };
	char packed[12];
	MPI_Aint at = 0;

	for (int i = 0; i < 3; i++)
		MPI_Pack_external(X32, &in[i], 1, MPI_INT, packed, 12, &at);
	is_int(at, 12, "piece by piece");
	at = 4;
	MPI_Unpack_external(X32, packed, 12, &at, &out[1], 2, MPI_INT);
	ok(out[0] == 0 && out[1] == 2 && out[2] == 3, "from the middle");
	is_int(MPI_Pack_external(X32, NULL, 0, MPI_INT, packed, 12, &at), 0,
	       "nothing");
	is_int(at, 12, "moves nothing");
}

static void errors(int rank, int size)
{
	long large = LONG_MAX;
	char packed[8];
	MPI_Aint at = 0, bytes;

	is_int(MPI_Pack_external("native", &large, 1, MPI_LONG, packed, 8, &at),
	       MPI_ERR_ARG, "another representation");
	is_int(MPI_Pack_external(X32, &large, 1, MPI_LONG, packed, 3, &at),
	       MPI_ERR_TRUNCATE, "a buffer that is too small");
	is_int(MPI_Pack_external(X32, &large, 1, MPI_LONG, packed, 8, &at),
	       MPI_ERR_CONVERSION, "a value that does not fit");
	is_int(at, 0, "leaves the position");
	is_int(MPI_Pack_external(X32, &large, -1, MPI_LONG, packed, 8, &at),
	       MPI_ERR_COUNT, "a negative count");
	is_int(MPI_Unpack_external(X32, packed, 8, &at, &large, 1,
				   MPI_DATATYPE_NULL),
	       MPI_ERR_TYPE, "MPI_DATATYPE_NULL");
	at = 9;
	is_int(MPI_Unpack_external(X32, packed, 8, &at, &large, 1, MPI_INT),
	       MPI_ERR_ARG, "a position behind the buffer");
	is_int(MPI_Pack_external_size(NULL, 1, MPI_INT, &bytes), MPI_ERR_ARG,
	       "no representation");
}

int main(void)
{
	ranks_run(1, 1, numbers);
	ranks_run(1, 1, long_double);
	ranks_run(1, 1, derived);
	ranks_run(1, 1, pieces);
	ranks_run(1, 1, errors);
	return done_testing();
}
