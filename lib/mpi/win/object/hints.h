/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The info keys of windows: one row each.
 */
#ifndef MPI_WIN_OBJECT_HINTS_H
#define MPI_WIN_OBJECT_HINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi.h"

struct vm_call;

/*
 * Field, key, value without a hint.  All of a window's processes give the same;
 * what is no value of a key is ignored, as MPI demands of hints.  Of these only
 * alloc_shared_noncontig changes anything: accesses are direct and in order
 * anyway.  A window with no_locks can be locked, since programs do.
 */
#define VM_WIN_HINTS(X)                            \
	X(no_locks, "no_locks", false)             \
	X(same_size, "same_size", false)           \
	X(same_disp_unit, "same_disp_unit", false) \
	X(noncontig, "alloc_shared_noncontig", false)

#define VM_WIN_ORDERING_BYTES 32

struct vm_win_hints {
#define VM_WIN_HINT_FIELD_(field, key, value) bool field;
	VM_WIN_HINTS(VM_WIN_HINT_FIELD_)
#undef VM_WIN_HINT_FIELD_
	bool same_op; /* accumulate_ops: same_op, not same_op_no_op */
	char ordering[VM_WIN_ORDERING_BYTES]; /* accumulate_ordering */
	/* mpi_minimum_memory_alignment, in bytes; 0: none, or it cannot be had */
	size_t alignment;
};

/* The values without hints. */
void vm_win_hints_init(struct vm_win_hints *hints);

/* Takes over what an info object says: 0 or MPI_ERR_INFO. */
int vm_win_hints_take(struct vm_call *call, struct vm_win_hints *hints,
		      MPI_Info info);

#endif
