/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI calls: one row each, a list per chapter.
 *
 * A row, a name and possibly a kind (below), expands to the call's id, its name
 * in messages, and the entries PMPI_x and MPI_x (mpi/entries.S,
 * core/instrument/entry.h), which is why PMPI_x is defined as vm_entry_PMPI_x.
 * t/lint/calls.t compares the rows with mpi.h and with the exports of
 * libvmpi.so.
 */
#ifndef MPI_CALL_CALLS_H
#define MPI_CALL_CALLS_H

#include "mpi/call/unsupported.h"

/* The rows of a call that exists twice (mpi/call/twin.h). */
#define VM_BOTH(X, name, ...) X(name, __VA_ARGS__) X(name##_c, __VA_ARGS__)

#define MPI_CALLS_ENV(X)                                                    \
	X(Init) X(Init_thread) X(Initialized, LOOKUP) X(Finalize)           \
	X(Finalized, LOOKUP) X(Query_thread, LOOKUP)                        \
	X(Is_thread_main, LOOKUP) X(Abort) X(Wtime, LOOKUP)                 \
	X(Wtick, LOOKUP) X(Get_processor_name) X(Get_version, LOOKUP)       \
	X(Get_library_version) X(Abi_get_version, LOOKUP) X(Pcontrol)       \
	X(Abi_get_info) X(Abi_get_fortran_info) X(Abi_set_fortran_info)     \
	X(Abi_get_fortran_booleans, LOOKUP) X(Abi_set_fortran_booleans)     \
	X(Get_hw_resource_info)

#define MPI_CALLS_MEMORY(X)                                                 \
	X(Alloc_mem) X(Free_mem) X(Get_address, LOOKUP) X(Aint_add, LOOKUP) \
	X(Aint_diff, LOOKUP) X(Address, LOOKUP)

#define MPI_CALLS_P2P(X)                                                     \
	VM_BOTH(X, Send) VM_BOTH(X, Ssend) VM_BOTH(X, Rsend)                 \
	VM_BOTH(X, Isend, IMMEDIATE) VM_BOTH(X, Issend, IMMEDIATE)           \
	VM_BOTH(X, Irsend, IMMEDIATE) VM_BOTH(X, Recv)                       \
	VM_BOTH(X, Irecv, IMMEDIATE) VM_BOTH(X, Sendrecv)                    \
	VM_BOTH(X, Sendrecv_replace)

#define MPI_CALLS_EXCHANGE(X)                                                \
	VM_BOTH(X, Isendrecv) VM_BOTH(X, Isendrecv_replace)

#define MPI_CALLS_GREQUEST(X) X(Grequest_start) X(Grequest_complete)

#define MPI_CALLS_PERSIST(X)                                                 \
	VM_BOTH(X, Send_init) VM_BOTH(X, Ssend_init) VM_BOTH(X, Rsend_init)  \
	VM_BOTH(X, Bsend_init) VM_BOTH(X, Recv_init) X(Start, IMMEDIATE)     \
	X(Startall, IMMEDIATE)

#define MPI_CALLS_BSEND(X)                                                   \
	VM_BOTH(X, Bsend) VM_BOTH(X, Ibsend)

#define MPI_CALLS_BUFFER(X)                                                 \
	X(Buffer_attach) X(Buffer_attach_c) X(Buffer_detach)                \
	X(Buffer_detach_c) X(Buffer_flush) X(Buffer_iflush)                 \
	X(Comm_attach_buffer) X(Comm_attach_buffer_c)                       \
	X(Comm_detach_buffer) X(Comm_detach_buffer_c)                       \
	X(Comm_flush_buffer) X(Comm_iflush_buffer)                          \
	X(Session_attach_buffer) X(Session_attach_buffer_c)                 \
	X(Session_detach_buffer) X(Session_detach_buffer_c)                 \
	X(Session_flush_buffer) X(Session_iflush_buffer)

#define MPI_CALLS_SESSION_INIT(X)                                           \
	X(Session_init) X(Session_finalize) X(Session_get_info)

