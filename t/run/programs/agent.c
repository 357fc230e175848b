/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that compute while a message is to reach them: agent HOW DIR.
 *
 * They compute until a file of DIR is there, or until the message is in its
 * buffer; so without somebody else who moves it the program does not end.  At its
 * end rank 0 prints "right", how often its agent was called and found something,
 * and how many started collectives a helper held.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES (1 << 20)
#define ROUNDS 5

static char path[256];
static const char *dir;
static int rank;
static MPI_T_pvar_session session;

static const char *file(const char *name, int round)
{
	snprintf(path, sizeof(path), "%s/%s-%d", dir, name, round);
	return path;
}

static void say(const char *name, int round)
{
	FILE *made = fopen(file(name, round), "w");

	if (!made)
		MPI_Abort(MPI_COMM_WORLD, 3);
	fclose(made);
}

/* Computes, as far as MPI can tell. */
static void await(const char *name, int round)
{
	file(name, round);
	while (access(path, F_OK))
		;
}

/* What the counter grows by from here on. */
static MPI_T_pvar_handle counter(const char *name)
{
	MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
	int index, count;

	if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) ||
	    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count))
		MPI_Abort(MPI_COMM_WORLD, 4);
	return handle;
}

static unsigned long long grown(MPI_T_pvar_handle handle)
{
	unsigned long long value = 0;

	if (MPI_T_pvar_read(session, handle, &value))
		MPI_Abort(MPI_COMM_WORLD, 5);
	return value;
}

/* Each of two processes has one rank; rank 1 sends so many bytes to rank 0, when
 * that computes. */
static void both_compute(int bytes)
{
	volatile char *buffer = calloc(1, (size_t)bytes);
	MPI_Request req;

	for (int round = 1; round <= ROUNDS; round++) {
		if (rank == 0) {
			MPI_Irecv((void *)buffer, bytes, MPI_CHAR, 1, 0,
				  MPI_COMM_WORLD, &req);
			say("computes", round);
			while (buffer[bytes - 1] != round)
				;
			say("landed", round);
		} else {
			memset((void *)buffer, round, (size_t)bytes);
			await("computes", round);
			MPI_Isend((void *)buffer, bytes, MPI_CHAR, 0, 0,
				  MPI_COMM_WORLD, &req);
			await("landed", round);
		}
		MPI_Wait(&req, MPI_STATUS_IGNORE);
	}
	free((void *)buffer);
}

/* Each of two processes has one rank; rank 0 computes until the other one has
 * reached its memory, which only packets do, in all ways. */
static void reached(void)
{
	volatile long memory[2] = { 0 };
	long one = 1, none = 0, old = -1;
	MPI_Win win;

	MPI_Win_create((void *)memory, sizeof(memory), sizeof(memory[0]),
		       MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	for (int round = 1; round <= ROUNDS; round++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == 0) {
			say("computes", round);
			while (memory[0] != round)
				;
			await("landed", round);
			continue;
		}
		await("computes", round);
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM,
			       win);
		MPI_Win_flush(0, win);
		MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 1, MPI_SUM, win);
		MPI_Win_unlock(0, win);
		if (old != round - 1)
			MPI_Abort(MPI_COMM_WORLD, 6);
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
		MPI_Get(&none, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
		MPI_Win_unlock(0, win);
		if (none != round)
			MPI_Abort(MPI_COMM_WORLD, 7);
		say("landed", round);
	}
	MPI_Win_free(&win);
}

/* Each of two processes has two ranks; rank 2 sends to rank 1, which waits, while
 * rank 0 of its process computes. */
