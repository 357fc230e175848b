/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one can set in mpi.
 */
#ifndef MPI_CALL_VARS_H
#define MPI_CALL_VARS_H

#include "introspect/vars/cvar.h"

#define MPI_CVARS(X)                                                           \
	X(BOOL, check, 1, 0, 1, "flag", ANYTIME, UB, debug,                    \
	  "Check the arguments of MPI calls: ranks, tags, counts, buffers "    \
	  "and roots; handles are always checked")                             \
	X(SIZE, coll_share_bytes, 32768, 0, 1099511627776, "bytes", ANYTIME,   \
	  TD, coll,                                                            \
	  "Data of a collective from which on idle workers take a share of "   \
	  "the work; below, no part goes to another worker")                   \
	X(SIZE, coll_operand_bytes, 16777216, 64, 1099511627776, "bytes",      \
	  STARTUP, TD, coll,                                                   \
	  "Operands of a reduction that a process takes from others at a "     \
	  "time; larger ones go in slices.  The same in all processes")        \
	X(SIZE, coll_packed_bytes, 65536, 0, 1099511627776, "bytes", ANYTIME,  \
	  TD, coll,                                                            \
	  "Blocks of a collective up to this size go to another process "      \
	  "together, in one message; longer ones go one by one, from buffer "  \
	  "to buffer")                                                         \
	X(SIZE, coll_short_bytes, 4096, 0, 1099511627776, "bytes", ALIKE, TB,  \
	  coll,                                                                \
	  "Data of a collective up to which every process tells every other "  \
	  "(algorithm linear) where the algorithm is auto.  The same in all "  \
	  "processes")                                                         \
	X(SIZE, coll_long_bytes, 524288, 0, 1099511627776, "bytes", ALIKE, TB, \
	  coll,                                                                \
	  "Data of a collective from which on it is cut into a piece per "     \
	  "process (scatter_allgather, reduce_scatter) where the algorithm "   \
	  "is auto.  The same in all processes")                               \
	X(CHOICE, coll_bcast_algorithm, 0, 0, 3,                               \
	  "auto|linear|binomial|scatter_allgather", ALIKE, TD, coll,           \
	  "How a broadcast goes among processes: from the root's to all; "     \
	  "along a tree; in pieces, one to each process, and round a ring.  "  \
	  "The same in all processes, as with all algorithms")                 \
	X(CHOICE, coll_allgather_algorithm, 0, 0, 2, "auto|linear|ring",       \
	  ALIKE, TD, coll,                                                     \
	  "How an allgather goes among processes: from each to all others; "   \
	  "round a ring")                                                      \
	X(CHOICE, coll_alltoall_algorithm, 0, 0, 2, "auto|linear|pairwise",    \
	  ALIKE, TD, coll,                                                     \
	  "How the long blocks of an all-to-all go among processes: all at "   \
	  "once; with one process after the other")                            \
	X(CHOICE, coll_reduce_algorithm, 0, 0, 4,                              \
	  "auto|ordered|linear|binomial|reduce_scatter", ALIKE, TD, coll,      \
	  "How reductions to a root go among processes: ordered sends all "    \
	  "operands, which gives the bits that one process would give; all "   \
	  "others combine what each process has reduced: at the root's; "      \
	  "along a tree; each process a piece.  Where an operation does not "  \
	  "commute and the ranks of a process are no neighbours, it is "       \
	  "ordered")                                                           \
	X(CHOICE, coll_allreduce_algorithm, 0, 0, 4,                           \
	  "auto|ordered|linear|recursive_doubling|reduce_scatter", ALIKE, TD,  \
	  coll,                                                                \
	  "The same for reductions to all: in each process; in pairs of "      \
	  "processes, one step after the other; each process a piece")         \
	X(CHOICE, coll_reduce_scatter_algorithm, 0, 0, 3,                      \
	  "auto|ordered|linear|pairwise", ALIKE, TD, coll,                     \
	  "The same for MPI_Reduce_scatter and MPI_Reduce_scatter_block: in "  \
	  "each process all; each process what its ranks get")                 \
	X(CHOICE, coll_scan_algorithm, 0, 0, 3,                                \
	  "auto|ordered|linear|recursive_doubling", ALIKE, TD, coll,           \
	  "The same for scans; ordered where the ranks of a process are no "   \
	  "neighbours")                                                        \
	X(INT, finalize_reports, 10, 0, 1000000, "ranks", ANYTIME, UD, debug,  \
	  "How many ranks say at MPI_Finalize which operations they have "     \
	  "not completed")

struct mpi_cvars {
	MPI_CVARS(VM_CVAR_FIELD)
};
extern struct mpi_cvars mpi_cvar;
extern const struct vm_cvar_table mpi_cvar_table;

/* Makes the variables of this layer known; idempotent. */
void vm_mpi_vars_add(void);

#endif