#define MPI_CALLS_SESSION(X)                                                \
	X(Group_from_session_pset) X(Session_get_num_psets)                 \
	X(Session_get_nth_pset) X(Session_get_pset_info)                    \
	X(Session_create_errhandler) X(Session_set_errhandler)              \
	X(Session_get_errhandler) X(Session_call_errhandler)

#define MPI_CALLS_FROM_GROUP(X)                                             \
	X(Comm_create_from_group) X(Intercomm_create_from_groups)

#define MPI_CALLS_PART(X)                                                   \
	X(Psend_init) X(Psend_init_c) X(Precv_init) X(Precv_init_c)         \
	X(Pready, IMMEDIATE) X(Pready_range, IMMEDIATE)                     \
	X(Pready_list, IMMEDIATE) X(Parrived, IMMEDIATE)

#define MPI_CALLS_PROBE(X)                                                   \
	X(Probe) X(Iprobe, IMMEDIATE) X(Mprobe) X(Improbe, IMMEDIATE)        \
	VM_BOTH(X, Mrecv) VM_BOTH(X, Imrecv, IMMEDIATE)

#define MPI_CALLS_STATUS(X)                                                  \
	VM_BOTH(X, Get_count, LOOKUP) VM_BOTH(X, Get_elements, LOOKUP)       \
	X(Test_cancelled, LOOKUP) X(Status_set_cancelled, LOOKUP)            \
	VM_BOTH(X, Status_set_elements, LOOKUP) X(Status_get_source, LOOKUP) \
	X(Status_get_tag, LOOKUP) X(Status_get_error, LOOKUP)                \
	X(Status_set_source, LOOKUP) X(Status_set_tag, LOOKUP)               \
	X(Status_set_error, LOOKUP)

#define MPI_CALLS_REQUEST(X)                                                \
	X(Wait) X(Waitall) X(Waitany) X(Waitsome) X(Test, IMMEDIATE)        \
	X(Testall, IMMEDIATE) X(Testany, IMMEDIATE) X(Testsome, IMMEDIATE)  \
	X(Cancel) X(Request_free) X(Request_get_status, IMMEDIATE)          \
	X(Request_get_status_any, IMMEDIATE)                                \
	X(Request_get_status_all, IMMEDIATE)                                \
	X(Request_get_status_some, IMMEDIATE)

#define MPI_CALLS_COMM(X)                                                   \
	X(Comm_size, LOOKUP) X(Comm_rank, LOOKUP) X(Comm_compare)           \
	X(Comm_free) X(Comm_group) X(Comm_set_name) X(Comm_get_name)        \
	X(Comm_test_inter, LOOKUP) X(Comm_get_parent, LOOKUP)               \
	X(Comm_disconnect)

#define MPI_CALLS_COMM_MAKE(X)                                              \
	X(Comm_dup) X(Comm_split) X(Comm_split_type) X(Comm_create)         \
	X(Comm_create_group)

#define MPI_CALLS_COMM_IDUP(X)                                              \
	X(Comm_idup) X(Comm_idup_with_info) X(Comm_dup_with_info)           \
	X(Comm_set_info) X(Comm_get_info)

#define MPI_CALLS_INTER(X)                                                  \
	X(Intercomm_create) X(Intercomm_merge) X(Comm_remote_size, LOOKUP)  \
	X(Comm_remote_group)

#define MPI_CALLS_PORT(X)                                                   \
	X(Open_port) X(Close_port) X(Publish_name) X(Unpublish_name)        \
	X(Lookup_name)

#define MPI_CALLS_CONNECT(X)                                                \
	X(Comm_accept) X(Comm_connect) X(Comm_join)

#define MPI_CALLS_SPAWN(X)                                                  \
	X(Comm_spawn) X(Comm_spawn_multiple)

#define MPI_CALLS_GROUP(X)                                                  \
	X(Group_size, LOOKUP) X(Group_rank, LOOKUP)                         \
	X(Group_translate_ranks) X(Group_compare) X(Group_free)

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
	X(Info_delete) X(Info_dup) X(Info_free) X(Info_create_env)

