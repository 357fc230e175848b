/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of other messages: an 8-byte ping-pong whose receive is posted
 * behind N receives for other messages (posted), or beside N other messages
 * that have already arrived (unexpected); the latter also with a receive from
 * any source (wildcard).  Prints "KIND-N ns" (half round trip).
 */
#include "pair.h"

#define N_MAX 10000
#define TAG_OTHER 100 /* and up: the messages of no interest */

static void ping(int rank, int n, void *arg)
{
	int source = *(const int *)arg;
	char buffer[8] = { 0 };

	for (int i = 0; i < n; i++) {
		if (rank == 0)
			MPI_Send(buffer, 8, MPI_BYTE, 1, TAG_WORK,
				 MPI_COMM_WORLD);
		MPI_Recv(buffer, 8, MPI_BYTE, source, TAG_WORK, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(buffer, 8, MPI_BYTE, 0, TAG_WORK,
				 MPI_COMM_WORLD);
	}
}

static void post(int rank, int count, double *data, MPI_Request *requests)
{
	for (int i = 0; i < count; i++)
		MPI_Irecv(&data[i], 8, MPI_BYTE, !rank, TAG_OTHER + i,
			  MPI_COMM_WORLD, &requests[i]);
}

static void others_send(int rank, int count)
{
	double value;

	for (int i = 0; i < count; i++) {
		value = i;
		MPI_Send(&value, 8, MPI_BYTE, !rank, TAG_OTHER + i,
			 MPI_COMM_WORLD);
	}
}

/* Every message came to its own receive. */
static void others_check(int count, const double *data)
{
	for (int i = 0; i < count; i++)
		if (data[i] != i) {
			fprintf(stderr, "receive %d got message %.0f\n", i,
				data[i]);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
}

static void measure(const struct effort *effort, int rank, const char *kind,
		    int count)
{
	static double data[N_MAX];
	static MPI_Request requests[N_MAX];
	int source = !strcmp(kind, "wildcard") ? MPI_ANY_SOURCE : !rank;
	int posted = !strcmp(kind, "posted");
	double ns;

	if (posted)
		post(rank, count, data, requests);
	else
		others_send(rank, count);
	MPI_Barrier(MPI_COMM_WORLD);
	ns = pair_measure(rank, effort, ping, &source);
	if (posted)
		others_send(rank, count);
	else
		post(rank, count, data, requests);
	MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
	others_check(count, data);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("%s-%d %.2f\n", kind, count, ns / 2);
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "posted", "unexpected",
					     "wildcard" };
	static const int counts[] = { 0, 1, 10, 100, 1000, N_MAX };
	struct effort effort = effort_of(argc, argv);
	int rank = pair_rank(&argc, &argv);

	effort.batch_ns /= 2;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
			measure(&effort, rank, kinds[k], counts[i]);
	MPI_Finalize();
	return 0;
}
