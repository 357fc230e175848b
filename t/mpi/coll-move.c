/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All collectives that move data, with all roots, in place, with zero and large
 * counts, of plain integers and of integers with holes, for 1 to 64 ranks on
 * one and two workers.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

#define HOLE -77

static _Atomic int wrong;

/* A buffer of n integers, `step` apart; what lies between must not change. */
struct buffer {
	int *ints;
	int n, step;
	MPI_Datatype type;
};

/* The value of element i of the block that goes from one rank to another. */
static int value(int from, int to, int i)
{
	return from * 1000003 + to * 1009 + i;
}

static struct buffer buffer_new(int n, int step)
{
	struct buffer b = { .n = n, .step = step, .type = MPI_INT };

	b.ints = malloc((size_t)(n * step + 1) * sizeof(int));
	for (int i = 0; i < n * step; i++)
		b.ints[i] = HOLE;
	if (step > 1) {
		MPI_Type_create_resized(MPI_INT, 0,
					(MPI_Aint)step * (MPI_Aint)sizeof(int),
					&b.type);
		MPI_Type_commit(&b.type);
	}
	return b;
}

static void buffer_free(struct buffer *b)
{
	free(b->ints);
	if (b->step > 1)
		MPI_Type_free(&b->type);
}

static void put(struct buffer *b, int at, int from, int to, int n)
{
	for (int i = 0; i < n; i++)
		b->ints[(at + i) * b->step] = value(from, to, i);
}

/* Counts what is not as expected from place `at` on. */
static void expect(const struct buffer *b, int at, int from, int to, int n)
{
	for (int i = 0; i < n; i++)
		wrong += b->ints[(at + i) * b->step] != value(from, to, i);
}

static void expect_holes(const struct buffer *b)
{
	for (int i = 0; i < b->n * b->step; i++)
		wrong += i % b->step && b->ints[i] != HOLE;
}

/* The parameters of one run of the checks. */
#define ME int rank, int size, int count, int send_step, int recv_step

static void bcast(ME)
{
	for (int root = 0; root < size; root += 1 + size / 4) {
		bool is_root = rank == root;
		struct buffer b =
			buffer_new(count, is_root ? send_step : recv_step);

		if (is_root)
			put(&b, 0, root, 0, count);
		wrong += MPI_Bcast(b.ints, count, b.type, root,
				   MPI_COMM_WORLD) != 0;
		expect(&b, 0, root, 0, count);
		expect_holes(&b);
		buffer_free(&b);
	}
}

static void gather(ME)
{
	for (int root = 0; root < size; root += 1 + size / 4) {
		for (int in_place = 0; in_place < 2; in_place++) {
			struct buffer s = buffer_new(count, send_step);
			struct buffer r = buffer_new(count * size, recv_step);
			bool is_root = rank == root;
			bool place = is_root && in_place;

			put(&s, 0, rank, root, count);
			if (place)
				put(&r, rank * count, rank, root, count);
			wrong += MPI_Gather(place ? MPI_IN_PLACE : s.ints,
					    count, s.type,
					    is_root ? r.ints : NULL, count,
					    r.type, root, MPI_COMM_WORLD) != 0;
			for (int i = 0; i < size && is_root; i++)
				expect(&r, i * count, i, root, count);
			expect_holes(&r);
			buffer_free(&s);
			buffer_free(&r);
		}
	}
}

static void scatter(ME)
{
	for (int root = 0; root < size; root += 1 + size / 4) {
		for (int in_place = 0; in_place < 2; in_place++) {
			struct buffer s = buffer_new(count * size, send_step);
			struct buffer r = buffer_new(count, recv_step);
			bool is_root = rank == root;
			bool place = is_root && in_place;

			for (int i = 0; i < size && is_root; i++)
				put(&s, i * count, root, i, count);
			wrong += MPI_Scatter(is_root ? s.ints : NULL, count,
					     s.type,
					     place ? MPI_IN_PLACE : r.ints,
					     count, r.type, root,
					     MPI_COMM_WORLD) != 0;
			if (!place)
				expect(&r, 0, root, rank, count);
			expect_holes(&r);
			buffer_free(&s);
			buffer_free(&r);
		}
	}
}

