/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frames HOW KIB: the last rank has a frame of so many KiB, while the others
 * keep words on their stacks, and say if those change.
 *
 *	touch	it writes the lowest byte of the frame
 *	fault	it does not, and dereferences a null pointer
 *	all	it writes all of it
 */
#include <alloca.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 12000

static __attribute__((noinline)) int large(const char *how, size_t bytes)
{
	volatile char *frame = alloca(bytes);

	if (!strcmp(how, "fault"))
		*(volatile int *)8 = 1;
	frame[0] = 1;
	if (!strcmp(how, "all"))
		for (size_t i = 0; i < bytes; i += 64)
			frame[i] = 1;
	return frame[0];
}

static __attribute__((noinline)) int keep(int rank)
{
	volatile int words[WORDS];
	int wrong = 0;

	for (int i = 0; i < WORDS; i++)
		words[i] = rank + i;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < WORDS; i++)
		wrong += words[i] != rank + i;
	return wrong;
}

int main(int argc, char **argv)
{
	int rank, size, wrong = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank < size - 1) {
		wrong = keep(rank);
	} else {
		MPI_Barrier(MPI_COMM_WORLD);
		large(argv[1], strtoul(argv[2], NULL, 10) * 1024);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (wrong)
		printf("rank %d: %d wrong\n", rank, wrong);
	else if (rank == size - 1)
		printf("large\n");
	MPI_Finalize();
	return wrong != 0;
}
