/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control variables of mpi.
 */
#ifndef MPI_CALL_VARS_H
#define MPI_CALL_VARS_H

#include "introspect/vars/cvar.h"

#define MPI_CVARS(X)                                                            \
	X(BOOL, check, 1, 0, 1, "flag", ANYTIME, UB, debug,                     \
	  "Check the arguments of MPI calls: ranks, tags, counts, buffers "     \
	  "and roots; handles are always checked")                              \
	X(CHOICE, check_types, 0, 0, 2, "off|kind|exact", STARTUP, UD, debug,   \
	  "Compare the datatypes of messages and collectives at both ends: "    \
	  "kind reports values that are received as something else, integers "  \
	  "of the same size being alike, and MPI_BYTE like anything; exact "    \
	  "whatever MPI forbids.  Must be the same in all processes")           \
	X(SIZE, coll_share_bytes, 32768, 0, 1099511627776, "bytes", ANYTIME,    \
	  TD, coll,                                                             \
	  "Size of a collective's data above which idle workers share the "     \
	  "work")                                                               \
	X(SIZE, coll_operand_bytes, 16777216, 64, 1099511627776, "bytes",       \
	  STARTUP, TD, coll,                                                    \
	  "Most bytes of operands that a process receives at a time in a "      \
	  "reduction; larger operands are processed in slices.  Must be the "   \
	  "same in all processes")                                              \
	X(SIZE, coll_packed_bytes, 65536, 0, 1099511627776, "bytes", ANYTIME,   \
	  TD, coll,                                                             \
	  "Largest block of a collective that is packed with others into "      \
	  "one message to another process, to one of this host at most 2048 "   \
	  "bytes; larger blocks are sent one by one, from buffer to buffer")    \
	X(SIZE, coll_short_bytes, 4096, 0, 1099511627776, "bytes", ALIKE, TB,   \
	  coll,                                                                 \
	  "Largest data of an internode collective for which auto chooses "     \
	  "the algorithm linear, in which every process sends to every "        \
	  "other one.  Must be the same in all processes")                      \
	X(SIZE, coll_long_bytes, 524288, 0, 1099511627776, "bytes", ALIKE, TB,  \
	  coll,                                                                 \
	  "Smallest data of an internode collective for which auto chooses "    \
	  "algorithms with one part per process (scatter_allgather, "           \
	  "reduce_scatter, ring).  Must be the same in all processes")          \
	X(CHOICE, coll_bcast_algorithm, 0, 0, 3,                                \
	  "auto|linear|binomial|scatter_allgather", ALIKE, TD, coll,            \
	  "Internode broadcast algorithm: linear sends from the root's "        \
	  "process to all others, binomial along a tree, scatter_allgather "    \
	  "scatters parts and allgathers them in a ring.  Must be the same "    \
	  "in all processes, like all algorithms")                              \
	X(CHOICE, coll_allgather_algorithm, 0, 0, 2, "auto|linear|ring",        \
	  ALIKE, TD, coll,                                                      \
	  "Internode allgather algorithm: linear sends from each process to "   \
	  "all others, ring around a ring")                                     \
	X(CHOICE, coll_alltoall_algorithm, 0, 0, 2, "auto|linear|pairwise",     \
	  ALIKE, TD, coll,                                                      \
	  "Internode all-to-all algorithm for long blocks: linear exchanges "   \
	  "with all processes at once, pairwise with one after the other")      \
	X(CHOICE, coll_reduce_order, VM_ORDER_TREE, 0, 1, "rank|tree", ALIKE,   \
	  UD, coll,                                                             \
	  "How reductions combine the operands: tree in a balanced tree over "  \
	  "the ranks, so that results have the same bits however many "         \
	  "processes and workers there are; rank from the first rank to the "   \
	  "last within each process, then the processes.  Scans always go "     \
	  "from the first rank to the last")                                    \
	X(CHOICE, coll_reduce_algorithm, 0, 0, 4,                               \
	  "auto|ordered|linear|binomial|reduce_scatter", ALIKE, TD, coll,       \
	  "Internode reduce algorithm: ordered sends all operands; the others " \
	  "combine what each process has reduced: linear in the root's "        \
	  "process, binomial along a tree, reduce_scatter one part in each "    \
	  "process, also where binomial would change the order of the ranks. "  \
	  "With coll_reduce_order=rank, operations that do not commute use "    \
	  "ordered unless each process has consecutive ranks")                  \
	X(CHOICE, coll_allreduce_algorithm, 0, 0, 4,                            \
	  "auto|ordered|linear|recursive_doubling|reduce_scatter", ALIKE, TD,   \
	  coll,                                                                 \
	  "Internode allreduce algorithm: ordered as for reduce; linear "       \
	  "combines in every process, recursive_doubling in pairs of "          \
	  "processes step by step, reduce_scatter one part in each process")    \
	X(CHOICE, coll_reduce_scatter_algorithm, 0, 0, 3,                       \
	  "auto|ordered|linear|pairwise", ALIKE, TD, coll,                      \
	  "Internode algorithm of MPI_Reduce_scatter and "                      \
	  "MPI_Reduce_scatter_block: ordered as for reduce; linear combines "   \
	  "everything in every process, pairwise only what the ranks of the "   \
	  "process receive")                                                    \
	X(CHOICE, coll_scan_algorithm, 0, 0, 4,                                 \
	  "auto|ordered|linear|recursive_doubling|chain", ALIKE, TD, coll,      \
	  "Internode scan algorithm, as for allreduce; in a chain each "        \
	  "process goes on where the one before it has ended; ordered is "      \
	  "used unless each process has consecutive ranks.  With more than "    \
	  "two processes the bits of linear and recursive_doubling are not "    \
	  "those of one process")                                               \
	X(SIZE, io_helper_bytes, 65536, 0, 1099511627776, "bytes", ANYTIME,     \
	  TD, io,                                                               \
	  "Smallest nonblocking access to a file that a helper thread does; "   \
	  "shorter ones are done when the call returns")                        \
	X(INT, connect_timeout_s, 180, 0, 1000000, "s", ANYTIME, UD, launch,    \
	  "Time after which MPI_Comm_connect to a port of this host where "     \
	  "nobody accepts fails with MPI_ERR_PORT, unless the info key "        \
	  "timeout says another one; 0: never")                                 \
	X(INT, finalize_reports, 10, 0, 1000000, "ranks", ANYTIME, UD, debug,   \
	  "Number of ranks that report their incomplete operations in "         \
	  "MPI_Finalize")

/* Values of coll_reduce_order. */
enum vm_order { VM_ORDER_RANK, VM_ORDER_TREE };

struct mpi_cvars {
	MPI_CVARS(VM_CVAR_FIELD)
};
extern struct mpi_cvars mpi_cvar;
extern const struct vm_cvar_table mpi_cvar_table;

/* Registers the variables of this layer; idempotent. */
void vm_mpi_vars_add(void);

#endif
