/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many concurrent nonblocking collectives: on one communicator and on several,
 * mixed with blocking ones, completed in any order and by every completion
 * call, with objects that are freed meanwhile.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "ranks.h"

#define MANY 40

static _Atomic int wrong;

static int sum_of(int size)
{
	return size * (size - 1) / 2;
}

/* Different operations in a row, and what they must give. */
struct slot {
	int in[64], out[64];
};

static void start(struct slot *slot, int i, int rank, int size, MPI_Comm comm,
		  MPI_Request *request)
{
	int root = i % size;

	for (int j = 0; j < size; j++) {
		slot->in[j] = 100 * rank + j + i;
		slot->out[j] = -1;
	}
	switch (i % 6) {
	case 0:
		wrong += MPI_Iallreduce(slot->in, slot->out, 1, MPI_INT,
					MPI_SUM, comm, request) != 0;
		break;
	case 1:
		slot->out[0] = rank == root ? i : -1;
		wrong += MPI_Ibcast(slot->out, 1, MPI_INT, root, comm,
				    request) != 0;
		break;
	case 2:
		wrong += MPI_Ialltoall(slot->in, 1, MPI_INT, slot->out, 1,
				       MPI_INT, comm, request) != 0;
		break;
	case 3:
		slot->out[rank] = rank + i;
		wrong += MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL,
					slot->out, 1, MPI_INT, comm,
					request) != 0;
		break;
	case 4:
		wrong += MPI_Iscan(slot->in, slot->out, 1, MPI_INT, MPI_SUM,
				   comm, request) != 0;
		break;
	default:
		wrong += MPI_Ibarrier(comm, request) != 0;
	}
}

static void check(const struct slot *slot, int i, int rank, int size)
{
	switch (i % 6) {
	case 0:
		wrong += slot->out[0] != 100 * sum_of(size) + i * size;
		break;
	case 1:
		wrong += slot->out[0] != i;
		break;
	case 2:
		for (int j = 0; j < size; j++)
			wrong += slot->out[j] != 100 * j + rank + i;
		break;
	case 3:
		for (int j = 0; j < size; j++)
			wrong += slot->out[j] != j + i;
		break;
	case 4:
		wrong += slot->out[0] !=
			 100 * sum_of(rank + 1) + i * (rank + 1);
		break;
	default:
		break;
	}
}

static void start_all(struct slot *slots, int rank, int size,
		      MPI_Request *requests)
{
	for (int i = 0; i < MANY; i++)
		start(&slots[i], i, rank, size, MPI_COMM_WORLD, &requests[i]);
}

static void waitall(int rank, int size)
{
	struct slot *slots = malloc(MANY * sizeof(*slots));
	MPI_Request requests[MANY];

	start_all(slots, rank, size, requests);
	wrong += MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE) != 0;
	for (int i = 0; i < MANY; i++) {
		check(&slots[i], i, rank, size);
		wrong += requests[i] != MPI_REQUEST_NULL;
	}
	free(slots);
}

static void waitany(int rank, int size)
{
	struct slot *slots = malloc(MANY * sizeof(*slots));
	MPI_Request requests[MANY];
	int i;

	start_all(slots, rank, size, requests);
	for (int n = 0; n < MANY; n++) {
		wrong += MPI_Waitany(MANY, requests, &i, MPI_STATUS_IGNORE) !=
			 0;
		check(&slots[i], i, rank, size);
	}
	MPI_Waitany(MANY, requests, &i, MPI_STATUS_IGNORE);
	wrong += i != MPI_UNDEFINED;
	free(slots);
}

static void testsome(int rank, int size)
{
	struct slot *slots = malloc(MANY * sizeof(*slots));
	int indices[MANY], n, left = MANY;
	MPI_Status statuses[MANY];
	MPI_Request requests[MANY];

	start_all(slots, rank, size, requests);
	while (left > 0) {
		wrong += MPI_Testsome(MANY, requests, &n, indices, statuses) !=
			 0;
		for (int i = 0; i < n; i++)
			check(&slots[indices[i]], indices[i], rank, size);
		left -= n;
	}
	free(slots);
}

/* Each rank waits in its own order. */
static void backwards(int rank, int size)
{
	struct slot *slots = malloc(MANY * sizeof(*slots));
	MPI_Request requests[MANY];

	start_all(slots, rank, size, requests);
	for (int n = 0; n < MANY; n++) {
		int i = (rank % 2 ? n : MANY - 1 - n + rank) % MANY;

		wrong += MPI_Wait(&requests[i], MPI_STATUS_IGNORE) != 0;
		check(&slots[i], i, rank, size);
	}
	free(slots);
}

static void test(int rank, int size)
{
	struct slot *slots = malloc(MANY * sizeof(*slots));
	MPI_Request requests[MANY];
	MPI_Status status;
	int flag;

	start_all(slots, rank, size, requests);
	for (int i = MANY - 1; i >= 0; i--) {
		do
			MPI_Request_get_status(requests[i], &flag, &status);
		while (!flag);
		do
			MPI_Test(&requests[i], &flag, &status);
		while (!flag);
		check(&slots[i], i, rank, size);
	}
	free(slots);
}

