/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commit, free, names and inquiries of datatypes.
 *
 * The constructors are in new.c, envelope and contents in recipe.c.
 */
#include "mpi/type/type.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/call/attr.h"
#include "mpi/call/check.h"
#include "mpi/type/recipe.h"

const char *vm_type_name(const struct vm_type *type)
{
	return type->extra.name ? type->extra.name : "";
}

struct vm_type *vm_type_hold(struct vm_type *type)
{
	if (!type->builtin)
		vm_object_hold(&type->object);
	return type;
}

struct vm_type_extra *vm_type_extra(struct vm_mpi *mpi, struct vm_type *type)
{
	if (!vm_type_is_named(type))
		return &type->extra;
	if (!mpi->type_extras)
		mpi->type_extras =
			calloc(VM_TYPE_BUILTINS, sizeof(*mpi->type_extras));
	return mpi->type_extras ? &mpi->type_extras[type->value] : NULL;
}

static void extra_clear(struct vm_mpi *mpi, struct vm_type_extra *extra)
{
	vm_attrs_free(mpi, &extra->attrs);
	free(extra->name);
	extra->name = NULL;
}

void vm_type_extras_free(struct vm_mpi *mpi)
{
	for (int i = 0; mpi->type_extras && i < VM_TYPE_BUILTINS; i++)
		extra_clear(mpi, &mpi->type_extras[i]);
	free(mpi->type_extras);
}

void vm_type_clear(struct vm_type *type)
{
	vm_layout_drop(type->layout);
	free((void *)(uintptr_t)type->recipe);
	extra_clear(type->mpi, &type->extra);
	type->layout = NULL;
	type->recipe = NULL;
}

void vm_type_drop(struct vm_type *type)
{
	struct vm_type_recipe *recipe;

	if (type->builtin || !vm_object_drop(&type->object))
		return;
	recipe = (struct vm_type_recipe *)(uintptr_t)type->recipe;
	type->recipe = NULL;
	vm_type_clear(type);
	vm_object_free(type->mpi, VM_OBJECT_TYPE, type);
	vm_recipe_free(recipe);
}

/* A type held by other types loses its magic word with its last handle and
 * regains it with a new one. */
MPI_Datatype vm_type_give(struct vm_type *type)
{
	if (type->builtin)
		return vm_type_handle(type);
	vm_type_hold(type);
	vm_lock_take(&type->mpi->lock);
	type->handles++;
	vm_object_mark(&type->object, VM_MAGIC_TYPE);
	vm_lock_give(&type->mpi->lock);
	return vm_type_handle(type);
}

int PMPI_Type_free(MPI_Datatype *datatype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_free);
	struct vm_type *type = NULL;
	int rc = vm_check_pointer(&call, datatype, "datatype");

	if (rc == 0)
		rc = vm_check_type(&call, *datatype, &type);
	if (rc == 0 && type->builtin)
		rc = vm_error(&call, MPI_ERR_TYPE,
			      "the datatype is predefined (%s) and cannot be "
			      "freed",
			      vm_type_name(type->basic));
	/* The attributes end with the last handle; one may refuse. */
	if (rc == 0 && type->handles == 1)
		rc = vm_attrs_delete(call.mpi, &type->extra.attrs, *datatype);
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	vm_lock_take(&call.mpi->lock);
	if (--type->handles == 0)
		vm_object_mark(&type->object, 0);
	vm_lock_give(&call.mpi->lock);
	vm_type_drop(type);
	*datatype = MPI_DATATYPE_NULL;
	return vm_call_exit_self(&call, 0);
}

