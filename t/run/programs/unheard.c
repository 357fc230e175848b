/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Three ranks in three processes, of which the last one dies in a collective.
 * Rank 0 notices, since it sends to the dead; rank 1 does not: it has had the
 * dead rank's part, and vmpirun, which would tell it, is stopped.  Then rank 0
 * makes a call that differs from rank 1's.  Both must get MPI_ERR_PROC_ABORTED,
 * not an error about calls that disagree.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

static void tell(int peer, int tag)
{
	expect(MPI_Send(NULL, 0, MPI_INT, peer, tag, MPI_COMM_WORLD), 0,
	       "a message to the living");
}

static void hear(int peer, int tag)
{
	expect(MPI_Recv(NULL, 0, MPI_INT, peer, tag, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE),
	       0, "a message from the living");
}

/* Whether a process is in a state of ps(1). */
static int is_in(int pid, char wanted)
{
	char path[64], line[256] = "", *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	state = strrchr(line, ')');
	return state && state[2] == wanted;
}

/* Makes a call and returns when its message is under way to all others: the
 * task that sends it runs while this rank waits for rank 0. */
static void start(int root, MPI_Request *request)
{
	static int in, out;

	expect(MPI_Ireduce(&in, &out, 1, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD,
			   request),
	       0, "the begin of a call");
}

static void notices(void)
{
	int launcher = getppid(), dead, rc = 0;
	MPI_Request request;

	kill(launcher, SIGSTOP);
	while (!is_in(launcher, 'T'))
		usleep(1000);
	expect(MPI_Recv(&dead, 1, MPI_INT, 2, 0, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE),
	       0, "the number of the process that will die");
	tell(2, 1);
	hear(2, 2);
	tell(1, 1);
	hear(1, 2);
	tell(2, 3);
	while (!is_in(dead, 'Z'))
		usleep(1000);
	/* Sleeping in between, so that the network's answer to the first one is
	 * seen before credits run out: who waits for these hears of a death
	 * only from vmpirun. */
	while (!rc) {
		rc = MPI_Send(&rank, 1, MPI_INT, 2, 4, MPI_COMM_WORLD);
		usleep(1000);
	}
	expect(rc, MPI_ERR_PROC_ABORTED, "a message to the dead");
	start(0, &request);
	expect(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED,
	       "the call of the one that knows");
	hear(1, 5);
	kill(launcher, SIGCONT);
	tell(1, 6);
}

static void is_unaware(void)
{
	MPI_Request request;

	start(1, &request);
	hear(0, 1);
	hear(2, 7); /* and so what it sent before */
	tell(0, 2);
	expect(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED,
	       "the call of the one that does not know");
	expect(MPI_Barrier(MPI_COMM_WORLD), MPI_ERR_PROC_ABORTED,
	       "its next call");
	tell(0, 5);
	hear(0, 6);
}

static void dies(void)
{
	int pid = getpid();
	MPI_Request request;

	expect(MPI_Send(&pid, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), 0,
	       "the number of this process");
	start(1, &request);
	hear(0, 1);
	tell(1, 7);
	tell(0, 2);
	hear(0, 3);
	kill(pid, SIGKILL);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		notices();
	else if (rank == 1)
		is_unaware();
	else
		dies();
	printf("rank %d: %d faults\n", rank, faults);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