#define MPI_CALLS_FINT(X)                                                   \
	X(Comm_toint, LOOKUP) X(Comm_fromint, LOOKUP) X(Comm_c2f, LOOKUP)   \
	X(Comm_f2c, LOOKUP) X(Errhandler_toint, LOOKUP)                     \
	X(Errhandler_fromint, LOOKUP) X(Errhandler_c2f, LOOKUP)             \
	X(Errhandler_f2c, LOOKUP) X(File_toint, LOOKUP)                     \
	X(File_fromint, LOOKUP) X(File_c2f, LOOKUP) X(File_f2c, LOOKUP)     \
	X(Group_toint, LOOKUP) X(Group_fromint, LOOKUP)                     \
	X(Group_c2f, LOOKUP) X(Group_f2c, LOOKUP) X(Info_toint, LOOKUP)     \
	X(Info_fromint, LOOKUP) X(Info_c2f, LOOKUP) X(Info_f2c, LOOKUP)     \
	X(Message_toint, LOOKUP) X(Message_fromint, LOOKUP)                 \
	X(Message_c2f, LOOKUP) X(Message_f2c, LOOKUP) X(Op_toint, LOOKUP)   \
	X(Op_fromint, LOOKUP) X(Op_c2f, LOOKUP) X(Op_f2c, LOOKUP)           \
	X(Request_toint, LOOKUP) X(Request_fromint, LOOKUP)                 \
	X(Request_c2f, LOOKUP) X(Request_f2c, LOOKUP)                       \
	X(Session_toint, LOOKUP) X(Session_fromint, LOOKUP)                 \
	X(Session_c2f, LOOKUP) X(Session_f2c, LOOKUP) X(Type_toint, LOOKUP) \
	X(Type_fromint, LOOKUP) X(Type_c2f, LOOKUP) X(Type_f2c, LOOKUP)     \
	X(Win_toint, LOOKUP) X(Win_fromint, LOOKUP) X(Win_c2f, LOOKUP)      \
	X(Win_f2c, LOOKUP)

#define MPI_CALLS_STATUS_FINT(X)                                            \
	X(Status_c2f) X(Status_f2c) X(Status_c2f08) X(Status_f082c)         \
	X(Status_f2f08) X(Status_f082f)

#define MPI_CALLS_TOPO(X)                                                   \
	X(Dims_create) X(Cart_create) X(Cart_coords, LOOKUP)                \
	X(Cart_rank, LOOKUP) X(Cart_shift, LOOKUP) X(Cart_get, LOOKUP)      \
	X(Cart_sub) X(Cartdim_get, LOOKUP) X(Topo_test, LOOKUP) X(Cart_map)

#define MPI_CALLS_GRAPH(X)                                                  \
	X(Graphdims_get) X(Graph_get) X(Graph_neighbors_count)              \
	X(Graph_neighbors) X(Dist_graph_neighbors_count)                    \
	X(Dist_graph_neighbors)

#define MPI_CALLS_GRAPH_MAKE(X)                                             \
	X(Graph_create) X(Graph_map) X(Dist_graph_create)                   \
	X(Dist_graph_create_adjacent)

/* Datatypes: type.c */
#define MPI_CALLS_TYPE(X)                                                    \
	X(Type_dup) X(Type_commit) X(Type_free) X(Type_set_name)             \
	X(Type_get_name) VM_BOTH(X, Type_get_envelope)                       \
	VM_BOTH(X, Type_get_contents) X(Type_extent, LOOKUP)                 \
	X(Type_lb, LOOKUP) X(Type_ub, LOOKUP) X(Type_hvector)                \
	X(Type_hindexed) X(Type_struct) VM_BOTH(X, Type_size, LOOKUP)        \
	VM_BOTH(X, Type_get_extent, LOOKUP)                                  \
	VM_BOTH(X, Type_get_true_extent, LOOKUP) VM_BOTH(X, Type_contiguous) \
	VM_BOTH(X, Type_vector) VM_BOTH(X, Type_create_hvector)              \
	VM_BOTH(X, Type_indexed) VM_BOTH(X, Type_create_hindexed)            \
	VM_BOTH(X, Type_create_indexed_block)                                \
	VM_BOTH(X, Type_create_hindexed_block)                               \
	VM_BOTH(X, Type_create_struct) VM_BOTH(X, Type_create_resized)       \
	VM_BOTH(X, Type_create_subarray)