static void allgather(ME)
{
	for (int in_place = 0; in_place < 2; in_place++) {
		struct buffer s = buffer_new(count, send_step);
		struct buffer r = buffer_new(count * size, recv_step);

		put(&s, 0, rank, 0, count);
		if (in_place)
			put(&r, rank * count, rank, 0, count);
		wrong += MPI_Allgather(in_place ? MPI_IN_PLACE : s.ints, count,
				       s.type, r.ints, count, r.type,
				       MPI_COMM_WORLD) != 0;
		for (int i = 0; i < size; i++)
			expect(&r, i * count, i, 0, count);
		expect_holes(&r);
		buffer_free(&s);
		buffer_free(&r);
	}
}

static void alltoall(ME)
{
	for (int in_place = 0; in_place < 2; in_place++) {
		struct buffer s = buffer_new(count * size, send_step);
		struct buffer r = buffer_new(count * size, recv_step);

		for (int i = 0; i < size; i++)
			put(in_place ? &r : &s, i * count, rank, i, count);
		wrong += MPI_Alltoall(in_place ? MPI_IN_PLACE : s.ints, count,
				      s.type, r.ints, count, r.type,
				      MPI_COMM_WORLD) != 0;
		for (int i = 0; i < size; i++)
			expect(&r, i * count, i, rank, count);
		expect_holes(&r);
		buffer_free(&s);
		buffer_free(&r);
	}
}

/* The v forms: rank i has i % 3 * count elements, blocks lie in reverse order
 * with a gap of one element between them. */
static int many(int i, int count)
{
	return i % 3 * count;
}

static void v_arrays(int size, int count, int counts[], int displs[])
{
	int at = 0;

	for (int i = size - 1; i >= 0; i--) {
		counts[i] = many(i, count);
		displs[i] = at;
		at += counts[i] + 1;
	}
}

static void gatherv(ME)
{
	for (int root = 0; root < size; root += 1 + size / 4) {
		for (int in_place = 0; in_place < 2; in_place++) {
			int counts[64], displs[64], n = many(rank, count);
			struct buffer s = buffer_new(n, send_step);
			struct buffer r =
				buffer_new(size * (2 * count + 1), recv_step);
			bool is_root = rank == root;
			bool place = is_root && in_place;

			v_arrays(size, count, counts, displs);
			put(&s, 0, rank, root, n);
			if (place)
				put(&r, displs[rank], rank, root, n);
			wrong += MPI_Gatherv(place ? MPI_IN_PLACE : s.ints, n,
					     s.type, is_root ? r.ints : NULL,
					     is_root ? counts : NULL,
					     is_root ? displs : NULL, r.type,
					     root, MPI_COMM_WORLD) != 0;
			for (int i = 0; i < size && is_root; i++)
				expect(&r, displs[i], i, root, counts[i]);
			expect_holes(&r);
			buffer_free(&s);
			buffer_free(&r);
		}
	}
}

static void scatterv(ME)
{
	for (int root = 0; root < size; root += 1 + size / 4) {
		for (int in_place = 0; in_place < 2; in_place++) {
			int counts[64], displs[64], n = many(rank, count);
			struct buffer s =
				buffer_new(size * (2 * count + 1), send_step);
			struct buffer r = buffer_new(n, recv_step);
			bool is_root = rank == root;
			bool place = is_root && in_place;

			v_arrays(size, count, counts, displs);
			for (int i = 0; i < size && is_root; i++)
				put(&s, displs[i], root, i, counts[i]);
			wrong += MPI_Scatterv(is_root ? s.ints : NULL,
					      is_root ? counts : NULL,
					      is_root ? displs : NULL, s.type,
					      place ? MPI_IN_PLACE : r.ints, n,
					      r.type, root,
					      MPI_COMM_WORLD) != 0;
			if (!place)
				expect(&r, 0, root, rank, n);
			expect_holes(&r);
			buffer_free(&s);
			buffer_free(&r);
		}
	}
}

static void allgatherv(ME)
{
	for (int in_place = 0; in_place < 2; in_place++) {
		int counts[64], displs[64], n = many(rank, count);
		struct buffer s = buffer_new(n, send_step);
		struct buffer r = buffer_new(size * (2 * count + 1), recv_step);

		v_arrays(size, count, counts, displs);
		put(&s, 0, rank, 0, n);
		if (in_place)
			put(&r, displs[rank], rank, 0, n);
		wrong += MPI_Allgatherv(in_place ? MPI_IN_PLACE : s.ints, n,
					s.type, r.ints, counts, displs, r.type,
					MPI_COMM_WORLD) != 0;
		for (int i = 0; i < size; i++)
			expect(&r, displs[i], i, 0, counts[i]);
		expect_holes(&r);
		buffer_free(&s);
		buffer_free(&r);
	}
}

