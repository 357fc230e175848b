/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes.
 *
 * The library keeps with each value which language set it, and calls functions
 * of Fortran itself (lib/mpi/call/fortran.h).  Fortran sees a value of C as the
 * address that it is, and C a value of Fortran as the address of an integer
 * (MPI 4.1, 19.3.7).
 */
#include "by_hand.h"
#include "convert.h"
#include "mpi/call/fortran.h"

/* Where these are given as procedures they are those of the ABI. */
#define PREDEFINED(X)                                        \
	X(mpi_null_copy_fn_, MPI_NULL_COPY_FN)               \
	X(mpi_dup_fn_, MPI_DUP_FN)                           \
	X(mpi_null_delete_fn_, MPI_NULL_DELETE_FN)           \
	X(mpi_comm_null_copy_fn_, MPI_COMM_NULL_COPY_FN)     \
	X(mpi_comm_dup_fn_, MPI_COMM_DUP_FN)                 \
	X(mpi_comm_null_delete_fn_, MPI_COMM_NULL_DELETE_FN) \
	X(mpi_type_null_copy_fn_, MPI_TYPE_NULL_COPY_FN)     \
	X(mpi_type_dup_fn_, MPI_TYPE_DUP_FN)                 \
	X(mpi_type_null_delete_fn_, MPI_TYPE_NULL_DELETE_FN) \
	X(mpi_win_null_copy_fn_, MPI_WIN_NULL_COPY_FN)       \
	X(mpi_win_dup_fn_, MPI_WIN_DUP_FN)                   \
	X(mpi_win_null_delete_fn_, MPI_WIN_NULL_DELETE_FN)

/* They can be called, too. */
#define COPY(name, type, copies)                                         \
	VM_F_ENTRY void name(MPI_Fint *object, MPI_Fint *keyval,         \
			     type *extra_state, type *in, type *out,     \
			     MPI_Fint *flag, MPI_Fint *ierror);          \
	void name(MPI_Fint *object, MPI_Fint *keyval, type *extra_state, \
		  type *in, type *out, MPI_Fint *flag, MPI_Fint *ierror) \
	{                                                                \
		if (copies)                                              \
			*out = *in;                                      \
		*flag = copies;                                          \
		vm_f_return(ierror, MPI_SUCCESS);                        \
	}
#define DELETE(name, type)                                                    \
	VM_F_ENTRY void name(MPI_Fint *object, MPI_Fint *keyval, type *value, \
			     type *extra_state, MPI_Fint *ierror);            \
	void name(MPI_Fint *object, MPI_Fint *keyval, type *value,            \
		  type *extra_state, MPI_Fint *ierror)                        \
	{                                                                     \
		vm_f_return(ierror, MPI_SUCCESS);                             \
	}
COPY(mpi_null_copy_fn_, MPI_Fint, 0)
COPY(mpi_dup_fn_, MPI_Fint, 1)
DELETE(mpi_null_delete_fn_, MPI_Fint)
COPY(mpi_comm_null_copy_fn_, MPI_Aint, 0)
COPY(mpi_comm_dup_fn_, MPI_Aint, 1)
DELETE(mpi_comm_null_delete_fn_, MPI_Aint)
COPY(mpi_type_null_copy_fn_, MPI_Aint, 0)
COPY(mpi_type_dup_fn_, MPI_Aint, 1)
DELETE(mpi_type_null_delete_fn_, MPI_Aint)
COPY(mpi_win_null_copy_fn_, MPI_Aint, 0)
COPY(mpi_win_dup_fn_, MPI_Aint, 1)
DELETE(mpi_win_null_delete_fn_, MPI_Aint)

/* The function for C: a constant, or the procedure itself, which the library
 * calls as Fortran does once the key is marked. */
static void *for_c(vm_f_function *function)
{
#define COMPARE(procedure, constant)                \
	if (function == (vm_f_function *)procedure) \
		return (void *)(uintptr_t)constant;
	PREDEFINED(COMPARE)
	return (void *)(uintptr_t)function;
}

