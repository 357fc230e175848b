/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unusual data layouts between up to 72 ranks: negative strides and extents,
 * bytes that are sent more than once, no bytes at all, in messages of every
 * mode and in collectives.
 */
#include "mtap.h"

#define N 12
#define LONG 3000 /* ints: too long to be copied on the way */

static int next, before;

/* N ints from the last to the first. */
static MPI_Datatype backwards(int n)
{
	MPI_Datatype type;

	MPI_Type_vector(n, 1, -1, MPI_INT, &type);
	MPI_Type_commit(&type);
	return type;
}

static void ring(const void *out, int out_count, MPI_Datatype out_type,
		 void *in, int in_count, MPI_Datatype in_type)
{
	MPI_Sendrecv(out, out_count, out_type, next, 3, in, in_count, in_type,
		     before, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void reversed(int n)
{
	MPI_Datatype back = backwards(n);
	int *out = malloc((size_t)n * sizeof(*out));
	int *in = malloc((size_t)n * sizeof(*in));
	bool sent = true, received = true, twice = true;

	for (int i = 0; i < n; i++)
		out[i] = rank * n + i;
	ring(out + n - 1, 1, back, in, n, MPI_INT);
	for (int i = 0; i < n; i++)
		sent = sent && in[i] == before * n + n - 1 - i;
	ring(out, n, MPI_INT, in + n - 1, 1, back);
	for (int i = 0; i < n; i++)
		received = received && in[i] == before * n + n - 1 - i;
	ring(out + n - 1, 1, back, in + n - 1, 1, back);
	for (int i = 0; i < n; i++)
		twice = twice && in[i] == before * n + i;
	all_ok(sent, "a negative stride in a send of %d", n);
	all_ok(received, "a negative stride in a receive of %d", n);
	all_ok(twice, "a negative stride in both of %d", n);
	MPI_Type_free(&back);
	free(out);
	free(in);
}

/* Elements that lie one before the other. */
static void negative_extent(void)
{
	int out[N], in[N];
	MPI_Datatype type;
	bool held = true;

	MPI_Type_create_resized(MPI_INT, 0, -(MPI_Aint)sizeof(int), &type);
	MPI_Type_commit(&type);
	for (int i = 0; i < N; i++)
		out[i] = rank + i;
	ring(out + N - 1, N, type, in, N, MPI_INT);
	for (int i = 0; i < N; i++)
		held = held && in[i] == before + N - 1 - i;
	all_ok(held, "a negative extent");
	MPI_Type_free(&type);
}

/* A send buffer may overlap (MPI 4.1, 5.1): the same ints several times. */
static void overlapping(void)
{
	int out[4] = { rank, rank + 1, rank + 2, rank + 3 }, in[N];
	int lengths[4] = { 3, 3, 3, 3 }, places[4] = { 0, 1, 0, 1 };
	MPI_Datatype windows, same;
	bool held = true;

	MPI_Type_indexed(4, lengths, places, MPI_INT, &windows);
	MPI_Type_commit(&windows);
	ring(out, 1, windows, in, N, MPI_INT);
	for (int i = 0; i < N; i++)
		held = held && in[i] == before + i % 3 + places[i / 3];
	all_ok(held, "a send whose blocks overlap");
	MPI_Type_create_resized(MPI_INT, 0, 0, &same);
	MPI_Type_commit(&same);
	ring(out + 1, N, same, in, N, MPI_INT);
	held = true;
	for (int i = 0; i < N; i++)
		held = held && in[i] == before + 1;
	all_ok(held, "a send whose elements are all the same one");
	MPI_Bcast(rank == 0 ? out + 2 : in, N, rank == 0 ? same : MPI_INT, 0,
		  MPI_COMM_WORLD);
	held = true;
	for (int i = 0; i < N; i++)
		held = held && (rank == 0 || in[i] == 2);
	all_ok(held, "a broadcast of the same one");
	MPI_Type_free(&windows);
	MPI_Type_free(&same);
}

static void collectives(void)
{
	MPI_Datatype back = backwards(N);
	int mine[N], *all = malloc((size_t)size * N * sizeof(*all));
	MPI_Datatype spread;
	bool held = true;

	for (int i = 0; i < N; i++)
		mine[i] = rank * N + i;
	MPI_Allgather(mine + N - 1, 1, back, all, N, MPI_INT, MPI_COMM_WORLD);
	for (int i = 0; i < size * N; i++)
		held = held && all[i] == i / N * N + N - 1 - i % N;
	all_ok(held, "an allgather with a negative stride");
	/* Blocks that the receiver puts from the last to the first. */
	MPI_Type_create_resized(back, 0, -(MPI_Aint)(N * sizeof(int)), &spread);
	MPI_Type_commit(&spread);
	MPI_Allgather(mine, N, MPI_INT, all + size * N - 1, 1, spread,
		      MPI_COMM_WORLD);
	held = true;
	for (int i = 0; i < size * N; i++)
		held = held && all[i] == size * N - 1 - i;
	all_ok(held, "an allgather with a negative extent");
	memset(all, 0, (size_t)size * N * sizeof(*all));
	memcpy(all + rank * N, mine, sizeof(mine));
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, N, MPI_INT,
		      MPI_COMM_WORLD);
	held = true;
	for (int i = 0; i < size * N; i++)
		held = held && all[i] == i;
	all_ok(held, "an allgather in place");
	MPI_Type_free(&back);
	MPI_Type_free(&spread);
	free(all);
}

/* Nothing is sent, and it arrives, in order. */
static void nothing(void)
{
	MPI_Datatype none;
	MPI_Status status;
	int x = 1, n = -1;
	bool held = true;

	MPI_Type_contiguous(0, MPI_INT, &none);
	MPI_Type_commit(&none);
	MPI_Sendrecv(NULL, 0, MPI_INT, next, 1, NULL, 0, MPI_INT, before, 1,
		     MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_INT, &n);
	held = held && n == 0 && status.MPI_SOURCE == before;
	MPI_Sendrecv(NULL, 5, none, next, 2, &x, 1, MPI_INT, MPI_ANY_SOURCE, 2,
		     MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_INT, &n);
	held = held && n == 0 && x == 1;
	MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD);
	all_ok(held && x == 1, "nothing is sent and received");
	MPI_Type_free(&none);
}

