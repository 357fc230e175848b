/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives with large counts, MPI_x_c: blocking, nonblocking and persistent;
 * displacements beyond 2^31, operations of the user, and errors.
 */
#include "large.h"
#include "mtap.h"

#define WORLD MPI_COMM_WORLD
#define MOST 16 /* ranks */

enum way { BLOCKING, NONBLOCKING, PERSISTENT, WAYS };

static const char *const names[] = { "blocking", "nonblocking", "persistent" };

/* Runs one of the three calls, the last one twice. */
#define RUN(way, name, small, ...)                                         \
	do {                                                               \
		MPI_Request request;                                       \
                                                                           \
		if (way == BLOCKING) {                                     \
			MPI_##name##_c(__VA_ARGS__);                       \
			break;                                             \
		}                                                          \
		if (way == NONBLOCKING) {                                  \
			MPI_I##small##_c(__VA_ARGS__, &request);           \
			MPI_Wait(&request, MPI_STATUS_IGNORE);             \
			break;                                             \
		}                                                          \
		MPI_##name##_init_c(__VA_ARGS__, MPI_INFO_NULL, &request); \
		for (int i_ = 0; i_ < 2; i_++) {                           \
			MPI_Start(&request);                               \
			MPI_Wait(&request, MPI_STATUS_IGNORE);             \
		}                                                          \
		MPI_Request_free(&request);                                \
	} while (0)

static int mine[2 * MOST], got[2 * MOST];
static MPI_Count counts[MOST];
static MPI_Aint displs[MOST], places[MOST];
static MPI_Datatype types[MOST];

/* Two numbers for and from each rank; in reverse order where there are
 * displacements. */
static void reset(void)
{
	for (int i = 0; i < size; i++) {
		mine[2 * i] = 100 * rank + i;
		mine[2 * i + 1] = -mine[2 * i];
		counts[i] = 2;
		displs[i] = 2 * (size - 1 - i);
		places[i] = displs[i] * (MPI_Aint)sizeof(int);
		types[i] = MPI_INT;
	}
	memset(got, 0xff, sizeof(got));
}

/* Tells whether place i has the two numbers of a rank for another. */
static bool has(int i, int from, int to)
{
	return got[2 * i] == 100 * from + to &&
	       got[2 * i + 1] == -(100 * from + to);
}

static bool gathered(bool reversed)
{
	for (int i = 0; i < size; i++)
		if (!has(reversed ? size - 1 - i : i, i, 0))
			return false;
	return true;
}

static bool exchanged(bool reversed)
{
	for (int i = 0; i < size; i++)
		if (!has(reversed ? size - 1 - i : i, i,
			 reversed ? size - 1 - rank : rank))
			return false;
	return true;
}

static void rooted(enum way way)
{
	bool held;

	reset();
	if (rank == 0)
		memcpy(got, mine, sizeof(got));
	RUN(way, Bcast, bcast, got, 2, MPI_INT, 0, WORLD);
	held = has(0, 0, 0);
	reset();
	RUN(way, Gather, gather, mine, 2, MPI_INT, got, 2, MPI_INT, 0, WORLD);
	held = held && (rank != 0 || gathered(false));
	reset();
	RUN(way, Gatherv, gatherv, mine, 2, MPI_INT, got, counts, displs,
	    MPI_INT, 0, WORLD);
	held = held && (rank != 0 || gathered(true));
	reset();
	RUN(way, Scatter, scatter, mine, 2, MPI_INT, got, 2, MPI_INT, 0, WORLD);
	held = held && has(0, 0, rank);
	reset();
	RUN(way, Scatterv, scatterv, mine, counts, displs, MPI_INT, got, 2,
	    MPI_INT, 0, WORLD);
	held = held && has(0, 0, size - 1 - rank);
	all_ok(held, "%s collectives of a root count with MPI_Count",
	       names[way]);
}