#define MPI_CALLS_TYPE_DARRAY(X)                                             \
	VM_BOTH(X, Type_create_darray)

#define MPI_CALLS_COUNT(X)                                                  \
	X(Type_size_x, LOOKUP) X(Type_get_extent_x, LOOKUP)                 \
	X(Type_get_true_extent_x, LOOKUP) X(Get_elements_x, LOOKUP)         \
	X(Status_set_elements_x, LOOKUP) X(Type_match_size)                 \
	X(Type_get_value_index) X(Type_create_f90_real)                     \
	X(Type_create_f90_complex) X(Type_create_f90_integer)

#define MPI_CALLS_PACK(X)                                                    \
	VM_BOTH(X, Pack) VM_BOTH(X, Unpack) VM_BOTH(X, Pack_size)

#define MPI_CALLS_PACK_EXTERNAL(X)                                           \
	VM_BOTH(X, Pack_external) VM_BOTH(X, Unpack_external)                \
	VM_BOTH(X, Pack_external_size)

#define MPI_CALLS_OP(X)                                                      \
	X(Op_free) X(Op_commutative, LOOKUP) VM_BOTH(X, Reduce_local)        \
	VM_BOTH(X, Op_create)

#define MPI_CALLS_NEIGHBOR(X)                                                \
	VM_BOTH(X, Neighbor_allgather) VM_BOTH(X, Ineighbor_allgather)       \
	VM_BOTH(X, Neighbor_allgather_init) VM_BOTH(X, Neighbor_allgatherv)  \
	VM_BOTH(X, Ineighbor_allgatherv)                                     \
	VM_BOTH(X, Neighbor_allgatherv_init) VM_BOTH(X, Neighbor_alltoall)   \
	VM_BOTH(X, Ineighbor_alltoall) VM_BOTH(X, Neighbor_alltoall_init)    \
	VM_BOTH(X, Neighbor_alltoallv) VM_BOTH(X, Ineighbor_alltoallv)       \
	VM_BOTH(X, Neighbor_alltoallv_init) VM_BOTH(X, Neighbor_alltoallw)   \
	VM_BOTH(X, Ineighbor_alltoallw) VM_BOTH(X, Neighbor_alltoallw_init)

#define MPI_CALLS_COLL(X)                                                    \
	X(Barrier) VM_BOTH(X, Bcast) VM_BOTH(X, Gather) VM_BOTH(X, Gatherv)  \
	VM_BOTH(X, Scatter) VM_BOTH(X, Scatterv) VM_BOTH(X, Allgather)       \
	VM_BOTH(X, Allgatherv) VM_BOTH(X, Alltoall) VM_BOTH(X, Alltoallv)    \
	VM_BOTH(X, Alltoallw) VM_BOTH(X, Reduce) VM_BOTH(X, Allreduce)       \
	VM_BOTH(X, Reduce_scatter) VM_BOTH(X, Reduce_scatter_block)          \
	VM_BOTH(X, Scan) VM_BOTH(X, Exscan) X(Ibarrier) VM_BOTH(X, Ibcast)   \
	VM_BOTH(X, Igather) VM_BOTH(X, Igatherv) VM_BOTH(X, Iscatter)        \
	VM_BOTH(X, Iscatterv) VM_BOTH(X, Iallgather) VM_BOTH(X, Iallgatherv) \
	VM_BOTH(X, Ialltoall) VM_BOTH(X, Ialltoallv) VM_BOTH(X, Ialltoallw)  \
	VM_BOTH(X, Ireduce) VM_BOTH(X, Iallreduce)                           \
	VM_BOTH(X, Ireduce_scatter) VM_BOTH(X, Ireduce_scatter_block)        \
	VM_BOTH(X, Iscan) VM_BOTH(X, Iexscan) X(Barrier_init)                \
	VM_BOTH(X, Bcast_init) VM_BOTH(X, Gather_init)                       \
	VM_BOTH(X, Gatherv_init) VM_BOTH(X, Scatter_init)                    \
	VM_BOTH(X, Scatterv_init) VM_BOTH(X, Allgather_init)                 \
	VM_BOTH(X, Allgatherv_init) VM_BOTH(X, Alltoall_init)                \
	VM_BOTH(X, Alltoallv_init) VM_BOTH(X, Alltoallw_init)                \
	VM_BOTH(X, Reduce_init) VM_BOTH(X, Allreduce_init)                   \
	VM_BOTH(X, Reduce_scatter_init)                                      \
	VM_BOTH(X, Reduce_scatter_block_init) VM_BOTH(X, Scan_init)          \
	VM_BOTH(X, Exscan_init)

