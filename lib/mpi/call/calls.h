/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI calls: one row each, a list per chapter.
 *
 * A row expands to the call's id, to its name in messages, and to the entries
 * PMPI_x and MPI_x (mpi/entries.S, core/instrument/entry.h), which is why PMPI_x is defined
 * as vm_entry_PMPI_x.  t/lint/calls.t compares the rows with mpi.h and with what
 * libvmpi.so exports.
 */
#ifndef MPI_CALL_CALLS_H
#define MPI_CALL_CALLS_H

#include "mpi/call/unsupported.h"

#define MPI_CALLS_ENV(X)                                                    \
	X(Init) X(Init_thread) X(Initialized) X(Finalize) X(Finalized)      \
	X(Query_thread) X(Is_thread_main) X(Abort) X(Wtime) X(Wtick)        \
	X(Get_processor_name) X(Get_version) X(Get_library_version)         \
	X(Abi_get_version) X(Pcontrol)

#define MPI_CALLS_MEMORY(X)                                                 \
	X(Alloc_mem) X(Free_mem) X(Get_address) X(Aint_add) X(Aint_diff)    \
	X(Address)

#define MPI_CALLS_P2P(X)                                                    \
	X(Send) X(Ssend) X(Rsend) X(Isend) X(Issend) X(Irsend)              \
	X(Recv) X(Irecv) X(Sendrecv) X(Sendrecv_replace)

#define MPI_CALLS_EXCHANGE(X) X(Isendrecv) X(Isendrecv_replace)

#define MPI_CALLS_GREQUEST(X) X(Grequest_start) X(Grequest_complete)

#define MPI_CALLS_PERSIST(X)                                                \
	X(Send_init) X(Ssend_init) X(Rsend_init) X(Bsend_init)              \
	X(Recv_init) X(Start) X(Startall)

#define MPI_CALLS_BSEND(X)                                                  \
	X(Bsend) X(Ibsend) X(Buffer_attach) X(Buffer_detach)

#define MPI_CALLS_PROBE(X)                                                  \
	X(Probe) X(Iprobe) X(Mprobe) X(Improbe) X(Mrecv) X(Imrecv)

#define MPI_CALLS_STATUS(X)                                                 \
	X(Get_count) X(Get_elements) X(Test_cancelled)                      \
	X(Status_set_cancelled) X(Status_set_elements)                      \
	X(Status_get_source) X(Status_get_tag) X(Status_get_error)          \
	X(Status_set_source) X(Status_set_tag) X(Status_set_error)

#define MPI_CALLS_REQUEST(X)                                                \
	X(Wait) X(Waitall) X(Waitany) X(Waitsome)                           \
	X(Test) X(Testall) X(Testany) X(Testsome)                           \
	X(Cancel) X(Request_free) X(Request_get_status)

#define MPI_CALLS_COMM(X)                                                   \
	X(Comm_size) X(Comm_rank) X(Comm_compare) X(Comm_free)              \
	X(Comm_group) X(Comm_set_name) X(Comm_get_name) X(Comm_test_inter)

#define MPI_CALLS_COMM_MAKE(X)                                              \
	X(Comm_dup) X(Comm_split) X(Comm_split_type) X(Comm_create)         \
	X(Comm_create_group)

#define MPI_CALLS_COMM_IDUP(X)                                              \
	X(Comm_idup) X(Comm_idup_with_info) X(Comm_dup_with_info)           \
	X(Comm_set_info) X(Comm_get_info)

#define MPI_CALLS_INTER(X)                                                  \
	X(Intercomm_create) X(Intercomm_merge) X(Comm_remote_size)          \
	X(Comm_remote_group)

#define MPI_CALLS_GROUP(X)                                                  \
	X(Group_size) X(Group_rank) X(Group_translate_ranks)                \
	X(Group_compare) X(Group_free)

#define MPI_CALLS_GROUP_OPS(X)                                              \
	X(Group_union) X(Group_intersection) X(Group_difference)            \
	X(Group_incl) X(Group_excl) X(Group_range_incl) X(Group_range_excl)

#define MPI_CALLS_ATTR(X)                                                   \
	X(Comm_create_keyval) X(Comm_free_keyval) X(Comm_set_attr)          \
	X(Comm_get_attr) X(Comm_delete_attr) X(Keyval_create)               \
	X(Keyval_free) X(Attr_put) X(Attr_get) X(Attr_delete)               \
	X(Type_create_keyval) X(Type_free_keyval) X(Type_set_attr)          \
	X(Type_get_attr) X(Type_delete_attr)