static void to_all(enum way way)
{
	bool held;

	reset();
	RUN(way, Allgather, allgather, mine, 2, MPI_INT, got, 2, MPI_INT,
	    WORLD);
	held = gathered(false);
	reset();
	RUN(way, Allgatherv, allgatherv, mine, 2, MPI_INT, got, counts, displs,
	    MPI_INT, WORLD);
	held = held && gathered(true);
	reset();
	RUN(way, Alltoall, alltoall, mine, 2, MPI_INT, got, 2, MPI_INT, WORLD);
	held = held && exchanged(false);
	reset();
	RUN(way, Alltoallv, alltoallv, mine, counts, displs, MPI_INT, got,
	    counts, displs, MPI_INT, WORLD);
	held = held && exchanged(true);
	reset();
	RUN(way, Alltoallw, alltoallw, mine, counts, places, types, got, counts,
	    places, types, WORLD);
	held = held && exchanged(true);
	all_ok(held, "so do %s ones from all to all", names[way]);
}

static void reductions(enum way way)
{
	const int below = rank * (rank - 1) / 2, all = size * (size - 1) / 2;
	int one[2] = { rank, -rank }, sum[2] = { -1, -1 };
	int many[MOST];
	bool held;

	for (int i = 0; i < size; i++) {
		counts[i] = 1;
		many[i] = rank + i;
	}
	RUN(way, Reduce, reduce, one, sum, 2, MPI_INT, MPI_SUM, 0, WORLD);
	held = rank != 0 || (sum[0] == all && sum[1] == -all);
	RUN(way, Allreduce, allreduce, one, sum, 2, MPI_INT, MPI_SUM, WORLD);
	held = held && sum[0] == all && sum[1] == -all;
	RUN(way, Scan, scan, one, sum, 2, MPI_INT, MPI_SUM, WORLD);
	held = held && sum[0] == below + rank;
	RUN(way, Exscan, exscan, one, sum, 2, MPI_INT, MPI_SUM, WORLD);
	held = held && (rank == 0 || sum[1] == -below);
	RUN(way, Reduce_scatter, reduce_scatter, many, sum, counts, MPI_INT,
	    MPI_SUM, WORLD);
	held = held && sum[0] == all + size * rank;
	sum[0] = -1;
	RUN(way, Reduce_scatter_block, reduce_scatter_block, many, sum, 1,
	    MPI_INT, MPI_SUM, WORLD);
	all_ok(held && sum[0] == all + size * rank, "so do %s reductions",
	       names[way]);
}

static void neighbours(enum way way)
{
	MPI_Count two[2] = { 1, 1 };
	MPI_Aint swapped[2] = { 1, 0 }, bytes[2] = { sizeof(int), 0 };
	MPI_Datatype ints[2] = { MPI_INT, MPI_INT };
	int dims = size, round = 1, send[2] = { rank, -rank }, recv[2];
	int low = (rank + size - 1) % size, high = (rank + 1) % size;
	MPI_Comm ring;
	bool held;

	MPI_Cart_create(WORLD, 1, &dims, &round, 0, &ring);
	RUN(way, Neighbor_allgather, neighbor_allgather, send, 1, MPI_INT, recv,
	    1, MPI_INT, ring);
	held = recv[0] == low && recv[1] == high;
	RUN(way, Neighbor_allgatherv, neighbor_allgatherv, send, 1, MPI_INT,
	    recv, two, swapped, MPI_INT, ring);
	held = held && recv[1] == low && recv[0] == high;
	RUN(way, Neighbor_alltoall, neighbor_alltoall, send, 1, MPI_INT, recv,
	    1, MPI_INT, ring);
	held = held && recv[0] == -low && recv[1] == high;
	RUN(way, Neighbor_alltoallv, neighbor_alltoallv, send, two, swapped,
	    MPI_INT, recv, two, swapped, MPI_INT, ring);
	held = held && recv[1] == low && recv[0] == -high;
	RUN(way, Neighbor_alltoallw, neighbor_alltoallw, send, two, bytes, ints,
	    recv, two, bytes, ints, ring);
	all_ok(held && recv[1] == low && recv[0] == -high,
	       "so do %s ones of neighbours", names[way]);
	MPI_Comm_free(&ring);
}

