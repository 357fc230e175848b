/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 gives a call a buffer that cannot be accessed, in one of the ways of
 * the table; 91-where.t asks for the lines with the comments "at NAME".
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM ((size_t)4 << 20)

static void *pages(int access)
{
	return mmap(NULL, ROOM, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(int argc, char **argv)
{
	const char *way = argv[1];
	int rank, bytes = atoi(argv[2]);
	char *good = pages(PROT_READ | PROT_WRITE), *bad = pages(PROT_NONE);
	char *half = pages(PROT_READ | PROT_WRITE), *mine;
	char *fixed = pages(PROT_READ), *rest = good + ROOM / 2;
	MPI_Comm world = MPI_COMM_WORLD;
	MPI_Request request;
	MPI_Win win;

	mprotect(half + 4096, ROOM - 4096, PROT_NONE);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(world, &rank);
	mine = rank == 0 ? bad : good;
	if (!strcmp(way, "device") && !dlopen("./libcuda.so.1", RTLD_NOW))
		MPI_Abort(world, 2);
	if (rank == 0 && !strcmp(way, "send"))
		MPI_Send(bad, bytes, MPI_CHAR, 1, 0, world); /* at send */
	if (rank == 0 && !strcmp(way, "device"))
		MPI_Send(bad, bytes, MPI_CHAR, 1, 0, world); /* at device */
	if (rank == 0 && !strcmp(way, "half"))
		MPI_Send(half, bytes, MPI_CHAR, 1, 0, world); /* at half */
	if (rank == 1 && (!strcmp(way, "send") || !strcmp(way, "half") ||
			  !strcmp(way, "device")))
		MPI_Recv(good, bytes, MPI_CHAR, 0, 0, world, MPI_STATUS_IGNORE);
	if (rank == 0 && !strcmp(way, "recv"))
		MPI_Recv(bad, bytes, MPI_CHAR, 1, 0, world, /* at recv */
			 MPI_STATUS_IGNORE);
	if (rank == 0 && !strcmp(way, "fixed"))
		MPI_Recv(fixed, bytes, MPI_CHAR, 1, 0, world, /* at fixed */
			 MPI_STATUS_IGNORE);
	if (rank == 0 && !strcmp(way, "irecv")) {
		MPI_Irecv(bad, bytes, MPI_CHAR, 1, 0, world, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE); /* at irecv */
	}
	if (rank == 1 && (!strcmp(way, "recv") || !strcmp(way, "fixed") ||
			  !strcmp(way, "irecv")))
		MPI_Send(good, bytes, MPI_CHAR, 0, 0, world); /* at sent */
	if (!strcmp(way, "bcast"))
		MPI_Bcast(mine, bytes, MPI_CHAR, 0, world); /* at bcast */
	if (!strcmp(way, "gather"))
		MPI_Gather(good, bytes, MPI_CHAR, mine, bytes, /* at gather */
			   MPI_CHAR, 0, world);
	MPI_Win_create(rest, (MPI_Aint)(ROOM / 2), 1, MPI_INFO_NULL, world,
		       &win);
	MPI_Win_fence(0, win);
	if (rank == 0 && !strcmp(way, "put"))
		MPI_Put(bad, bytes, MPI_CHAR, 1, 0, bytes, /* at put */
			MPI_CHAR, win);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