/* Blocking collectives and messages between them. */
static void mixed(int rank, int size)
{
	struct slot *slots = malloc(MANY * sizeof(*slots));
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	MPI_Request requests[MANY];

	for (int i = 0; i < MANY; i++) {
		int sum = 0, got = -1;

		start(&slots[i], i, rank, size, MPI_COMM_WORLD, &requests[i]);
		MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		wrong += sum != sum_of(size);
		MPI_Sendrecv(&rank, 1, MPI_INT, right, i, &got, 1, MPI_INT,
			     left, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		wrong += got != left;
		if (i % 5 == 4) {
			MPI_Wait(&requests[i - 2], MPI_STATUS_IGNORE);
			MPI_Barrier(MPI_COMM_WORLD);
		}
	}
	wrong += MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE) != 0;
	for (int i = 0; i < MANY; i++)
		check(&slots[i], i, rank, size);
	free(slots);
}

/* Together with a receive in one array. */
static void with_messages(int rank, int size)
{
	int left = (rank + size - 1) % size, right = (rank + 1) % size;
	int got = -1, sum = -1, n = 0, i;
	MPI_Request requests[3];

	MPI_Irecv(&got, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[0]);
	MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
		       &requests[1]);
	MPI_Issend(&rank, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[2]);
	for (;; n++) {
		MPI_Waitany(3, requests, &i, MPI_STATUS_IGNORE);
		if (i == MPI_UNDEFINED)
			break;
	}
	wrong += n != 3 || got != left || sum != sum_of(size);
}

/* In another order on each of two communicators. */
static void two_communicators(int rank, int size)
{
	int sums[2] = { 0 }, last = size - 1;
	MPI_Request requests[2];
	MPI_Comm other;

	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	for (int i = 0; i < 2; i++) {
		int which = (i + rank) % 2;

		MPI_Iallreduce(which ? &last : &rank, &sums[which], 1, MPI_INT,
			       MPI_SUM, which ? other : MPI_COMM_WORLD,
			       &requests[which]);
	}
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	wrong += sums[0] != sum_of(size) || sums[1] != size * last;
	MPI_Comm_free(&other);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
	int *a = in, *b = inout;

	for (int i = 0; i < 2 * *n; i++)
		b[i] += a[i];
}

/* All objects of the call are freed before it is complete. */
static void freed(int rank, int size)
{
	int in[4] = { rank, 1, rank, 1 }, out[4] = { 0 }, counts[64] = { 0 };
	int own[2] = { -1, -1 };
	int displs[64] = { 0 }, token = 7, mine = -1;
	MPI_Datatype pair, types[64];
	MPI_Request requests[2];
	MPI_Comm comm;
	MPI_Op op;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	MPI_Op_create(add, 1, &op);
	MPI_Iallreduce(in, out, 2, pair, op, comm, &requests[0]);
	for (int i = 0; i < size; i++)
		types[i] = pair;
	counts[rank] = 1;
	MPI_Ialltoallw(in, counts, displs, types, own, counts, displs, types,
		       comm, &requests[1]);
	MPI_Op_free(&op);
	MPI_Type_free(&pair);
	MPI_Comm_free(&comm);
	/* New ones take their places. */
	MPI_Type_contiguous(5, MPI_DOUBLE, &pair);
	MPI_Op_create(add, 0, &op);
	MPI_Comm_dup(MPI_COMM_SELF, &comm);
	MPI_Bcast(rank ? &mine : &token, 1, MPI_INT, 0, comm);
	wrong += MPI_Waitall(2, requests, MPI_STATUSES_IGNORE) != 0;
	wrong += out[0] != sum_of(size) || out[1] != size || out[2] != out[0] ||
		 out[3] != size || own[0] != rank || own[1] != 1;
	MPI_Op_free(&op);
	MPI_Type_free(&pair);
	MPI_Comm_free(&comm);
}

#ifndef T_MPI_PROGRAM
/* Rank 0 finishes last: no other waits before it has come. */
static void not_before(int rank, int size)
{
	static _Atomic int entered;
	MPI_Request request;
	int flag = 0;

	MPI_Barrier(MPI_COMM_WORLD);
	entered = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0 && size > 1) {
		int token;

		MPI_Recv(&token, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		entered = 1;
	}
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	wrong += size > 1 && flag && !entered;
	if (rank == size - 1 && size > 1)
		MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	wrong += size > 1 && !entered;
	MPI_Barrier(MPI_COMM_WORLD);
}
#endif

static const struct {
	void (*ranks)(int rank, int size);
	const char *sentence;
} checks[] = {
	{ waitall, "many at a time complete together" },
	{ waitany, "or one by one as they come" },
	{ testsome, "or some at a time" },
	{ backwards, "or in any order, another one on each rank" },
	{ test, "or when they are asked often enough" },
	{ mixed, "blocking ones go their own way between them" },
	{ with_messages, "messages complete in the same call" },
	{ two_communicators, "the order counts on each communicator alone" },
	{ freed, "what they name may be freed before they end" },
#ifndef T_MPI_PROGRAM /* it needs a variable that all ranks share */
	{ not_before, "none ends before all ranks have started it" },
#endif
};
#define CHECKS ((int)(sizeof(checks) / sizeof(checks[0])))

int main(void)
{
	static const int sizes[] = { 1, 2, 3, 4, 5, 8, 17, 64 };

	plan(2 * CHECKS);
	for (int workers = 1; workers <= 2; workers++) {
		for (int c = 0; c < CHECKS; c++) {
			wrong = 0;
			for (int i = 0; i < 8; i++)
				ranks_run(sizes[i], workers, checks[c].ranks);
			is_int(wrong, 0, "%s, on %d workers",
			       checks[c].sentence, workers);
		}
	}
	return done_testing();
}
