/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known messages and collectives, and a load of which all is rank 0's: it
 * computes for the milliseconds of the argument, in the section "lopsided".  Each
 * rank sends 20 messages of 1000 bytes and has 12 collectives, one of them
 * nonblocking.  With a second argument the process of the last rank dies.
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define MESSAGES 20
#define BYTES 1000

static long cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void compute(long ms)
{
	long begin = cpu_ms();

	while (cpu_ms() - begin < ms)
		;
}

int main(int argc, char **argv)
{
	char in[BYTES], out[BYTES] = { 0 };
	int rank, size, one = 1, sum;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < MESSAGES; i++)
		MPI_Sendrecv(out, BYTES, MPI_BYTE, (rank + 1) % size, 1, in,
			     BYTES, MPI_BYTE, (rank + size - 1) % size, 1,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < 10; i++)
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (argc > 2 && rank == size - 1)
		raise(SIGKILL);
	MPIX_Section_begin("lopsided");
	if (rank == 0)
		compute(atol(argv[1]));
	if (argc == 2)
		MPI_Barrier(MPI_COMM_WORLD);
	MPIX_Section_end("lopsided");
	MPI_Finalize();
	return 0;
}
