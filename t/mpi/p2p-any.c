/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of MPI_Waitany and MPI_Testany among several complete requests.
 */
#include "mtap.h"

#define RECEIVES 4
#define MESSAGES 30

static int in[RECEIVES];
static MPI_Request requests[RECEIVES];

static void post(int i)
{
	MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD,
		  &requests[i]);
}

/*
 * All messages are there before the first one is asked for; but for one before
 * them, which alone is complete and so is where the order begins.
 */
static void send_all(int to)
{
	int index = -1, last;

	for (int i = 0; i < RECEIVES; i++)
		post(i);
	MPI_Send(&rank, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
	MPI_Waitany(RECEIVES, requests, &index, MPI_STATUS_IGNORE);
	post(index);
	everybody();
	for (int i = 0; i < MESSAGES; i++)
		MPI_Send(&i, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
	/* These come behind them on their path, also from another process. */
	MPI_Sendrecv(&rank, 1, MPI_INT, to, 4, &last, 1, MPI_INT,
		     MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Returns the index of the next request, by MPI_Waitany or MPI_Testany. */
static int take(bool wait)
{
	int index = -1, flag = 0;

	if (wait)
		MPI_Waitany(RECEIVES, requests, &index, MPI_STATUS_IGNORE);
	while (!wait && !flag)
		MPI_Testany(RECEIVES, requests, &index, &flag,
			    MPI_STATUS_IGNORE);
	return index;
}

static void in_order(bool wait, const char *name)
{
	int wrong = 0, index;

	send_all((rank + 1) % size);
	for (int i = 0; i < MESSAGES; i++) {
		index = take(wait);
		wrong += in[index] != i;
		post(index);
	}
	for (int i = 0; i < RECEIVES; i++) {
		MPI_Cancel(&requests[i]);
		MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
	}
	all_ok(wrong == 0,
	       "%s gives receives that are posted again in the order of their "
	       "messages",
	       name);
}

/* A request that is complete at every test does not starve others. */
static void no_starving(void)
{
	MPI_Request pair[2];
	int index = -1, rounds = 0, late = -1;

	MPI_Irecv(&late, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &pair[1]);
	MPI_Send(&rank, 1, MPI_INT, rank, 2, MPI_COMM_WORLD);
	while (index != 1 && rounds++ < 10) {
		MPI_Isend(&rank, 0, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD,
			  &pair[0]);
		MPI_Waitany(2, pair, &index, MPI_STATUS_IGNORE);
	}
	MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
	all_ok(index == 1 && late == rank,
	       "MPI_Waitany gives each of two that are always complete");
}

/* Another set of requests in the same array begins anew. */
static void first_of_another(void)
{
	int first = -1, second = -1;

	for (int i = 0; i < RECEIVES; i++)
		MPI_Isend(&rank, 1, MPI_INT, rank, 5, MPI_COMM_WORLD,
			  &requests[i]);
	MPI_Waitany(RECEIVES, requests, &first, MPI_STATUS_IGNORE);
	MPI_Waitall(RECEIVES, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < RECEIVES; i++)
		MPI_Isend(&rank, 1, MPI_INT, rank, 5, MPI_COMM_WORLD,
			  &requests[i]);
	MPI_Waitany(RECEIVES, requests, &second, MPI_STATUS_IGNORE);
	MPI_Waitall(RECEIVES, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 2 * RECEIVES; i++)
		MPI_Recv(&in[0], 1, MPI_INT, rank, 5, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	all_ok(first == 0 && second == 0,
	       "of another set of sends in the same array, which are all "
	       "complete, MPI_Waitany gives the first");
}

/* Another array has nothing to do with the one before. */
static void first_of_array(void)
{
	MPI_Request other[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
	int got[2], one[2] = { -1, -1 }, index = -1;

	for (int i = 0; i < 2; i++) {
		MPI_Irecv(&got[i], 1, MPI_INT, rank, 6, MPI_COMM_WORLD,
			  &requests[i]);
		MPI_Send(&rank, 1, MPI_INT, rank, 6, MPI_COMM_WORLD);
	}
	MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
	for (int i = 0; i < 2; i++) {
		MPI_Irecv(&one[i], 1, MPI_INT, rank, 7, MPI_COMM_WORLD,
			  &other[i]);
		MPI_Send(&i, 1, MPI_INT, rank, 7, MPI_COMM_WORLD);
	}
	MPI_Waitany(2, other, &index, MPI_STATUS_IGNORE);
	MPI_Waitall(2, other, MPI_STATUSES_IGNORE);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	all_ok(index == 0 && one[0] == 0 && one[1] == 1,
	       "of another array, too");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	in_order(true, "MPI_Waitany");
	in_order(false, "MPI_Testany");
	no_starving();
	first_of_another();
	first_of_array();
	return mtap_end();
}
