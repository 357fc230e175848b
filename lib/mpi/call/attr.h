/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes: values that a program attaches to communicators, datatypes and
 * windows under keys that it creates, with copy and delete callbacks.
 *
 * "object" is the handle passed to the callbacks; the key determines its kind.
 */
#ifndef MPI_CALL_ATTR_H
#define MPI_CALL_ATTR_H

#include "mpi/call/call.h"
#include "mpi/call/fortran.h"
#include "mpi/call/state.h"

/* First key that the library allocates; the predefined keys of the ABI are
 * smaller. */
#define VM_KEYVAL_FIRST 1024

enum vm_attr_of { VM_ATTR_OF_COMM, VM_ATTR_OF_TYPE, VM_ATTR_OF_WIN };

struct vm_attr_functions {
	enum vm_attr_of of;
	union {
		MPI_Comm_copy_attr_function *comm_copy;
		MPI_Type_copy_attr_function *type_copy;
		MPI_Win_copy_attr_function *win_copy;
	};
	union {
		MPI_Comm_delete_attr_function *comm_delete;
		MPI_Type_delete_attr_function *type_delete;
		MPI_Win_delete_attr_function *win_delete;
	};
};

/*
 * Operations on keys and single attributes.  Return 0, an MPI error noted in
 * call, or a callback's result.  *attrs is NULL when there are no attributes.
 * May switch.
 */
int vm_keyval_create(struct vm_call *call, int *number,
		     const struct vm_attr_functions *functions,
		     void *extra_state);
int vm_keyval_free(struct vm_call *call, enum vm_attr_of of, int *number);
int vm_attr_put(struct vm_call *call, enum vm_attr_of of,
		struct vm_attrs **attrs, void *object, int number, void *value);
int vm_attr_get(struct vm_call *call, enum vm_attr_of of,
		const struct vm_attrs *attrs, int number, void *value,
		int *flag);
int vm_attr_delete(struct vm_call *call, enum vm_attr_of of,
		   struct vm_attrs **attrs, void *object, int number);

/*
 * Calls the copy callbacks for a duplicate of the object `from` and collects
 * the copies in *to.  Returns 0 or a callback's result (*to is then empty).
 * May switch.
 */
int vm_attrs_copy(struct vm_mpi *mpi, struct vm_attrs **to, void *from,
		  const struct vm_attrs *attrs);

/*
 * Calls the delete callbacks, the latest attribute first, and frees *attrs.
 * Stops at the first callback that fails and returns its result; its attribute
 * and the remaining ones are kept.  May switch.
 */
int vm_attrs_delete(struct vm_mpi *mpi, struct vm_attrs **attrs, void *object);

/* Frees *attrs without calling callbacks. */
void vm_attrs_free(struct vm_mpi *mpi, struct vm_attrs **attrs);

/*
 * For the Fortran bindings: says of which form a key's functions are; returns of
 * which kind its objects are, and where it is kept whose the value of an
 * attribute is.  The key and the attribute exist.
 */
void vm_keyval_set_by(struct vm_mpi *mpi, int number, enum vm_attr_by by);
enum vm_attr_of vm_keyval_of(struct vm_mpi *mpi, int number);
enum vm_attr_by *vm_attr_by(struct vm_attrs *attrs, int number);

#endif