#define CREATE(name, call, copy, remove, keyval, extra_state, old)        \
	int rc = call((MPI_##name##_copy_attr_function *)for_c(copy),     \
		      (MPI_##name##_delete_attr_function *)for_c(remove), \
		      keyval, (void *)(MPI_Aint)*extra_state);            \
	if (rc == 0)                                                      \
		vmpi_fortran.keyval(*keyval, old);                        \
	return rc

int vm_f_comm_create_keyval(__typeof__(MPI_Comm_create_keyval) *call,
			    vm_f_function *copy, vm_f_function *remove,
			    MPI_Fint *keyval, MPI_Aint *extra_state)
{
	CREATE(Comm, call, copy, remove, keyval, extra_state, VM_ATTR_AINT);
}

int vm_f_type_create_keyval(__typeof__(MPI_Type_create_keyval) *call,
			    vm_f_function *copy, vm_f_function *remove,
			    MPI_Fint *keyval, MPI_Aint *extra_state)
{
	CREATE(Type, call, copy, remove, keyval, extra_state, VM_ATTR_AINT);
}

int vm_f_win_create_keyval(__typeof__(MPI_Win_create_keyval) *call,
			   vm_f_function *copy, vm_f_function *remove,
			   MPI_Fint *keyval, MPI_Aint *extra_state)
{
	CREATE(Win, call, copy, remove, keyval, extra_state, VM_ATTR_AINT);
}

int vm_f_keyval_create(__typeof__(MPI_Keyval_create) *call, vm_f_function *copy,
		       vm_f_function *remove, MPI_Fint *keyval,
		       MPI_Fint *extra_state)
{
	CREATE(Comm, call, copy, remove, keyval, extra_state, VM_ATTR_INT);
}

/* One function sets and one gets the attributes of each kind of object.  What is
 * not there is 0, as programs expect that do not look at the flag. */
#define SET_AND_GET(word, kind)                                               \
	int vm_f_##word##_set_attr(__typeof__(MPI_##kind##_set_attr) *call,   \
				   MPI_Fint *object, MPI_Fint *keyval,        \
				   MPI_Aint *value)                           \
	{                                                                     \
		int rc = call(vm_f_##word(*object), *keyval, (void *)*value); \
                                                                              \
		if (rc == 0)                                                  \
			vmpi_fortran.mark(vm_f_##word(*object), *keyval,      \
					  VM_ATTR_AINT);                      \
		return rc;                                                    \
	}                                                                     \
	int vm_f_##word##_get_attr(__typeof__(MPI_##kind##_get_attr) *call,   \
				   MPI_Fint *object, MPI_Fint *keyval,        \
				   MPI_Aint *value, MPI_Fint *flag)           \
	{                                                                     \
		void *found;                                                  \
		int rc = call(vm_f_##word(*object), *keyval, &found, flag);   \
                                                                              \
		if (rc == 0)                                                  \
			*value = *flag ? value_of(vm_f_##word(*object),       \
						  *keyval, found) :           \
					 0;                                   \
		return rc;                                                    \
	}

/* What Fortran sees of an attribute that C sees as `found`. */
static MPI_Aint value_of(void *object, int keyval, void *found)
{
	switch (vmpi_fortran.set_by(object, keyval)) {
	case VM_ATTR_INT:
		return *(int *)found;
	case VM_ATTR_AINT:
		return *(MPI_Aint *)found;
	case VM_ATTR_C:
		break;
	}
	return (MPI_Aint)found;
}

SET_AND_GET(comm, Comm)
SET_AND_GET(type, Type)
SET_AND_GET(win, Win)

int vm_f_attr_put(__typeof__(MPI_Attr_put) *call, MPI_Fint *comm,
		  MPI_Fint *keyval, MPI_Fint *value)
{
	int rc = call(vm_f_comm(*comm), *keyval, (void *)(MPI_Aint)*value);

	if (rc == 0)
		vmpi_fortran.mark(vm_f_comm(*comm), *keyval, VM_ATTR_INT);
	return rc;
}

int vm_f_attr_get(__typeof__(MPI_Attr_get) *call, MPI_Fint *comm,
		  MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *flag)
{
	void *found;
	int rc = call(vm_f_comm(*comm), *keyval, &found, flag);

	if (rc == 0)
		*value = *flag ? (MPI_Fint)value_of(vm_f_comm(*comm), *keyval,
						    found) :
				 0;
	return rc;
}
