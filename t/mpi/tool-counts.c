/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A known traffic has known counts, whatever the processes: messages inside
 * collectives are counted apart from the program's.
 */
#include "tool.h"

enum { ROUNDS = 50, SMALL = 64, LARGE = 100000, BARRIERS = 10 };

static char large[LARGE], large_in[LARGE];

/* A short message to the right, a long one to the left. */
static void halo(void)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	char small[SMALL] = "", small_in[SMALL];
	MPI_Request reqs[4];

	MPI_Irecv(small_in, SMALL, MPI_CHAR, left, 1, MPI_COMM_WORLD, &reqs[0]);
	MPI_Irecv(large_in, LARGE, MPI_CHAR, right, 2, MPI_COMM_WORLD,
		  &reqs[1]);
	MPI_Isend(small, SMALL, MPI_CHAR, right, 1, MPI_COMM_WORLD, &reqs[2]);
	MPI_Isend(large, LARGE, MPI_CHAR, left, 2, MPI_COMM_WORLD, &reqs[3]);
	MPI_Waitall(4, reqs, MPI_STATUSES_IGNORE);
}

/* Collectives of all kinds, short and long. */
static void collectives(void)
{
	double *values = calloc((size_t)size, LARGE), *all;
	MPI_Request request;

	all = calloc((size_t)size, LARGE);
	MPI_Allreduce(values, all, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	MPI_Allreduce(values, all, LARGE / 8, MPI_DOUBLE, MPI_SUM,
		      MPI_COMM_WORLD);
	MPI_Bcast(values, LARGE / 8, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
	MPI_Alltoall(values, LARGE / 8, MPI_DOUBLE, all, LARGE / 8, MPI_DOUBLE,
		     MPI_COMM_WORLD);
	MPI_Allgather(values, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE,
		      MPI_COMM_WORLD);
	MPI_Iallreduce(values, all, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD,
		       &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Ibcast(values, LARGE / 8, MPI_DOUBLE, 0, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	for (int i = 0; i < BARRIERS; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	free(values);
	free(all);
}

/* Probed, matched and persistent ones. */
static void other_ways(void)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	int token, matched;
	MPI_Request requests[2];
	MPI_Message message;

	MPI_Irecv(&token, 1, MPI_INT, left, 4, MPI_COMM_WORLD, &requests[0]);
	MPI_Send(&rank, 1, MPI_INT, right, 3, MPI_COMM_WORLD);
	MPI_Mprobe(left, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Imrecv(&matched, 1, MPI_INT, &message, &requests[1]);
	MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
	MPI_Send(&rank, 1, MPI_INT, right, 4, MPI_COMM_WORLD);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Recv_init(&token, 1, MPI_INT, left, 5, MPI_COMM_WORLD,
		      &requests[0]);
	MPI_Send_init(&rank, 1, MPI_INT, right, 5, MPI_COMM_WORLD,
		      &requests[1]);
	MPI_Startall(2, requests);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	MPI_Request_free(&requests[0]);
	MPI_Request_free(&requests[1]);
}

static const char *const names[] = { "core_sends", "core_receives",
				     "core_sent_bytes", "core_received_bytes" };

int main(int argc, char **argv)
{
	const uint64_t messages = 2 * ROUNDS + 3;
	const uint64_t bytes = (SMALL + LARGE) * ROUNDS + 3 * sizeof(int);
	MPI_T_pvar_handle handles[4];
	MPI_T_pvar_session session;
	uint64_t values[4];
	int provided;

	mtap_init(&argc, &argv);
	MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
	MPI_T_pvar_session_create(&session);
	for (int i = 0; i < 4; i++)
		handles[i] = tool_handle(session, names[i]);
	for (int i = 0; i < ROUNDS; i++) {
		halo();
		collectives();
	}
	other_ways();
	for (int i = 0; i < 4; i++)
		values[i] = tool_read(session, handles[i]);
	for (int i = 0; i < 4; i++)
		all_ok(values[i] == (i < 2 ? messages : bytes),
		       "%s has the program's own messages only", names[i]);
	MPI_T_pvar_session_free(&session);
	MPI_T_finalize();
	return mtap_end();
}
