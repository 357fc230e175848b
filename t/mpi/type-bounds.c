/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bounds of datatypes, mostly examples of MPI 4.1, 5.1, and element counts of
 * received data.
 */
#include "ranks.h"

static void bounds(MPI_Datatype *type, long lb, long extent, long true_lb,
		   long true_extent, const char *what)
{
	MPI_Aint got[4];

	MPI_Type_get_extent(*type, &got[0], &got[1]);
	MPI_Type_get_true_extent(*type, &got[2], &got[3]);
	if (!ok(got[0] == lb && got[1] == extent && got[2] == true_lb &&
			got[3] == true_extent,
		"%s", what))
		diag("got %ld %ld %ld %ld", (long)got[0], (long)got[1],
		     (long)got[2], (long)got[3]);
	MPI_Type_free(type);
}

static void examples(int rank, int size)
{
	int lengths[] = { 1, 1 };
	MPI_Aint bytes[] = { 0, 8 };
	MPI_Datatype types[] = { MPI_DOUBLE, MPI_CHAR }, t, u, v;

	MPI_Type_create_struct(2, lengths, bytes, types, &t);
	MPI_Type_dup(t, &u);
	bounds(&t, 0, 16, 0, 9, "a structure is padded to its alignment");
	MPI_Type_contiguous(3, u, &t);
	bounds(&t, 0, 48, 0, 41, "its elements as well");
	MPI_Type_vector(2, 3, 4, u, &t);
	bounds(&t, 0, 112, 0, 105, "example 5.3: a vector of them");
	MPI_Type_vector(3, 1, -2, u, &t);
	bounds(&t, -64, 80, -64, 73, "a vector that goes down");
	MPI_Type_free(&u);
	MPI_Type_contiguous(0, MPI_DOUBLE, &t);
	bounds(&t, 0, 0, 0, 0, "nothing has no bounds");
	MPI_Type_create_resized(MPI_INT, -3, 9, &u);
	MPI_Type_dup(u, &t);
	bounds(&t, -3, 9, 0, 4, "bounds can be set");
	MPI_Type_contiguous(2, u, &t);
	bounds(&t, -3, 18, 0, 13, "example 5.7: and are those of the copies");
	types[0] = u;
	types[1] = MPI_DOUBLE;
	bytes[1] = 40;
	MPI_Type_create_struct(2, lengths, bytes, types, &t);
	bounds(&t, -3, 9, 0, 48, "set bounds win over all others");
	MPI_Type_create_resized(u, 0, 4, &v);
	MPI_Type_free(&u);
	bounds(&v, 0, 4, 0, 4, "and can be set again");
	MPI_Type_create_hvector(2, 1, 17, MPI_CHAR, &t);
	bounds(&t, 0, 18, 0, 18, "characters need no padding");
	MPI_Type_create_hvector(3, 4, 25, MPI_INT, &u);
	MPI_Type_create_hvector(2, 3, 4 * 68 + 1, u, &t);
	bounds(&u, 0, 68, 0, 66, "a vector at odd places is padded");
	bounds(&t, 0, 480, 0, 475, "and lies with its padding in others");
}

