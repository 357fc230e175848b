/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Known counts of lines: each rank sums up the numbers below its own.  With
 * "locks" each adds 1 to a number in a file 10 times, under a lock of it, and
 * lets other ranks run meanwhile.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <vmpi.h>

static int work(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i; /* adds */
	return sum;
}

static void count(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open("count", O_RDWR | O_CREAT, 0666);
	char text[16] = "";

	if (fd < 0 || fcntl(fd, F_SETLKW, &lock) ||
	    pread(fd, text, sizeof(text) - 1, 0) < 0)
		abort();
	snprintf(text, sizeof(text), "%d\n", atoi(text) + 1);
	vmpi_yield();
	if (pwrite(fd, text, sizeof(text) - 1, 0) < 0)
		abort();
	/* Another descriptor of the file does not release the lock. */
	close(open("count", O_RDONLY));
	vmpi_yield();
	close(fd);
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 10 && argc > 1; i++)
		count();
	if (work(rank) < 0)
		return 1; /* never */
	MPI_Finalize();
	if (rank % 2)
		exit(0); /* half */
	return 0;
}
