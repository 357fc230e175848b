/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deadlock KIND: jobs that wait for ever, and others that only look so, for a
 * second, and then end.
 */
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks, value;
static MPI_Comm world;

#define LONG (1 << 20)

static void receive(int from, int tag)
{
	MPI_Recv(&value, 1, MPI_INT, from, tag, world, MPI_STATUS_IGNORE);
}

static void give(int to, int tag)
{
	MPI_Send(&value, 1, MPI_INT, to, tag, world);
}

/* Nobody sends. */
static void ring(void)
{
	receive((rank + 1) % ranks, 7);
}

static void tag(void)
{
	give((rank + 1) % ranks, 8);
	receive((rank + ranks - 1) % ranks, 7);
}

static void source(void)
{
	if (rank == 2)
		give(0, 7);
	receive(1, 7);
}

static void communicator(void)
{
	MPI_Comm other;

	MPI_Comm_dup(world, &other);
	MPI_Send(&value, 1, MPI_INT, (rank + 1) % ranks, 7, other);
	receive((rank + ranks - 1) % ranks, 7);
}

static void barrier(void)
{
	if (rank == 1)
		receive(0, 7);
	MPI_Barrier(world);
}

static void sends(void)
{
	char *bytes = calloc(1, LONG);

	MPI_Send(bytes, LONG, MPI_CHAR, (rank + 1) % ranks, 8, world);
}

static void probe(void)
{
	MPI_Status status;

	MPI_Probe((rank + 1) % ranks, MPI_ANY_TAG, world, &status);
}

static void started(MPI_Request requests[2])
{
	MPI_Irecv(&value, 1, MPI_INT, (rank + 1) % ranks, 3, world, requests);
	requests[1] = MPI_REQUEST_NULL;
	if (rank != 1)
		MPI_Ibarrier(world, requests + 1);
}

static void waitall(void)
{
	MPI_Request requests[2];

	started(requests);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void waitany(void)
{
	MPI_Request requests[2];
	int index;

	started(requests);
	MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

static void waitsome(void)
{
	MPI_Request requests[2];
	int count, indices[2];

	started(requests);
	MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
}

/* Two ranks of the same program wait for the third, which is at its end. */
static void finalize(void)
{
	if (rank)
		receive(0, 7);
}

/* The team of a region stays, waiting. */
static void team(void)
{
	int sum = 0;

#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum++;
	value = sum;
	ring();
}

/* From here on: no deadlocks. */
static void moment(void)
{
	struct timespec second = { .tv_sec = 1 };

	while (nanosleep(&second, &second))
		;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Rank 0 does something, for which all others wait. */
static void pass(void)
{
	if (rank == 0)
		for (int i = 1; i < ranks; i++)
			give(i, 7);
	else
		receive(0, 7);
}

/* Standard input is a pipe. */
static void reads(void)
{
	char byte;

	if (rank == 0 && read(STDIN_FILENO, &byte, 1) != 1)
		MPI_Abort(world, 3);
	pass();
}

static void sleeps(void)
{
	if (rank == 0)
		moment();
	pass();
}

static void computes(void)
{
	double end = now() + 1;

	while (rank == 0 && now() < end)
		;
	pass();
}

static void polls(void)
{
	MPI_Request request = MPI_REQUEST_NULL;
	double end = now() + 1;
	int done = 0;

	if (rank) {
		MPI_Irecv(&value, 1, MPI_INT, 0, 7, world, &request);
		while (!done)
			MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		return;
	}
	while (now() < end)
		MPI_Iprobe(MPI_ANY_SOURCE, 1, world, &done, MPI_STATUS_IGNORE);
	for (int i = 1; i < ranks; i++)
		give(i, 7);
}

static void *late(void *arg)
{
	if (arg)
		sem_wait(arg);
	else
		moment();
	for (int i = 0; i < ranks; i++)
		give(i, 7);
	return NULL;
}

/* A thread of rank 0 sends, while all ranks wait. */
static void thread(void)
{
	pthread_t thread;

	if (rank == 0)
		pthread_create(&thread, NULL, late, NULL);
	receive(0, 7);
	if (rank == 0)
		pthread_join(thread, NULL);
}

static sem_t semaphore;

static void alarm_take(int signal)
{
	(void)signal;
	sem_post(&semaphore);
}

/* A thread waits for a timer, by way of a signal. */
static void timer(void)
{
	struct itimerval second = { .it_value.tv_sec = 1 };
	pthread_t thread;

	if (rank == 0) {
		sem_init(&semaphore, 0, 0);
		signal(SIGALRM, alarm_take);
		pthread_create(&thread, NULL, late, &semaphore);
		setitimer(ITIMER_REAL, &second, NULL);
	}
	receive(0, 7);
	if (rank == 0)
		pthread_join(thread, NULL);
}

static void openmp(void)
{
#pragma omp parallel num_threads(2)
	if (rank == 0)
		moment();
	pass();
}

/* The process of rank 0 is stopped for a second. */
static void stopped(void)
{
	struct timespec little = { .tv_nsec = 300000000 };
	char command[100];
	int self = (int)getpid();

	if (rank == 0) {
		snprintf(command, sizeof(command),
			 "(kill -STOP %d; sleep 1; kill -CONT %d) &", self,
			 self);
		if (system(command))
			MPI_Abort(world, 3);
		nanosleep(&little, NULL);
	}
	pass();
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "ring", ring },	  { "tag", tag },
	{ "source", source },	  { "communicator", communicator },
	{ "barrier", barrier },	  { "sends", sends },
	{ "probe", probe },	  { "waitall", waitall },
	{ "waitany", waitany },	  { "waitsome", waitsome },
	{ "finalize", finalize }, { "team", team },
	{ "reads", reads },	  { "sleeps", sleeps },
	{ "computes", computes }, { "polls", polls },
	{ "thread", thread },	  { "timer", timer },
	{ "openmp", openmp },	  { "stopped", stopped },
};

int main(int argc, char **argv)
{
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	world = MPI_COMM_WORLD;
	MPI_Comm_rank(world, &rank);
	MPI_Comm_size(world, &ranks);
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]);
	     i++)
		if (!strcmp(argv[1], kinds[i].name))
			kinds[i].run();
	MPI_Finalize();
	return 0;
}