static void elements(int rank, int size)
{
	int lengths[] = { 1, 2 }, got, position;
	MPI_Aint bytes[] = { 0, 8 };
	MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE }, t, u;
	MPI_Status status;
	char buffer[200] = { 0 };
	/* Bytes received, and what they are of the type. */
	static const struct {
		int bytes, count, elements;
	} cases[] = { { 0, 0, 0 },
		      { 20, 1, 3 },
		      { 40, 2, 6 },
		      { 24, MPI_UNDEFINED, 4 },
		      { 32, MPI_UNDEFINED, 5 },
		      { 12, MPI_UNDEFINED, 2 },
		      { 22, MPI_UNDEFINED, MPI_UNDEFINED } };

	MPI_Type_create_struct(2, lengths, bytes, types, &t);
	MPI_Type_commit(&t);
	for (int i = 0; i < 7; i++) {
		MPI_Sendrecv(buffer, cases[i].bytes, MPI_BYTE, 0, 0,
			     buffer + 100, 100, MPI_BYTE, 0, 0, MPI_COMM_SELF,
			     &status);
		MPI_Get_count(&status, t, &got);
		is_int(got, cases[i].count, "%d bytes: whole ones",
		       cases[i].bytes);
		MPI_Get_elements(&status, t, &got);
		is_int(got, cases[i].elements, "and basic elements");
	}
	MPI_Type_contiguous(2, t, &u);
	MPI_Type_free(&t);
	MPI_Get_elements(&status, u, &got);
	is_int(got, MPI_UNDEFINED, "the same in a type made of it");
	MPI_Type_free(&u);
	MPI_Sendrecv(buffer, 24, MPI_BYTE, 0, 0, buffer + 100, 100, MPI_BYTE, 0,
		     0, MPI_COMM_SELF, &status);
	MPI_Get_elements(&status, MPI_DOUBLE_INT, &got);
	is_int(got, 4, "a pair is two elements");
	MPI_Sendrecv(buffer, 8, MPI_BYTE, 0, 0, buffer + 100, 100, MPI_BYTE, 0,
		     0, MPI_COMM_SELF, &status);
	MPI_Get_elements(&status, MPI_DOUBLE_INT, &got);
	is_int(got, 1, "half a pair is one");
	position = 0;
	lengths[0] = 7;
	MPI_Pack(lengths, 1, MPI_INT, buffer, 200, &position, MPI_COMM_SELF);
	MPI_Pack("ab", 2, MPI_CHAR, buffer, 200, &position, MPI_COMM_SELF);
	MPI_Sendrecv(buffer, position, MPI_PACKED, 0, 0, buffer + 100, 100,
		     MPI_PACKED, 0, 0, MPI_COMM_SELF, &status);
	position = 0;
	MPI_Unpack(buffer + 100, 100, &position, &got, 1, MPI_INT,
		   MPI_COMM_SELF);
	MPI_Unpack(buffer + 100, 100, &position, buffer, 2, MPI_CHAR,
		   MPI_COMM_SELF);
	ok(got == 7 && buffer[0] == 'a' && buffer[1] == 'b' && position == 6,
	   "packed data travels");
}

/* Absolute addresses, and messages between types. */
static void messages(int rank, int size)
{
	static double matrix[6][5], out[5][6];
	int lengths[] = { 1, 1 }, wrong = 0, a = 3, c = 0;
	double b = 4, d = 0;
	MPI_Aint bytes[2];
	MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE }, from, to, column, t;

	MPI_Get_address(&a, &bytes[0]);
	MPI_Get_address(&b, &bytes[1]);
	MPI_Type_create_struct(2, lengths, bytes, types, &from);
	MPI_Get_address(&c, &bytes[0]);
	MPI_Get_address(&d, &bytes[1]);
	MPI_Type_create_struct(2, lengths, bytes, types, &to);
	MPI_Type_commit(&from);
	MPI_Type_commit(&to);
	MPI_Sendrecv(MPI_BOTTOM, 1, from, 0, 0, MPI_BOTTOM, 1, to, 0, 0,
		     MPI_COMM_SELF, MPI_STATUS_IGNORE);
	ok(c == 3 && d == 4, "types with addresses go with MPI_BOTTOM");
	MPI_Type_free(&from);
	MPI_Type_free(&to);
	for (int i = 0; i < 30; i++)
		matrix[i / 5][i % 5] = i;
	MPI_Type_vector(6, 1, 5, MPI_DOUBLE, &t);
	MPI_Type_create_resized(t, 0, sizeof(double), &column);
	MPI_Type_free(&t);
	MPI_Type_commit(&column);
	MPI_Sendrecv(matrix, 5, column, 0, 0, out, 30, MPI_DOUBLE, 0, 0,
		     MPI_COMM_SELF, MPI_STATUS_IGNORE);
	for (int i = 0; i < 30; i++)
		wrong += out[i % 5][i / 5] != i;
	is_int(wrong, 0, "example 5.15: a matrix is transposed");
	MPI_Type_free(&column);
}

int main(void)
{
	ranks_run(1, 1, examples);
	ranks_run(1, 1, elements);
	ranks_run(1, 1, messages);
	return done_testing();
}