int PMPI_Type_commit(MPI_Datatype *datatype)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_commit);
	struct vm_type *type = NULL;
	int rc = vm_check_pointer(&call, datatype, "datatype");

	if (rc == 0)
		rc = vm_check_type(&call, *datatype, &type);
	if (rc == 0 && !type->builtin)
		vm_type_commit(type);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Type_set_name(MPI_Datatype datatype, const char *type_name)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_set_name);
	struct vm_type_extra *extra;
	struct vm_type *type;
	char *name;
	int rc = vm_check_type(&call, datatype, &type);

	if (rc == 0)
		rc = vm_check_pointer(&call, type_name, "type_name");
	if (rc != 0)
		return vm_call_exit_self(&call, rc);
	extra = vm_type_extra(call.mpi, type);
	name = extra ? strndup(type_name, MPI_MAX_OBJECT_NAME - 1) : NULL;
	if (!name)
		return vm_call_exit_self(&call, MPI_ERR_NO_MEM);
	free(extra->name);
	extra->name = name;
	return vm_call_exit_self(&call, 0);
}

/* Returns the name that the user has set, which has precedence. */
static const char *user_name(const struct vm_mpi *mpi,
			     const struct vm_type *type)
{
	if (!type) /* the null datatype has a name as well (MPI 4.1, 7.8) */
		return "MPI_DATATYPE_NULL";
	if (vm_type_is_named(type) && mpi->type_extras &&
	    mpi->type_extras[type->value].name)
		return mpi->type_extras[type->value].name;
	return vm_type_name(type);
}

int PMPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen)
{
	struct vm_call call = vm_call_enter(VM_CALL_Type_get_name);
	struct vm_type *type = NULL;
	int rc = 0;

	if (datatype != MPI_DATATYPE_NULL)
		rc = vm_check_type(&call, datatype, &type);
	if (rc == 0)
		rc = vm_check_pointer(&call, type_name, "type_name");
	if (rc == 0)
		rc = vm_check_pointer(&call, resultlen, "resultlen");
	if (rc == 0)
		*resultlen = snprintf(type_name, MPI_MAX_OBJECT_NAME, "%s",
				      user_name(call.mpi, type));
	return vm_call_exit_self(&call, rc);
}

/* The first `bytes` bytes of one element, which has more. */
static MPI_Count part_elements(const struct vm_type *type, MPI_Count bytes)
{
	MPI_Count elements = 0, length;
	const struct vm_type *part;

	if (type->builtin)
		return !bytes					 ? 0 :
		       (size_t)bytes == vm_type_pair_value(type) ? 1 :
								   -1;
	for (size_t i = 0;
	     bytes && (part = vm_recipe_part(type->recipe, i, &length)); i++) {
		MPI_Count most = length * (MPI_Count)part->size;
		MPI_Count here = bytes < most ? bytes : most;
		MPI_Count n = vm_type_elements(part, here);

		if (n < 0)
			return n;
		elements += n;
		bytes -= here;
	}
	return elements;
}

MPI_Count vm_type_elements(const struct vm_type *type, MPI_Count bytes)
{
	MPI_Count size = (MPI_Count)type->size;
	MPI_Count rest;

	if (!size)
		return 0;
	rest = part_elements(type, bytes % size);
	return rest < 0 ? rest : bytes / size * type->elements + rest;
}

/* The first `elements` predefined types of one element, which has more. */
static MPI_Count part_bytes(const struct vm_type *type, MPI_Count elements)
{
	MPI_Count bytes = 0, length;
	const struct vm_type *part;

	if (type->builtin)
		return elements ? (MPI_Count)vm_type_pair_value(type) : 0;
	for (size_t i = 0;
	     elements && (part = vm_recipe_part(type->recipe, i, &length));
	     i++) {
		MPI_Count most = length * part->elements;
		MPI_Count here = elements < most ? elements : most;

		bytes += vm_type_bytes(part, here);
		elements -= here;
	}
	return bytes;
}

MPI_Count vm_type_bytes(const struct vm_type *type, MPI_Count elements)
{
	MPI_Count each = type->elements;

	if (!each)
		return 0;
	return elements / each * (MPI_Count)type->size +
	       part_bytes(type, elements % each);
}
