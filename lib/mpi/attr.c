/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attribute keys and attributes of communicators.
 *
 * Callbacks run without any lock; lists are touched only by the calls of the
 * rank that owns the communicator, which the program must order itself where
 * several threads change the attributes of one communicator.
 */
#include "mpi/attr.h"

#include <stdlib.h>

#include "mpi/check.h"

/* A key lives until it was freed by its handle and by every attribute. */
struct keyval {
	struct vm_object object;
	int number;
	bool freed; /* its handle is gone */
	MPI_Comm_copy_attr_function *copy;
	MPI_Comm_delete_attr_function *remove;
	void *extra_state;
};

struct attr {
	struct vm_list link;
	struct keyval *keyval; /* holds a reference */
	void *value;
};

struct vm_attrs {
	struct vm_list list; /* in the order they were set */
};

static void keyval_drop(struct vm_mpi *mpi, struct keyval *keyval)
{
	if (vm_object_drop(&keyval->object))
		vm_object_free(mpi, VM_OBJECT_KEYVAL, keyval);
}

static struct keyval *keyval_find(struct vm_mpi *mpi, int number)
{
	struct keyval *found = NULL;
	struct vm_list *link;

	vm_lock_take(&mpi->lock);
	vm_list_each(link, &mpi->alive[VM_OBJECT_KEYVAL]) {
		struct keyval *keyval =
			vm_container_of(link, struct keyval, object.link);

		if (keyval->number == number && !keyval->freed)
			found = keyval;
	}
	vm_lock_give(&mpi->lock);
	return found;
}

static struct attr *attr_find(const struct vm_attrs *attrs, int number)
{
	struct vm_list *link;

	if (!attrs)
		return NULL;
	vm_list_each(link, &attrs->list) {
		struct attr *attr = vm_container_of(link, struct attr, link);

		if (attr->keyval->number == number)
			return attr;
	}
	return NULL;
}

/* At the end of *attrs, which is made when there is none. */
static int attr_add(struct vm_attrs **attrs, struct keyval *keyval, void *value)
{
	struct attr *attr = malloc(sizeof(*attr));

	if (attr && !*attrs) {
		*attrs = malloc(sizeof(**attrs));
		if (*attrs)
			vm_list_init(&(*attrs)->list);
	}
	if (!attr || !*attrs) {
		free(attr);
		return MPI_ERR_NO_MEM;
	}
	vm_object_hold(&keyval->object);
	*attr = (struct attr){ .keyval = keyval, .value = value };
	vm_list_append(&(*attrs)->list, &attr->link);
	return 0;
}

static void attr_free(struct vm_mpi *mpi, struct attr *attr)
{
	vm_list_remove(&attr->link);
	keyval_drop(mpi, attr->keyval);
	free(attr);
}

/* Calls the delete callback and, if that agrees, frees the attribute. */
static int attr_remove(struct vm_mpi *mpi, struct attr *attr, MPI_Comm comm)
{
	struct keyval *keyval = attr->keyval;
	int rc = 0;

	if (keyval->remove != MPI_COMM_NULL_DELETE_FN)
		rc = keyval->remove(comm, keyval->number, attr->value,
				    keyval->extra_state);
	if (rc == MPI_SUCCESS)
		attr_free(mpi, attr);
	return rc;
}

int vm_attrs_delete(struct vm_mpi *mpi, struct vm_attrs **attrs, MPI_Comm comm)
{
	while (*attrs && !vm_list_empty(&(*attrs)->list)) {
		struct attr *last =
			vm_container_of((*attrs)->list.prev, struct attr, link);
		int rc = attr_remove(mpi, last, comm);

		if (rc != MPI_SUCCESS)
			return rc;
	}
	vm_attrs_free(mpi, attrs);
	return 0;
}

void vm_attrs_free(struct vm_mpi *mpi, struct vm_attrs **attrs)
{
	if (!*attrs)
		return;
	while (!vm_list_empty(&(*attrs)->list))
		attr_free(mpi, vm_container_of((*attrs)->list.next, struct attr,
					       link));
	free(*attrs);
	*attrs = NULL;
}

/* Whether and with which value the copy callback passes an attribute on. */
static int attr_copy(const struct attr *attr, MPI_Comm from, void **value,
		     int *flag)
{
	const struct keyval *keyval = attr->keyval;

	*flag = keyval->copy == MPI_COMM_DUP_FN;
	*value = attr->value;
	if (*flag || keyval->copy == MPI_COMM_NULL_COPY_FN)
		return 0;
	return keyval->copy(from, keyval->number, keyval->extra_state,
			    attr->value, value, flag);
}

int vm_attrs_copy(struct vm_mpi *mpi, struct vm_attrs **to, MPI_Comm from,
		  const struct vm_attrs *attrs)
{
	struct vm_list *link;

	*to = NULL;
	if (!attrs)
		return 0;
	vm_list_each(link, &attrs->list) {
		struct attr *attr = vm_container_of(link, struct attr, link);
		void *value;
		int flag, rc = attr_copy(attr, from, &value, &flag);

		if (rc == MPI_SUCCESS && flag)
			rc = attr_add(to, attr->keyval, value);
		if (rc != MPI_SUCCESS) {
			vm_attrs_free(mpi, to);
			return rc;
		}
	}
	return 0;
}