static void one_waits(void)
{
	char *buffer = calloc(1, BYTES);

	for (int round = 1; round <= ROUNDS; round++) {
		if (rank == 0) {
			/* Then rank 1 waits. */
			MPI_Recv(NULL, 0, MPI_CHAR, 1, 1, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
			say("computes", round);
			await("landed", round);
		} else if (rank == 1) {
			MPI_Send(NULL, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
			MPI_Recv(buffer, BYTES, MPI_CHAR, 2, 0, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		} else if (rank == 2) {
			await("computes", round);
			MPI_Ssend(buffer, BYTES, MPI_CHAR, 1, 0,
				  MPI_COMM_WORLD);
			say("landed", round);
		}
		MPI_Barrier(MPI_COMM_WORLD);
	}
	free(buffer);
}

static void ping(int times)
{
	int word = 0;

	for (int i = 0; i < times; i++)
		if (rank == 0) {
			MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
			MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
			MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
		}
}

/* One that nobody computes during. */
static void exchange(void)
{
	char *buffer = calloc(1, BYTES);

	if (rank == 0)
		MPI_Send(buffer, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
	else
		MPI_Recv(buffer, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	free(buffer);
}

/* Rank 1 asks for a message, which is there, and computes from then on until the
 * sender has ended. */
static void leaves(void)
{
	const int bytes = 1 << 17;
	char *buffer = calloc(1, (size_t)bytes);
	MPI_Request req;
	int here = 0;

	for (int round = 1; round <= ROUNDS; round++)
		if (rank == 0) {
			memset(buffer, round, (size_t)bytes);
			MPI_Send(buffer, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
			say("left", round);
		} else {
			for (here = 0; !here;)
				MPI_Iprobe(0, 0, MPI_COMM_WORLD, &here,
					   MPI_STATUS_IGNORE);
			MPI_Irecv(buffer, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD,
				  &req);
			await("left", round);
			MPI_Wait(&req, MPI_STATUS_IGNORE);
			for (int i = 0; i < bytes; i++)
				if (buffer[i] != round)
					MPI_Abort(MPI_COMM_WORLD, 8);
		}
	free(buffer);
}

/* The other process has its result too, without having been helped by ours. */
static void both_have(const char *what, int round)
{
	static const char of[2] = { 'a', 'b' };
	char name[32];

	snprintf(name, sizeof(name), "%s-%c", what, of[rank]);
	say(name, round);
	snprintf(name, sizeof(name), "%s-%c", what, of[1 - rank]);
	await(name, round);
}

/* Waits for what has been started, and checks the result. */
static void finish(MPI_Request *req, const volatile int *result, int count,
		   int value)
{
	MPI_Wait(req, MPI_STATUS_IGNORE);
	for (int i = 0; i < count; i++)
		if (result[i] != value)
			MPI_Abort(MPI_COMM_WORLD, 9);
}

/* Each of two processes has one rank, which computes until what it has started
 * has its result; with so many integers. */
static void started(int count)
{
	int *mine = malloc(2 * sizeof(int) * (size_t)count);
	volatile int *sum = calloc((size_t)count, sizeof(int));
	volatile int *all = calloc((size_t)count, 2 * sizeof(int));
	MPI_Request req;

	for (int round = 1; round <= ROUNDS; round++) {
		for (int i = 0; i < 2 * count; i++)
			mine[i] = round;
		MPI_Iallreduce(mine, (void *)sum, count, MPI_INT, MPI_SUM,
			       MPI_COMM_WORLD, &req);
		while (sum[count - 1] != 2 * round)
			;
		both_have("sum", round);
		finish(&req, sum, count, 2 * round);
		MPI_Ibcast(rank ? (void *)sum : mine, count, MPI_INT, 0,
			   MPI_COMM_WORLD, &req);
		while (rank && sum[count - 1] != round)
			;
		both_have("bcast", round);
		finish(&req, rank ? sum : mine, count, round);
		MPI_Ialltoall(mine, count, MPI_INT, (void *)all, count, MPI_INT,
			      MPI_COMM_WORLD, &req);
		while (all[2 * count - 1] != round || all[0] != round)
			;
		both_have("all", round);
		finish(&req, all, 2 * count, round);
	}
	free(mine);
	free((void *)sum);
	free((void *)all);
}

/* The same of what is short, whose start says all that others need: one computes
 * until the other one has its result. */
static void started_short(void)
{
	MPI_Request req;
	int sum = 0;

	for (int round = 1; round <= ROUNDS; round++) {
		MPI_Iallreduce(&round, &sum, 1, MPI_INT, MPI_SUM,
			       MPI_COMM_WORLD, &req);
		if (rank == 0)
			await("short", round);
		finish(&req, &sum, 1, 2 * round);
		if (rank == 1)
			say("short", round);
	}
}

static void run(const char *how)
{
	if (!strcmp(how, "long"))
		both_compute(BYTES);
	else if (!strcmp(how, "short"))
		both_compute(4);
	else if (!strcmp(how, "waits"))
		one_waits();
	else if (!strcmp(how, "reached"))
		reached();
	else if (!strcmp(how, "started-short"))
		started_short();
	else if (!strcmp(how, "started"))
		started(BYTES / 4);
	else if (!strcmp(how, "leaves"))
		leaves();
	else if (!strcmp(how, "ping"))
		ping(2000);
	else
		exchange();
}

int main(int argc, char **argv)
{
	MPI_T_pvar_handle calls, looks, helped;
	int provided;

	MPI_Init(&argc, &argv);
	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc != 3)
		MPI_Abort(MPI_COMM_WORLD, 2);
	dir = argv[2];
	MPI_T_pvar_session_create(&session);
	calls = counter("core_agent_calls");
	looks = counter("core_agent_found");
	helped = counter("core_errands_helped");
	run(argv[1]);
	if (rank == 0)
		printf("right, called %llu times, found %llu, helped %llu\n",
		       grown(calls), grown(looks), grown(helped));
	MPI_T_finalize();
	MPI_Finalize();
	return 0;
}
