/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * User-defined operations, and the check whether an operation is allowed for a
 * type.
 *
 * The loops of the predefined operations are in op_table.c.
 */
#include "mpi/type/op.h"

#include "mpi/call/check.h"

const char *vm_op_name(const struct vm_op *op)
{
	return op->name ? op->name : "an operation of the user";
}

const struct vm_op *vm_op_hold(const struct vm_op *op)
{
	if (op->user)
		vm_object_hold((struct vm_object *)(uintptr_t)&op->object);
	return op;
}

void vm_op_drop(const struct vm_op *op)
{
	struct vm_op *object = (struct vm_op *)(uintptr_t)op;

	if (op->user && vm_object_drop(&object->object))
		vm_object_free(op->mpi, VM_OBJECT_OP, object);
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

	if (rc != 0 || (*op)->user)
		return rc;
	if (type->builtin && (type->family & (*op)->families))
		return 0;
	name = vm_type_name(type);
	return vm_error(call, MPI_ERR_OP, "%s is not defined for %s",
			(*op)->name, *name ? name : "derived datatypes");
}

int PMPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
	struct vm_call call = vm_call_enter(VM_CALL_Op_create);
	struct vm_op *object = NULL;
	int rc = 0;

	if (!user_fn)
		rc = vm_error(&call, MPI_ERR_ARG, "argument user_fn is NULL");
	if (rc == 0)
		rc = vm_check_pointer(&call, op, "op");
	if (rc == 0) {
		object = vm_object_new(call.mpi, VM_OBJECT_OP, sizeof(*object));
		if (!object)
			rc = vm_error(&call, MPI_ERR_NO_MEM,
				      "no memory for an operation");
	}
	if (rc == 0) {
		object->commutes = commute != 0;
		object->user = user_fn;
		object->mpi = call.mpi;
		*op = (MPI_Op)(uintptr_t)object;
	}
	return vm_call_exit_self(&call, rc);
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

static int check_local(struct vm_call *call, const void *inbuf,
		       const void *inoutbuf)
{
	if (inbuf == MPI_IN_PLACE || inoutbuf == MPI_IN_PLACE)
		return vm_error(call, MPI_ERR_BUFFER,
				"MPI_IN_PLACE is not allowed here");
	if (inbuf == inoutbuf && inbuf && mpi_cvar.check)
		return vm_error(call, MPI_ERR_BUFFER,
				"inbuf and inoutbuf are the same");
	return 0;
}

int PMPI_Reduce_local(const void *inbuf, void *inoutbuf, int count,
		      MPI_Datatype datatype, MPI_Op op)
{
	struct vm_call call = vm_call_enter(VM_CALL_Reduce_local);
	const struct vm_op *object;
	struct vm_type *type;
	int rc = vm_check_committed(&call, datatype, &type);

	if (rc == 0)
		rc = vm_check_op(&call, op, type, &object);
	if (rc == 0)
		rc = vm_check_size(&call, count, "count");
	if (rc == 0)
		rc = vm_check_buffer(&call, inbuf, count, datatype);
	if (rc == 0)
		rc = vm_check_buffer(&call, inoutbuf, count, datatype);
	if (rc == 0 && count > 0)
		rc = check_local(&call, inbuf, inoutbuf);
	if (rc == 0 && count > 0)
		vm_op_apply(object, type, inbuf, inoutbuf, (size_t)count);
	return vm_call_exit_self(&call, rc);
}
