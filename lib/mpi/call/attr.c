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
#include <string.h>

#include "mpi/call/check.h"

/* A key, freed when neither its handle nor any attribute uses it. */
struct keyval {
	struct vm_object object;
	int number;
	bool freed; /* its handle is gone */
	struct vm_attr_functions functions;
	enum vm_attr_by by; /* the form of the functions */
	void *extra_state;
};

struct attr {
	struct vm_list link;
	struct keyval *keyval; /* holds a reference */
	void *value;
	enum vm_attr_by by; /* whose the value is */
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
static int attr_add(struct vm_attrs **attrs, struct keyval *keyval, void *value,
		    enum vm_attr_by by)
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
	*attr = (struct attr){ .keyval = keyval, .value = value, .by = by };
	vm_list_append(&(*attrs)->list, &attr->link);
	return 0;
}

static void attr_free(struct vm_mpi *mpi, struct attr *attr)
{
	vm_list_remove(&attr->link);
	keyval_drop(mpi, attr->keyval);
	free(attr);
}

/* What C sees of a value of Fortran is its address (MPI 4.1, 19.3.7). */
static void *seen_by_c(const struct attr *attr)
{
	return attr->by == VM_ATTR_C ? attr->value :
				       (void *)(uintptr_t)&attr->value;
}

static MPI_Fint number_of(const struct keyval *keyval, void *object)
{
	switch (keyval->functions.of) {
	case VM_ATTR_OF_TYPE:
		return PMPI_Type_toint(object);
	case VM_ATTR_OF_WIN:
		return PMPI_Win_toint(object);
	default:
		return PMPI_Comm_toint(object);
	}
}

/* Functions of Fortran are of one form, whatever the object, except that those
 * of MPI-1 have default integers, which here begin where the larger ones do. */
typedef void(any)(void);
typedef void(fortran_copy)(MPI_Fint *object, MPI_Fint *keyval,
			   MPI_Aint *extra_state, MPI_Aint *in, MPI_Aint *out,
			   MPI_Fint *flag, MPI_Fint *ierror);
typedef void(fortran_delete)(MPI_Fint *object, MPI_Fint *keyval,
			     MPI_Aint *value, MPI_Aint *extra_state,
			     MPI_Fint *ierror);

static int call_fortran_delete(const struct attr *attr, void *object)
{
	const struct keyval *keyval = attr->keyval;
	MPI_Aint value = (MPI_Aint)attr->value;
	MPI_Aint extra_state = (MPI_Aint)keyval->extra_state;
	MPI_Fint number = number_of(keyval, object), key = keyval->number;
	MPI_Fint ierror = MPI_SUCCESS;

	((fortran_delete *)(any *)keyval->functions.comm_delete)(
		&number, &key, &value, &extra_state, &ierror);
	return ierror;
}

static int call_fortran_copy(const struct attr *attr, void *from, void **value,
			     int *flag)
{
	const struct keyval *keyval = attr->keyval;
	MPI_Aint in = (MPI_Aint)attr->value, out = 0;
	MPI_Aint extra_state = (MPI_Aint)keyval->extra_state;
	MPI_Fint number = number_of(keyval, from), key = keyval->number;
	MPI_Fint ierror = MPI_SUCCESS;

	((fortran_copy *)(any *)keyval->functions.comm_copy)(
		&number, &key, &extra_state, &in, &out, flag, &ierror);
	if (keyval->by == VM_ATTR_INT)
		memcpy(&number, &out, sizeof(number));
	*value = (void *)(keyval->by == VM_ATTR_INT ? number : out);
	return ierror;
}

static int call_delete(const struct attr *attr, void *object)
{
	const struct keyval *keyval = attr->keyval;
	const struct vm_attr_functions *functions = &keyval->functions;

	/* The constants of all kinds are the same. */
	if (functions->comm_delete == MPI_COMM_NULL_DELETE_FN)
		return MPI_SUCCESS;
	if (keyval->by != VM_ATTR_C)
		return call_fortran_delete(attr, object);
	if (functions->of == VM_ATTR_OF_WIN)
		return functions->win_delete(object, keyval->number,
					     seen_by_c(attr),
					     keyval->extra_state);
	if (functions->of == VM_ATTR_OF_TYPE)
		return functions->type_delete(object, keyval->number,
					      seen_by_c(attr),
					      keyval->extra_state);
	return functions->comm_delete(object, keyval->number, seen_by_c(attr),
				      keyval->extra_state);
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

/* Calls the copy callback: tells whether the attribute is copied, its value and
 * whose that is. */
static int call_copy(const struct attr *attr, void *from, void **value,
		     enum vm_attr_by *by, int *flag)
{
	const struct keyval *keyval = attr->keyval;
	const struct vm_attr_functions *functions = &keyval->functions;

	/* The constants of both kinds are the same. */
	*flag = functions->comm_copy == MPI_COMM_DUP_FN;
	*value = attr->value;
	*by = attr->by;
	if (*flag || functions->comm_copy == MPI_COMM_NULL_COPY_FN)
		return MPI_SUCCESS;
	*by = keyval->by;
	if (keyval->by != VM_ATTR_C)
		return call_fortran_copy(attr, from, value, flag);
	*value = seen_by_c(attr);
	if (functions->of == VM_ATTR_OF_TYPE)
		return functions->type_copy(from, keyval->number,
					    keyval->extra_state, *value, value,
					    flag);
	return functions->comm_copy(from, keyval->number, keyval->extra_state,
				    *value, value, flag);
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
		enum vm_attr_by by;
		void *value;
		int flag, rc = call_copy(attr, from, &value, &by, &flag);

		if (rc == MPI_SUCCESS && flag)
			rc = attr_add(to, attr->keyval, value, by);
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
	return rc == 0 ? attr_add(attrs, keyval, value, VM_ATTR_C) : rc;
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
		*(void **)value = seen_by_c(attr);
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

void vm_keyval_set_by(struct vm_mpi *mpi, int number, enum vm_attr_by by)
{
	keyval_find(mpi, number)->by = by;
}

enum vm_attr_of vm_keyval_of(struct vm_mpi *mpi, int number)
{
	return keyval_find(mpi, number)->functions.of;
}

enum vm_attr_by *vm_attr_by(struct vm_attrs *attrs, int number)
{
	return &attr_find(attrs, number)->by;
}
