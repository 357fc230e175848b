/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of sizes near the capacity of a worker's post, in sequence and
 * mixed with messages, for few ranks on one to four workers.  All data is
 * derived from the sender, the receiver and the round.
 */
#include <stdatomic.h>
#include <string.h>

#include "ranks.h"

#define RANKS_MAX 17
#define BYTES_MAX 1200
#define ROUNDS 400

static _Atomic int wrong;

static unsigned char byte(int round, int from, int to, int i)
{
	return (unsigned char)(round * 31 + from * 7 + to * 3 + i);
}

/* A block from one rank to another; `to` is 0 when it is the same for all. */
static void fill(unsigned char *block, int bytes, int round, int from, int to)
{
	for (int i = 0; i < bytes; i++)
		block[i] = byte(round, from, to, i);
}

static void check(const unsigned char *block, int bytes, int round, int from,
		  int to)
{
	for (int i = 0; i < bytes; i++)
		wrong += block[i] != byte(round, from, to, i);
}

struct job {
	int rank, size, round, bytes, root;
	unsigned char out[RANKS_MAX * BYTES_MAX], in[RANKS_MAX * BYTES_MAX];
};

static void bcast(struct job *j)
{
	if (j->rank == j->root)
		fill(j->in, j->bytes, j->round, j->root, 0);
	MPI_Bcast(j->in, j->bytes, MPI_BYTE, j->root, MPI_COMM_WORLD);
	check(j->in, j->bytes, j->round, j->root, 0);
}

static void gather(struct job *j)
{
	fill(j->out, j->bytes, j->round, j->rank, 0);
	MPI_Gather(j->out, j->bytes, MPI_BYTE, j->in, j->bytes, MPI_BYTE,
		   j->root, MPI_COMM_WORLD);
	for (int i = 0; i < j->size && j->rank == j->root; i++)
		check(j->in + i * j->bytes, j->bytes, j->round, i, 0);
}

static void scatter(struct job *j)
{
	for (int i = 0; i < j->size; i++)
		fill(j->out + i * j->bytes, j->bytes, j->round, j->rank, i);
	MPI_Scatter(j->out, j->bytes, MPI_BYTE, j->in, j->bytes, MPI_BYTE,
		    j->root, MPI_COMM_WORLD);
	check(j->in, j->bytes, j->round, j->root, j->rank);
}

/* Every other byte of the send buffer; in place in odd rounds. */
static void allgather(struct job *j)
{
	unsigned char *own = j->in + j->rank * j->bytes;
	MPI_Datatype gaps;

	MPI_Type_vector(j->bytes, 1, 2, MPI_BYTE, &gaps);
	MPI_Type_commit(&gaps);
	fill(own, j->bytes, j->round, j->rank, 0);
	for (int i = 0; i < j->bytes; i++)
		j->out[2 * i] = own[i];
	if (j->round % 2)
		MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, j->in, j->bytes,
			      MPI_BYTE, MPI_COMM_WORLD);
	else
		MPI_Allgather(j->out, 1, gaps, j->in, j->bytes, MPI_BYTE,
			      MPI_COMM_WORLD);
	MPI_Type_free(&gaps);
	for (int i = 0; i < j->size; i++)
		check(j->in + i * j->bytes, j->bytes, j->round, i, 0);
}

/* Blocks of as many bytes as the rank that sends them says. */
static void allgatherv(struct job *j)
{
	int counts[RANKS_MAX], displs[RANKS_MAX], end = 0;

	for (int i = 0; i < j->size; i++) {
		counts[i] = (j->bytes + i) % BYTES_MAX;
		displs[i] = end;
		end += counts[i];
	}
	fill(j->out, counts[j->rank], j->round, j->rank, 0);
	MPI_Allgatherv(j->out, counts[j->rank], MPI_BYTE, j->in, counts, displs,
		       MPI_BYTE, MPI_COMM_WORLD);
	for (int i = 0; i < j->size; i++)
		check(j->in + displs[i], counts[i], j->round, i, 0);
}

static void alltoall(struct job *j)
{
	for (int i = 0; i < j->size; i++)
		fill(j->out + i * j->bytes, j->bytes, j->round, j->rank, i);
	if (j->round % 2)
		memcpy(j->in, j->out, (size_t)(j->size * j->bytes));
	MPI_Alltoall(j->round % 2 ? MPI_IN_PLACE : j->out, j->bytes, MPI_BYTE,
		     j->in, j->bytes, MPI_BYTE, MPI_COMM_WORLD);
	for (int i = 0; i < j->size; i++)
		check(j->in + i * j->bytes, j->bytes, j->round, i, j->rank);
}

/* What a rank sends to another one where sizes differ. */
static int uneven(const struct job *j, int from, int to)
{
	return (j->bytes + 3 * from + to) % BYTES_MAX;
}

/* Blocks of other sizes, in a row for odd receivers, apart for even ones. */
static int uneven_fill(struct job *j, int *counts, int *displs)
{
	int end = 0;

	for (int i = 0; i < j->size; i++) {
		counts[i] = uneven(j, j->rank, i);
		displs[i] = i % 2 ? end : i * BYTES_MAX;
		end = displs[i] + counts[i];
		fill(j->out + displs[i], counts[i], j->round, j->rank, i);
	}
	return end;
}

static void scatterv(struct job *j)
{
	int counts[RANKS_MAX], displs[RANKS_MAX];
	int expected = uneven(j, j->root, j->rank);

	if (j->rank == j->root)
		uneven_fill(j, counts, displs);
	MPI_Scatterv(j->out, counts, displs, MPI_BYTE, j->in, expected,
		     MPI_BYTE, j->root, MPI_COMM_WORLD);
	check(j->in, expected, j->round, j->root, j->rank);
}