#define MPI_CALLS_WIN(X)                                                    \
	X(Win_create) X(Win_create_c) X(Win_allocate) X(Win_allocate_c)     \
	X(Win_allocate_shared) X(Win_allocate_shared_c)                     \
	X(Win_create_dynamic) X(Win_attach) X(Win_detach)                   \
	X(Win_shared_query) X(Win_shared_query_c) X(Win_free)               \
	X(Win_get_group) X(Win_set_name) X(Win_get_name)                    \
	X(Win_create_errhandler) X(Win_set_errhandler)                      \
	X(Win_get_errhandler) X(Win_call_errhandler)                        \
	X(Win_create_keyval) X(Win_free_keyval) X(Win_set_attr)             \
	X(Win_get_attr) X(Win_delete_attr) X(Win_set_info) X(Win_get_info)

#define MPI_CALLS_WIN_EPOCH(X)                                              \
	X(Win_fence) X(Win_post) X(Win_start) X(Win_complete) X(Win_wait)   \
	X(Win_test) X(Win_lock) X(Win_unlock) X(Win_lock_all)               \
	X(Win_unlock_all) X(Win_flush) X(Win_flush_local) X(Win_flush_all)  \
	X(Win_flush_local_all) X(Win_sync)

#define MPI_CALLS_WIN_ACCESS(X)                                             \
	X(Put) X(Put_c) X(Get) X(Get_c) X(Rput) X(Rput_c) X(Rget) X(Rget_c) \
	X(Accumulate) X(Accumulate_c) X(Raccumulate) X(Raccumulate_c)       \
	X(Get_accumulate) X(Get_accumulate_c) X(Rget_accumulate)            \
	X(Rget_accumulate_c) X(Fetch_and_op) X(Compare_and_swap)

#define MPI_CALLS_FILE(X)                                                   \
	X(File_open) X(File_close) X(File_delete) X(File_set_size)          \
	X(File_preallocate) X(File_get_size) X(File_get_group)              \
	X(File_get_amode, LOOKUP) X(File_set_info) X(File_get_info)         \
	X(File_set_view) X(File_get_view) X(File_seek)                      \
	X(File_get_position, LOOKUP) X(File_get_byte_offset, LOOKUP)        \
	X(File_get_type_extent, LOOKUP) X(File_get_type_extent_c, LOOKUP)   \
	X(File_set_atomicity) X(File_get_atomicity, LOOKUP) X(File_sync)    \
	X(File_create_errhandler) X(File_set_errhandler)                    \
	X(File_get_errhandler) X(File_call_errhandler)                      \
	X(Register_datarep) X(Register_datarep_c)

#define MPI_CALLS_FILE_ACCESS(X)                                            \
	VM_BOTH(X, File_read_at) VM_BOTH(X, File_read_at_all)               \
	VM_BOTH(X, File_write_at) VM_BOTH(X, File_write_at_all)             \
	VM_BOTH(X, File_read) VM_BOTH(X, File_read_all)                     \
	VM_BOTH(X, File_write) VM_BOTH(X, File_write_all)                   \
	VM_BOTH(X, File_read_shared) VM_BOTH(X, File_write_shared)          \
	VM_BOTH(X, File_read_ordered) VM_BOTH(X, File_write_ordered)        \
	X(File_seek_shared) X(File_get_position_shared)

