/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Three ranks that are processes, of which the second one dies.  Puts to it and to
 * the third one are put off and then moved together, or by each other: the flush of
 * the dead one fails, and nothing else.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "expect.h"

enum { BYTES = 16 << 10, TIMES = 3, DEAD = 1, ALIVE = 2 };

static char memory[TIMES * BYTES], data[BYTES];
static MPI_Win win;

#define LOST(call) expect(call, MPI_ERR_PROC_ABORTED, #call)
#define GOOD(call) expect(call, MPI_SUCCESS, #call)

static int put(int to, int place)
{
	return MPI_Put(data, BYTES, MPI_BYTE, to, (MPI_Aint)place * BYTES,
		       BYTES, MPI_BYTE, win);
}

/* The second access since the window was made, and more, are put off. */
static void puts_all(void)
{
	data[0] = 7;
	for (int i = 0; i < TIMES; i++) {
		GOOD(put(ALIVE, i));
		GOOD(put(DEAD, i));
	}
	GOOD(MPI_Win_flush(ALIVE, win));
	LOST(MPI_Win_flush(DEAD, win));
	GOOD(MPI_Win_flush(DEAD, win));
	GOOD(put(ALIVE, 0));
	GOOD(MPI_Win_flush(ALIVE, win));
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
		       &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	GOOD(MPI_Barrier(MPI_COMM_WORLD));
	if (rank == DEAD)
		kill(getpid(), SIGKILL);
	LOST(MPI_Recv(NULL, 0, MPI_INT, DEAD, 1, MPI_COMM_WORLD,
		      MPI_STATUS_IGNORE));
	if (rank == 0) {
		GOOD(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
		puts_all();
		GOOD(MPI_Ssend(NULL, 0, MPI_INT, ALIVE, 2, MPI_COMM_WORLD));
	} else {
		GOOD(MPI_Recv(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD,
			      MPI_STATUS_IGNORE));
		for (int i = 0; i < TIMES; i++)
			faults += memory[i * BYTES] != 7;
	}
	printf("rank %d: %d faults\n", rank, faults);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
