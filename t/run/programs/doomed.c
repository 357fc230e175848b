/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of some processes that do one thing all the time, until one process or
 * some die.
 *
 *	doomed PHASE VICTIMS RANKS ROUNDS
 *
 * VICTIMS has a bit for each process that is going to die, RANKS is how many
 * ranks each has.  With ROUNDS > 0 nobody dies and everybody does it so often;
 * with 0 those that live do it until it fails, which must be with
 * MPI_ERR_PROC_ABORTED: else a line that begins with WRONG is printed.  With
 * RETURN in the environment errors are returned, else they are fatal.  Each
 * rank writes its number and its process to READY_FD when it has begun.  With
 * DIE those that are to die kill themselves after so many milliseconds.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "doomed.h"
#include "doomed_coll.h"
#include "pattern.h"

#define SIZE_MAX_RANKS 64

static const char *phase_name;
static int per_process, rounds;
static unsigned victims;

static bool is_victim(int who)
{
	return victims >> who / per_process & 1;
}

/* Tells the killer that this rank has begun. */
static void ready(void)
{
	static bool told;
	const char *fd = getenv("READY_FD");
	int message[2] = { rank, getpid() };

	if (told || !fd)
		return;
	told = true;
	if (write(atoi(fd), message, sizeof(message)) != sizeof(message))
		printf("WRONG: nobody listens to rank %d\n", rank);
}

/* An error must be the death of a process; true if there is one. */
static bool lost(int rc, const char *what)
{
	int class;

	if (rc == MPI_SUCCESS)
		return false;
	MPI_Error_class(rc, &class);
	if (class != MPI_ERR_PROC_ABORTED || !victims)
		printf("WRONG: %s: rank %d: %s: class %d\n", phase_name, rank,
		       what, class);
	return true;
}

/* The number of a message's pattern: the at-th one from one rank to another. */
static uint64_t message(int from, int to, int at)
{
	return (uint64_t)at * 61 + (uint64_t)from * 7 + (uint64_t)to;
}

static void check(const char *buf, int bytes, int from, int at)
{
	if (!pattern_fits(buf, message(from, rank, at), (size_t)bytes))
		printf("WRONG: %s: rank %d: message %d from %d has wrong "
		       "bytes\n",
		       phase_name, rank, at, from);
}

/* The ranks that this one exchanges with: all others, or where some are to die,
 * those with the living ones, and all with them. */
static int peers_find(int *peers)
{
	int count = 0;

	for (int i = 0; i < size; i++)
		if (i != rank && (!victims || is_victim(rank) || is_victim(i)))
			peers[count++] = i;
	return count;
}

/*
 * Messages to and from each peer, the next one when the last one is over.
 */
enum way { WAY_ANY, WAY_SYNC, WAY_SOME, WAY_TEST, WAY_PERSIST };

struct flow {
	MPI_Request *reqs; /* of peer i: 2 i to it, 2 i + 1 from it */
	char **bufs;
	int *left, *at; /* rounds to come and done, by request */
	int *peers, count, active;
	bool gone[SIZE_MAX_RANKS]; /* by peer */
	enum way way;
	int bytes;
};

static int flow_request(struct flow *flow, int i)
{
	int peer = flow->peers[i / 2];
	MPI_Request *req = &flow->reqs[i];
	void *buf = flow->bufs[i];

	if (flow->way == WAY_PERSIST) {
		if (*req != MPI_REQUEST_NULL)
			return MPI_SUCCESS;
		return i % 2 ? MPI_Recv_init(buf, flow->bytes, MPI_BYTE, peer,
					     1, MPI_COMM_WORLD, req) :
			       MPI_Send_init(buf, flow->bytes, MPI_BYTE, peer,
					     1, MPI_COMM_WORLD, req);
	}
	if (i % 2)
		return MPI_Irecv(buf, flow->bytes, MPI_BYTE, peer, 1,
				 MPI_COMM_WORLD, req);
	return (flow->way == WAY_SYNC ? MPI_Issend : MPI_Isend)(
		buf, flow->bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, req);
}

