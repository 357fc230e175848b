/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank sends 2 messages more than its number to the next one: one of them
 * from a library, if there is one (WITH_LIBRARY), and one through a pointer.
 */
#include <mpi.h>
#include <stddef.h>

#ifdef IS_LIBRARY
int library_send(int to, MPI_Request *request)
{
	return MPI_Isend(NULL, 0, MPI_INT, to, 0, MPI_COMM_WORLD, request);
}
#else
#ifdef WITH_LIBRARY
extern int library_send(int to, MPI_Request *request);
#else
static int library_send(int to, MPI_Request *request)
{
	return MPI_Isend(NULL, 0, MPI_INT, to, 0, MPI_COMM_WORLD, request);
}
#endif

static int (*const pointer)(const void *, int, MPI_Datatype, int, int, MPI_Comm,
			    MPI_Request *) = MPI_Isend;

int main(int argc, char **argv)
{
	MPI_Request requests[2];
	int rank, size, to, from;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	to = (rank + 1) % size;
	from = (rank + size - 1) % size;
	library_send(to, &requests[0]);
	pointer(NULL, 0, MPI_INT, to, 0, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < rank; i++) {
		MPI_Isend(&rank, 1, MPI_INT, to, 0, MPI_COMM_WORLD, requests);
		MPI_Wait(requests, MPI_STATUS_IGNORE);
	}
	for (int i = 0; i < from + 2; i++)
		MPI_Recv(&to, 1, MPI_INT, from, 0, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
#endif
