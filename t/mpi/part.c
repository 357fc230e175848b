/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned communication: partitions that differ on both sides, their order,
 * rounds, derived types, threads, errors.
 */
#include <pthread.h>

#include "mtap.h"

enum { TOTAL = 720 }; /* elements: a multiple of all numbers of partitions */

static int next, before;
static long out[TOTAL], in[TOTAL];

static void fill(int round)
{
	for (int i = 0; i < TOTAL; i++)
		out[i] = rank * 1000000L + round * 1000 + i;
	memset(in, 0xff, sizeof(in));
}

static bool came(int first, int count, int round)
{
	for (int i = first; i < first + count; i++)
		if (in[i] != before * 1000000L + round * 1000 + i)
			return false;
	return true;
}

static void await_partition(MPI_Request request, int partition)
{
	int flag = 0;

	while (!flag)
		MPI_Parrived(request, partition, &flag);
}

static void some(int sends, int recvs, int rounds)
{
	MPI_Request request[2];
	bool held = true;

	MPI_Psend_init(out, sends, TOTAL / sends, MPI_LONG, next, 1,
		       MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
	MPI_Precv_init(in, recvs, TOTAL / recvs, MPI_LONG, before, 1,
		       MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
	for (int round = 0; round < rounds; round++) {
		fill(round);
		MPI_Startall(2, request);
		for (int i = sends; i-- > 0;)
			MPI_Pready(i, request[0]);
		for (int i = 0; i < recvs; i++) {
			int n = TOTAL / recvs;

			await_partition(request[1], i);
			held = came(i * n, n, round) && held;
		}
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
		everybody();
	}
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	all_ok(held, "%d partitions arrive as %d, in each of %d rounds", sends,
	       recvs, rounds);
}

/* The first third is ready, and no more. */
static void partly(void)
{
	MPI_Request request[2];
	MPI_Status status;
	int flag = 1, early = 0, count = 0;

	fill(0);
	MPI_Precv_init(in, 6, TOTAL / 6, MPI_LONG, before, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &request[1]);
	MPI_Start(&request[1]);
	MPI_Parrived(request[1], 0, &early);
	everybody();
	MPI_Psend_init(out, 3, TOTAL / 3, MPI_LONG, next, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &request[0]);
	MPI_Start(&request[0]);
	MPI_Pready(0, request[0]);
	await_partition(request[1], 1);
	all_ok(!early && came(0, TOTAL / 3, 0),
	       "a partition arrives when those that contain it are ready");
	for (int i = 2; i < 6; i++) {
		int one;

		MPI_Parrived(request[1], i, &one);
		early = early || one;
	}
	MPI_Test(&request[1], &flag, MPI_STATUS_IGNORE);
	all_ok(!early && !flag, "and no other one does");
	everybody();
	MPI_Pready_range(1, 2, request[0]);
	MPI_Wait(&request[1], &status);
	MPI_Get_count(&status, MPI_LONG, &count);
	all_ok(came(0, TOTAL, 0) && count == TOTAL &&
		       status.MPI_SOURCE == before && status.MPI_TAG == 1,
	       "the status of all is that of one message");
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	MPI_Parrived(request[1], 5, &flag);
	all_ok(flag, "what is not active has arrived");
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
}

/* Every other element on one side, pieces of elements on the other. */
static void types(void)
{
	static char raw[TOTAL * sizeof(long)];
	static struct {
		long a;
		int unused;
		short b;
	} pairs[TOTAL];
	MPI_Datatype pair, whole;
	MPI_Request request[2];
	int bytes = TOTAL * 8, lengths[] = { 1, 1 };
	MPI_Aint places[] = { 0, 12 };
	MPI_Datatype parts[] = { MPI_LONG, MPI_SHORT };
	bool held = true;

	MPI_Type_create_struct(2, lengths, places, parts, &pair);
	MPI_Type_create_resized(pair, 0, sizeof(pairs[0]), &whole);
	MPI_Type_commit(&whole);
	/* 576 pairs of 10 bytes are 5760 bytes, in 9 pieces of 640 and in 128
	 * of 45, which end within a pair. */
	for (int pieces = 9; pieces <= 128; pieces += 119) {
		for (int i = 0; i < bytes; i++)
			raw[i] = (char)(i * 7 + rank);
		memset(pairs, 0, sizeof(pairs));
		MPI_Psend_init(raw, pieces, bytes / pieces, MPI_BYTE, next, 1,
			       MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
		MPI_Precv_init(pairs, 4, 144, whole, before, 1, MPI_COMM_WORLD,
			       MPI_INFO_NULL, &request[1]);
		MPI_Startall(2, request);
		MPI_Pready_range(0, pieces - 1, request[0]);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
		for (int i = 0; i < 576; i++)
			for (int b = 0; b < 10; b++) {
				const char *at = (const char *)&pairs[i] + b;
				char want = (char)((i * 10 + b) * 7 + before);

				held = held && at[b < 8 ? 0 : 4] == want &&
				       pairs[i].unused == 0;
			}
		MPI_Request_free(&request[0]);
		MPI_Request_free(&request[1]);
	}
	all_ok(held, "partitions end within elements of a derived type");
	MPI_Psend_init(pairs, 4, 144, whole, next, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &request[0]);
	MPI_Precv_init(raw, 1, bytes, MPI_BYTE, before, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &request[1]);
	MPI_Type_free(&pair);
	MPI_Type_free(&whole);
	MPI_Startall(2, request);
	MPI_Pready_list(4, (int[]){ 2, 0, 3, 1 }, request[0]);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	held = true;
	for (int i = 0; i < bytes; i++)
		held = held &&
		       raw[i] == (char)(i * 7 + (before + size - 1) % size);
	all_ok(held, "a derived type is sent in partitions, and may be freed");
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
}

/* Requests match in the order in which they are made, by tag. */
static void matching(void)
{
	MPI_Request sends[3], recvs[3];
	int a = 10, b = 20, c = 30, x = 0, y = 0, z = 0;

	MPI_Psend_init(&a, 1, 1, MPI_INT, next, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &sends[0]);
	MPI_Psend_init(&b, 1, 1, MPI_INT, next, 2, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &sends[1]);
	MPI_Psend_init_c(&c, 1, 1, MPI_INT, next, 1, MPI_COMM_WORLD,
			 MPI_INFO_NULL, &sends[2]);
	MPI_Startall(3, sends);
	for (int i = 2; i >= 0; i--)
		MPI_Pready(0, sends[i]);
	MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
	everybody();
	MPI_Precv_init(&y, 1, 1, MPI_INT, before, 2, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &recvs[0]);
	MPI_Precv_init(&x, 1, 1, MPI_INT, before, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &recvs[1]);
	MPI_Precv_init_c(&z, 1, 1, MPI_INT, before, 1, MPI_COMM_WORLD,
			 MPI_INFO_NULL, &recvs[2]);
	MPI_Startall(3, recvs);
	MPI_Waitall(3, recvs, MPI_STATUSES_IGNORE);
	all_ok(x == 10 && y == 20 && z == 30,
	       "requests match by tag in the order in which they are made");
	for (int i = 0; i < 3; i++) {
		MPI_Request_free(&sends[i]);
		MPI_Request_free(&recvs[i]);
	}
}

struct share {
	MPI_Request request;
	int first, last;
};

static void *make_ready(void *arg)
{
	const struct share *share = arg;

	for (int i = share->first; i < share->last; i++)
		MPI_Pready(i, share->request);
	return NULL;
}

static void threads(void)
{
	enum { THREADS = 3, EACH = 80 };
	MPI_Request request[2];
	pthread_t thread[THREADS];
	struct share shares[THREADS];
	bool held = true;

	MPI_Psend_init(out, THREADS * EACH, TOTAL / (THREADS * EACH), MPI_LONG,
		       next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
	MPI_Precv_init(in, 1, TOTAL, MPI_LONG, before, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &request[1]);
	for (int round = 0; round < 5; round++) {
		fill(round);
		MPI_Startall(2, request);
		for (int i = 0; i < THREADS; i++) {
			shares[i] = (struct share){ request[0], i * EACH,
						    (i + 1) * EACH };
			pthread_create(&thread[i], NULL, make_ready,
				       &shares[i]);
		}
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
		for (int i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		held = came(0, TOTAL, round) && held;
	}
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	all_ok(held, "threads make partitions ready at the same time");
}

static void large(void)
{
	enum { COUNT = 400000, PARTS = 4 };
	static int from[COUNT], to[COUNT];
	MPI_Request request[2];
	bool held = true;

	MPI_Precv_init(to, 2, COUNT / 2, MPI_INT, before, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &request[0]);
	MPI_Psend_init(from, PARTS, COUNT / PARTS, MPI_INT, next, 1,
		       MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < COUNT; i++)
			from[i] = rank + round + i;
		MPI_Startall(2, request);
		for (int i = 0; i < PARTS; i++)
			MPI_Pready(i, request[1]);
		MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
		for (int i = 0; i < COUNT; i++)
			held = held && to[i] == before + round + i;
		everybody();
	}
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	all_ok(held, "long partitions arrive");
}

/* The count is an MPI_Count, which programs that wrap the calls rely on. */
static int (*const send_init)(const void *, int, MPI_Count, MPI_Datatype, int,
			      int, MPI_Comm, MPI_Info,
			      MPI_Request *) = MPI_Psend_init;
static int (*const recv_init)(void *, int, MPI_Count, MPI_Datatype, int, int,
			      MPI_Comm, MPI_Info,
			      MPI_Request *) = MPI_Precv_init;

static void many(void)
{
	MPI_Count count = ((MPI_Count)1 << 32) - 1;
	MPI_Request request[2];
	MPI_Datatype none;

	MPI_Type_contiguous(0, MPI_BYTE, &none);
	MPI_Type_commit(&none);
	all_class(send_init(out, 2, count, none, next, 1, MPI_COMM_WORLD,
			    MPI_INFO_NULL, &request[0]),
		  MPI_SUCCESS, "a partition to send has 2^32 - 1 elements");
	all_class(recv_init(in, 1, count, none, before, 1, MPI_COMM_WORLD,
			    MPI_INFO_NULL, &request[1]),
		  MPI_SUCCESS, "and so has one to receive");
	MPI_Startall(2, request);
	MPI_Pready_range(0, 1, request[0]);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	MPI_Type_free(&none);
}

static void nothing(void)
{
	MPI_Request request[4];
	int flag = 0;

	MPI_Psend_init(out, 2, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &request[0]);
	MPI_Precv_init(in, 2, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &request[1]);
	MPI_Psend_init(NULL, 0, 1, MPI_INT, next, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &request[2]);
	MPI_Precv_init(NULL, 3, 0, MPI_INT, before, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &request[3]);
	MPI_Startall(4, request);
	MPI_Pready_range(0, 1, request[0]);
	MPI_Parrived(request[1], 1, &flag);
	MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
	all_ok(flag, "no partitions, no elements and MPI_PROC_NULL complete");
	for (int i = 0; i < 4; i++)
		MPI_Request_free(&request[i]);
	/* Nobody sends this. */
	MPI_Precv_init(in, 2, 1, MPI_INT, before, 77, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &request[0]);
	MPI_Request_free(&request[0]);
	all_ok(request[0] == MPI_REQUEST_NULL,
	       "what was never started can be freed");
}

static void across(void)
{
	MPI_Comm half, inter;
	MPI_Request request[2];
	int color = rank % 2, to = rank / 2, got = -1;

	if (size % 2)
		return;
	MPI_Comm_split(MPI_COMM_WORLD, color, rank, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !color, 3, &inter);
	MPI_Precv_init(&got, 1, 1, MPI_INT, to, 1, inter, MPI_INFO_NULL,
		       &request[0]);
	MPI_Psend_init(&rank, 1, 1, MPI_INT, to, 1, inter, MPI_INFO_NULL,
		       &request[1]);
	MPI_Startall(2, request);
	MPI_Pready(0, request[1]);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	all_ok(got == (color ? rank - 1 : rank + 1),
	       "the two sides of an intercommunicator send each other");
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&half);
}

/* Half of what there is room for. */
static void less(int sends, int recvs)
{
	MPI_Request request[2];
	MPI_Status status;
	bool held = true;
	int count = 0, flag = 0;

	MPI_Psend_init(out, sends, TOTAL / 2 / sends, MPI_LONG, next, 1,
		       MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]);
	MPI_Precv_init(in, recvs, TOTAL / recvs, MPI_LONG, before, 1,
		       MPI_COMM_WORLD, MPI_INFO_NULL, &request[1]);
	for (int round = 0; round < 2; round++) {
		fill(round);
		MPI_Startall(2, request);
		if (sends > 1)
			MPI_Pready_range(1, sends - 1, request[0]);
		everybody();
		MPI_Parrived(request[1], 0, &flag);
		held = held && !flag;
		everybody();
		MPI_Pready(0, request[0]);
		for (int i = 0; i < recvs; i++)
			await_partition(request[1], i);
		MPI_Wait(&request[1], &status);
		MPI_Get_count(&status, MPI_LONG, &count);
		held = held && came(0, TOTAL / 2, round) &&
		       count == TOTAL / 2 && in[TOTAL / 2] == -1;
		MPI_Wait(&request[0], MPI_STATUS_IGNORE);
		everybody();
	}
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	all_ok(held, "%d partitions fill half of %d, and the status says it",
	       sends, recvs);
}

static void too_much(void)
{
	MPI_Request request[2];
	int rc;

	MPI_Psend_init(out, 2, 1, MPI_LONG, next, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &request[0]);
	MPI_Precv_init(in, 1, 1, MPI_LONG, before, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &request[1]);
	MPI_Start(&request[0]);
	rc = MPI_Start(&request[1]);
	if (rc == MPI_SUCCESS)
		rc = MPI_Wait(&request[1], MPI_STATUS_IGNORE);
	all_class(rc, MPI_ERR_TRUNCATE,
		  "more than there is room for is an error");
	all_class(MPI_Start(&request[1]), MPI_ERR_TRUNCATE, "each time");
	MPI_Request_free(&request[1]);
	MPI_Pready_range(0, 1, request[0]);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	MPI_Request_free(&request[0]);
}

static void errors(void)
{
	MPI_Request send, recv, plain;
	int flag;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	too_much();
	all_class(MPI_Precv_init(in, 1, 1, MPI_LONG, MPI_ANY_SOURCE, 1,
				 MPI_COMM_WORLD, MPI_INFO_NULL, &recv),
		  MPI_ERR_RANK, "there is no receive from any source");
	all_class(MPI_Precv_init(in, 1, 1, MPI_LONG, before, MPI_ANY_TAG,
				 MPI_COMM_WORLD, MPI_INFO_NULL, &recv),
		  MPI_ERR_TAG, "or with any tag");
	all_class(MPI_Psend_init(out, -1, 1, MPI_LONG, next, 1, MPI_COMM_WORLD,
				 MPI_INFO_NULL, &send),
		  MPI_ERR_ARG, "the number of partitions is not negative");
	MPI_Psend_init(out, 2, 1, MPI_LONG, next, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &send);
	MPI_Precv_init(in, 1, 2, MPI_LONG, before, 1, MPI_COMM_WORLD,
		       MPI_INFO_NULL, &recv);
	MPI_Send_init(out, 1, MPI_LONG, next, 1, MPI_COMM_WORLD, &plain);
	all_class(MPI_Pready(0, send), MPI_ERR_REQUEST,
		  "a request that is not started has nothing ready");
	MPI_Start(&recv);
	MPI_Start(&send);
	all_class(MPI_Pready(2, send), MPI_ERR_ARG,
		  "partitions are counted from 0");
	all_class(MPI_Pready(0, recv), MPI_ERR_REQUEST,
		  "a receive makes nothing ready");
	all_class(MPI_Pready(0, plain), MPI_ERR_REQUEST,
		  "nor does a request without partitions");
	all_class(MPI_Parrived(send, 0, &flag), MPI_ERR_REQUEST,
		  "in a send nothing arrives");
	all_class(MPI_Parrived(recv, 1, &flag), MPI_ERR_ARG,
		  "a partition has a number");
	all_class(MPI_Pready_range(1, 0, send), MPI_ERR_ARG,
		  "a range is not empty");
	all_class(MPI_Pready_list(2, (int[]){ 0, 9 }, send), MPI_ERR_ARG,
		  "a list with a wrong partition makes none ready");
	all_class(MPI_Pready(0, send), MPI_SUCCESS, "not the right one either");
	all_class(MPI_Pready(0, send), MPI_ERR_ARG,
		  "a partition is ready once");
	MPI_Pready(1, send);
	MPI_Wait(&send, MPI_STATUS_IGNORE);
	MPI_Wait(&recv, MPI_STATUS_IGNORE);
	MPI_Request_free(&send);
	MPI_Request_free(&recv);
	MPI_Request_free(&plain);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	next = (rank + 1) % size;
	before = (rank + size - 1) % size;
	some(1, 1, 3);
	some(12, 12, 3);
	some(1, 72, 3);
	some(72, 1, 3);
	some(9, 16, 3);
	some(16, 9, 20);
	less(1, 1);
	less(1, 4);
	less(3, 8);
	less(12, 5);
	partly();
	types();
	matching();
	threads();
	large();
	many();
	nothing();
	across();
	errors();
	return mtap_end();
}