static void flow_next(struct flow *flow, int i)
{
	int rc;

	if (flow->gone[i / 2] || (rounds && flow->left[i]-- == 0))
		return;
	if (i % 2 == 0)
		pattern_fill(flow->bufs[i],
			     message(rank, flow->peers[i / 2], flow->at[i]),
			     (size_t)flow->bytes);
	rc = flow_request(flow, i);
	if (!rc && flow->way == WAY_PERSIST)
		rc = MPI_Start(&flow->reqs[i]);
	if (lost(rc, i % 2 ? "receive" : "send"))
		flow->gone[i / 2] = true;
	else
		flow->active++;
}

static void flow_ended(struct flow *flow, int i, int rc)
{
	flow->active--;
	if (lost(rc, i % 2 ? "end of a receive" : "end of a send"))
		flow->gone[i / 2] = true;
	else if (i % 2)
		check(flow->bufs[i], flow->bytes, flow->peers[i / 2],
		      flow->at[i]);
	flow->at[i]++;
	flow_next(flow, i);
}

/* Waits for some request and goes on with it. */
static void flow_wait(struct flow *flow)
{
	MPI_Status statuses[2 * SIZE_MAX_RANKS];
	int indices[2 * SIZE_MAX_RANKS], count = 1, flag = 0, rc;

	switch (flow->way) {
	case WAY_SOME:
		rc = MPI_Waitsome(2 * flow->count, flow->reqs, &count, indices,
				  statuses);
		for (int i = 0; i < count; i++)
			flow_ended(flow, indices[i],
				   rc ? statuses[i].MPI_ERROR : rc);
		return;
	case WAY_TEST:
		for (int i = 0; i < 2 * flow->count; i++) {
			if (flow->reqs[i] == MPI_REQUEST_NULL)
				continue;
			rc = MPI_Test(&flow->reqs[i], &flag, statuses);
			if (flag || rc)
				flow_ended(flow, i, rc);
		}
		return;
	default:
		rc = MPI_Waitany(2 * flow->count, flow->reqs, indices,
				 statuses);
		flow_ended(flow, indices[0], rc);
	}
}

static void flow_run(int bytes, enum way way)
{
	int peers[SIZE_MAX_RANKS];
	struct flow flow = { .way = way, .bytes = bytes, .peers = peers };
	size_t count;

	flow.count = peers_find(peers);
	count = 2 * (size_t)flow.count;
	flow.reqs = malloc(count * sizeof(*flow.reqs));
	flow.bufs = malloc(count * sizeof(*flow.bufs));
	flow.left = malloc(count * sizeof(*flow.left));
	flow.at = calloc(count, sizeof(*flow.at));
	for (size_t i = 0; i < count; i++) {
		flow.reqs[i] = MPI_REQUEST_NULL;
		flow.bufs[i] = calloc(1, (size_t)bytes);
		flow.left[i] = rounds;
	}
	for (size_t i = 0; i < count; i++)
		flow_next(&flow, (int)i);
	ready();
	while (flow.active)
		flow_wait(&flow);
	for (size_t i = 0; i < count && way == WAY_PERSIST; i++)
		if (flow.reqs[i] != MPI_REQUEST_NULL)
			MPI_Request_free(&flow.reqs[i]);
}

static void pump(int bytes)
{
	flow_run(bytes, WAY_ANY);
}

static void pump_sync(int bytes)
{
	flow_run(bytes, WAY_SYNC);
}

static void pump_some(int bytes)
{
	flow_run(bytes, WAY_SOME);
}

static void pump_test(int bytes)
{
	flow_run(bytes, WAY_TEST);
}

static void pump_persist(int bytes)
{
	flow_run(bytes, WAY_PERSIST);
}

/* The first rank that is to die; without any, the last rank. */
static int first_victim(void)
{
	for (int i = 0; i < size; i++)
		if (is_victim(i))
			return i;
	return size - 1;
}

