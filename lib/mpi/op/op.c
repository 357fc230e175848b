/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * User-defined operations, and the check whether an operation is allowed for a
 * type.
 *
 * The loops of the predefined operations are in table.c.
 */
#include "mpi/op/op.h"

#include <limits.h>

#include "mpi/call/check.h"

const char *vm_op_name(const struct vm_op *op)
{
	return op->name ? op->name : "an operation of the user";
}

const struct vm_op *vm_op_hold(const struct vm_op *op)
{
	if (vm_op_is_user(op))
		vm_object_hold((struct vm_object *)(uintptr_t)&op->object);
	return op;
}

void vm_op_drop(const struct vm_op *op)
{
	struct vm_op *object = (struct vm_op *)(uintptr_t)op;

	if (vm_op_is_user(op) && vm_object_drop(&object->object))
		vm_object_free(op->mpi, VM_OBJECT_OP, object);
}

void vm_op_is_fortran(MPI_Op op)
{
	struct vm_op *object = vm_object_of(op, VM_MAGIC_OP);

	object->fortran = true;
}

static int check_handle(struct vm_call *call, MPI_Op handle,
			const struct vm_op **op)
{
	*op = vm_op_get(handle);
	if (*op)
		return 0;
	if (handle == MPI_OP_NULL)
		return vm_error(call, MPI_ERR_OP, "MPI_OP_NULL");
	return vm_error(call, MPI_ERR_OP,
			"%p is not an operation, or it was freed",
			(void *)handle);
}

int vm_check_op(struct vm_call *call, MPI_Op handle, const struct vm_type *type,
		const struct vm_op **op)
{
	const char *name;
	int rc = check_handle(call, handle, op);

	if (rc != 0 || vm_op_is_user(*op))
		return rc;
	if (type->builtin && (type->family & (*op)->families))
		return 0;
	name = vm_type_name(type->builtin ? type->basic : type);
	return vm_error(call, MPI_ERR_OP, "%s is not defined for %s",
			(*op)->name, *name ? name : "derived datatypes");
}

/* Ends the call: makes an operation of the function, one of both. */
static int create(struct vm_call *call, MPI_User_function *user,
		  MPI_User_function_c *user_large, int commute, MPI_Op *op)
{
	struct vm_op *object = NULL;
	int rc = vm_check_pointer(call, op, "op");

	if (rc == 0 && !user && !user_large)
		rc = vm_error(call, MPI_ERR_ARG, "argument user_fn is NULL");
	if (rc == 0) {
		object =
			vm_object_new(call->mpi, VM_OBJECT_OP, sizeof(*object));
		if (!object)
			rc = vm_error(call, MPI_ERR_NO_MEM,
				      "no memory for an operation");
	}
	if (rc == 0) {
		object->commutes = commute != 0;
		object->user = user;
		object->user_large = user_large;
		object->mpi = call->mpi;
		*op = (MPI_Op)(uintptr_t)object;
	}
	return vm_call_exit_self(call, rc);
}

int PMPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
	struct vm_call call = vm_call_enter(VM_CALL_Op_create);

	return create(&call, user_fn, NULL, commute, op);
}

int PMPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op)
{
	struct vm_call call = vm_call_enter(VM_CALL_Op_create_c);

	return create(&call, NULL, user_fn, commute, op);
}

int PMPI_Op_free(MPI_Op *op)
{
	struct vm_call call = vm_call_enter(VM_CALL_Op_free);
	const struct vm_op *object = NULL;
	int rc = vm_check_pointer(&call, op, "op");

	if (rc == 0)
		rc = check_handle(&call, *op, &object);
	if (rc == 0 && object->name)
		rc = vm_error(&call, MPI_ERR_OP,
			      "%s is predefined and cannot be freed",
			      object->name);
	if (rc == 0) {
		/* The handle is invalid now; the operation is freed when it is
		 * unused. */
		vm_object_mark(&((struct vm_op *)(uintptr_t)object)->object, 0);
		vm_op_drop(object);
		*op = MPI_OP_NULL;
	}
	return vm_call_exit_self(&call, rc);
}

int PMPI_Op_commutative(MPI_Op op, int *commute)
{
	struct vm_call call = vm_call_enter(VM_CALL_Op_commutative);
	const struct vm_op *object;
	int rc = check_handle(&call, op, &object);

	if (rc == 0)
		rc = vm_check_pointer(&call, commute, "commute");
	if (rc == 0)
		*commute = object->commutes;
	return vm_call_exit_self(&call, rc);
}

void vm_op_apply_user(const struct vm_op *op, const struct vm_type *type,
		      const void *in, void *inout, size_t n)
{
	MPI_Datatype handle = vm_type_handle(type);
	MPI_Fint number = op->fortran ? PMPI_Type_toint(handle) : 0;
	void *passed = op->fortran ? (void *)&number : &handle;
	MPI_Count whole = (MPI_Count)n;

	if (op->user_large) {
		op->user_large((void *)(uintptr_t)in, inout, &whole, passed);
		return;
	}
	for (size_t i = 0; i < n; i += INT_MAX) {
		ptrdiff_t offset = (ptrdiff_t)i * type->extent;
		int length = n - i < INT_MAX ? (int)(n - i) : INT_MAX;

		op->user((void *)((uintptr_t)in + (uintptr_t)offset),
			 (void *)((uintptr_t)inout + (uintptr_t)offset),
			 &length, passed);
	}
}