static int keyval_create(struct vm_call *call,
			 MPI_Comm_copy_attr_function *copy,
			 MPI_Comm_delete_attr_function *remove, int *number,
			 void *extra_state)
{
	struct keyval *keyval;
	int rc = vm_check_pointer(call, number, "comm_keyval");

	if (rc != 0)
		return rc;
	keyval = vm_object_new(call->mpi, VM_OBJECT_KEYVAL, sizeof(*keyval));
	if (!keyval)
		return MPI_ERR_NO_MEM;
	keyval->copy = copy;
	keyval->remove = remove;
	keyval->extra_state = extra_state;
	vm_lock_take(&call->mpi->lock);
	keyval->number = call->mpi->keyval_next++;
	vm_lock_give(&call->mpi->lock);
	*number = keyval->number;
	return 0;
}

static bool keyval_is_predefined(int number)
{
	return number >= MPI_TAG_UB && number <= MPI_WIN_MODEL;
}

/* The key the program made under this number. */
static int check_keyval(struct vm_call *call, int number,
			struct keyval **keyval)
{
	*keyval = keyval_find(call->mpi, number);
	if (*keyval)
		return 0;
	return vm_error(call, MPI_ERR_KEYVAL,
			keyval_is_predefined(number) ?
				"predefined key %d cannot be changed" :
				"%d is no attribute key, or one that was freed",
			number);
}

static int keyval_free(struct vm_call *call, int *number)
{
	struct keyval *keyval;
	int rc = vm_check_pointer(call, number, "comm_keyval");

	if (rc == 0)
		rc = check_keyval(call, *number, &keyval);
	if (rc == 0) {
		keyval->freed = true;
		keyval_drop(call->mpi, keyval);
		*number = MPI_KEYVAL_INVALID;
	}
	return rc;
}

static int attr_put(struct vm_call *call, MPI_Comm handle, int number,
		    void *value)
{
	struct vm_comm *comm;
	struct keyval *keyval;
	struct attr *old;
	int rc = vm_check_comm(call, handle, &comm);

	if (rc == 0)
		rc = check_keyval(call, number, &keyval);
	if (rc != 0)
		return rc;
	old = attr_find(comm->attrs, number);
	if (old)
		rc = attr_remove(call->mpi, old, handle);
	return rc == 0 ? attr_add(&comm->attrs, keyval, value) : rc;
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

static int attr_get(struct vm_call *call, MPI_Comm handle, int number,
		    void *value, int *flag)
{
	struct vm_comm *comm;
	struct keyval *keyval;
	struct attr *attr;
	int *fixed, rc = vm_check_comm(call, handle, &comm);

	if (rc == 0)
		rc = vm_check_pointer(call, value, "attribute_val");
	if (rc == 0)
		rc = vm_check_pointer(call, flag, "flag");
	if (rc != 0)
		return rc;
	fixed = predefined_attr(call->mpi, number);
	if (fixed) {
		*(int **)value = fixed;
		*flag = 1;
		return 0;
	}
	attr = attr_find(comm->attrs, number);
	if (!attr) {
		rc = check_keyval(call, number, &keyval);
		if (rc != 0)
			return rc;
	}
	if (attr)
		*(void **)value = attr->value;
	*flag = attr != NULL;
	return 0;
}

static int attr_delete(struct vm_call *call, MPI_Comm handle, int number)
{
	struct vm_comm *comm;
	struct keyval *keyval;
	struct attr *attr;
	int rc = vm_check_comm(call, handle, &comm);

	if (rc == 0)
		rc = check_keyval(call, number, &keyval);
	if (rc != 0)
		return rc;
	attr = attr_find(comm->attrs, number);
	if (!attr)
		return 0; /* MPI says nothing: there is nothing to do */
	return attr_remove(call->mpi, attr, handle);
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
			    MPI_Comm_delete_attr_function *remove, int *keyval,
			    void *extra_state)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_create_keyval);
	int rc = keyval_create(&call, copy, remove, keyval, extra_state);

	return vm_call_exit_self(&call, rc);
}

int PMPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *remove,
		       int *keyval, void *extra_state)
{
	struct vm_call call = vm_call_enter(VM_CALL_Keyval_create);
	int rc = keyval_create(&call, copy, remove, keyval, extra_state);

	return vm_call_exit_self(&call, rc);
}

int PMPI_Comm_free_keyval(int *keyval)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_free_keyval);

	return vm_call_exit_self(&call, keyval_free(&call, keyval));
}

int PMPI_Keyval_free(int *keyval)
{
	struct vm_call call = vm_call_enter(VM_CALL_Keyval_free);

	return vm_call_exit_self(&call, keyval_free(&call, keyval));
}

int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_set_attr);

	return vm_call_exit(&call, comm, attr_put(&call, comm, keyval, value));
}

int PMPI_Attr_put(MPI_Comm comm, int keyval, void *value)
{
	struct vm_call call = vm_call_enter(VM_CALL_Attr_put);

	return vm_call_exit(&call, comm, attr_put(&call, comm, keyval, value));
}

int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_get_attr);
	int rc = attr_get(&call, comm, keyval, value, flag);

	return vm_call_exit(&call, comm, rc);
}

int PMPI_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag)
{
	struct vm_call call = vm_call_enter(VM_CALL_Attr_get);
	int rc = attr_get(&call, comm, keyval, value, flag);

	return vm_call_exit(&call, comm, rc);
}

int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval)
{
	struct vm_call call = vm_call_enter(VM_CALL_Comm_delete_attr);

	return vm_call_exit(&call, comm, attr_delete(&call, comm, keyval));
}

int PMPI_Attr_delete(MPI_Comm comm, int keyval)
{
	struct vm_call call = vm_call_enter(VM_CALL_Attr_delete);

	return vm_call_exit(&call, comm, attr_delete(&call, comm, keyval));
}

MPI_CALLS_ATTR(WEAK_ALIAS)
