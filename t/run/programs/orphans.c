/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Usage: orphans COLLECTIVE BYTES MICROSECONDS
 *
 * Ranks in several processes call a collective again and again, until the
 * process of the last rank dies.  Then all others get MPI_ERR_PROC_ABORTED,
 * from this and from the next one, and nobody waits for ever.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, bytes, doubles, faults;
static char *in, *out;

static int bcast(int i, MPI_Comm comm)
{
	return MPI_Bcast(in, bytes, MPI_BYTE, i % size, comm);
}

static int gather(int i, MPI_Comm comm)
{
	return MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, i % size,
			  comm);
}

static int allgather(int i, MPI_Comm comm)
{
	(void)i;
	return MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
}

static int alltoall(int i, MPI_Comm comm)
{
	(void)i;
	return MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
}

static int reduce(int i, MPI_Comm comm)
{
	return MPI_Reduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, i % size,
			  comm);
}

static int allreduce(int i, MPI_Comm comm)
{
	(void)i;
	return MPI_Allreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, comm);
}

static int iallreduce(int i, MPI_Comm comm)
{
	MPI_Request request;
	int rc = MPI_Iallreduce(in, out, doubles, MPI_DOUBLE, MPI_SUM, comm,
				&request);

	(void)i;
	return rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int scan(int i, MPI_Comm comm)
{
	(void)i;
	return MPI_Scan(in, out, doubles, MPI_DOUBLE, MPI_SUM, comm);
}

static int barrier(int i, MPI_Comm comm)
{
	(void)i;
	return MPI_Barrier(comm);
}

static const struct {
	const char *name;
	int (*call)(int i, MPI_Comm comm);
} calls[] = {
	{ "bcast", bcast },	    { "gather", gather },
	{ "allgather", allgather }, { "alltoall", alltoall },
	{ "reduce", reduce },	    { "allreduce", allreduce },
	{ "scan", scan },	    { "iallreduce", iallreduce },
	{ "barrier", barrier },
};

static void expect_lost(int rc, const char *what)
{
	int class = rc;

	if (rc)
		MPI_Error_class(rc, &class);
	if (class == MPI_ERR_PROC_ABORTED)
		return;
	printf("rank %d: %s: class %d\n", rank, what, class);
	faults++;
}

static void *die(void *delay)
{
	usleep(*(useconds_t *)delay);
	kill(getpid(), SIGKILL);
	return NULL;
}

/* No rank ends before all living ones are done; two ranks are dead. */
static void farewell(void)
{
	for (int i = 1; rank == 0 && i < size - 2; i++)
		MPI_Recv(NULL, 0, MPI_INT, i, 6, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	for (int i = 1; rank == 0 && i < size - 2; i++)
		MPI_Ssend(NULL, 0, MPI_INT, i, 7, MPI_COMM_WORLD);
	if (rank == 0)
		return;
	MPI_Ssend(NULL, 0, MPI_INT, 0, 6, MPI_COMM_WORLD);
	MPI_Recv(NULL, 0, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int which = 0, provided, rc = 0;
	useconds_t delay;
	pthread_t thread;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (argc < 4)
		return 2;
	while (strcmp(calls[which].name, argv[1]))
		which++;
	bytes = atoi(argv[2]);
	doubles = bytes / 8;
	delay = (useconds_t)atoi(argv[3]);
	in = calloc((size_t)size, (size_t)bytes + 8);
	out = calloc((size_t)size, (size_t)bytes + 8);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == size - 1)
		pthread_create(&thread, NULL, die, &delay);
	for (int i = 0; !rc; i++)
		rc = calls[which].call(i, MPI_COMM_WORLD);
	expect_lost(rc, "the one that was interrupted");
	expect_lost(calls[which].call(0, MPI_COMM_WORLD), "the next one");
	printf("rank %d: %d faults\n", rank, faults);
	fflush(stdout);
	farewell();
	MPI_Finalize();
	return 0;
}
