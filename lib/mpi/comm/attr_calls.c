/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI calls on attributes of communicators and of datatypes.
 */
#include "mpi/call/attr.h"
#include "mpi/call/check.h"
#include "mpi/type/type.h"

static int comm_keyval_create(struct vm_call *call,
			      MPI_Comm_copy_attr_function *copy,
			      MPI_Comm_delete_attr_function *remove,
			      int *keyval, void *extra_state)
{
	struct vm_attr_functions functions = { .of = VM_ATTR_OF_COMM,
					       .comm_copy = copy,
					       .comm_delete = remove };

	return vm_keyval_create(call, keyval, &functions, extra_state);
}

static int comm_attr_put(struct vm_call *call, MPI_Comm handle, int keyval,
			 void *value)
{
	struct vm_comm *comm;
	int rc = vm_check_comm(call, handle, &comm);

	if (rc == 0)
		rc = vm_attr_put(call, VM_ATTR_OF_COMM, &comm->attrs, handle,
				 keyval, value);
	return rc;
}

static int *predefined_attr(struct vm_mpi *mpi, int number)
{
	switch (number) {
	case MPI_TAG_UB:
		return &mpi->tag_ub;
	case MPI_IO:
		return &mpi->io;
	case MPI_HOST:
		return &mpi->host;
	case MPI_WTIME_IS_GLOBAL:
		return &mpi->wtime_is_global;
	case MPI_APPNUM:
		return &mpi->appnum;
	case MPI_LASTUSEDCODE:
		return &mpi->last_code;
	case MPI_UNIVERSE_SIZE:
		return &mpi->universe_size;
	default:
		return NULL;
	}
}

/* Checks the arguments of calls that read an attribute. */
static int check_get(struct vm_call *call, const void *value, const int *flag)
{
	int rc = vm_check_pointer(call, value, "attribute_val");

	return rc == 0 ? vm_check_pointer(call, flag, "flag") : rc;
}

static int comm_attr_get(struct vm_call *call, MPI_Comm handle, int keyval,
			 void *value, int *flag)
{
	struct vm_comm *comm;
	int *fixed, rc = vm_check_comm(call, handle, &comm);

	if (rc == 0)
		rc = check_get(call, value, flag);
	if (rc != 0)
		return rc;
	fixed = predefined_attr(call->mpi, keyval);
	if (!fixed)
		return vm_attr_get(call, VM_ATTR_OF_COMM, comm->attrs, keyval,
				   value, flag);
	*(int **)value = fixed;
	*flag = 1;
	return 0;
}

static int comm_attr_delete(struct vm_call *call, MPI_Comm handle, int keyval)
{
	struct vm_comm *comm;
	int rc = vm_check_comm(call, handle, &comm);

	if (rc == 0)
		rc = vm_attr_delete(call, VM_ATTR_OF_COMM, &comm->attrs, handle,
				    keyval);
	return rc;
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
			    MPI_Comm_delete_attr_function *remove, int *keyval,
			    void *extra_state)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_create_keyval);
	int rc = comm_keyval_create(&call, copy, remove, keyval, extra_state);

	return vm_call_exit_self(&call, rc);
}

int PMPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *remove,
		       int *keyval, void *extra_state)
{
	struct vm_call call = vm_call_enter(VM_CALL_Keyval_create);
	int rc = comm_keyval_create(&call, copy, remove, keyval, extra_state);

	return vm_call_exit_self(&call, rc);
}

int PMPI_Comm_free_keyval(int *keyval)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_free_keyval);

	return vm_call_exit_self(&call, vm_keyval_free(&call, VM_ATTR_OF_COMM,
						       keyval));
}

int PMPI_Keyval_free(int *keyval)
{
	struct vm_call call = vm_call_enter(VM_CALL_Keyval_free);

	return vm_call_exit_self(&call, vm_keyval_free(&call, VM_ATTR_OF_COMM,
						       keyval));
}

int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_set_attr);

	return vm_call_exit(&call, comm,
			    comm_attr_put(&call, comm, keyval, value));
}

int PMPI_Attr_put(MPI_Comm comm, int keyval, void *value)
{
	struct vm_call call = vm_call_enter(VM_CALL_Attr_put);

	return vm_call_exit(&call, comm,
			    comm_attr_put(&call, comm, keyval, value));
}

int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_get_attr);
	int rc = comm_attr_get(&call, comm, keyval, value, flag);

	return vm_call_exit(&call, comm, rc);
}

int PMPI_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag)
{
	struct vm_call call = vm_call_enter(VM_CALL_Attr_get);
	int rc = comm_attr_get(&call, comm, keyval, value, flag);

	return vm_call_exit(&call, comm, rc);
}

int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_delete_attr);

	return vm_call_exit(&call, comm, comm_attr_delete(&call, comm, keyval));
}

int PMPI_Attr_delete(MPI_Comm comm, int keyval)
{
	struct vm_call call = vm_call_enter(VM_CALL_Attr_delete);

	return vm_call_exit(&call, comm, comm_attr_delete(&call, comm, keyval));
}

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *copy,
			    MPI_Type_delete_attr_function *remove, int *keyval,
			    void *extra_state)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_create_keyval);
	struct vm_attr_functions functions = { .of = VM_ATTR_OF_TYPE,
					       .type_copy = copy,
					       .type_delete = remove };
	int rc = vm_keyval_create(&call, keyval, &functions, extra_state);

	return vm_call_exit_self(&call, rc);
}

int PMPI_Type_free_keyval(int *keyval)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_free_keyval);
	int rc = vm_keyval_free(&call, VM_ATTR_OF_TYPE, keyval);

	return vm_call_exit_self(&call, rc);
}

/* Finds the attributes of a datatype, to be changed. */
static int type_attrs(struct vm_call *call, MPI_Datatype handle,
		      struct vm_attrs ***attrs)
{
	struct vm_type_extra *extra;
	struct vm_type *type;
	int rc = vm_check_type(call, handle, &type);

	if (rc != 0)
		return rc;
	extra = vm_type_extra(call->mpi, type);
	if (!extra)
		return MPI_ERR_NO_MEM;
	*attrs = &extra->attrs;
	return 0;
}

int PMPI_Type_set_attr(MPI_Datatype datatype, int keyval, void *value)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_set_attr);
	struct vm_attrs **attrs;
	int rc = type_attrs(&call, datatype, &attrs);

	if (rc == 0)
		rc = vm_attr_put(&call, VM_ATTR_OF_TYPE, attrs, datatype,
				 keyval, value);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Type_get_attr(MPI_Datatype datatype, int keyval, void *value,
		       int *flag)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_get_attr);
	struct vm_attrs **attrs;
	int rc = type_attrs(&call, datatype, &attrs);

	if (rc == 0)
		rc = check_get(&call, value, flag);
	if (rc == 0)
		rc = vm_attr_get(&call, VM_ATTR_OF_TYPE, *attrs, keyval, value,
				 flag);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Type_delete_attr(MPI_Datatype datatype, int keyval)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_delete_attr);
	struct vm_attrs **attrs;
	int rc = type_attrs(&call, datatype, &attrs);

	if (rc == 0)
		rc = vm_attr_delete(&call, VM_ATTR_OF_TYPE, attrs, datatype,
				    keyval);
	return vm_call_exit_self(&call, rc);
}
