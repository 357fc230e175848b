/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one can set in mpi.
 */
#ifndef MPI_VARS_H
#define MPI_VARS_H

#include "introspect/var.h"

#define MPI_CVARS(X)                                                         \
	X(BOOL, check, 1, 0, 1, "flag", ANYTIME,                             \
	  "Check the arguments of MPI calls: ranks, tags, counts, buffers "  \
	  "and roots; handles are always checked")                           \
	X(SIZE, coll_share_bytes, 32768, 0, 1099511627776, "bytes", ANYTIME, \
	  "Data of a collective from which on idle workers take a share of " \
	  "the work; below, no part goes to another worker")                 \
	X(SIZE, coll_operand_bytes, 16777216, 64, 1099511627776, "bytes",    \
	  STARTUP,                                                           \
	  "Operands of a reduction that a process takes from others at a "   \
	  "time; larger ones go in slices.  The same in all processes")      \
	X(INT, finalize_reports, 10, 0, 1000000, "ranks", ANYTIME,           \
	  "How many ranks say at MPI_Finalize which operations they have "   \
	  "not completed")

struct mpi_cvars {
	MPI_CVARS(VM_CVAR_FIELD)
};
extern struct mpi_cvars mpi_cvar;
extern const struct vm_cvar_table mpi_cvar_table;

/* Makes the variables of this layer known; idempotent. */
void vm_mpi_vars_add(void);

#endif
