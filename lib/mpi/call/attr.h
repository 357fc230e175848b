/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes: values that a program hangs on a communicator or a datatype under
 * keys of its own, with callbacks for copies and deletions.
 *
 * "object" is the handle that the callbacks get; the key knows its kind.
 */
#ifndef MPI_CALL_ATTR_H
#define MPI_CALL_ATTR_H

#include "mpi/call/call.h"
#include "mpi/call/state.h"

/* Keys the library hands out; the predefined ones of the ABI are below. */
#define VM_KEYVAL_FIRST 1024

enum vm_attr_of { VM_ATTR_OF_COMM, VM_ATTR_OF_TYPE };

struct vm_attr_functions {
	enum vm_attr_of of;
	union {
		MPI_Comm_copy_attr_function *comm_copy;
		MPI_Type_copy_attr_function *type_copy;
	};
	union {
		MPI_Comm_delete_attr_function *comm_delete;
		MPI_Type_delete_attr_function *type_delete;
	};
};

/*
 * The calls on keys and on single attributes: 0, an MPI error that was noted in
 * call, or what a callback returned.  *attrs is NULL while there are none.  May
 * switch.
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
 * what they give in *to.  0 or what a callback returned (then nothing is left
 * in *to).  May switch.
 */
int vm_attrs_copy(struct vm_mpi *mpi, struct vm_attrs **to, void *from,
		  const struct vm_attrs *attrs);

/*
 * Calls the delete callbacks, the latest attribute first, and frees *attrs.
 * Stops at the first callback that fails and returns its result; what it and
 * the later ones stand for stays.  May switch.
 */
int vm_attrs_delete(struct vm_mpi *mpi, struct vm_attrs **attrs, void *object);

/* Frees without calling anybody. */
void vm_attrs_free(struct vm_mpi *mpi, struct vm_attrs **attrs);

#endif