/* The receive is posted before the ready send starts. */
static void ready(void)
{
	MPI_Request send, recv;
	int out = -1, in = -1;
	bool held = true;

	MPI_Recv_init(&in, 1, MPI_INT, before, 4, MPI_COMM_WORLD, &recv);
	MPI_Rsend_init(&out, 1, MPI_INT, next, 4, MPI_COMM_WORLD, &send);
	for (int i = 0; i < 5; i++) {
		out = 10 * rank + i;
		MPI_Start(&recv);
		everybody();
		MPI_Start(&send);
		MPI_Wait(&send, MPI_STATUS_IGNORE);
		MPI_Wait(&recv, MPI_STATUS_IGNORE);
		held = held && in == 10 * before + i;
	}
	all_ok(held, "persistent ready sends");
	MPI_Request_free(&send);
	MPI_Request_free(&recv);
}

/* Hints are taken, none is known, none comes back. */
static void hints(void)
{
	MPI_Request request;
	MPI_Info info, used;
	MPI_Comm copy;
	int keys = -1, result, rc;

	MPI_Info_create(&info);
	MPI_Info_set(info, "mpi_assert_no_any_tag", "false");
	rc = MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &copy, &request);
	MPI_Info_free(&info);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Comm_compare(MPI_COMM_WORLD, copy, &result);
	all_ok(rc == MPI_SUCCESS && result == MPI_CONGRUENT,
	       "MPI_Comm_idup_with_info");
	MPI_Info_create(&info);
	MPI_Info_set(info, "nobody_knows_this", "1");
	rc = MPI_Comm_set_info(copy, info);
	MPI_Comm_get_info(copy, &used);
	MPI_Info_get_nkeys(used, &keys);
	all_ok(rc == MPI_SUCCESS && keys == 0, "MPI_Comm_set_info");
	MPI_Info_free(&used);
	MPI_Info_free(&info);
	MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	next = (rank + 1) % size;
	before = (rank + size - 1) % size;
	reversed(N);
	reversed(LONG);
	negative_extent();
	overlapping();
	collectives();
	nothing();
	ready();
	hints();
	return mtap_end();
}
