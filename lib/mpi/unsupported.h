/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that exist and fail by name with MPI_ERR_UNSUPPORTED_OPERATION, so
 * that programs which contain but do not use them link and run.  A row leaves
 * when its function arrives.
 */
#ifndef MPI_UNSUPPORTED_H
#define MPI_UNSUPPORTED_H

/* Name, types of the arguments. */
#define MPI_CALLS_UNSUPPORTED(X)                                               \
	X(Win_create, (void *, MPI_Aint, int, MPI_Info, MPI_Comm, MPI_Win *))  \
	X(Win_create_dynamic, (MPI_Info, MPI_Comm, MPI_Win *))                 \
	X(Win_allocate,                                                        \
	  (MPI_Aint, int, MPI_Info, MPI_Comm, void *, MPI_Win *))              \
	X(Win_attach, (MPI_Win, void *, MPI_Aint))                             \
	X(Win_free, (MPI_Win *))                                               \
	X(Win_fence, (int, MPI_Win))                                           \
	X(Win_post, (MPI_Group, int, MPI_Win))                                 \
	X(Win_start, (MPI_Group, int, MPI_Win))                                \
	X(Win_complete, (MPI_Win))                                             \
	X(Win_wait, (MPI_Win))                                                 \
	X(Win_lock, (int, int, int, MPI_Win))                                  \
	X(Win_unlock, (int, MPI_Win))                                          \
	X(Win_lock_all, (int, MPI_Win))                                        \
	X(Win_unlock_all, (MPI_Win))                                           \
	X(Win_flush, (int, MPI_Win))                                           \
	X(Win_flush_local, (int, MPI_Win))                                     \
	X(Win_create_keyval, (MPI_Win_copy_attr_function *,                    \
			      MPI_Win_delete_attr_function *, int *, void *))  \
	X(Win_free_keyval, (int *))                                            \
	X(Win_set_attr, (MPI_Win, int, void *))                                \
	X(Win_get_attr, (MPI_Win, int, void *, int *))                         \
	X(Put, (const void *, int, MPI_Datatype, int, MPI_Aint, int,           \
		MPI_Datatype, MPI_Win))                                        \
	X(Get, (void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype,   \
		MPI_Win))                                                      \
	X(Accumulate, (const void *, int, MPI_Datatype, int, MPI_Aint, int,    \
		       MPI_Datatype, MPI_Op, MPI_Win))                         \
	X(Get_accumulate,                                                      \
	  (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int,    \
	   MPI_Aint, int, MPI_Datatype, MPI_Op, MPI_Win))                      \
	X(Fetch_and_op, (const void *, void *, MPI_Datatype, int, MPI_Aint,    \
			 MPI_Op, MPI_Win))                                     \
	X(Compare_and_swap, (const void *, const void *, void *, MPI_Datatype, \
			     int, MPI_Aint, MPI_Win))                          \
	X(Dist_graph_create_adjacent,                                          \
	  (MPI_Comm, int, const int *, const int *, int, const int *,          \
	   const int *, MPI_Info, int, MPI_Comm *))                            \
	X(Dist_graph_neighbors,                                                \
	  (MPI_Comm, int, int *, int *, int, int *, int *))                    \
	X(Neighbor_allgather, (const void *, int, MPI_Datatype, void *, int,   \
			       MPI_Datatype, MPI_Comm))                        \
	X(Ineighbor_allgather, (const void *, int, MPI_Datatype, void *, int,  \
				MPI_Datatype, MPI_Comm, MPI_Request *))        \
	X(Neighbor_allgatherv,                                                 \
	  (const void *, int, MPI_Datatype, void *, const int *, const int *,  \
	   MPI_Datatype, MPI_Comm))                                            \
	X(Ineighbor_allgatherv,                                                \
	  (const void *, int, MPI_Datatype, void *, const int *, const int *,  \
	   MPI_Datatype, MPI_Comm, MPI_Request *))                             \
	X(Neighbor_alltoall, (const void *, int, MPI_Datatype, void *, int,    \
			      MPI_Datatype, MPI_Comm))                         \
	X(Ineighbor_alltoall, (const void *, int, MPI_Datatype, void *, int,   \
			       MPI_Datatype, MPI_Comm, MPI_Request *))         \
	X(Neighbor_alltoallv,                                                  \
	  (const void *, const int *, const int *, MPI_Datatype, void *,       \
	   const int *, const int *, MPI_Datatype, MPI_Comm))                  \
	X(Ineighbor_alltoallv,                                                 \
	  (const void *, const int *, const int *, MPI_Datatype, void *,       \
	   const int *, const int *, MPI_Datatype, MPI_Comm, MPI_Request *))   \
	X(Neighbor_alltoallw,                                                  \
	  (const void *, const int *, const MPI_Aint *, const MPI_Datatype *,  \
	   void *, const int *, const MPI_Aint *, const MPI_Datatype *,        \
	   MPI_Comm))                                                          \
	X(Ineighbor_alltoallw,                                                 \
	  (const void *, const int *, const MPI_Aint *, const MPI_Datatype *,  \
	   void *, const int *, const MPI_Aint *, const MPI_Datatype *,        \
	   MPI_Comm, MPI_Request *))                                           \
	X(Barrier_init, (MPI_Comm, MPI_Info, MPI_Request *))                   \
	X(Bcast_init,                                                          \
	  (void *, int, MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *)) \
	X(Gather_init, (const void *, int, MPI_Datatype, void *, int,          \
			MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *)) \
	X(Gatherv_init,                                                        \
	  (const void *, int, MPI_Datatype, void *, const int *, const int *,  \
	   MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *))              \
	X(Scatter_init,                                                        \
	  (const void *, int, MPI_Datatype, void *, int, MPI_Datatype, int,    \
	   MPI_Comm, MPI_Info, MPI_Request *))                                 \
	X(Scatterv_init,                                                       \
	  (const void *, const int *, const int *, MPI_Datatype, void *, int,  \
	   MPI_Datatype, int, MPI_Comm, MPI_Info, MPI_Request *))              \
	X(Allgather_init, (const void *, int, MPI_Datatype, void *, int,       \
			   MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *))   \
	X(Allgatherv_init,                                                     \
	  (const void *, int, MPI_Datatype, void *, const int *, const int *,  \
	   MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *))                   \
	X(Alltoall_init, (const void *, int, MPI_Datatype, void *, int,        \
			  MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *))    \
	X(Alltoallv_init, (const void *, const int *, const int *,             \
			   MPI_Datatype, void *, const int *, const int *,     \
			   MPI_Datatype, MPI_Comm, MPI_Info, MPI_Request *))   \
	X(Alltoallw_init,                                                      \
	  (const void *, const int *, const int *, const MPI_Datatype *,       \
	   void *, const int *, const int *, const MPI_Datatype *, MPI_Comm,   \
	   MPI_Info, MPI_Request *))                                           \
	X(Reduce_init, (const void *, void *, int, MPI_Datatype, MPI_Op, int,  \
			MPI_Comm, MPI_Info, MPI_Request *))                    \
	X(Allreduce_init, (const void *, void *, int, MPI_Datatype, MPI_Op,    \
			   MPI_Comm, MPI_Info, MPI_Request *))                 \
	X(Reduce_scatter_init,                                                 \
	  (const void *, void *, const int *, MPI_Datatype, MPI_Op, MPI_Comm,  \
	   MPI_Info, MPI_Request *))                                           \
	X(Reduce_scatter_block_init,                                           \
	  (const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm,          \
	   MPI_Info, MPI_Request *))                                           \
	X(Scan_init, (const void *, void *, int, MPI_Datatype, MPI_Op,         \
		      MPI_Comm, MPI_Info, MPI_Request *))                      \
	X(Exscan_init, (const void *, void *, int, MPI_Datatype, MPI_Op,       \
			MPI_Comm, MPI_Info, MPI_Request *))

#endif
