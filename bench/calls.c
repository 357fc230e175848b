/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What single calls take: a pair of ranks, 8 bytes, one way of completion each.
 *
 *	calls [--quick] [NAME]
 *	calls NAME N
 *
 * Prints "NAME ns", the time of a repetition; with N it does NAME so often and
 * prints nothing, for tools that count instructions.  In the first group each
 * repetition is an exchange of one message each way, or of a window of them; in
 * that of names with "vain" a call that finds nothing, while the other rank
 * waits.
 */
#include <stdbool.h>

#include "pair.h"

#define WINDOW 8
#define REQUESTS 4 /* of a vain call */
enum { TAG_BACK = 7, TAG_NEVER };

static char out[WINDOW][8], in[WINDOW][8];

static void send_recv(int rank, int n, void *arg)
{
	(void)arg;
	for (int i = 0; i < n; i++) {
		if (rank == 0)
			MPI_Send(out, 8, MPI_BYTE, 1, TAG_WORK, MPI_COMM_WORLD);
		MPI_Recv(in, 8, MPI_BYTE, !rank, TAG_WORK, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(out, 8, MPI_BYTE, 0, TAG_WORK, MPI_COMM_WORLD);
	}
}

static void sendrecv(int rank, int n, void *arg)
{
	(void)arg;
	for (int i = 0; i < n; i++)
		MPI_Sendrecv(out, 8, MPI_BYTE, !rank, TAG_WORK, in, 8, MPI_BYTE,
			     !rank, TAG_WORK, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
}

static void replace(int rank, int n, void *arg)
{
	(void)arg;
	for (int i = 0; i < n; i++)
		MPI_Sendrecv_replace(out, 8, MPI_BYTE, !rank, TAG_WORK, !rank,
				     TAG_WORK, MPI_COMM_WORLD,
				     MPI_STATUS_IGNORE);
}

/* Each side posts its receive, and then sends. */
static void both_start(int rank, MPI_Request *request)
{
	MPI_Irecv(in, 8, MPI_BYTE, !rank, TAG_WORK, MPI_COMM_WORLD, request);
	MPI_Send(out, 8, MPI_BYTE, !rank, TAG_WORK, MPI_COMM_WORLD);
}

static void wait_one(int rank, int n, void *arg)
{
	MPI_Request request;

	(void)arg;
	for (int i = 0; i < n; i++) {
		both_start(rank, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	}
}

static void test(int rank, int n, void *arg)
{
	MPI_Request request;
	int done;

	(void)arg;
	for (int i = 0; i < n; i++) {
		both_start(rank, &request);
		do
			MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		while (!done);
	}
}

static void probe(int rank, int n, void *arg)
{
	MPI_Status status;
	int there;

	(void)arg;
	for (int i = 0; i < n; i++) {
		MPI_Send(out, 8, MPI_BYTE, !rank, TAG_WORK, MPI_COMM_WORLD);
		do
			MPI_Iprobe(!rank, TAG_WORK, MPI_COMM_WORLD, &there,
				   &status);
		while (!there);
		MPI_Recv(in, 8, MPI_BYTE, !rank, TAG_WORK, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	}
}

/* The window: receives, then sends, then all are completed by `complete`. */
static void window(int rank, int n, void (*complete)(MPI_Request *requests))
{
	MPI_Request requests[2 * WINDOW];

	for (int i = 0; i < n; i++) {
		for (int j = 0; j < WINDOW; j++)
			MPI_Irecv(in[j], 8, MPI_BYTE, !rank, TAG_WORK,
				  MPI_COMM_WORLD, &requests[j]);
		for (int j = 0; j < WINDOW; j++)
			MPI_Isend(out[j], 8, MPI_BYTE, !rank, TAG_WORK,
				  MPI_COMM_WORLD, &requests[WINDOW + j]);
		complete(requests);
	}
}

static void all_wait(MPI_Request *requests)
{
	MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
}

static void all_test(MPI_Request *requests)
{
	int done;

	do
		MPI_Testall(2 * WINDOW, requests, &done, MPI_STATUSES_IGNORE);
	while (!done);
}

static void any_wait(MPI_Request *requests)
{
	int index;

	for (int i = 0; i < 2 * WINDOW; i++)
		MPI_Waitany(2 * WINDOW, requests, &index, MPI_STATUS_IGNORE);
}

static void any_test(MPI_Request *requests)
{
	int index, done;

	for (int i = 0; i < 2 * WINDOW; i += done)
		MPI_Testany(2 * WINDOW, requests, &index, &done,
			    MPI_STATUS_IGNORE);
}

static void some_wait(MPI_Request *requests)
{
	int count, indices[2 * WINDOW];

	for (int i = 0; i < 2 * WINDOW; i += count)
		MPI_Waitsome(2 * WINDOW, requests, &count, indices,
			     MPI_STATUSES_IGNORE);
}

static void some_test(MPI_Request *requests)
{
	int count, indices[2 * WINDOW];

	for (int i = 0; i < 2 * WINDOW; i += count)
		MPI_Testsome(2 * WINDOW, requests, &count, indices,
			     MPI_STATUSES_IGNORE);
}

static void waitall(int rank, int n, void *arg)
{
	(void)arg;
	window(rank, n, all_wait);
}

static void testall(int rank, int n, void *arg)
{
	(void)arg;
	window(rank, n, all_test);
}

static void waitany(int rank, int n, void *arg)
{
	(void)arg;
	window(rank, n, any_wait);
}

static void testany(int rank, int n, void *arg)
{
	(void)arg;
	window(rank, n, any_test);
}

static void waitsome(int rank, int n, void *arg)
{
	(void)arg;
	window(rank, n, some_wait);
}

static void testsome(int rank, int n, void *arg)
{
	(void)arg;
	window(rank, n, some_test);
}

/* Rank 0 calls `ask` n times with receives for which nothing comes; rank 1 waits
 * until it is told the end. */
static void vain(int rank, int n, void (*ask)(MPI_Request *requests))
{
	MPI_Request requests[REQUESTS];

	if (rank == 1) {
		MPI_Recv(in, 8, MPI_BYTE, 0, TAG_BACK, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		for (int i = 0; i < REQUESTS; i++)
			MPI_Send(out, 8, MPI_BYTE, 0, TAG_NEVER,
				 MPI_COMM_WORLD);
		return;
	}
	for (int i = 0; i < REQUESTS; i++)
		MPI_Irecv(in[i], 8, MPI_BYTE, 1, TAG_NEVER, MPI_COMM_WORLD,
			  &requests[i]);
	for (int i = 0; i < n; i++)
		ask(requests);
	MPI_Send(out, 8, MPI_BYTE, 1, TAG_BACK, MPI_COMM_WORLD);
	MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
}

static void ask_test(MPI_Request *requests)
{
	int done;

	MPI_Test(requests, &done, MPI_STATUS_IGNORE);
}

static void ask_any(MPI_Request *requests)
{
	int index, done;

	MPI_Testany(REQUESTS, requests, &index, &done, MPI_STATUS_IGNORE);
}

static void ask_all(MPI_Request *requests)
{
	int done;

	MPI_Testall(REQUESTS, requests, &done, MPI_STATUSES_IGNORE);
}

static void ask_some(MPI_Request *requests)
{
	int count, indices[REQUESTS];

	MPI_Testsome(REQUESTS, requests, &count, indices, MPI_STATUSES_IGNORE);
}

static void ask_probe(MPI_Request *requests)
{
	int there;

	(void)requests;
	MPI_Iprobe(MPI_ANY_SOURCE, TAG_BACK, MPI_COMM_WORLD, &there,
		   MPI_STATUS_IGNORE);
}

static void vain_test(int rank, int n, void *arg)
{
	(void)arg;
	vain(rank, n, ask_test);
}

static void vain_any(int rank, int n, void *arg)
{
	(void)arg;
	vain(rank, n, ask_any);
}

static void vain_all(int rank, int n, void *arg)
{
	(void)arg;
	vain(rank, n, ask_all);
}

static void vain_some(int rank, int n, void *arg)
{
	(void)arg;
	vain(rank, n, ask_some);
}

static void vain_probe(int rank, int n, void *arg)
{
	(void)arg;
	vain(rank, n, ask_probe);
}

static const struct {
	const char *name;
	pair_work work;
} rows[] = {
	{ "send-recv", send_recv },
	{ "sendrecv", sendrecv },
	{ "replace", replace },
	{ "wait", wait_one },
	{ "test", test },
	{ "iprobe", probe },
	{ "waitall", waitall },
	{ "testall", testall },
	{ "waitany", waitany },
	{ "testany", testany },
	{ "waitsome", waitsome },
	{ "testsome", testsome },
	{ "vain-test", vain_test },
	{ "vain-testany", vain_any },
	{ "vain-testall", vain_all },
	{ "vain-testsome", vain_some },
	{ "vain-iprobe", vain_probe },
};

int main(int argc, char **argv)
{
	struct effort effort = effort_of(argc, argv);
	int rank = pair_rank(&argc, &argv);
	bool quick = argc > 1 && !strcmp(argv[1], "--quick");
	const char *name = argc > 1 + quick ? argv[1 + quick] : NULL;
	int n = argc > 2 + quick ? atoi(argv[2 + quick]) : 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double ns = 0;

		if (name && strcmp(name, rows[i].name) != 0)
			continue;
		MPI_Barrier(MPI_COMM_WORLD);
		if (n)
			rows[i].work(rank, n, NULL);
		else
			ns = pair_measure(rank, &effort, rows[i].work, NULL);
		if (rank == 0 && !n)
			printf("%s %.1f\n", rows[i].name, ns);
	}
	MPI_Finalize();
	return 0;
}
