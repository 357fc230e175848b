/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 sends argv[2] bytes with tag 7, rank 1 receives 40 of them as argv[1]
 * says; 91-where.t asks for the lines with the comments "at NAME".
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 40, MPI_CHAR
#define FROM 0, 7, MPI_COMM_WORLD

static char bytes[1 << 20];

int main(int argc, char **argv)
{
	const char *way = argv[1];
	MPI_Status status;
	MPI_Request request;
	MPI_Message message;
	char *room = bytes;
	int rank, own = 0, done = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		MPI_Recv(&own, 1, MPI_INT, 1, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		MPI_Send(bytes, atoi(argv[2]), MPI_CHAR, 1, 7, MPI_COMM_WORLD);
		MPI_Finalize();
		return 0;
	}
	if (!strcmp(way, "wait") || !strcmp(way, "test"))
		MPI_Irecv(room, ROOM, FROM, &request);
	MPI_Send(&own, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	if (!strcmp(way, "recv"))
		MPI_Recv(room, ROOM, FROM, &status); /* at recv */
	if (!strcmp(way, "came")) {
		MPI_Probe(FROM, &status);
		MPI_Recv(room, ROOM, FROM, MPI_STATUS_IGNORE); /* at came */
	}
	if (!strcmp(way, "wait"))
		MPI_Wait(&request, &status); /* at wait */
	while (!strcmp(way, "test") && !done)
		MPI_Test(&request, &done, &status); /* at test */
	if (!strcmp(way, "mrecv")) {
		MPI_Mprobe(FROM, &message, &status);
		MPI_Mrecv(room, ROOM, &message, &status); /* at mrecv */
	}
	if (!strcmp(way, "both"))
		MPI_Sendrecv(&own, 1, MPI_INT, 1, 3, room, ROOM, /* at both */
			     FROM, &status);
	MPI_Finalize();
	return 0;
}
