/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Continuations: one operation and several, chains of them, their request,
 * threads, errors.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "mtap.h"

enum { MANY = 50 };

static int next, before;
static MPI_Request conts;
static _Atomic int ran;

static int count_it(int rc, void *data)
{
	*(int *)data = rc == MPI_SUCCESS ? 1 : -1;
	ran++;
	return MPI_SUCCESS;
}

static void several(void)
{
	static int in[MANY], out[MANY], done[MANY];
	static MPI_Status status[MANY];
	MPI_Request request, sends[MANY];
	bool held = true, null = true;
	int flag = 1;

	ran = 0;
	for (int i = 0; i < MANY; i++) {
		MPI_Irecv(&in[i], 1, MPI_INT, before, i, MPI_COMM_WORLD,
			  &request);
		MPIX_Continue(&request, count_it, &done[i], 0, &status[i],
			      conts);
		null = null && request == MPI_REQUEST_NULL;
	}
	all_ok(null && ran == 0, "MPIX_Continue takes a request over");
	MPI_Test(&conts, &flag, MPI_STATUS_IGNORE);
	all_ok(!flag, "the request waits for what is not complete");
	everybody();
	for (int i = 0; i < MANY; i++) {
		out[i] = rank * MANY + i;
		MPI_Isend(&out[i], 1, MPI_INT, next, i, MPI_COMM_WORLD,
			  &sends[i]);
	}
	MPI_Wait(&conts, MPI_STATUS_IGNORE);
	for (int i = 0; i < MANY; i++)
		held = held && done[i] == 1 && in[i] == before * MANY + i &&
		       status[i].MPI_TAG == i && status[i].MPI_SOURCE == before;
	all_ok(held && ran == MANY, "each continuation runs, with its status");
	MPI_Waitall(MANY, sends, MPI_STATUSES_IGNORE);
}

static int all_came(int rc, void *data)
{
	int *in = data;

	ran += rc == MPI_SUCCESS && in[0] == before && in[1] == before + 1;
	return MPI_SUCCESS;
}

static void together(void)
{
	int in[2] = { -1, -1 }, out[2] = { rank, rank + 1 };
	MPI_Request request[4];
	MPI_Status status[4];

	ran = 0;
	MPI_Irecv(&in[0], 1, MPI_INT, before, 0, MPI_COMM_WORLD, &request[0]);
	MPI_Irecv(&in[1], 1, MPI_INT, before, 1, MPI_COMM_WORLD, &request[1]);
	MPI_Isend(&out[0], 1, MPI_INT, next, 0, MPI_COMM_WORLD, &request[2]);
	MPI_Isend(&out[1], 1, MPI_INT, next, 1, MPI_COMM_WORLD, &request[3]);
	MPIX_Continueall(4, request, all_came, in, 0, status, conts);
	MPI_Wait(&conts, MPI_STATUS_IGNORE);
	all_ok(ran == 1 && status[1].MPI_TAG == 1,
	       "MPIX_Continueall runs once, after all");
	MPIX_Continueall(0, NULL, count_it, &ran, 0, MPI_STATUSES_IGNORE,
			 conts);
	MPI_Wait(&conts, MPI_STATUS_IGNORE);
	all_ok(ran == 2, "nothing is complete at once");
}

/* Each step receives, sends on, and continues with the next. */
struct chain {
	int steps, token;
};

static int step(int rc, void *data)
{
	struct chain *chain = data;
	MPI_Request request;

	if (rc != MPI_SUCCESS)
		return rc;
	chain->token++;
	if (--chain->steps == 0)
		return MPI_SUCCESS;
	MPI_Send(&chain->token, 1, MPI_INT, next, 5, MPI_COMM_WORLD);
	MPI_Irecv(&chain->token, 1, MPI_INT, before, 5, MPI_COMM_WORLD,
		  &request);
	return MPIX_Continue(&request, step, chain, 0, MPI_STATUS_IGNORE,
			     conts);
}

static void chains(void)
{
	struct chain chain = { .steps = 200 };
	MPI_Request none = MPI_REQUEST_NULL;

	MPIX_Continue(&none, step, &chain, 0, MPI_STATUS_IGNORE, conts);
	MPI_Wait(&conts, MPI_STATUS_IGNORE);
	all_ok(chain.steps == 0 && chain.token == 200,
	       "a continuation sends, and continues what it begins");
}

static void immediately(void)
{
	MPI_Request none = MPI_REQUEST_NULL;
	int done = 0, flag = 0;

	MPI_Start(&conts);
	MPI_Test(&conts, &flag, MPI_STATUS_IGNORE);
	all_ok(flag, "without continuations the request completes");
	MPIX_Continue(&none, count_it, &done, 0, MPI_STATUS_IGNORE, conts);
	all_ok(done == 0, "a continuation does not run within the call");
	MPI_Wait(&conts, MPI_STATUS_IGNORE);
	all_ok(done == 1, "but soon");
	done = 0;
	MPIX_Continue(&none, count_it, &done, MPIX_CONT_IMMEDIATE,
		      MPI_STATUS_IGNORE, conts);
	all_ok(done == 1, "unless that is asked for");
	MPI_Wait(&conts, MPI_STATUS_IGNORE);
}

