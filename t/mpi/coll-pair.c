/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of two ranks on two workers: who has nothing to learn from the other
 * goes on, and whatever is unusual meets what is not.
 */
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

#define ROUNDS 400
#define MOST 3000 /* bytes of a block; posts have room for fewer */

static _Atomic int wrong, errors;
static _Atomic bool gone;

static void told_wait(void)
{
	while (!atomic_load(&gone))
		vmpi_yield();
}

/* Each comes late to what the other need not wait for. */
static void goes_on(int rank, int size)
{
	double x = rank, y = -1;

	for (int first = 0; first < 2; first++) {
		double two[2] = { 5, 6 };

		if (rank != first)
			told_wait();
		MPI_Bcast(two, 2, MPI_DOUBLE, first, MPI_COMM_WORLD);
		MPI_Scatter(two, 1, MPI_DOUBLE, &y, 1, MPI_DOUBLE, first,
			    MPI_COMM_WORLD);
		wrong += y != 5 + rank;
		MPI_Gather(&x, 1, MPI_DOUBLE, two, 1, MPI_DOUBLE, 1 - first,
			   MPI_COMM_WORLD);
		wrong += rank != first && (two[0] != 0 || two[1] != 1);
		MPI_Reduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, 1 - first,
			   MPI_COMM_WORLD);
		wrong += rank != first && y != 1;
		if (first == 0)
			MPI_Scan(&x, &y, 1, MPI_DOUBLE, MPI_SUM,
				 MPI_COMM_WORLD);
		wrong += first == 0 && y != rank;
		if (rank == first)
			gone = true;
		MPI_Barrier(MPI_COMM_WORLD);
		gone = false;
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* More than there is room for while the other is late; in between calls that both
 * wait for, and started ones that the other finds when it comes. */
static void runs_ahead(int rank, int size)
{
	for (int round = 0; round < 10; round++) {
		MPI_Request request;
		int x = -1, sum;

		if (rank == round % 2)
			for (int i = 0; i < 1000 * round; i++)
				vmpi_yield();
		for (int i = 0; i < 5 * round; i++) {
			x = rank == 0 ? i : -1;
			MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
			wrong += x != i;
		}
		if (round % 3 == 0) {
			MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM,
				       MPI_COMM_WORLD, &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			wrong += sum != 1;
		}
		if (round % 3 != 1)
			MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* The other starts a nonblocking one behind what this rank has yet to get. */
static void starts_behind(int rank, int size)
{
	MPI_Request request;
	int x = rank ? -1 : 7;

	if (rank == 1)
		told_wait();
	wrong += MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD) != 0 || x != 7;
	wrong += MPI_Ibarrier(MPI_COMM_WORLD, &request) != 0;
	gone = true;
	wrong += MPI_Wait(&request, MPI_STATUS_IGNORE) != 0;
}

/* Many nonblocking ones under way before the other starts its first; what they
 * send fits into a slot between the workers, or not. */
static void starts_many(int rank, int size)
{
	enum { N = 30 };
	MPI_Request requests[4 * N];
	double from[N][3], sums[N][3], all[N][6];
	long roots[N], one[N];

	if (rank == 1)
		told_wait();
	for (int i = 0; i < N; i++) {
		MPI_Request *each = requests + 4 * i;

		from[i][0] = from[i][1] = from[i][2] = i + rank;
		roots[i] = rank == i % 2 ? i : -1;
		MPI_Ibcast(&roots[i], 1, MPI_LONG, i % 2, MPI_COMM_WORLD, each);
		MPI_Iallreduce(from[i], sums[i], 1 + i % 3, MPI_DOUBLE, MPI_SUM,
			       MPI_COMM_WORLD, each + 1);
		MPI_Igather(from[i], 1 + i % 3, MPI_DOUBLE, all[i], 1 + i % 3,
			    MPI_DOUBLE, 1 - i % 2, MPI_COMM_WORLD, each + 2);
		one[i] = i;
		MPI_Iscan(MPI_IN_PLACE, &one[i], 1, MPI_LONG, MPI_MAX,
			  MPI_COMM_WORLD, each + 3);
	}
	gone = true;
	MPI_Waitall(4 * N, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < N; i++) {
		wrong += roots[i] != i || one[i] != i;
		wrong += sums[i][0] != 2 * i + 1;
		wrong += sums[i][i % 3] != 2 * i + 1;
		wrong += rank != i % 2 && all[i][1 + 2 * (i % 3)] != i + 1;
	}
}

/* Random numbers, the same in both ranks. */
struct draw {
	unsigned state;
};

static int draw(struct draw *from, int below)
{
	from->state = from->state * 1103515245 + 12345;
	return (int)(from->state >> 8) % below;
}

static int draw_bytes(struct draw *from)
{
	static const int sizes[] = { 0, 1, 4, 8, 8, 16, 17, 64, 1024, 2000 };

	return draw(from, 4) ? sizes[draw(from, 10)] : draw(from, MOST);
}

static void fill(char *at, int bytes, int seed)
{
	for (int i = 0; i < bytes; i++)
		at[i] = (char)(seed + i);
}

static bool is_filled(const char *at, int bytes, int seed)
{
	for (int i = 0; i < bytes; i++)
		if (at[i] != (char)(seed + i))
			return false;
	return true;
}

/* A call of one kind with blocks of so many bytes, in which one rank may describe
 * its block by a type with gaps. */
struct random_call {
	MPI_Comm comm;
	int rank, root, bytes, seed;
	bool gaps, in_place;
};

/* Two bytes with one between; and where byte i of many such is. */
static MPI_Datatype gaps_type(void)
{
	MPI_Datatype type;

	MPI_Type_vector(2, 1, 2, MPI_BYTE, &type);
	MPI_Type_commit(&type);
	return type;
}

static int gaps_at(int i)
{
	return i / 2 * 3 + i % 2 * 2;
}

static void bcast_random(const struct random_call *c)
{
	bool gaps = c->gaps && c->bytes % 2 == 0;
	MPI_Datatype type = gaps_type();
	char data[2 * MOST] = { 0 };

	for (int i = 0; i < c->bytes && c->rank == c->root; i++)
		data[gaps ? gaps_at(i) : i] = (char)(c->seed + i);
	MPI_Bcast(data, gaps ? c->bytes / 2 : c->bytes, gaps ? type : MPI_BYTE,
		  c->root, c->comm);
	for (int i = 0; i < c->bytes; i++)
		wrong += data[gaps ? gaps_at(i) : i] != (char)(c->seed + i);
	MPI_Type_free(&type);
}

static void scatter_random(const struct random_call *c)
{
	char all[2 * MOST], own[MOST];
	int counts[2] = { c->bytes, c->bytes / 2 + c->seed % 3 };
	int displs[2] = { MOST, 1 };
	void *to = c->in_place && c->rank == c->root ? MPI_IN_PLACE : own;

	fill(all, 2 * MOST, c->seed);
	MPI_Scatter(all, c->bytes, MPI_BYTE, to, c->bytes, MPI_BYTE, c->root,
		    c->comm);
	wrong += to == own &&
		 !is_filled(own, c->bytes, c->seed + c->rank * c->bytes);
	MPI_Scatterv(all, counts, displs, MPI_BYTE, to, counts[c->rank],
		     MPI_BYTE, c->root, c->comm);
	wrong += to == own &&
		 !is_filled(own, counts[c->rank], c->seed + displs[c->rank]);
}

static void gather_random(const struct random_call *c)
{
	char all[2 * MOST + 4], own[MOST];
	int counts[2] = { c->bytes, c->bytes / 2 + c->seed % 3 };
	int displs[2] = { MOST, 1 };
	bool root = c->rank == c->root;
	void *from = c->in_place && root ? MPI_IN_PLACE : own;

	fill(own, MOST, c->seed + 10 * c->rank);
	memcpy(all + c->rank * c->bytes, own, (size_t)c->bytes);
	MPI_Gather(from, c->bytes, MPI_BYTE, all, c->bytes, MPI_BYTE, c->root,
		   c->comm);
	for (int i = 0; i < 2 && root; i++)
		wrong += !is_filled(all + i * c->bytes, c->bytes,
				    c->seed + 10 * i);
	memcpy(all + displs[c->rank], own, (size_t)counts[c->rank]);
	MPI_Gatherv(from, counts[c->rank], MPI_BYTE, all, counts, displs,
		    MPI_BYTE, c->root, c->comm);
	for (int i = 0; i < 2 && root; i++)
		wrong += !is_filled(all + displs[i], counts[i],
				    c->seed + 10 * i);
}

static void minus(void *in, void *inout, int *n, MPI_Datatype *type)
{
	double *x = in, *y = inout;

	for (int i = 0; i < *n; i++)
		y[i] = x[i] - y[i];
}

/* By MPI's operation, or the program's, for which the order of the ranks counts. */
static void reduce_random(const struct random_call *c, MPI_Op op, bool own_op)
{
	double x[MOST / 8] = { 0 }, y[MOST / 8];
	int n = c->bytes / 8;
	double sign = own_op ? -1 : 1, first = c->seed, last = c->seed + 1;
	bool root = c->rank == c->root;

	for (int i = 0; i < n; i++)
		x[i] = y[i] = c->seed + c->rank;
	MPI_Reduce(c->in_place && root ? MPI_IN_PLACE : x, y, n, MPI_DOUBLE, op,
		   c->root, c->comm);
	for (int i = 0; i < n && root; i++)
		wrong += y[i] != first + sign * last;
	memcpy(y, x, sizeof(x));
	MPI_Scan(c->in_place ? MPI_IN_PLACE : x, y, n, MPI_DOUBLE, op, c->comm);
	for (int i = 0; i < n; i++)
		wrong += y[i] != (c->rank ? first + sign * last : first);
	memcpy(y, x, sizeof(x));
	MPI_Exscan(c->in_place ? MPI_IN_PLACE : x, y, n, MPI_DOUBLE, op,
		   c->comm);
	for (int i = 0; i < n && c->rank; i++)
		wrong += y[i] != first;
}

static void any_random(int rank, int size)
{
	struct draw numbers = { .state = 17 };
	MPI_Comm comms[2] = { MPI_COMM_WORLD };
	MPI_Op op;

	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1]);
	MPI_Op_create(minus, 0, &op);
	for (int round = 0; round < ROUNDS; round++) {
		int which = draw(&numbers, 2), kind = draw(&numbers, 5);
		int gaps = draw(&numbers, 6);
		struct random_call c = { .comm = comms[which],
					 .rank = which ? 1 - rank : rank,
					 .root = draw(&numbers, 2),
					 .bytes = draw_bytes(&numbers),
					 .in_place = draw(&numbers, 3) == 0,
					 .seed = round };

		c.gaps = gaps == c.rank || gaps == 2;
		switch (kind) {
		case 0:
			bcast_random(&c);
			break;
		case 1:
			scatter_random(&c);
			break;
		case 2:
			gather_random(&c);
			break;
		default:
			reduce_random(&c, kind == 3 ? MPI_SUM : op, kind == 4);
		}
	}
	MPI_Op_free(&op);
	MPI_Comm_free(&comms[1]);
}