/* A collective is one, whichever width its callers have. */
static void mixed(void)
{
	int value = rank == 0 ? 7 : 0, sum = 0, one = 1;
	int halves[MOST];
	MPI_Request request;

	if (rank == 0)
		MPI_Bcast(&value, 1, MPI_INT, 0, WORLD);
	else
		MPI_Bcast_c(&value, 1, MPI_INT, 0, WORLD);
	if (rank == 0)
		MPI_Iallreduce_c(&one, &sum, 1, MPI_INT, MPI_SUM, WORLD,
				 &request);
	else
		MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, WORLD,
			       &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	all_ok(value == 7 && sum == size,
	       "some ranks may count with int and others not");
	for (int i = 0; i < size; i++) {
		halves[i] = 1;
		counts[i] = 1;
		mine[i] = 1;
	}
	if (rank == 0)
		MPI_Reduce_scatter(mine, &sum, halves, MPI_INT, MPI_SUM, WORLD);
	else
		MPI_Reduce_scatter_c(mine, &sum, counts, MPI_INT, MPI_SUM,
				     WORLD);
	all_ok(sum == size, "also in arrays");
}

/* Blocks that lie behind 2^31 others. */
static void far_blocks(void)
{
	char *far = far_new(), own[4] = { 'a' + rank, 'b' + rank, 'c', 'd' };
	bool held = true;

	for (int i = 0; i < size; i++) {
		counts[i] = 4;
		displs[i] = (MPI_Aint)FAR_LAST + 4 * i;
		places[i] = displs[i];
		types[i] = MPI_CHAR;
	}
	MPI_Allgatherv_c(own, 4, MPI_CHAR, far, counts, displs, MPI_CHAR,
			 WORLD);
	for (int i = 0; i < size; i++)
		held = held && far[displs[i]] == 'a' + i &&
		       far[displs[i] + 3] == 'd' && far[4 * i] == 0;
	all_ok(held, "blocks are received behind 2^31 elements");
	memset(far + FAR_LAST, 0, 4096);
	if (rank == 0)
		for (int i = 0; i < size; i++)
			far[displs[i] + 1] = (char)(i + 1);
	MPI_Scatterv_c(far, counts, displs, MPI_CHAR, own, 4, MPI_CHAR, 0,
		       WORLD);
	all_ok(own[1] == rank + 1, "and sent from there");
	for (int i = 0; i < size; i++) {
		far[displs[i]] = (char)(10 * rank + i);
		displs[i] = 4 * i;
	}
	MPI_Alltoallw_c(far, counts, places, types, got, counts, displs, types,
			WORLD);
	for (int i = 0; i < size; i++)
		held = held && ((char *)got)[4 * i] == 10 * i + rank;
	all_ok(held, "and exchanged");
	far_free(far);
}