static void persistent(void)
{
	MPI_Request request[2];
	int in = -1, done = 0;
	bool held = true;

	MPI_Recv_init(&in, 1, MPI_INT, before, 7, MPI_COMM_WORLD, &request[0]);
	MPI_Send_init(&rank, 1, MPI_INT, next, 7, MPI_COMM_WORLD, &request[1]);
	for (int i = 0; i < 3; i++) {
		in = -1;
		MPI_Startall(2, request);
		MPIX_Continueall(2, request, count_it, &done, 0,
				 MPI_STATUSES_IGNORE, conts);
		MPI_Wait(&conts, MPI_STATUS_IGNORE);
		held = held && in == before && request[0] != MPI_REQUEST_NULL;
	}
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
	all_ok(held, "persistent requests stay");
}

static void *add_some(void *arg)
{
	int tag = *(int *)arg;
	static int in[3], out[3], done[3];
	MPI_Request request[2];

	out[tag] = rank;
	MPI_Irecv(&in[tag], 1, MPI_INT, before, 100 + tag, MPI_COMM_WORLD,
		  &request[0]);
	MPI_Isend(&out[tag], 1, MPI_INT, next, 100 + tag, MPI_COMM_WORLD,
		  &request[1]);
	MPIX_Continueall(2, request, count_it, &done[tag], 0,
			 MPI_STATUSES_IGNORE, conts);
	return NULL;
}

static void threads(void)
{
	pthread_t thread[3];
	int tags[3] = { 0, 1, 2 };

	ran = 0;
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, add_some, &tags[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	MPI_Wait(&conts, MPI_STATUS_IGNORE);
	all_ok(ran == 3, "threads add to one request");
}

static int refuse(int rc, void *data)
{
	*(int *)data = rc;
	return MPI_ERR_OTHER;
}

static void errors(void)
{
	MPI_Request request, other;
	char big[8] = "", small[2];
	int rc = 0;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Irecv(small, 2, MPI_CHAR, before, 9, MPI_COMM_WORLD, &request);
	MPIX_Continue(&request, refuse, &rc, 0, MPI_STATUS_IGNORE, conts);
	MPI_Send(big, 8, MPI_CHAR, next, 9, MPI_COMM_WORLD);
	all_class(MPI_Wait(&conts, MPI_STATUS_IGNORE), MPI_ERR_OTHER,
		  "what a continuation returns is the request's error");
	all_class(rc, MPI_ERR_TRUNCATE, "an operation's error is told to it");
	all_class(MPI_Wait(&conts, MPI_STATUS_IGNORE), MPI_SUCCESS,
		  "and forgotten");
	other = MPI_REQUEST_NULL;
	all_class(MPIX_Continue(&other, refuse, &rc, 0, MPI_STATUS_IGNORE,
				MPI_REQUEST_NULL),
		  MPI_ERR_REQUEST, "continuations have a request");
	all_class(MPIX_Continue(&conts, refuse, &rc, 0, MPI_STATUS_IGNORE,
				conts),
		  MPI_ERR_REQUEST, "which is another one");
	all_class(MPIX_Continue(&other, NULL, &rc, 0, MPI_STATUS_IGNORE, conts),
		  MPI_ERR_ARG, "and a function");
	all_class(MPIX_Continue(&other, refuse, &rc, 64, MPI_STATUS_IGNORE,
				conts),
		  MPI_ERR_ARG, "unknown flags are an error");
	all_class(MPIX_Continueall(-1, &other, refuse, &rc, 0,
				   MPI_STATUSES_IGNORE, conts),
		  MPI_ERR_COUNT, "as is a negative count");
}

/* Freed while a continuation is under way. */
static void freed(void)
{
	MPI_Request request, own;
	int in = -1, done = 0;

	MPIX_Continue_init(0, 0, MPI_INFO_NULL, &own);
	MPI_Irecv(&in, 1, MPI_INT, before, 11, MPI_COMM_WORLD, &request);
	MPIX_Continue(&request, count_it, &done, 0, MPI_STATUS_IGNORE, own);
	ran = 0;
	MPI_Request_free(&own);
	MPI_Send(&rank, 1, MPI_INT, next, 11, MPI_COMM_WORLD);
	while (!ran) {
		int flag;

		MPI_Iprobe(before, 12, MPI_COMM_WORLD, &flag,
			   MPI_STATUS_IGNORE);
	}
	all_ok(in == before && own == MPI_REQUEST_NULL,
	       "what a freed request has still runs");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	next = (rank + 1) % size;
	before = (rank + size - 1) % size;
	MPIX_Continue_init(0, 0, MPI_INFO_NULL, &conts);
	several();
	together();
	chains();
	immediately();
	persistent();
	threads();
	errors();
	freed();
	MPI_Request_free(&conts);
	all_ok(conts == MPI_REQUEST_NULL, "a continuation request is freed");
	return mtap_end();
}
