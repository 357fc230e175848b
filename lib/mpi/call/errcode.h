/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error classes, codes and strings that a program adds.
 *
 * Each rank has a table of its own; the number of a code is its place in the
 * table plus VM_ERRCODE_FIRST, and the place of a removed one is used again.
 */
#ifndef MPI_CALL_ERRCODE_H
#define MPI_CALL_ERRCODE_H

#include "mpi/call/state.h"

#define VM_ERRCODE_FIRST (MPI_ERR_LASTCODE + 1)

struct vm_errcodes;

/* The class of a code the program added, or -1. */
int vm_errcode_class(int code);

/* Its text, "" as long as it has none; NULL for codes that were not added. */
const char *vm_errcode_text(int code);

/* Frees the table; NULL is fine. */
void vm_errcodes_free(struct vm_errcodes *codes);

#endif
