/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool as such tools are written: it counts in globals of its own, which are
 * right only if each rank has them.
 */
#include <mpi.h>
#include <stdio.h>

int pmpi_isends; /* visible to others, so that it could be bound to another's */
static int rank = -1;

int MPI_Init(int *argc, char ***argv)
{
	int rc = PMPI_Init(argc, argv);

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return rc;
}

int MPI_Isend(const void *bytes, int count, MPI_Datatype type, int to, int tag,
	      MPI_Comm comm, MPI_Request *request)
{
	pmpi_isends++;
	return PMPI_Isend(bytes, count, type, to, tag, comm, request);
}

int MPI_Finalize(void)
{
	printf("tool: rank %d has sent %d\n", rank, pmpi_isends);
	return PMPI_Finalize();
}