/* Those that only start. */
#define MPI_CALLS_FILE_START(X)                                             \
	VM_BOTH(X, File_iread_at) VM_BOTH(X, File_iread_at_all)             \
	VM_BOTH(X, File_iwrite_at) VM_BOTH(X, File_iwrite_at_all)           \
	VM_BOTH(X, File_iread) VM_BOTH(X, File_iread_all)                   \
	VM_BOTH(X, File_iwrite) VM_BOTH(X, File_iwrite_all)                 \
	VM_BOTH(X, File_iread_shared) VM_BOTH(X, File_iwrite_shared)        \
	VM_BOTH(X, File_read_all_begin) X(File_read_all_end)                \
	VM_BOTH(X, File_read_at_all_begin) X(File_read_at_all_end)          \
	VM_BOTH(X, File_read_ordered_begin) X(File_read_ordered_end)        \
	VM_BOTH(X, File_write_all_begin) X(File_write_all_end)              \
	VM_BOTH(X, File_write_at_all_begin) X(File_write_at_all_end)        \
	VM_BOTH(X, File_write_ordered_begin) X(File_write_ordered_end)

/* The tool information interface: tool*.c */
#define MPI_CALLS_TOOL(X)                                                   \
	X(T_init_thread, LOOKUP) X(T_finalize, LOOKUP)                      \
	X(T_enum_get_info, LOOKUP) X(T_enum_get_item, LOOKUP)               \
	X(T_cvar_get_num, LOOKUP) X(T_cvar_get_info, LOOKUP)                \
	X(T_cvar_get_index, LOOKUP) X(T_cvar_handle_alloc, LOOKUP)          \
	X(T_cvar_handle_free, LOOKUP) X(T_cvar_read, LOOKUP)                \
	X(T_cvar_write, LOOKUP) X(T_pvar_get_num, LOOKUP)                   \
	X(T_pvar_get_info, LOOKUP) X(T_pvar_get_index, LOOKUP)              \
	X(T_pvar_session_create, LOOKUP) X(T_pvar_session_free, LOOKUP)     \
	X(T_pvar_handle_alloc, LOOKUP) X(T_pvar_handle_free, LOOKUP)        \
	X(T_pvar_start, LOOKUP) X(T_pvar_stop, LOOKUP)                      \
	X(T_pvar_read, LOOKUP) X(T_pvar_write, LOOKUP)                      \
	X(T_pvar_reset, LOOKUP) X(T_pvar_readreset, LOOKUP)                 \
	X(T_category_get_num, LOOKUP) X(T_category_get_info, LOOKUP)        \
	X(T_category_get_num_events, LOOKUP)                                \
	X(T_category_get_index, LOOKUP) X(T_category_get_cvars, LOOKUP)     \
	X(T_category_get_pvars, LOOKUP) X(T_category_get_events, LOOKUP)    \
	X(T_category_get_categories, LOOKUP) X(T_category_changed, LOOKUP)  \
	X(T_event_get_num, LOOKUP) X(T_event_get_info, LOOKUP)              \
	X(T_event_get_index, LOOKUP) X(T_event_handle_alloc, LOOKUP)        \
	X(T_event_handle_set_info, LOOKUP)                                  \
	X(T_event_handle_get_info, LOOKUP) X(T_event_handle_free, LOOKUP)   \
	X(T_event_register_callback, LOOKUP)                                \
	X(T_event_callback_set_info, LOOKUP)                                \
	X(T_event_callback_get_info, LOOKUP)                                \
	X(T_event_set_dropped_handler, LOOKUP) X(T_event_read, LOOKUP)      \
	X(T_event_copy, LOOKUP) X(T_event_get_timestamp, LOOKUP)            \
	X(T_event_get_source, LOOKUP) X(T_source_get_num, LOOKUP)           \
	X(T_source_get_info, LOOKUP) X(T_source_get_timestamp, LOOKUP)

