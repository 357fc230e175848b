/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduction operations.
 *
 * A predefined operation is a constant row: the types it accepts and one loop
 * per kind of them (mpi/type/basic.h).  A user-defined one is an object with
 * the user's function.
 */
#ifndef MPI_OP_OP_H
#define MPI_OP_OP_H

#include "mpi/call/call.h"
#include "mpi/call/object.h"
#include "mpi/type/type.h"

/* out[i] = left[i] op right[i]; out may be one of the operands. */
typedef void (*vm_op_loop)(const void *left, const void *right, void *out,
			   size_t n);
/* out[i] = (a[i] op b[i]) op (c[i] op d[i]), of four operands that begin
 * `offset` bytes after from[0] to from[3]. */
typedef void (*vm_op_four)(const void *const from[4], ptrdiff_t offset,
			   void *out, size_t n);

struct vm_op_loops {
	vm_op_loop two;
	vm_op_four four;
};

struct vm_op {
	struct vm_object object;
	const char *name; /* predefined: "MPI_SUM"; else NULL */
	bool commutes;
	uint8_t number;	  /* predefined: in vm_op_builtin; else 0 */
	uint8_t families; /* predefined: of accepted types */
	const struct vm_op_loops *loops; /* predefined: by kind */
	/* The user's, one of both. */
	MPI_User_function *user;
	MPI_User_function_c *user_large;
	bool fortran;	    /* user is a function of Fortran */
	struct vm_mpi *mpi; /* whose it is; NULL: predefined */
};

/* Predefined operations by handle - MPI_OP_NULL; NULL where there is none. */
#define VM_OP_BUILTINS 32
extern const struct vm_op *const vm_op_builtin[VM_OP_BUILTINS];

/* Returns the operation of a handle; NULL for MPI_OP_NULL and invalid
 * handles. */
static inline const struct vm_op *vm_op_get(MPI_Op handle)
{
	uintptr_t value = (uintptr_t)handle;

	if (value >= VM_HANDLE_MIN)
		return vm_object_of(handle, VM_MAGIC_OP);
	value -= (uintptr_t)MPI_OP_NULL;
	return value < VM_OP_BUILTINS ? vm_op_builtin[value] : NULL;
}

/* Checks that the operation may be applied to the type and sets *op: 0 or
 * MPI_ERR_OP. */
int vm_check_op(struct vm_call *call, MPI_Op handle, const struct vm_type *type,
		const struct vm_op **op);

/* Says that the function of an operation of a program is one of Fortran. */
void vm_op_is_fortran(MPI_Op op);

/* Take and drop references; predefined operations are not counted. */
const struct vm_op *vm_op_hold(const struct vm_op *op);
void vm_op_drop(const struct vm_op *op);

/* Returns the name for messages. */
const char *vm_op_name(const struct vm_op *op);

static inline bool vm_op_is_user(const struct vm_op *op)
{
	return op->user || op->user_large;
}

/* Calls the user's function for n elements, as often as it takes: it may count
 * with int. */
void vm_op_apply_user(const struct vm_op *op, const struct vm_type *type,
		      const void *in, void *inout, size_t n);

/* Computes inout = in op inout for n elements; may call a user function. */
static inline void vm_op_apply(const struct vm_op *op,
			       const struct vm_type *type, const void *in,
			       void *inout, size_t n)
{
	if (op->loops)
		op->loops[type->kind].two(in, inout, inout, n);
	else
		vm_op_apply_user(op, type, in, inout, n);
}

#endif
