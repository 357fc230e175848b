/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statuses filled in by the program, and element counts of partially received
 * types.
 */
#include <string.h>

#include "ranks.h"

static void fields(void)
{
	MPI_Status status;
	int source, tag, error, flag, n;
	MPI_Count many;

	memset(&status, 0, sizeof(status));
	MPI_Status_set_source(&status, 5);
	MPI_Status_set_tag(&status, 6);
	MPI_Status_set_error(&status, MPI_ERR_RANK);
	MPI_Status_get_source(&status, &source);
	MPI_Status_get_tag(&status, &tag);
	MPI_Status_get_error(&status, &error);
	ok(source == 5 && tag == 6 && error == MPI_ERR_RANK,
	   "the fields are what was set");
	ok(status.MPI_SOURCE == 5 && status.MPI_TAG == 6 &&
		   status.MPI_ERROR == MPI_ERR_RANK,
	   "they are the public ones");
	MPI_Status_set_cancelled(&status, 1);
	MPI_Test_cancelled(&status, &flag);
	ok(flag, "it can be marked as cancelled");
	MPI_Status_set_cancelled(&status, 0);
	MPI_Test_cancelled(&status, &flag);
	ok(!flag, "and not");
	MPI_Status_set_elements(&status, MPI_DOUBLE, 7);
	MPI_Get_count(&status, MPI_DOUBLE, &n);
	is_int(n, 7, "the count is what was set");
	MPI_Get_count(&status, MPI_INT, &n);
	is_int(n, 14, "in other elements it is another one");
	MPI_Status_set_elements_x(&status, MPI_CHAR, (MPI_Count)1 << 40);
	MPI_Get_elements_x(&status, MPI_CHAR, &many);
	ok(many == (MPI_Count)1 << 40, "large counts too");
	MPI_Get_count(&status, MPI_CHAR, &n);
	is_int(n, MPI_UNDEFINED, "which an int cannot hold");
	MPI_Test_cancelled(&status, &flag);
	ok(!flag, "the mark is kept apart from the count");
}

/* Sends `sent` ints to a receive of 4 elements of the type: count, elements. */
static void arrives(MPI_Datatype *type, int sent, int count, int elements,
		    const char *what)
{
	int from[64] = { 0 }, into[256], got = -1, parts = -1;
	MPI_Status status;

	MPI_Type_commit(type);
	MPI_Send(from, sent, MPI_INT, 0, 0, MPI_COMM_SELF);
	MPI_Recv(into, 4, *type, 0, 0, MPI_COMM_SELF, &status);
	MPI_Get_count(&status, *type, &got);
	MPI_Get_elements(&status, *type, &parts);
	ok(got == count && parts == elements, "%s: %d ints are %d of %d", what,
	   sent, parts, got);
}

static void elements(void)
{
	int lengths[2] = { 2, 1 }, places[2] = { 0, 3 }, sizes[2] = { 4, 4 };
	int subs[2] = { 2, 3 }, starts[2] = { 1, 0 };
	MPI_Aint offsets[2] = { 0, 16 };
	MPI_Datatype types[2] = { MPI_INT, MPI_INT }, type;

	MPI_Type_vector(3, 2, 4, MPI_INT, &type);
	arrives(&type, 12, 2, 12, "vector");
	arrives(&type, 7, MPI_UNDEFINED, 7, "part of a vector");
	MPI_Type_free(&type);
	MPI_Type_create_hvector(3, 1, 8, MPI_INT, &type);
	arrives(&type, 4, MPI_UNDEFINED, 4, "part of an hvector");
	MPI_Type_free(&type);
	MPI_Type_indexed(2, lengths, places, MPI_INT, &type);
	arrives(&type, 4, MPI_UNDEFINED, 4, "part of an indexed type");
	MPI_Type_free(&type);
	MPI_Type_create_hindexed(2, lengths, offsets, MPI_INT, &type);
	arrives(&type, 5, MPI_UNDEFINED, 5, "part of an hindexed type");
	MPI_Type_free(&type);
	MPI_Type_create_indexed_block(2, 2, places, MPI_INT, &type);
	arrives(&type, 7, MPI_UNDEFINED, 7, "part of blocks");
	MPI_Type_free(&type);
	MPI_Type_create_struct(2, lengths, offsets, types, &type);
	arrives(&type, 4, MPI_UNDEFINED, 4, "part of a struct");
	MPI_Type_free(&type);
	MPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_C, MPI_INT,
				 &type);
	arrives(&type, 8, MPI_UNDEFINED, 8, "part of a subarray");
	MPI_Type_free(&type);
	MPI_Type_contiguous(0, MPI_INT, &type);
	arrives(&type, 0, 0, 0, "nothing of no bytes");
	MPI_Type_free(&type);
}

/* A status with so many predefined elements of the type. */
static void is_set(MPI_Datatype type, int elements, int count, int bytes,
		   const char *what)
{
	int got = -1, parts = -1, octets = -1;
	MPI_Count many = -1;
	MPI_Status status;

	MPI_Status_set_elements(&status, type, elements);
	MPI_Get_count(&status, type, &got);
	MPI_Get_elements(&status, type, &parts);
	MPI_Get_count(&status, MPI_BYTE, &octets);
	ok(got == count && parts == elements && octets == bytes,
	   "%s: %d elements are set", what, elements);
	MPI_Status_set_elements_x(&status, type, elements);
	MPI_Get_elements_x(&status, type, &many);
	MPI_Get_count(&status, MPI_BYTE, &octets);
	ok(many == elements && octets == bytes, "with MPI_Count, too");
}

static void set(void)
{
	int lengths[2] = { 2, 1 };
	MPI_Aint offsets[2] = { 0, 16 };
	MPI_Datatype types[2] = { MPI_SHORT, MPI_DOUBLE }, type, three;

	MPI_Type_create_struct(2, lengths, offsets, types, &type);
	is_set(type, 0, 0, 0, "a struct");
	is_set(type, 1, MPI_UNDEFINED, 2, "a struct");
	is_set(type, 3, 1, 12, "a struct");
	is_set(type, 5, MPI_UNDEFINED, 16, "a struct");
	MPI_Type_contiguous(3, type, &three);
	is_set(three, 8, MPI_UNDEFINED, 28, "three of them");
	is_set(three, 18, 2, 72, "three of them");
	is_set(MPI_DOUBLE_INT, 3, MPI_UNDEFINED, 20, "a pair");
	MPI_Type_free(&three);
	MPI_Type_free(&type);
}

static void body(int rank, int size)
{
	if (rank >= size)
		return;
	fields();
	elements();
	set();
}

int main(void)
{
	ranks_run(1, 1, body);
	return done_testing();
}