#define MPI_CALLS_ERRH(X)                                                   \
	X(Comm_create_errhandler) X(Comm_set_errhandler)                    \
	X(Comm_get_errhandler) X(Comm_call_errhandler) X(Errhandler_free)   \
	X(Error_string) X(Error_class) X(Errhandler_create)                 \
	X(Errhandler_set) X(Errhandler_get)

#define MPI_CALLS_ERRCODE(X)                                                \
	X(Add_error_class) X(Add_error_code) X(Add_error_string)            \
	X(Remove_error_class) X(Remove_error_code) X(Remove_error_string)

#define MPI_CALLS_INFO(X)                                                   \
	X(Info_create) X(Info_set) X(Info_get) X(Info_get_string)           \
	X(Info_get_valuelen) X(Info_get_nkeys) X(Info_get_nthkey)           \
	X(Info_delete) X(Info_dup) X(Info_free)

#define MPI_CALLS_FINT(X)                                                   \
	X(Comm_toint) X(Comm_fromint) X(Comm_c2f) X(Comm_f2c)               \
	X(Errhandler_toint) X(Errhandler_fromint) X(Errhandler_c2f)         \
	X(Errhandler_f2c) X(File_toint) X(File_fromint) X(File_c2f)         \
	X(File_f2c) X(Group_toint) X(Group_fromint) X(Group_c2f)            \
	X(Group_f2c) X(Info_toint) X(Info_fromint) X(Info_c2f) X(Info_f2c)  \
	X(Message_toint) X(Message_fromint) X(Message_c2f) X(Message_f2c)   \
	X(Op_toint) X(Op_fromint) X(Op_c2f) X(Op_f2c) X(Request_toint)      \
	X(Request_fromint) X(Request_c2f) X(Request_f2c) X(Session_toint)   \
	X(Session_fromint) X(Session_c2f) X(Session_f2c) X(Type_toint)      \
	X(Type_fromint) X(Type_c2f) X(Type_f2c) X(Win_toint) X(Win_fromint) \
	X(Win_c2f) X(Win_f2c)

#define MPI_CALLS_STATUS_FINT(X)                                            \
	X(Status_c2f) X(Status_f2c) X(Status_c2f08) X(Status_f082c)         \
	X(Status_f2f08) X(Status_f082f)

#define MPI_CALLS_TOPO(X)                                                   \
	X(Dims_create) X(Cart_create) X(Cart_coords) X(Cart_rank)           \
	X(Cart_shift) X(Cart_get) X(Cart_sub) X(Cartdim_get) X(Topo_test)   \
	X(Cart_map)

#define MPI_CALLS_GRAPH(X)                                                  \
	X(Graphdims_get) X(Graph_get) X(Graph_neighbors_count)              \
	X(Graph_neighbors) X(Dist_graph_neighbors_count)                    \
	X(Dist_graph_neighbors)

#define MPI_CALLS_GRAPH_MAKE(X)                                             \
	X(Graph_create) X(Graph_map) X(Dist_graph_create)                   \
	X(Dist_graph_create_adjacent)

/* Datatypes: type.c */
#define MPI_CALLS_TYPE(X)                                                   \
	X(Type_size) X(Type_get_extent) X(Type_get_true_extent)             \
	X(Type_contiguous) X(Type_vector) X(Type_create_hvector)            \
	X(Type_indexed) X(Type_create_hindexed)                             \
	X(Type_create_indexed_block) X(Type_create_hindexed_block)          \
	X(Type_create_struct) X(Type_create_resized)                        \
	X(Type_create_subarray) X(Type_dup) X(Type_commit) X(Type_free)     \
	X(Type_set_name) X(Type_get_name) X(Type_get_envelope)              \
	X(Type_get_contents) X(Type_extent) X(Type_lb) X(Type_ub)           \
	X(Type_hvector) X(Type_hindexed) X(Type_struct)

#define MPI_CALLS_TYPE_DARRAY(X)                                            \
	X(Type_create_darray)

#define MPI_CALLS_COUNT(X)                                                  \
	X(Type_size_x) X(Type_get_extent_x) X(Type_get_true_extent_x)       \
	X(Get_elements_x) X(Status_set_elements_x) X(Type_match_size)

#define MPI_CALLS_PACK(X) X(Pack) X(Unpack) X(Pack_size)

