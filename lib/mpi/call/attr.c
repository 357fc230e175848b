/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attribute keys and lists of attributes.
 *
 * Callbacks run without any lock.  Lists are only accessed by calls of the rank
 * that owns the object; a program must order calls of several threads that
 * change the attributes of one object.
 */
#include "mpi/call/attr.h"

#include <stdlib.h>

#include "mpi/call/check.h"

/* A key, freed when neither its handle nor any attribute uses it. */
struct keyval {
	struct vm_object object;
	int number;
	bool freed; /* its handle is gone */
	struct vm_attr_functions functions;
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

		if (keyval->number == number)
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

static int call_delete(const struct attr *attr, void *object)
{
	const struct keyval *keyval = attr->keyval;
	const struct vm_attr_functions *functions = &keyval->functions;

	if (functions->of == VM_ATTR_OF_WIN)
		return functions->win_delete == MPI_WIN_NULL_DELETE_FN ?
			       MPI_SUCCESS :
			       functions->win_delete(object, keyval->number,
						     attr->value,
						     keyval->extra_state);
	if (functions->of == VM_ATTR_OF_TYPE)
		return functions->type_delete == MPI_TYPE_NULL_DELETE_FN ?
			       MPI_SUCCESS :
			       functions->type_delete(object, keyval->number,
						      attr->value,
						      keyval->extra_state);
	return functions->comm_delete == MPI_COMM_NULL_DELETE_FN ?
		       MPI_SUCCESS :
		       functions->comm_delete(object, keyval->number,
					      attr->value, keyval->extra_state);
}

/* Calls the delete callback and, if that agrees, frees the attribute. */
static int attr_remove(struct vm_mpi *mpi, struct attr *attr, void *object)
{
	int rc = call_delete(attr, object);

	if (rc == MPI_SUCCESS)
		attr_free(mpi, attr);
	return rc;
}

int vm_attrs_delete(struct vm_mpi *mpi, struct vm_attrs **attrs, void *object)
{
	while (*attrs && !vm_list_empty(&(*attrs)->list)) {
		struct attr *last =
			vm_container_of((*attrs)->list.prev, struct attr, link);
		int rc = attr_remove(mpi, last, object);

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

/* Calls the copy callback: tells whether the attribute is copied, and its
 * value. */
static int call_copy(const struct attr *attr, void *from, void **value,
		     int *flag)
{
	const struct keyval *keyval = attr->keyval;
	const struct vm_attr_functions *functions = &keyval->functions;
	bool of_type = functions->of == VM_ATTR_OF_TYPE;

	*flag = of_type ? functions->type_copy == MPI_TYPE_DUP_FN :
			  functions->comm_copy == MPI_COMM_DUP_FN;
	*value = attr->value;
	if (*flag)
		return MPI_SUCCESS;
	if (of_type)
		return functions->type_copy == MPI_TYPE_NULL_COPY_FN ?
			       MPI_SUCCESS :
			       functions->type_copy(from, keyval->number,
						    keyval->extra_state,
						    attr->value, value, flag);
	return functions->comm_copy == MPI_COMM_NULL_COPY_FN ?
		       MPI_SUCCESS :
		       functions->comm_copy(from, keyval->number,
					    keyval->extra_state, attr->value,
					    value, flag);
}

int vm_attrs_copy(struct vm_mpi *mpi, struct vm_attrs **to, void *from,
		  const struct vm_attrs *attrs)
{
	struct vm_list *link;

	*to = NULL;
	if (!attrs)
		return 0;
	vm_list_each(link, &attrs->list) {
		struct attr *attr = vm_container_of(link, struct attr, link);
		void *value;
		int flag, rc = call_copy(attr, from, &value, &flag);

		if (rc == MPI_SUCCESS && flag)
			rc = attr_add(to, attr->keyval, value);
		if (rc != MPI_SUCCESS) {
			vm_attrs_free(mpi, to);
			return rc;
		}
	}
	return 0;
}

int vm_keyval_create(struct vm_call *call, int *number,
		     const struct vm_attr_functions *functions,
		     void *extra_state)
{
	struct keyval *keyval;
	int rc = vm_check_pointer(call, number, "keyval");

	if (rc != 0)
		return rc;
	keyval = vm_object_new(call->mpi, VM_OBJECT_KEYVAL, sizeof(*keyval));
	if (!keyval)
		return MPI_ERR_NO_MEM;
	keyval->functions = *functions;
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

/* Finds the key with this number, for objects of this kind. */
static int check_keyval(struct vm_call *call, enum vm_attr_of of, int number,
			struct keyval **keyval)
{
	*keyval = keyval_find(call->mpi, number);
	if (*keyval && (*keyval)->freed)
		*keyval = NULL;
	if (*keyval && (*keyval)->functions.of == of)
		return 0;
	if (*keyval)
		return vm_error(call, MPI_ERR_KEYVAL,
				"attribute key %d is one of another kind of "
				"object",
				number);
	return vm_error(call, MPI_ERR_KEYVAL,
			keyval_is_predefined(number) ?
				"predefined key %d cannot be changed" :
				"%d is not an attribute key, or it was freed",
			number);
}

int vm_keyval_free(struct vm_call *call, enum vm_attr_of of, int *number)
{
	struct keyval *keyval;
	int rc = vm_check_pointer(call, number, "keyval");

	if (rc != 0)
		return rc;
	/* Delete callbacks free the key they are called for, more than once
	 * where several attributes end; it is alive as long as one has not. */
	keyval = keyval_find(call->mpi, *number);
	if (!keyval || !keyval->freed) {
		rc = check_keyval(call, of, *number, &keyval);
		if (rc != 0)
			return rc;
		keyval->freed = true;
		keyval_drop(call->mpi, keyval);
	}
	*number = MPI_KEYVAL_INVALID;
	return 0;
}

int vm_attr_put(struct vm_call *call, enum vm_attr_of of,
		struct vm_attrs **attrs, void *object, int number, void *value)
{
	struct keyval *keyval;
	struct attr *old;
	int rc = check_keyval(call, of, number, &keyval);

	if (rc != 0)
		return rc;
	old = attr_find(*attrs, number);
	if (old)
		rc = attr_remove(call->mpi, old, object);
	return rc == 0 ? attr_add(attrs, keyval, value) : rc;
}

int vm_attr_get(struct vm_call *call, enum vm_attr_of of,
		const struct vm_attrs *attrs, int number, void *value,
		int *flag)
{
	struct keyval *keyval;
	struct attr *attr = attr_find(attrs, number);
	int rc = 0;

	if (!attr)
		rc = check_keyval(call, of, number, &keyval);
	if (rc != 0)
		return rc;
	if (attr)
		*(void **)value = attr->value;
	*flag = attr != NULL;
	return 0;
}

int vm_attr_delete(struct vm_call *call, enum vm_attr_of of,
		   struct vm_attrs **attrs, void *object, int number)
{
	struct keyval *keyval;
	struct attr *attr = attr_find(*attrs, number);

	/* A freed key remains usable by attributes that were set under it. */
	if (attr)
		return attr_remove(call->mpi, attr, object);
	/* MPI does not define this for a key without a value: a no-op. */
	return check_keyval(call, of, number, &keyval);
}