/* Whether the at-th message to that rank cannot be sent. */
static bool send_number(char *buf, int bytes, int to, int at)
{
	pattern_fill(buf, message(rank, to, at), (size_t)bytes);
	return lost(MPI_Send(buf, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD),
		    "send");
}

/* Waits to be killed. */
static void never(void)
{
	char byte;

	lost(MPI_Recv(&byte, 1, MPI_BYTE, rank, 9, MPI_COMM_WORLD,
		      MPI_STATUS_IGNORE),
	     "receive from itself");
}

/* A rank that is to die sends to all others, in turn. */
static void send_to_living(int bytes)
{
	char *buf = calloc(1, (size_t)bytes);
	int from = first_victim(), living = 0;

	ready();
	for (int i = 0; i < size; i++)
		living += !is_victim(i);
	if (!living)
		never();
	if (rank != from && is_victim(rank))
		return;
	for (int round = 0; !rounds || round < rounds; round++)
		for (int i = 0; i < size; i++)
			if (i != from && !is_victim(i) &&
			    send_number(buf, bytes, i, round))
				return;
}

/* The living take from it by `take`, until that fails. */
static void take_all(int bytes, int (*take)(char *buf, int bytes, int from))
{
	char *buf = calloc(1, (size_t)bytes);
	int from = first_victim();

	if (rank == from || is_victim(rank)) {
		send_to_living(bytes);
		return;
	}
	for (int round = 0; !rounds || round < rounds; round++) {
		if (lost(take(buf, bytes, from), "take"))
			break;
		check(buf, bytes, from, round);
		ready();
	}
	ready();
}