#define MPI_CALLS_PACK_EXTERNAL(X)                                          \
	X(Pack_external) X(Unpack_external) X(Pack_external_size)

#define MPI_CALLS_OP(X)                                                     \
	X(Op_create) X(Op_free) X(Op_commutative) X(Reduce_local)

#define MPI_CALLS_NEIGHBOR(X)                                               \
	X(Neighbor_allgather) X(Ineighbor_allgather)                        \
	X(Neighbor_allgather_init) X(Neighbor_allgatherv)                   \
	X(Ineighbor_allgatherv) X(Neighbor_allgatherv_init)                 \
	X(Neighbor_alltoall) X(Ineighbor_alltoall)                          \
	X(Neighbor_alltoall_init) X(Neighbor_alltoallv)                     \
	X(Ineighbor_alltoallv) X(Neighbor_alltoallv_init)                   \
	X(Neighbor_alltoallw) X(Ineighbor_alltoallw)                        \
	X(Neighbor_alltoallw_init)

#define MPI_CALLS_COLL(X)                                                   \
	X(Barrier) X(Bcast) X(Gather) X(Gatherv) X(Scatter) X(Scatterv)     \
	X(Allgather) X(Allgatherv) X(Alltoall) X(Alltoallv) X(Alltoallw)    \
	X(Reduce) X(Allreduce) X(Reduce_scatter) X(Reduce_scatter_block)    \
	X(Scan) X(Exscan)                                                   \
	X(Ibarrier) X(Ibcast) X(Igather) X(Igatherv) X(Iscatter)            \
	X(Iscatterv) X(Iallgather) X(Iallgatherv) X(Ialltoall)              \
	X(Ialltoallv) X(Ialltoallw) X(Ireduce) X(Iallreduce)                \
	X(Ireduce_scatter) X(Ireduce_scatter_block) X(Iscan) X(Iexscan)     \
	X(Barrier_init) X(Bcast_init) X(Gather_init) X(Gatherv_init)        \
	X(Scatter_init) X(Scatterv_init) X(Allgather_init)                  \
	X(Allgatherv_init) X(Alltoall_init) X(Alltoallv_init)               \
	X(Alltoallw_init) X(Reduce_init) X(Allreduce_init)                  \
	X(Reduce_scatter_init) X(Reduce_scatter_block_init) X(Scan_init)    \
	X(Exscan_init)

/* The tool information interface: tool*.c */
#define MPI_CALLS_TOOL(X)                                                   \
	X(T_init_thread) X(T_finalize) X(T_enum_get_info)                   \
	X(T_enum_get_item) X(T_cvar_get_num) X(T_cvar_get_info)             \
	X(T_cvar_get_index) X(T_cvar_handle_alloc) X(T_cvar_handle_free)    \
	X(T_cvar_read) X(T_cvar_write) X(T_pvar_get_num)                    \
	X(T_pvar_get_info) X(T_pvar_get_index) X(T_pvar_session_create)     \
	X(T_pvar_session_free) X(T_pvar_handle_alloc)                       \
	X(T_pvar_handle_free) X(T_pvar_start) X(T_pvar_stop) X(T_pvar_read) \
	X(T_pvar_write) X(T_pvar_reset) X(T_pvar_readreset)                 \
	X(T_category_get_num) X(T_category_get_info)                        \
	X(T_category_get_num_events) X(T_category_get_index)                \
	X(T_category_get_cvars) X(T_category_get_pvars)                     \
	X(T_category_get_events) X(T_category_get_categories)               \
	X(T_category_changed) X(T_event_get_num) X(T_event_get_info)        \
	X(T_event_get_index) X(T_event_handle_alloc)                        \
	X(T_event_handle_set_info) X(T_event_handle_get_info)               \
	X(T_event_handle_free) X(T_event_register_callback)                 \
	X(T_event_callback_set_info) X(T_event_callback_get_info)           \
	X(T_event_set_dropped_handler) X(T_event_read) X(T_event_copy)      \
	X(T_event_get_timestamp) X(T_event_get_source) X(T_source_get_num)  \
	X(T_source_get_info) X(T_source_get_timestamp)

