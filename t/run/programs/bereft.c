/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Six ranks in three processes, of which the middle one dies.  What the others
 * need it for must end with MPI_ERR_PROC_ABORTED, everything else go on; a receive
 * from any source waits on for the living.
 * With an argument they keep the default error handler and stay at it.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "expect.h"

#define BIG (3 << 20)
#define DEAD 2 /* and 3 */

static char *big;

#define LOST(call) expect(call, MPI_ERR_PROC_ABORTED, #call)
#define GOOD(call) expect(call, MPI_SUCCESS, #call)

/* Messages of all sizes to and from the ranks that die, until one fails. */
static int traffic(void)
{
	MPI_Request reqs[4];
	MPI_Status statuses[4];
	char *in = malloc(2 * BIG);
	int small = 0, rc;

	for (;;) {
		int peer = DEAD + rank % 2;

		rc = MPI_Isend(big, BIG, MPI_CHAR, peer, 1, MPI_COMM_WORLD,
			       &reqs[0]);
		if (!rc)
			rc = MPI_Isend(&small, 1, MPI_INT, peer, 2,
				       MPI_COMM_WORLD, &reqs[1]);
		if (rc)
			return rc;
		MPI_Irecv(in, BIG, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &reqs[2]);
		MPI_Irecv(in + BIG, BIG, MPI_CHAR, peer, 2, MPI_COMM_WORLD,
			  &reqs[3]);
		if (MPI_Waitall(4, reqs, statuses))
			for (int i = 0; i < 4; i++)
				if (statuses[i].MPI_ERROR)
					return statuses[i].MPI_ERROR;
	}
}

/* The partner of two of the others, until the process dies. */
static void serve(void)
{
	const int peers[2] = { rank % 2, 4 + rank % 2 };
	static char in[BIG];
	MPI_Request reqs[8];
	int small[2];

	for (int round = 0;; round++) {
		for (int i = 0; i < 2; i++) {
			MPI_Request *four = reqs + 4 * i;

			MPI_Irecv(in, BIG, MPI_CHAR, peers[i], 1,
				  MPI_COMM_WORLD, &four[0]);
			MPI_Irecv(&small[i], 1, MPI_INT, peers[i], 2,
				  MPI_COMM_WORLD, &four[1]);
			MPI_Isend(big, BIG, MPI_CHAR, peers[i], 1,
				  MPI_COMM_WORLD, &four[2]);
			MPI_Isend(&round, 1, MPI_INT, peers[i], 2,
				  MPI_COMM_WORLD, &four[3]);
		}
		if (round == 20 && rank == DEAD)
			kill(getpid(), SIGKILL);
		MPI_Waitall(8, reqs, MPI_STATUSES_IGNORE);
	}
}

/* Operations begun while all lived, and those begun now. */
static void bereaved(void)
{
	int value = 0, flag = 0, rc;
	MPI_Request from, any, sync;
	MPI_Status status;
	MPI_Message message;

	GOOD(MPI_Irecv(&value, 1, MPI_INT, DEAD, 3, MPI_COMM_WORLD, &from));
	GOOD(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD,
		       &any));
	GOOD(MPI_Issend(&value, 1, MPI_INT, DEAD, 9, MPI_COMM_WORLD, &sync));
	LOST(traffic());
	LOST(MPI_Wait(&from, &status));
	expect(MPI_Wait(&any, &status), MPIX_ERR_PROC_FAILED_PENDING,
	       "MPI_Wait(&any, &status)");
	GOOD(MPI_Cancel(&any));
	GOOD(MPI_Wait(&any, &status));
	GOOD(MPI_Test_cancelled(&status, &flag));
	faults += !flag;
	LOST(MPI_Wait(&sync, &status));
	LOST(MPI_Send(&value, 1, MPI_INT, DEAD + 1, 4, MPI_COMM_WORLD));
	LOST(MPI_Send(big, BIG, MPI_CHAR, DEAD, 4, MPI_COMM_WORLD));
	LOST(MPI_Recv(&value, 1, MPI_INT, DEAD, 4, MPI_COMM_WORLD, &status));
	LOST(MPI_Probe(DEAD, 4, MPI_COMM_WORLD, &status));
	LOST(MPI_Mprobe(DEAD, 4, MPI_COMM_WORLD, &message, &status));
	do
		rc = MPI_Iprobe(DEAD, 4, MPI_COMM_WORLD, &flag, &status);
	while (!rc && !flag);
	LOST(rc);
	/* The living: 0 and 4, 1 and 5. */
	rc = MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 4) % 8, 5, &value, 1,
			  MPI_INT, (rank + 4) % 8, 5, MPI_COMM_WORLD, &status);
	GOOD(rc);
	if (value != (rank + 4) % 8)
		faults++;
}

/* No rank ends before all living ones are done. */
static void farewell(void)
{
	static const int living[] = { 1, 4, 5 };

	for (int i = 0; rank == 0 && i < 3; i++)
		GOOD(MPI_Recv(NULL, 0, MPI_INT, living[i], 6, MPI_COMM_WORLD,
			      MPI_STATUS_IGNORE));
	for (int i = 0; rank == 0 && i < 3; i++)
		GOOD(MPI_Ssend(NULL, 0, MPI_INT, living[i], 7, MPI_COMM_WORLD));
	if (rank == 0)
		return;
	GOOD(MPI_Ssend(NULL, 0, MPI_INT, 0, 6, MPI_COMM_WORLD));
	GOOD(MPI_Recv(NULL, 0, MPI_INT, 0, 7, MPI_COMM_WORLD,
		      MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	big = calloc(1, BIG);
	if (argc == 1)
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	/* Two processes that meet only after a death may lose each other: see
	 * "Death" in docs/architecture.md. */
	GOOD(MPI_Barrier(MPI_COMM_WORLD));
	if (rank == DEAD || rank == DEAD + 1)
		serve();
	bereaved();
	printf("rank %d: %d faults\n", rank, faults);
	fflush(stdout);
	farewell();
	MPI_Finalize();
	return 0;
}