/* Memory in use, KiB; 0 where malloc() does not say. */
static long memory(void)
{
	return (long)(mallinfo2().uordblks / 1024);
}

/* One root has long posts for the other, who has none but short ones. */
static void one_root(int rank, int size)
{
	char data[1000] = { 0 };
	long before = 0;

	for (int i = 0; i < 4000; i++) {
		MPI_Request request;

		if (i == 1000)
			before = memory();
		MPI_Ibcast(data, sizeof(data), MPI_BYTE, 0, MPI_COMM_WORLD,
			   &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
	wrong += memory() > before + 500;
}

/* One with two counts, of which the others are right. */
static void bcast_gone(int rank, int size)
{
	MPI_Comm comm;
	int x = rank;

	if (rank == 0) {
		wrong += MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD) != 0;
		wrong += MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD) != 0;
		wrong += MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD) != 0;
		wrong += MPI_Gather(&x, 1, MPI_INT, NULL, 0, MPI_INT, 1,
				    MPI_COMM_WORLD) != 0;
		gone = true;
	} else {
		told_wait();
		errors += MPI_Barrier(MPI_COMM_WORLD) == MPI_ERR_OTHER;
		errors += MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_ERR_OTHER;
		errors += MPI_Scatter(NULL, 0, MPI_INT, &x, 1, MPI_INT, 0,
				      MPI_COMM_WORLD) == MPI_ERR_OTHER;
		errors += MPI_Reduce(&x, &x + 1, 1, MPI_INT, MPI_SUM, 1,
				     MPI_COMM_WORLD) == MPI_ERR_OTHER;
	}
	wrong += MPI_Barrier(MPI_COMM_WORLD) != 0;
}