/* Alltoallw in odd rounds, with half of the types. */
static void alltoallv(struct job *j)
{
	int counts[RANKS_MAX], displs[RANKS_MAX];
	int expected[RANKS_MAX], places[RANKS_MAX];
	MPI_Datatype types[RANKS_MAX];

	uneven_fill(j, counts, displs);
	for (int i = 0; i < j->size; i++) {
		expected[i] = uneven(j, i, j->rank);
		places[i] = i * BYTES_MAX;
		types[i] = i % 3 ? MPI_CHAR : MPI_UNSIGNED_CHAR;
	}
	if (j->round % 2)
		MPI_Alltoallw(j->out, counts, displs, types, j->in, expected,
			      places, types, MPI_COMM_WORLD);
	else
		MPI_Alltoallv(j->out, counts, displs, MPI_BYTE, j->in, expected,
			      places, MPI_BYTE, MPI_COMM_WORLD);
	for (int i = 0; i < j->size; i++)
		check(j->in + places[i], expected[i], j->round, i, j->rank);
}

/* Returns the sum of (rank, element) over ranks first to last - 1. */
static long sum(const struct job *j, int first, int last, int i)
{
	long all = 0;

	for (int rank = first; rank < last; rank++)
		all += (long)j->round * 1000 + rank * 10 + i;
	return all;
}

static void sums_check(const struct job *j, const long *got, int first,
		       int last, int from, int n)
{
	for (int i = 0; i < n; i++)
		wrong += got[i] != sum(j, first, last, from + i);
}

/* Reductions of n long each, with in and out apart and in one. */
static void reductions(struct job *j)
{
	int n = j->bytes / 8 + 1, rank = j->rank, size = j->size;
	long out[BYTES_MAX], in[BYTES_MAX];
	bool in_place = j->round % 3 == 0;
	void *send = in_place ? MPI_IN_PLACE : out;

	for (int i = 0; i < n; i++)
		in[i] = out[i] = sum(j, rank, rank + 1, i);
	MPI_Allreduce(send, in, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	sums_check(j, in, 0, size, 0, n);
	memcpy(in, out, sizeof(in));
	MPI_Reduce(rank == j->root ? send : out, in, n, MPI_LONG, MPI_SUM,
		   j->root, MPI_COMM_WORLD);
	if (rank == j->root)
		sums_check(j, in, 0, size, 0, n);
	memcpy(in, out, sizeof(in));
	MPI_Scan(send, in, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	sums_check(j, in, 0, rank + 1, 0, n);
	memcpy(in, out, sizeof(in));
	MPI_Exscan(send, in, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	if (rank > 0)
		sums_check(j, in, 0, rank, 0, n);
	n = BYTES_MAX / size < n ? BYTES_MAX / size : n;
	for (int i = 0; i < n * size; i++)
		in[i] = out[i] = sum(j, rank, rank + 1, i);
	MPI_Reduce_scatter_block(send, in, n, MPI_LONG, MPI_SUM,
				 MPI_COMM_WORLD);
	sums_check(j, in, 0, size, rank * n, n);
}

/* Shares of other sizes, of which some may be empty. */
static void shares(struct job *j)
{
	int counts[RANKS_MAX], n = 0, before = 0;
	long out[BYTES_MAX], in[BYTES_MAX];

	for (int i = 0; i < j->size; i++) {
		counts[i] = (j->bytes / 8 + i) % (BYTES_MAX / RANKS_MAX);
		before += i < j->rank ? counts[i] : 0;
		n += counts[i];
	}
	for (int i = 0; i < n; i++)
		in[i] = out[i] = sum(j, j->rank, j->rank + 1, i);
	MPI_Reduce_scatter(j->round % 3 ? out : MPI_IN_PLACE, in, counts,
			   MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	sums_check(j, in, 0, j->size, before, counts[j->rank]);
}

/* Messages around the ring, under way while the ranks meet. */
static void ring(struct job *j, void (*call)(struct job *j))
{
	int right = (j->rank + 1) % j->size;
	int left = (j->rank + j->size - 1) % j->size, got = -1;
	MPI_Request requests[2];

	MPI_Irecv(&got, 1, MPI_INT, left, j->round, MPI_COMM_WORLD, requests);
	MPI_Isend(&j->rank, 1, MPI_INT, right, j->round, MPI_COMM_WORLD,
		  requests + 1);
	call(j);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	wrong += got != left;
	if ((j->round + j->rank) % 5 == 0)
		vmpi_yield();
	MPI_Barrier(MPI_COMM_WORLD);
}

static void body(int rank, int size)
{
	static void (*const calls[])(struct job * j) = {
		bcast,	  gather,   scatter,   allgather,  allgatherv,
		alltoall, scatterv, alltoallv, reductions, shares,
	};
	struct job job = { .rank = rank, .size = size };
	int n = (int)(sizeof(calls) / sizeof(calls[0]));

	for (job.round = 0; job.round < ROUNDS; job.round++) {
		/* Mostly a few bytes; every size comes. */
		job.bytes = job.round % 4 ? job.round % 40 :
					    job.round * 3 % BYTES_MAX;
		job.root = job.round * 5 % size;
		ring(&job, calls[job.round % n]);
	}
}

int main(void)
{
	static const int sizes[] = { 2, 3, 5, RANKS_MAX };

	plan(16);
	for (int workers = 1; workers <= 4; workers++) {
		for (int i = 0; i < 4; i++) {
			wrong = 0;
			ranks_run(sizes[i], workers, body);
			ok(wrong == 0, "%d ranks on %d workers", sizes[i],
			   workers);
		}
	}
	return done_testing();
}
