/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls without elements: the buffers may be NULL and the datatypes
 * MPI_DATATYPE_NULL.
 */
#include <unistd.h>

#include "mtap.h"

#define WORLD MPI_COMM_WORLD
#define NONE MPI_DATATYPE_NULL
#define GOOD(call) all_class(call, MPI_SUCCESS, "%s", #call)

static const int zeros[64];
static MPI_Request request;

static int waited(int rc)
{
	return rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void collectives(void)
{
	GOOD(MPI_Bcast(NULL, 0, NONE, 0, WORLD));
	GOOD(MPI_Gather(NULL, 0, NONE, NULL, 0, NONE, 0, WORLD));
	GOOD(MPI_Scatter(NULL, 0, NONE, NULL, 0, NONE, 0, WORLD));
	GOOD(MPI_Allgather(NULL, 0, NONE, NULL, 0, NONE, WORLD));
	GOOD(MPI_Alltoall(NULL, 0, NONE, NULL, 0, NONE, WORLD));
	GOOD(MPI_Gatherv(NULL, 0, NONE, NULL, zeros, zeros, NONE, 0, WORLD));
	GOOD(MPI_Scatterv(NULL, zeros, zeros, NONE, NULL, 0, NONE, 0, WORLD));
	GOOD(MPI_Allgatherv(NULL, 0, NONE, NULL, zeros, zeros, NONE, WORLD));
	GOOD(MPI_Alltoallv(NULL, zeros, zeros, NONE, NULL, zeros, zeros, NONE,
			   WORLD));
	GOOD(waited(MPI_Ibcast(NULL, 0, NONE, 0, WORLD, &request)));
	GOOD(waited(
		MPI_Iallgather(NULL, 0, NONE, NULL, 0, NONE, WORLD, &request)));
	GOOD(waited(MPI_Ialltoallv(NULL, zeros, zeros, NONE, NULL, zeros, zeros,
				   NONE, WORLD, &request)));
}

static void neighbours(void)
{
	int dims[1] = { size }, periods[1] = { 1 };
	MPI_Comm ring;

	MPI_Cart_create(WORLD, 1, dims, periods, 0, &ring);
	MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
	GOOD(MPI_Neighbor_allgather(NULL, 0, NONE, NULL, 0, NONE, ring));
	GOOD(MPI_Neighbor_alltoall(NULL, 0, NONE, NULL, 0, NONE, ring));
	GOOD(MPI_Neighbor_alltoallv(NULL, zeros, zeros, NONE, NULL, zeros,
				    zeros, NONE, ring));
	GOOD(waited(MPI_Ineighbor_alltoall(NULL, 0, NONE, NULL, 0, NONE, ring,
					   &request)));
	MPI_Comm_free(&ring);
}

static void others(void)
{
	MPI_Win win;
	MPI_File file;
	char name[40];

	GOOD(MPI_Sendrecv(NULL, 0, NONE, rank, 1, NULL, 0, NONE, rank, 1, WORLD,
			  MPI_STATUS_IGNORE));
	MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, WORLD, &win);
	MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
	MPI_Win_fence(0, win);
	GOOD(MPI_Put(NULL, 0, NONE, 0, 0, 0, NONE, win));
	GOOD(MPI_Get(NULL, 0, NONE, 0, 0, 0, NONE, win));
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	snprintf(name, sizeof(name), "nothing.%d.%d", (int)getpid(), rank);
	MPI_File_open(MPI_COMM_SELF, name,
		      MPI_MODE_RDWR | MPI_MODE_CREATE |
			      MPI_MODE_DELETE_ON_CLOSE,
		      MPI_INFO_NULL, &file);
	GOOD(MPI_File_write(file, NULL, 0, NONE, MPI_STATUS_IGNORE));
	GOOD(MPI_File_read(file, NULL, 0, NONE, MPI_STATUS_IGNORE));
	GOOD(MPI_File_write_all(file, NULL, 0, NONE, MPI_STATUS_IGNORE));
	MPI_File_close(&file);
}

/* Where there are elements, or the elements are operands, a datatype is wanted. */
static void refused(void)
{
	int counts[64];

	for (int i = 0; i < 64; i++)
		counts[i] = 1;
	all_class(MPI_Bcast(NULL, 1, NONE, 0, WORLD), MPI_ERR_TYPE,
		  "one element has a datatype");
	all_class(MPI_Allgatherv(NULL, 0, NONE, NULL, counts, zeros, NONE,
				 WORLD),
		  MPI_ERR_TYPE, "and so have those of others");
	all_class(MPI_Allreduce(NULL, NULL, 0, NONE, MPI_SUM, WORLD),
		  MPI_ERR_TYPE, "an operation is one of a datatype");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	collectives();
	neighbours();
	others();
	refused();
	return mtap_end();
}
