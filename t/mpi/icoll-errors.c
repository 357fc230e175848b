/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Erroneous calls of nonblocking collectives: errors in one rank's arguments
 * fail at once; mismatches among ranks fail on every rank when the request
 * completes.  The communicator remains usable.
 */
#include <stdatomic.h>
#include <string.h>

#include "ranks.h"

/* The number of ranks that got each class, and of right sums afterwards. */
static _Atomic int classes[64], good;

static int class_of(int rc)
{
	int class;

	MPI_Error_class(rc, &class);
	return class;
}

static void count(MPI_Request *request)
{
	classes[class_of(MPI_Wait(request, MPI_STATUS_IGNORE))]++;
	good += *request == MPI_REQUEST_NULL;
}

static void different_calls(int rank, int size)
{
	MPI_Request request;
	int x = 0;

	if (rank == 1)
		MPI_Ibcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
	else
		MPI_Ibarrier(MPI_COMM_WORLD, &request);
	count(&request);
}

static void different_roots(int rank, int size)
{
	MPI_Request request;
	int x = 0;

	MPI_Ibcast(&x, 1, MPI_INT, rank == 2, MPI_COMM_WORLD, &request);
	count(&request);
}

static void different_ops(int rank, int size)
{
	MPI_Request request;
	int x = 0, y;

	MPI_Iallreduce(&x, &y, 1, MPI_INT, rank == 2 ? MPI_MAX : MPI_SUM,
		       MPI_COMM_WORLD, &request);
	count(&request);
}

static void short_bcast(int rank, int size)
{
	int x[4] = { rank, rank, rank, rank };
	MPI_Request request;

	MPI_Ibcast(x, rank == 3 ? 2 : 4, MPI_INT, 0, MPI_COMM_WORLD, &request);
	count(&request);
}

/* The second of three requests fails; Waitall reports which. */
static void one_of_many(int rank, int size)
{
	MPI_Request requests[3];
	MPI_Status statuses[3];
	int x = 0, rc;

	MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
	MPI_Ibcast(&x, 1, MPI_INT, rank == 2, MPI_COMM_WORLD, &requests[1]);
	MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
	rc = MPI_Waitall(3, requests, statuses);
	good += rc == MPI_ERR_IN_STATUS && statuses[0].MPI_ERROR == 0 &&
		statuses[2].MPI_ERROR == 0;
	classes[class_of(statuses[1].MPI_ERROR)]++;
}

static void (*wrong_call)(int rank, int size);

static void twice(int rank, int size)
{
	int sum = 0;

	wrong_call(rank, size);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	good += sum == size * (size - 1) / 2;
}

/* n of the four ranks get the class, the others none. */
static void expect(void (*call)(int rank, int size), int class, int n,
		   const char *what)
{
	for (int workers = 1; workers <= 2; workers++) {
		memset((void *)classes, 0, sizeof(classes));
		good = 0;
		wrong_call = call;
		if (!ranks_run(4, workers, twice)) {
			skip(1, "%s: not on %d workers", what, workers);
			continue;
		}
		ranks_share(classes, 64);
		ranks_share(&good, 1);
		ok(classes[class] == n && classes[0] == 4 - n && good == 8,
		   "%s: seen by %d on %d workers", what, n, workers);
	}
}

/* An erroneous call starts nothing. */
static void arguments(int rank, int size)
{
	MPI_Request request = MPI_REQUEST_NULL;
	int x[8] = { 0 }, y[8] = { 0 };

	if (rank != 0)
		return;
	is_int(MPI_Ibcast(x, 1, MPI_INT, size, MPI_COMM_WORLD, &request),
	       MPI_ERR_ROOT, "a root that is no rank");
	is_int(MPI_Ibcast(x, -1, MPI_INT, 0, MPI_COMM_WORLD, &request),
	       MPI_ERR_COUNT, "a negative count");
	is_int(MPI_Iallgather(x, 1, MPI_DATATYPE_NULL, y, 1, MPI_INT,
			      MPI_COMM_WORLD, &request),
	       MPI_ERR_TYPE, "no datatype");
	is_int(MPI_Ibarrier(MPI_COMM_NULL, &request), MPI_ERR_COMM,
	       "no communicator");
	is_int(MPI_Ibarrier(MPI_COMM_WORLD, NULL), MPI_ERR_ARG,
	       "nowhere to put the request");
	is_int(MPI_Iallreduce(x, y, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD,
			      &request),
	       MPI_ERR_OP, "no operation");
	ok(request == MPI_REQUEST_NULL, "no request comes out of them");
}

/* Operations that MPI forbids on the request of a collective. */
static void requests(int rank, int size)
{
	MPI_Request request;
	int token = 0;

	/* Rank 1 starts it when rank 0 has tried. */
	if (rank == 1)
		MPI_Recv(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	if (rank == 0) {
		is_int(MPI_Cancel(&request), MPI_ERR_REQUEST,
		       "a collective cannot be cancelled");
		is_int(MPI_Request_free(&request), MPI_ERR_REQUEST,
		       "nor its request freed");
		MPI_Send(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	}
	good += MPI_Wait(&request, MPI_STATUS_IGNORE) == 0;
}

int main(void)
{
	plan(10 + 7 + 3);
	expect(different_calls, MPI_ERR_OTHER, 4, "different calls");
	expect(different_roots, MPI_ERR_OTHER, 4, "different roots");
	expect(different_ops, MPI_ERR_OTHER, 4, "different operations");
	expect(short_bcast, MPI_ERR_TRUNCATE, 1, "a short receive buffer");
	expect(one_of_many, MPI_ERR_OTHER, 4, "one wrong among others");
	ranks_run(4, 2, arguments);
	good = 0;
	ranks_run(4, 2, requests);
	ranks_share(&good, 1);
	is_int(good, 4, "but it completes");
	return done_testing();
}