static int take_any(char *buf, int bytes, int from)
{
	return MPI_Recv(buf, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int take_probe(char *buf, int bytes, int from)
{
	int rc = MPI_Probe(from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

	return rc ? rc :
		    MPI_Recv(buf, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
}

static int take_iprobe(char *buf, int bytes, int from)
{
	int flag = 0, rc = 0;

	while (!rc && !flag)
		rc = MPI_Iprobe(from, 1, MPI_COMM_WORLD, &flag,
				MPI_STATUS_IGNORE);
	return rc ? rc : take_probe(buf, bytes, from);
}

static int take_mprobe(char *buf, int bytes, int from)
{
	MPI_Message message;
	int rc = MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &message,
			    MPI_STATUS_IGNORE);

	return rc ? rc :
		    MPI_Mrecv(buf, bytes, MPI_BYTE, &message,
			      MPI_STATUS_IGNORE);
}

static void from_any(int bytes)
{
	take_all(bytes, take_any);
}

static void probed(int bytes)
{
	take_all(bytes, take_probe);
}

static void iprobed(int bytes)
{
	take_all(bytes, take_iprobe);
}

static void mprobed(int bytes)
{
	take_all(bytes, take_mprobe);
}

/* The first victim receives nothing for a while, or never; all others send. */
static void flood(int bytes)
{
	char *buf = calloc(1, (size_t)bytes);
	int to = first_victim();

	ready();
	for (int i = 0; rank == to && i < rounds; i++)
		for (int from = 0; from < size; from++)
			if (from != to &&
			    !lost(MPI_Recv(buf, bytes, MPI_BYTE, from, 1,
					   MPI_COMM_WORLD, MPI_STATUS_IGNORE),
				  "receive"))
				check(buf, bytes, from, i);
	if (rank == to && !rounds)
		never();
	if (rank == to || is_victim(rank))
		return;
	for (int i = 0; !rounds || i < rounds; i++)
		if (send_number(buf, bytes, to, i))
			return;
}

/* The other way round: a living rank begins to receive when its sender may be
 * gone already. */
static void drained(int bytes)
{
	const struct timespec moment = { .tv_nsec = 60000000 };

	ready();
	if (!is_victim(rank) && rank != first_victim())
		nanosleep(&moment, NULL);
	take_all(bytes, take_any);
}

/* Receives that nothing will come for. */
static void idle(int count)
{
	MPI_Request reqs[16];
	MPI_Status statuses[16];
	int from = first_victim(), values[16];

	ready();
	if (rounds)
		return;
	if (is_victim(rank))
		from = (rank / per_process + 1) * per_process % size;
	for (int i = 0; i < count; i++)
		if (lost(MPI_Irecv(&values[i], 1, MPI_INT, from, 2,
				   MPI_COMM_WORLD, &reqs[i]),
			 "receive"))
			return;
	if (count == 1)
		lost(MPI_Wait(reqs, MPI_STATUS_IGNORE), "wait");
	else if (MPI_Waitall(count, reqs, statuses))
		for (int i = 0; i < count; i++)
			lost(statuses[i].MPI_ERROR, "wait for all");
}

/* Computes without communication for a while, then is idle. */
static void busy(int unused)
{
	double until = MPI_Wtime() + 0.3;

	ready();
	while (MPI_Wtime() < until)
		;
	idle(1);
}

/* The living notice it one after the other: where results go one way only, a
 * barrier makes them need the dead. */
static void loop(int which)
{
	for (int i = 0; !rounds || i < rounds; i++) {
		give(which, i);
		if (lost(coll_run(which), "collective"))
			break;
		if (!results_right(which, i))
			printf("WRONG: %s: rank %d: call %d\n", phase_name,
			       rank, i);
		if (i % 8 == 7 && lost(MPI_Barrier(MPI_COMM_WORLD), "barrier"))
			break;
		if (i == 2)
			ready();
	}
	ready();
}

/* Begins and ends. */
static void begin(int unused)
{
	ready();
	lost(MPI_Barrier(MPI_COMM_WORLD), "barrier");
}

/* The rank that is to die is late. */
static void finalize(int unused)
{
	const struct timespec moment = { .tv_nsec = 100000000 };

	ready();
	if (is_victim(rank))
		nanosleep(&moment, NULL);
}

/* The others have only to wait for the rank that is to die. */
static void after(int unused)
{
	const struct timespec moment = { .tv_sec = 2 };

	MPI_Finalize();
	ready();
	if (is_victim(rank))
		nanosleep(&moment, NULL);
}

static void *die(void *ms)
{
	const long wait = atol(ms);
	const struct timespec moment = { .tv_sec = wait / 1000,
					 .tv_nsec = wait % 1000 * 1000000 };

	nanosleep(&moment, NULL);
	kill(getpid(), SIGKILL);
	return NULL;
}

static void death_begin(void)
{
	char *ms = getenv("DIE");
	pthread_t thread;

	if (ms && is_victim(rank) && pthread_create(&thread, NULL, die, ms))
		printf("WRONG: no thread\n");
}

static const struct {
	const char *name;
	void (*run)(int argument);
	int argument;
} phases[] = {
#define PHASE(name, run, argument) { #name, run, argument },
	DOOMED_PHASES(PHASE)
#undef PHASE
};

#define PHASES (sizeof(phases) / sizeof(*phases))

int main(int argc, char **argv)
{
	size_t at = 0;
	int done;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	while (argc == 5 && at < PHASES && strcmp(phases[at].name, argv[1]))
		at++;
	if (argc != 5 || at == PHASES || size > SIZE_MAX_RANKS) {
		fprintf(stderr, "usage: doomed PHASE VICTIMS RANKS ROUNDS\n");
		return 2;
	}
	phase_name = argv[1];
	victims = (unsigned)atoi(argv[2]);
	per_process = atoi(argv[3]);
	rounds = atoi(argv[4]);
	coll_init();
	if (getenv("RETURN"))
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	death_begin();
	phases[at].run(phases[at].argument);
	fflush(stdout);
	MPI_Finalized(&done);
	if (!done)
		lost(MPI_Finalize(), "end");
	MPI_Finalized(&done);
	if (!done)
		printf("WRONG: %s: rank %d cannot end\n", phase_name, rank);
	fflush(stdout);
	return 0;
}
