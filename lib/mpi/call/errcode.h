/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Error classes, codes and strings that a program adds.
 *
 * Each rank has its own table.  A code is its index in the table plus
 * VM_ERRCODE_FIRST; indices of removed codes are reused.
 */
#ifndef MPI_CALL_ERRCODE_H
#define MPI_CALL_ERRCODE_H

#include "mpi/call/state.h"

#define VM_ERRCODE_FIRST (MPI_ERR_LASTCODE + 1)

struct vm_errcodes;

/* Returns the class of a code that the program added, or -1. */
int vm_errcode_class(int code);

/* Returns the text of a code, "" if none was set; NULL for codes that were not
 * added. */
const char *vm_errcode_text(int code);

/* Frees the table; NULL is fine. */
void vm_errcodes_free(struct vm_errcodes *codes);

#endif