/* Rank 0 sends 2^31 + 5 bytes to another, who lets most lie on each other. */
static void far_bcast(void)
{
	MPI_Datatype type = far_short_type();
	char block[FAR_SHORT];
	bool held = true;
	MPI_Request request;
	MPI_Comm two;

	MPI_Comm_split(WORLD, rank < 2, rank, &two);
	if (rank == 0) {
		char *far = far_new();

		far_fill(far, 5);
		MPI_Ibcast_c(far, FAR_COUNT, MPI_CHAR, 0, two, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		far_free(far);
	} else if (rank == 1) {
		MPI_Ibcast_c(block, 1, type, 0, two, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		held = far_short_is(block, 5);
	}
	all_ok(held, "2^31 + 5 bytes are broadcast");
	MPI_Comm_free(&two);
	MPI_Type_free(&type);
}

static MPI_Count calls, longest, elements;

static void add_large(void *in, void *inout, MPI_Count *length,
		      MPI_Datatype *type)
{
	calls++;
	elements += *length;
	if (*length > longest)
		longest = *length;
	if (*type == MPI_INT)
		for (MPI_Count i = 0; i < *length; i++)
			((int *)inout)[i] += ((int *)in)[i];
}

static void add_small(void *in, void *inout, int *length, MPI_Datatype *type)
{
	MPI_Count count = *length;

	add_large(in, inout, &count, type);
}

static void user_operations(void)
{
	const MPI_Count many = ((MPI_Count)1 << 31) + 8;
	MPI_Datatype point;
	MPI_Op large, small;
	int one = rank + 1, sum = 0;
	bool held;

	MPI_Op_create_c(add_large, 1, &large);
	MPI_Op_create(add_small, 1, &small);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, large, WORLD);
	held = sum == size * (size + 1) / 2;
	MPI_Allreduce_c(&one, &sum, 1, MPI_INT, small, WORLD);
	all_ok(held && sum == size * (size + 1) / 2,
	       "both calls take functions of both widths");
	MPI_Scan_c(&one, &sum, 1, MPI_INT, large, WORLD);
	all_ok(sum == (rank + 1) * (rank + 2) / 2, "so does a scan");

	MPI_Type_create_resized(MPI_INT, 0, 0, &point);
	MPI_Type_commit(&point);
	calls = longest = elements = 0;
	MPI_Reduce_local_c(&one, &sum, many, point, large);
	all_ok(calls == 1 && elements == many,
	       "a function gets 2^31 + 8 elements in one call");
	calls = longest = elements = 0;
	MPI_Reduce_local_c(&one, &sum, many, point, small);
	all_ok(calls == 2 && elements == many && longest == INT32_MAX,
	       "one that counts with int gets them in two");
	MPI_Type_free(&point);
	MPI_Op_free(&large);
	MPI_Op_free(&small);
}

static void errors(void)
{
	const MPI_Count most = INT64_MAX;
	int value = 0, rc;

	rc = MPI_Bcast_c(&value, -1, MPI_INT, 0, MPI_COMM_SELF);
	all_class(rc, MPI_ERR_COUNT, "a negative count is an error");
	rc = MPI_Bcast_c(&value, most / 4 + 1, MPI_INT, 0, MPI_COMM_SELF);
	all_class(rc, MPI_ERR_COUNT, "so is one of more bytes than there are");
	rc = MPI_Allreduce_c(MPI_IN_PLACE, &value, most, MPI_INT, MPI_SUM,
			     MPI_COMM_SELF);
	all_class(rc, MPI_ERR_COUNT, "also of a reduction");
	counts[0] = most / 2;
	displs[0] = 0;
	rc = MPI_Allgatherv_c(MPI_IN_PLACE, 0, MPI_INT, &value, counts, displs,
			      MPI_INT, MPI_COMM_SELF);
	all_class(rc, MPI_ERR_COUNT, "also in an array");
	for (int i = 0; i < size; i++)
		counts[i] = most / 2 + 1;
	if (size == 1)
		return;
	rc = MPI_Reduce_scatter_c(MPI_IN_PLACE, &value, counts, MPI_CHAR,
				  MPI_SUM, WORLD);
	all_class(rc, MPI_ERR_COUNT, "so is a sum that no count has");
	rc = MPI_Reduce_scatter_block_c(MPI_IN_PLACE, &value, most / 2 + 1,
					MPI_CHAR, MPI_SUM, WORLD);
	all_class(rc, MPI_ERR_COUNT, "and a product");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	for (enum way way = BLOCKING; way < WAYS; way++) {
		rooted(way);
		to_all(way);
		reductions(way);
		neighbours(way);
	}
	mixed();
	far_blocks();
	far_bcast();
	user_operations();
	errors();
	return mtap_end();
}
