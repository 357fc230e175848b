/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns a test of blocking collectives into one of nonblocking ones: each call
 * becomes its nonblocking twin and a wait.
 */
#ifndef T_MPI_ICOLL_H
#define T_MPI_ICOLL_H

#include <mpi.h>

#define NOW(call, ...)                                              \
	({                                                          \
		MPI_Request request_;                               \
		int rc_ = call(__VA_ARGS__, &request_);             \
                                                                    \
		rc_ ? rc_ : MPI_Wait(&request_, MPI_STATUS_IGNORE); \
	})

#define MPI_Barrier(...) NOW(MPI_Ibarrier, __VA_ARGS__)
#define MPI_Bcast(...) NOW(MPI_Ibcast, __VA_ARGS__)
#define MPI_Gather(...) NOW(MPI_Igather, __VA_ARGS__)
#define MPI_Gatherv(...) NOW(MPI_Igatherv, __VA_ARGS__)
#define MPI_Scatter(...) NOW(MPI_Iscatter, __VA_ARGS__)
#define MPI_Scatterv(...) NOW(MPI_Iscatterv, __VA_ARGS__)
#define MPI_Allgather(...) NOW(MPI_Iallgather, __VA_ARGS__)
#define MPI_Allgatherv(...) NOW(MPI_Iallgatherv, __VA_ARGS__)
#define MPI_Alltoall(...) NOW(MPI_Ialltoall, __VA_ARGS__)
#define MPI_Alltoallv(...) NOW(MPI_Ialltoallv, __VA_ARGS__)
#define MPI_Alltoallw(...) NOW(MPI_Ialltoallw, __VA_ARGS__)
#define MPI_Reduce(...) NOW(MPI_Ireduce, __VA_ARGS__)
#define MPI_Allreduce(...) NOW(MPI_Iallreduce, __VA_ARGS__)
#define MPI_Reduce_scatter(...) NOW(MPI_Ireduce_scatter, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) \
	NOW(MPI_Ireduce_scatter_block, __VA_ARGS__)
#define MPI_Scan(...) NOW(MPI_Iscan, __VA_ARGS__)
#define MPI_Exscan(...) NOW(MPI_Iexscan, __VA_ARGS__)

#endif
