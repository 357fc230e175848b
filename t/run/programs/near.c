/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every rank sends messages of many lengths to every other one, in place and
 * strided, and looks at every byte.  `near drops`: no process may touch another's
 * memory after the first round.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static const int lengths[] = { 0,    1,	    16,	   17,	  100,	  4000,	  8192,
			       8193, 16128, 16129, 65536, 300000, 1048577 };
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]), ROUNDS = 3 };

static int rank, ranks;

static unsigned char byte(int from, int to, int length, int at)
{
	return (unsigned char)(from * 7 + to * 13 + length + at * 31 +
			       (at >> 8));
}

/* Messages of one length both ways with the rank that is so far away; strided:
 * every other byte. */
static int exchange(int distance, int length, int strided)
{
	int to = (rank + distance) % ranks;
	int from = (rank + ranks - distance) % ranks;
	int step = strided ? 2 : 1, wrong = 0;
	unsigned char *out = malloc((size_t)length * 2 + 2);
	unsigned char *in = calloc((size_t)length * 2 + 2, 1);
	MPI_Datatype type;

	MPI_Type_vector(length, 1, step, MPI_BYTE, &type);
	MPI_Type_commit(&type);
	for (int i = 0; i < length; i++)
		out[i * step] = byte(rank, to, length, i);
	MPI_Sendrecv(out, 1, type, to, length, in, 1, type, from, length,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < length; i++)
		wrong += in[i * step] != byte(from, rank, length, i);
	MPI_Type_free(&type);
	free(out);
	free(in);
	return wrong;
}

/* As a server does that has opened what it needs. */
static int privileges_drop(void)
{
	return (geteuid() == 0 && setuid(65534)) ||
	       prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

int main(int argc, char **argv)
{
	int wrong = 0, all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < LENGTHS; i++)
			for (int d = 1; d < ranks; d++)
				wrong += exchange(d, lengths[i], round == 1);
		if (argc > 1 && round == 0)
			wrong += privileges_drop();
	}
	MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d wrong bytes\n", all);
	MPI_Finalize();
	return all != 0;
}
