/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of all sizes, including empty and truncated ones.
 */
#include "mtap.h"

#define MOST (1 << 20)

static unsigned char out[MOST], in[MOST + 1];

static void fill(int bytes, int seed)
{
	for (int i = 0; i < bytes; i++)
		out[i] = (unsigned char)(i * 7 + seed + bytes);
}

/* Tells whether in[] holds what a rank filled, and nothing behind it was
 * touched. */
static bool came(int bytes, int seed)
{
	for (int i = 0; i < bytes; i++)
		if (in[i] != (unsigned char)(i * 7 + seed + bytes))
			return false;
	return in[bytes] == 0xee;
}

static bool exchange(int bytes, bool receive_first)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	MPI_Request request[2];
	MPI_Status statuses[2];
	int count;

	fill(bytes, rank);
	memset(in, 0xee, (size_t)bytes + 1);
	if (receive_first)
		MPI_Irecv(in, bytes, MPI_BYTE, before, 1, MPI_COMM_WORLD,
			  &request[0]);
	everybody();
	MPI_Isend(out, bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD, &request[1]);
	if (!receive_first) {
		everybody();
		MPI_Irecv(in, bytes, MPI_BYTE, before, 1, MPI_COMM_WORLD,
			  &request[0]);
	}
	MPI_Waitall(2, request, statuses);
	MPI_Get_count(&statuses[0], MPI_BYTE, &count);
	return count == bytes && statuses[0].MPI_SOURCE == before &&
	       statuses[0].MPI_TAG == 1 && came(bytes, before);
}

static void all_sizes(void)
{
	static const int some[] = { 127,   128,	  129,	 255,	  256,	 257,
				    2047,  2048,  2049,	 16383,	  16384, 16385,
				    65535, 65536, 65537, 1000000, MOST };
	bool early = true, late = true;

	for (int bytes = 0; bytes <= 96; bytes++) {
		early = early && exchange(bytes, true);
		late = late && exchange(bytes, false);
	}
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		early = early && exchange(some[i], true);
		late = late && exchange(some[i], false);
	}
	all_ok(early, "messages of all sizes come into posted receives");
	all_ok(late, "messages of all sizes come before their receives");
}

static void empty(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	MPI_Request request;
	MPI_Status status;
	int count = -1;

	MPI_Isend(NULL, 0, MPI_DOUBLE, next, 2, MPI_COMM_WORLD, &request);
	MPI_Recv(NULL, 0, MPI_DOUBLE, before, 2, MPI_COMM_WORLD, &status);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Get_count(&status, MPI_DOUBLE, &count);
	all_ok(count == 0 && status.MPI_SOURCE == before && status.MPI_TAG == 2,
	       "an empty message needs no buffer");
}

/* Shorter messages than the buffer; counts in other types. */
static void counts(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	double values[10] = { 1, 2, 3 }, got[10] = { 0 };
	int chars = 0, doubles = 0, wrong = 0, elements = 0;
	MPI_Request request;
	MPI_Status status;

	MPI_Isend(values, 3, MPI_DOUBLE, next, 3, MPI_COMM_WORLD, &request);
	MPI_Recv(got, 10, MPI_DOUBLE, before, 3, MPI_COMM_WORLD, &status);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Get_count(&status, MPI_DOUBLE, &doubles);
	MPI_Get_count(&status, MPI_CHAR, &chars);
	MPI_Get_count(&status, MPI_LONG_DOUBLE, &wrong);
	MPI_Get_elements(&status, MPI_DOUBLE, &elements);
	all_ok(doubles == 3 && chars == 24 && elements == 3 && got[2] == 3,
	       "the status counts what came, not what was asked for");
	all_ok(wrong == MPI_UNDEFINED,
	       "bytes that are no whole elements are MPI_UNDEFINED");
}

/* Too long for the receive: posted before and after the arrival. */
static void truncation(int bytes, bool receive_first)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	MPI_Request request, receive = MPI_REQUEST_NULL;
	int rc, class = -1, half = bytes / 2;
	MPI_Status status;

	fill(bytes, rank);
	memset(in, 0xee, (size_t)bytes);
	if (receive_first)
		MPI_Irecv(in, half, MPI_BYTE, before, 4, MPI_COMM_WORLD,
			  &receive);
	everybody();
	MPI_Isend(out, bytes, MPI_BYTE, next, 4, MPI_COMM_WORLD, &request);
	everybody();
	if (receive_first)
		rc = MPI_Wait(&receive, &status);
	else
		rc = MPI_Recv(in, half, MPI_BYTE, before, 4, MPI_COMM_WORLD,
			      &status);
	MPI_Error_class(rc, &class);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	all_ok(class == MPI_ERR_TRUNCATE && in[half] == 0xee,
	       "%d bytes into %d are MPI_ERR_TRUNCATE and write no more "
	       "(receive %s)",
	       bytes, half, receive_first ? "posted" : "late");
}

static void after_truncation(void)
{
	int next = (rank + 1) % size, before = (rank + size - 1) % size;
	int sent = rank, got = -1;

	MPI_Sendrecv(&sent, 1, MPI_INT, next, 5, &got, 1, MPI_INT, before, 5,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	all_ok(got == before, "messages after a truncated one arrive");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	all_sizes();
	empty();
	counts();
	truncation(8, true);
	truncation(8, false);
	truncation(1000, true);
	truncation(1000, false);
	truncation(200000, true);
	truncation(200000, false);
	after_truncation();
	return mtap_end();
}