#define MPI_CALLS(X)                                                         \
	MPI_CALLS_ENV(X) MPI_CALLS_MEMORY(X) MPI_CALLS_P2P(X)                \
	MPI_CALLS_PERSIST(X) MPI_CALLS_BSEND(X) MPI_CALLS_PROBE(X)           \
	MPI_CALLS_BUFFER(X) MPI_CALLS_PART(X) MPI_CALLS_SESSION_INIT(X)      \
	MPI_CALLS_SESSION(X) MPI_CALLS_FROM_GROUP(X) MPI_CALLS_STATUS(X)     \
	MPI_CALLS_REQUEST(X) MPI_CALLS_COMM(X) MPI_CALLS_COMM_MAKE(X)        \
	MPI_CALLS_INTER(X) MPI_CALLS_PORT(X) MPI_CALLS_CONNECT(X)            \
	MPI_CALLS_SPAWN(X) \
	MPI_CALLS_GROUP(X) MPI_CALLS_GROUP_OPS(X)                            \
	MPI_CALLS_COMM_IDUP(X) MPI_CALLS_ATTR(X) MPI_CALLS_ERRH(X)           \
	MPI_CALLS_ERRCODE(X) MPI_CALLS_INFO(X) MPI_CALLS_TOPO(X)             \
	MPI_CALLS_TYPE(X) MPI_CALLS_FINT(X) MPI_CALLS_STATUS_FINT(X)         \
	MPI_CALLS_EXCHANGE(X) MPI_CALLS_GREQUEST(X) MPI_CALLS_COUNT(X)       \
	MPI_CALLS_PACK(X) MPI_CALLS_OP(X) MPI_CALLS_PACK_EXTERNAL(X)         \
	MPI_CALLS_TYPE_DARRAY(X) MPI_CALLS_GRAPH(X) MPI_CALLS_GRAPH_MAKE(X)  \
	MPI_CALLS_NEIGHBOR(X) MPI_CALLS_WIN(X) MPI_CALLS_WIN_EPOCH(X)        \
	MPI_CALLS_FILE(X) MPI_CALLS_FILE_ACCESS(X) MPI_CALLS_FILE_START(X)   \
	MPI_CALLS_WIN_ACCESS(X) MPI_CALLS_COLL(X) MPI_CALLS_TOOL(X)          \
	MPI_CALLS_UNSUPPORTED(X)

/*
 * The kinds of calls, the second column: how they are watched, and whether they
 * may wait.  A row without a kind is an ordinary call.  A LOOKUP is no call to
 * those who watch (vmpi-overlap(7)): it only looks at something of the rank's
 * own, in less time than it takes to read the clock, or it belongs to a tool,
 * which does not watch itself.  A call that is IMMEDIATE never waits: it does not
 * announce itself as the call that the rank is in (core/rank/wait.h), nor return
 * by core/instrument/return.S; without the mark it would do so in vain.
 */
#define VM_CALL_IS_LOOKUP(kind) VM_CALL_IS_LOOKUP_##kind
#define VM_CALL_IS_LOOKUP_ 0
#define VM_CALL_IS_LOOKUP_LOOKUP 1
#define VM_CALL_IS_LOOKUP_IMMEDIATE 0

#ifndef __ASSEMBLER__
enum vm_call_id {
#define VM_CALL_ID_(name, ...) VM_CALL_##name,
	MPI_CALLS(VM_CALL_ID_)
#undef VM_CALL_ID_
	VM_CALLS
};

#include "core/instrument/entry.h"
#include "mpi.h"

#define VM_CALL_ENTRY_(name) VM_ENTRY_WAITS(name)
#define VM_CALL_ENTRY_LOOKUP(name) VM_ENTRY(name)
#define VM_CALL_ENTRY_IMMEDIATE(name) VM_ENTRY(name)
#define VM_CALL_ENTRY_OF_(name, kind) VM_CALL_ENTRY_##kind(name)
#define VM_CALL_ENTRY_ROW_(name, ...) \
	VM_CALL_ENTRY_OF_(PMPI_##name, __VA_ARGS__)
MPI_CALLS(VM_CALL_ENTRY_ROW_)
#undef VM_CALL_ENTRY_ROW_
#undef VM_CALL_ENTRY_OF_
#undef VM_CALL_ENTRY_IMMEDIATE
#undef VM_CALL_ENTRY_LOOKUP
#undef VM_CALL_ENTRY_

/* What is no MPI and cannot fail: MPIX_x of mpix.c. */
#define MPIX_CALLS(X)                                                       \
	X(Rtime) X(Start_processor_timer) X(Stop_processor_timer) X(Ptime)

#define MPIX_WEAK_ALIAS(name)                       \
	extern __typeof__(PMPIX_##name) MPIX_##name \
		__attribute__((weak, alias("PMPIX_" #name)));

#endif

#endif