/* Both wait, for each other. */
static void two_roots(int rank, int size)
{
	int x = 0, all[2];

	errors += MPI_Bcast(&x, 1, MPI_INT, 1 - rank, MPI_COMM_WORLD) ==
		  MPI_ERR_OTHER;
	errors += MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, rank,
			     MPI_COMM_WORLD) == MPI_ERR_OTHER;
	wrong += MPI_Barrier(MPI_COMM_WORLD) != 0;
}

/* One thinks it short, the other long; and more or less than comes. */
static void other_sizes(int rank, int size)
{
	static const int bytes[][2] = { { 8, 4 }, { 4, 8 }, { 8, MOST } };
	char data[MOST];

	for (int i = 0; i < 3; i++)
		errors += MPI_Bcast(data, bytes[i][rank], MPI_BYTE, 0,
				    MPI_COMM_WORLD) == MPI_ERR_TRUNCATE;
	errors += MPI_Bcast(data, bytes[2][1 - rank], MPI_BYTE, 0,
			    MPI_COMM_WORLD) == MPI_ERR_TRUNCATE;
	wrong += MPI_Barrier(MPI_COMM_WORLD) != 0;
}

static void check(void (*body)(int rank, int size), int wanted,
		  const char *what)
{
	wrong = errors = 0;
	gone = false;
	ranks_run(2, 2, body);
	ok(wrong == 0 && errors == wanted, "%s: %d wrong, %d errors", what,
	   wrong, errors);
}

int main(void)
{
	plan(9);
	check(goes_on, 0, "who has nothing to learn goes on");
	check(runs_ahead, 0, "and waits when there is no more room");
	check(starts_behind, 0, "a nonblocking one may follow");
	check(starts_many, 0, "nonblocking ones of a late rank are right");
	check(any_random, 0, "data of any kind are right");
	check(one_root, 0, "and take no more memory from call to call");
	check(bcast_gone, 4, "who finds another call than its own sees it");
	check(two_roots, 4, "and so do two who wait for each other");
	check(other_sizes, 4, "sizes that differ are seen by who receives");
	return done_testing();
}
