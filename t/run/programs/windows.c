/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of COUNT messages of BYTES bytes and a little less from rank 0 to rank 1,
 * which finds them all at once: it waits for a byte in a file until all are sent.
 * Says how many bytes were wrong, and how many remote reads the first window took.
 * `windows ... drops`: no process may touch another's memory after that.
 *
 *	windows BYTES COUNT FILE [drops]
 */
#include <mpi.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vmpi.h>

enum { ROUNDS = 3 };

static int rank, bytes, count, file;

static unsigned char byte(int round, int message, int at)
{
	return (unsigned char)(round * 7 + message * 13 + at * 31 + (at >> 8));
}

/* Whether a byte of that number could be written. */
static int window_send(int round, unsigned char *data, MPI_Request *requests)
{
	int said;

	for (int m = 0; m < count; m++) {
		unsigned char *at = data + (size_t)m * (size_t)bytes;

		for (int i = 0; i < bytes - m; i++)
			at[i] = byte(round, m, i);
	}
	MPI_Recv(NULL, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int m = 0; m < count; m++)
		MPI_Isend(data + (size_t)m * (size_t)bytes, bytes - m, MPI_BYTE,
			  1, 0, MPI_COMM_WORLD, &requests[m]);
	said = write(file, "", 1) == 1;
	MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
	return said;
}

/* How many bytes are wrong. */
static int window_receive(int round, unsigned char *data, MPI_Request *requests)
{
	int wrong = 0, got;
	MPI_Status status;
	struct stat sent;

	for (int m = 0; m < count; m++)
		MPI_Irecv(data + (size_t)m * (size_t)bytes, bytes, MPI_BYTE, 0,
			  0, MPI_COMM_WORLD, &requests[m]);
	MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
	while (fstat(file, &sent) == 0 && sent.st_size <= round)
		usleep(1000);
	for (int m = 0; m < count; m++) {
		const unsigned char *at = data + (size_t)m * (size_t)bytes;

		MPI_Wait(&requests[m], &status);
		MPI_Get_count(&status, MPI_BYTE, &got);
		wrong += got != bytes - m;
		for (int i = 0; i < bytes - m; i++)
			wrong += at[i] != byte(round, m, i);
	}
	return wrong;
}

static uint64_t reads(void)
{
	uint64_t value = 0;

	return vmpi_var_read(vmpi_var_find("fabric_reads"), &value) ? 0 : value;
}

int main(int argc, char **argv)
{
	int wrong = 0, taken = 0;
	MPI_Request *requests;
	unsigned char *data;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	bytes = atoi(argv[1]);
	count = atoi(argv[2]);
	/* Later it may not be allowed to. */
	file = open(argv[3], rank ? O_RDONLY | O_CREAT : O_WRONLY | O_CREAT,
		    0600);
	if (file < 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	data = calloc((size_t)count, (size_t)bytes);
	requests = malloc((size_t)count * sizeof(MPI_Request));
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t before = reads();

		if (rank == 0)
			wrong += !window_send(round, data, requests);
		else
			wrong += window_receive(round, data, requests);
		if (round == 0)
			taken = (int)(reads() - before);
		/* As a server does that has opened what it needs. */
		if (argc > 4 && round == 0)
			wrong += (geteuid() == 0 && setuid(65534)) ||
				 prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == 1)
		printf("wrong %d reads %d\n", wrong, taken);
	free(requests);
	free(data);
	MPI_Finalize();
	return 0;
}