#define MPI_CALLS(X)                                                        \
	MPI_CALLS_ENV(X) MPI_CALLS_MEMORY(X) MPI_CALLS_P2P(X)               \
	MPI_CALLS_PERSIST(X) MPI_CALLS_BSEND(X) MPI_CALLS_PROBE(X)          \
	MPI_CALLS_STATUS(X) MPI_CALLS_REQUEST(X) MPI_CALLS_COMM(X)          \
	MPI_CALLS_COMM_MAKE(X) MPI_CALLS_INTER(X) MPI_CALLS_GROUP(X)        \
	MPI_CALLS_GROUP_OPS(X) MPI_CALLS_COMM_IDUP(X)                       \
	MPI_CALLS_ATTR(X) MPI_CALLS_ERRH(X) MPI_CALLS_ERRCODE(X)            \
	MPI_CALLS_INFO(X) MPI_CALLS_TOPO(X) MPI_CALLS_TYPE(X)               \
	MPI_CALLS_FINT(X) MPI_CALLS_STATUS_FINT(X) MPI_CALLS_EXCHANGE(X)    \
	MPI_CALLS_GREQUEST(X)                                               \
	MPI_CALLS_COUNT(X) MPI_CALLS_PACK(X) MPI_CALLS_OP(X)                \
	MPI_CALLS_PACK_EXTERNAL(X)                                          \
	MPI_CALLS_TYPE_DARRAY(X)                                            \
	MPI_CALLS_GRAPH(X)                                                  \
	MPI_CALLS_GRAPH_MAKE(X)                                             \
	MPI_CALLS_NEIGHBOR(X)                                               \
	MPI_CALLS_COLL(X) MPI_CALLS_TOOL(X) MPI_CALLS_UNSUPPORTED(X)

/*
 * Those that are no calls to who watches (vmpi-overlap(7)): they only look at
 * something of the rank's own, in less time than it takes to look at the clock,
 * or they are a tool's, which does not watch itself.
 */
#define MPI_LOOKUPS(X)                                                      \
	X(Initialized) X(Finalized) X(Query_thread) X(Is_thread_main)       \
	X(Wtime) X(Wtick) X(Get_version) X(Abi_get_version)                 \
	X(Get_address) X(Aint_add) X(Aint_diff) X(Address)                  \
	X(Get_count) X(Get_elements) X(Test_cancelled)                      \
	X(Status_set_cancelled) X(Status_set_elements)                      \
	X(Status_get_source) X(Status_get_tag) X(Status_get_error)          \
	X(Status_set_source) X(Status_set_tag) X(Status_set_error)          \
	X(Comm_size) X(Comm_rank) X(Comm_test_inter) X(Comm_remote_size)    \
	X(Group_size) X(Group_rank) X(Topo_test) X(Cartdim_get)             \
	X(Cart_get) X(Cart_rank) X(Cart_coords) X(Cart_shift)               \
	X(Type_size) X(Type_get_extent) X(Type_get_true_extent)             \
	X(Type_extent) X(Type_lb) X(Type_ub) X(Type_size_x)                 \
	X(Type_get_extent_x) X(Type_get_true_extent_x) X(Get_elements_x)    \
	X(Status_set_elements_x) X(Op_commutative)                          \
	MPI_CALLS_FINT(X) MPI_CALLS_TOOL(X)

/*
 * Those that never wait, beside these: they do not say that they are the call
 * that the rank is in (core/rank/wait.h).  A call that is missing here only does that
 * for nothing.
 */
#define MPI_IMMEDIATES(X)                                                   \
	X(Isend) X(Issend) X(Irsend) X(Irecv)                               \
	X(Test) X(Testall) X(Testany) X(Testsome) X(Request_get_status)     \
	X(Iprobe) X(Improbe) X(Imrecv) X(Start) X(Startall)

#ifndef __ASSEMBLER__
enum vm_call_id {
#define VM_CALL_ID_(name, ...) VM_CALL_##name,
	MPI_CALLS(VM_CALL_ID_)
#undef VM_CALL_ID_
	VM_CALLS
};

#include "core/instrument/entry.h"
#include "mpi.h"

#define VM_CALL_ENTRY_(name, ...) VM_ENTRY(PMPI_##name)
MPI_CALLS(VM_CALL_ENTRY_)
#undef VM_CALL_ENTRY_

/* What is no MPI and cannot fail: MPIX_x of mpix.c. */
#define MPIX_CALLS(X)                                                       \
	X(Rtime) X(Start_processor_timer) X(Stop_processor_timer) X(Ptime)

#define MPIX_WEAK_ALIAS(name)                       \
	extern __typeof__(PMPIX_##name) MPIX_##name \
		__attribute__((weak, alias("PMPIX_" #name)));

#endif

#endif
