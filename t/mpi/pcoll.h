/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns a test of blocking collectives into one of persistent ones: each call
 * becomes its persistent twin, a start and a wait.
 */
#ifndef T_MPI_PCOLL_H
#define T_MPI_PCOLL_H

#include <mpi.h>

static inline int now(int rc, MPI_Request *request)
{
	if (rc == MPI_SUCCESS)
		rc = MPI_Start(request);
	if (rc == MPI_SUCCESS)
		rc = MPI_Wait(request, MPI_STATUS_IGNORE);
	if (*request != MPI_REQUEST_NULL)
		MPI_Request_free(request);
	return rc;
}

#define NOW(call, ...)                                                       \
	({                                                                   \
		MPI_Request request_ = MPI_REQUEST_NULL;                     \
                                                                             \
		now(call(__VA_ARGS__, MPI_INFO_NULL, &request_), &request_); \
	})

#define MPI_Barrier(...) NOW(MPI_Barrier_init, __VA_ARGS__)
#define MPI_Bcast(...) NOW(MPI_Bcast_init, __VA_ARGS__)
#define MPI_Gather(...) NOW(MPI_Gather_init, __VA_ARGS__)
#define MPI_Gatherv(...) NOW(MPI_Gatherv_init, __VA_ARGS__)
#define MPI_Scatter(...) NOW(MPI_Scatter_init, __VA_ARGS__)
#define MPI_Scatterv(...) NOW(MPI_Scatterv_init, __VA_ARGS__)
#define MPI_Allgather(...) NOW(MPI_Allgather_init, __VA_ARGS__)
#define MPI_Allgatherv(...) NOW(MPI_Allgatherv_init, __VA_ARGS__)
#define MPI_Alltoall(...) NOW(MPI_Alltoall_init, __VA_ARGS__)
#define MPI_Alltoallv(...) NOW(MPI_Alltoallv_init, __VA_ARGS__)
#define MPI_Alltoallw(...) NOW(MPI_Alltoallw_init, __VA_ARGS__)
#define MPI_Reduce(...) NOW(MPI_Reduce_init, __VA_ARGS__)
#define MPI_Allreduce(...) NOW(MPI_Allreduce_init, __VA_ARGS__)
#define MPI_Reduce_scatter(...) NOW(MPI_Reduce_scatter_init, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) \
	NOW(MPI_Reduce_scatter_block_init, __VA_ARGS__)
#define MPI_Scan(...) NOW(MPI_Scan_init, __VA_ARGS__)
#define MPI_Exscan(...) NOW(MPI_Exscan_init, __VA_ARGS__)

#endif