/* From rank i to rank j go (i + j) % 3 * count elements. */
static void alltoall_arrays(int rank, int size, int count, int counts[],
			    int displs[])
{
	int at = 0;

	for (int i = size - 1; i >= 0; i--) {
		counts[i] = many(rank + i, count);
		displs[i] = at;
		at += counts[i] + 1;
	}
}

static void alltoallv(ME)
{
	for (int in_place = 0; in_place < 2; in_place++) {
		int counts[64], displs[64], all = size * (2 * count + 1);
		struct buffer s = buffer_new(all, send_step);
		struct buffer r = buffer_new(all, recv_step);

		alltoall_arrays(rank, size, count, counts, displs);
		for (int i = 0; i < size; i++)
			put(in_place ? &r : &s, displs[i], rank, i, counts[i]);
		wrong += MPI_Alltoallv(in_place ? MPI_IN_PLACE : s.ints, counts,
				       displs, s.type, r.ints, counts, displs,
				       r.type, MPI_COMM_WORLD) != 0;
		for (int i = 0; i < size; i++)
			expect(&r, displs[i], i, rank, counts[i]);
		expect_holes(&r);
		buffer_free(&s);
		buffer_free(&r);
	}
}

static void alltoallw(ME)
{
	for (int in_place = 0; in_place < 2; in_place++) {
		int counts[64], displs[64], all = size * (2 * count + 1);
		int s_bytes[64], r_bytes[64];
		MPI_Datatype s_types[64], r_types[64];
		struct buffer s = buffer_new(all, send_step);
		struct buffer r = buffer_new(all, recv_step);

		alltoall_arrays(rank, size, count, counts, displs);
		for (int i = 0; i < size; i++) {
			int bytes = displs[i] * (int)sizeof(int);

			s_bytes[i] = bytes * send_step;
			r_bytes[i] = bytes * recv_step;
			s_types[i] = counts[i] ? s.type : MPI_DATATYPE_NULL;
			r_types[i] = counts[i] ? r.type : MPI_DATATYPE_NULL;
			put(in_place ? &r : &s, displs[i], rank, i, counts[i]);
		}
		wrong += MPI_Alltoallw(in_place ? MPI_IN_PLACE : s.ints, counts,
				       s_bytes, s_types, r.ints, counts,
				       r_bytes, r_types, MPI_COMM_WORLD) != 0;
		for (int i = 0; i < size; i++)
			expect(&r, displs[i], i, rank, counts[i]);
		expect_holes(&r);
		buffer_free(&s);
		buffer_free(&r);
	}
}

static const struct {
	const char *name;
	void (*check)(ME);
} checks[] = {
	{ "bcast", bcast },	    { "gather", gather },
	{ "scatter", scatter },	    { "allgather", allgather },
	{ "alltoall", alltoall },   { "gatherv", gatherv },
	{ "scatterv", scatterv },   { "allgatherv", allgatherv },
	{ "alltoallv", alltoallv }, { "alltoallw", alltoallw },
};
#define CHECKS ((int)(sizeof(checks) / sizeof(checks[0])))

static int which;

static void body(int my_rank, int my_size)
{
	static const int counts[] = { 0, 1, 7, 600 };

	for (int c = 0; c < 4; c++) {
		if (my_size > 17 && counts[c] > 100)
			continue;
		for (int steps = 0; steps < 4; steps++)
			checks[which].check(my_rank, my_size, counts[c],
					    1 + steps % 2, 1 + steps / 2 * 2);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Once on one worker, twice on two: as it comes, and all sharing all work. */
static const struct {
	const char *name;
	int workers;
	int64_t split_bytes;
} modes[] = {
	{ "one worker", 1, 32768 },
	{ "two workers", 2, 32768 },
	{ "two workers that share all work", 2, 0 },
};

int main(void)
{
	static const int sizes[] = { 1, 2, 3, 4, 5, 8, 17, 64 };

	plan(3 * CHECKS);
	for (int mode = 0; mode < 3; mode++) {
		mpi_cvar.coll_share_bytes = modes[mode].split_bytes;
		for (which = 0; which < CHECKS; which++) {
			wrong = 0;
			for (int i = 0; i < 8; i++)
				ranks_run(sizes[i], modes[mode].workers, body);
			is_int(wrong, 0, "%s is right for 1 to 64 ranks on %s",
			       checks[which].name, modes[mode].name);
		}
	}
	return done_testing();
}
