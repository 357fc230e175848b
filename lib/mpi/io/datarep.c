/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Representations of data in files.
 *
 * A type in a file is made by the recipe of the type in memory, with other
 * predefined types: displacements in units of extents change, those in bytes do
 * not.
 */
#include "mpi/io/datarep.h"

#include <limits.h>
#include <string.h>

#include "mpi/call/check.h"
#include "mpi/io/file.h"
#include "mpi/type/build.h"
#include "mpi/type/pack_external.h"

#define EXTERNAL "external32"

static const struct vm_datarep external = { .name = EXTERNAL };

/* Returns that of the program with this name, or NULL. */
static const struct vm_datarep *own_find(struct vm_mpi *mpi, const char *name)
{
	const struct vm_datarep *found = NULL;
	struct vm_list *link;

	vm_lock_take(&mpi->lock);
	vm_list_each(link, &mpi->alive[VM_OBJECT_DATAREP]) {
		struct vm_object *object =
			vm_container_of(link, struct vm_object, link);
		const struct vm_datarep *rep =
			vm_container_of(object, struct vm_datarep, object);

		if (!strcmp(rep->name, name))
			found = rep;
	}
	vm_lock_give(&mpi->lock);
	return found;
}

static bool is_plain(const char *name)
{
	return !strcmp(name, "native") || !strcmp(name, "internal");
}

int vm_datarep_find(struct vm_call *call, const char *name,
		    const struct vm_datarep **rep)
{
	*rep = NULL;
	if (is_plain(name))
		return 0;
	*rep = strcmp(name, EXTERNAL) ? own_find(call->mpi, name) : &external;
	if (*rep)
		return 0;
	return vm_error(call, MPI_ERR_UNSUPPORTED_DATAREP, "\"%.32s\"", name);
}

/* Predefined types, and those of Fortran that are made of nothing. */
static bool is_basic(const struct vm_type *type)
{
	return type->builtin || !type->recipe->type_count;
}

/* Bytes of such a type in a file. */
static int basic_size(struct vm_call *call, const struct vm_datarep *rep,
		      const struct vm_type *type, size_t *bytes)
{
	MPI_Datatype handle = vm_type_handle(type->basic ? type->basic : type);
	MPI_Count size = 0;
	MPI_Aint extent = 0;
	int rc;

	if (rep->extent) {
		rc = rep->extent(handle, &extent, rep->extra_state);
		size = extent;
		if (rc == MPI_SUCCESS && extent < 0)
			rc = MPI_ERR_CONVERSION;
	} else {
		rc = vm_pack_external_size(call, EXTERNAL, 1, handle, &size);
	}
	*bytes = (size_t)size;
	return rc;
}

int vm_datarep_size(struct vm_call *call, const struct vm_datarep *rep,
		    const struct vm_type *type, size_t *bytes)
{
	const struct vm_type *part;
	MPI_Count length;
	size_t size;
	int rc = 0;

	if (is_basic(type))
		return basic_size(call, rep, type, bytes);
	*bytes = 0;
	for (size_t i = 0;
	     rc == 0 && (part = vm_recipe_part(type->recipe, i, &length));
	     i++) {
		rc = vm_datarep_size(call, rep, part, &size);
		if (rc == 0 &&
		    (__builtin_mul_overflow(size, (size_t)length, &size) ||
		     __builtin_add_overflow(*bytes, size, bytes)))
			rc = MPI_ERR_TYPE;
	}
	return rc;
}

static int build(struct vm_call *call, struct vm_type_recipe *recipe,
		 struct vm_type **out)
{
	int rc = vm_type_build(call, out, recipe);

	if (rc == 0)
		vm_type_commit(*out);
	return rc;
}

/* So many bytes. */
static int basic_type(struct vm_call *call, const struct vm_datarep *rep,
		      struct vm_type *type, struct vm_type **in_file)
{
	struct vm_type_recipe *recipe;
	size_t bytes;
	int rc = basic_size(call, rep, type, &bytes);

	if (rc != 0)
		return rc;
	if (bytes == type->size && type->extent == (MPI_Count)bytes) {
		*in_file = vm_type_hold(type);
		return 0;
	}
	recipe = vm_recipe_new(MPI_COMBINER_CONTIGUOUS, 1, 0, 1);
	if (!recipe)
		return MPI_ERR_NO_MEM;
	recipe->ints[0] = (MPI_Count)bytes;
	recipe->types[0] = vm_type_hold(vm_type_get(MPI_BYTE));
	return build(call, recipe, in_file);
}

/* The recipe of a derived type with other types in it. */
static int recipe_change(struct vm_call *call, const struct vm_datarep *rep,
			 const struct vm_type_recipe *from,
			 struct vm_type_recipe **out)
{
	struct vm_type_recipe *to =
		vm_recipe_new(from->combiner, from->int_count, from->aint_count,
			      from->type_count);
	int rc = to ? 0 : MPI_ERR_NO_MEM;

	if (rc != 0)
		return rc;
	to->large = from->large;
	memcpy(to->ints, from->ints, from->int_count * sizeof(*to->ints));
	memcpy(to->aints, from->aints, from->aint_count * sizeof(*to->aints));
	for (size_t i = 0; rc == 0 && i < from->type_count; i++)
		rc = vm_datarep_type(call, rep, from->types[i], &to->types[i]);
	if (rc != 0)
		vm_recipe_free(to);
	*out = to;
	return rc;
}

int vm_datarep_type(struct vm_call *call, const struct vm_datarep *rep,
		    struct vm_type *type, struct vm_type **in_file)
{
	struct vm_type_recipe *recipe;
	bool same = true;
	int rc;

	if (!rep) {
		*in_file = vm_type_hold(type);
		return 0;
	}
	if (is_basic(type))
		return basic_type(call, rep, type, in_file);
	rc = recipe_change(call, rep, type->recipe, &recipe);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < recipe->type_count; i++)
		same = same && recipe->types[i] == type->recipe->types[i];
	if (!same)
		return build(call, recipe, in_file);
	vm_recipe_free(recipe);
	*in_file = vm_type_hold(type);
	return 0;
}

static int external_convert(struct vm_call *call,
			    const struct vm_datarep_part *part, bool to_file)
{
	uintptr_t buf = (uintptr_t)part->buf +
			part->first * (uintptr_t)part->type->extent;
	const struct vm_typed_buffer typed = {
		.buf = (const void *)buf,
		.count = (MPI_Count)part->count,
		.type = vm_type_handle(part->type),
	};
	MPI_Count position = 0;

	return vm_pack_external(call, EXTERNAL, &typed, part->packed,
				(MPI_Count)part->bytes, &position, to_file);
}

/* Nothing but its place is changed. */
static int plain_convert(const struct vm_datarep_part *part, bool to_file)
{
	uintptr_t buf = (uintptr_t)part->buf +
			part->first * (uintptr_t)part->type->extent;
	struct vm_data data =
		vm_type_data(part->type, (const void *)buf, part->count);
	struct vm_data packed = vm_data_bytes(part->packed, part->bytes);

	if (to_file)
		vm_data_copy_slow(&packed, &data);
	else
		vm_data_copy_slow(&data, &packed);
	return 0;
}

int vm_datarep_convert(struct vm_call *call, const struct vm_datarep *rep,
		       const struct vm_datarep_part *part, bool to_file)
{
	MPI_Count items = part->type->elements * (MPI_Count)part->count;
	MPI_Offset position = part->type->elements * (MPI_Offset)part->first;
	MPI_Datatype handle = vm_type_handle(part->type);
	void *buf = (void *)(uintptr_t)part->buf;

	if (!rep->extent)
		return external_convert(call, part, to_file);
	if (to_file ? rep->write_c : rep->read_c)
		return (to_file ? rep->write_c :
				  rep->read_c)(buf, handle, items, part->packed,
					       position, rep->extra_state);
	if (items > INT_MAX)
		return vm_error(call, MPI_ERR_CONVERSION,
				"an element has more values than int can "
				"count");
	if (to_file ? rep->write : rep->read)
		return (to_file ? rep->write : rep->read)(
			buf, handle, (int)items, part->packed, position,
			rep->extra_state);
	return plain_convert(part, to_file);
}

static int check_name(struct vm_call *call, const char *name)
{
	int rc = vm_check_pointer(call, name, "datarep");

	if (rc == 0 && (!*name || strlen(name) >= MPI_MAX_DATAREP_STRING))
		rc = vm_error(call, MPI_ERR_ARG,
			      "a name has 1 to %d characters",
			      MPI_MAX_DATAREP_STRING - 1);
	if (rc == 0 && (is_plain(name) || !strcmp(name, EXTERNAL) ||
			own_find(call->mpi, name)))
		rc = vm_error(call, MPI_ERR_DUP_DATAREP, "\"%s\"", name);
	return rc;
}

/* Takes over all of a representation but its object. */
static int datarep_make(struct vm_call *call, const char *name,
			const struct vm_datarep *from)
{
	struct vm_datarep *rep;
	int rc = check_name(call, name);

	if (rc == 0)
		rc = vm_check_pointer(call, (void *)(uintptr_t)from->extent,
				      "dtype_file_extent_fn");
	if (rc != 0)
		return rc;
	rep = vm_object_new(call->mpi, VM_OBJECT_DATAREP, sizeof(*rep));
	if (!rep)
		return MPI_ERR_NO_MEM;
	rep->extent = from->extent;
	rep->read = from->read;
	rep->write = from->write;
	rep->read_c = from->read_c;
	rep->write_c = from->write_c;
	rep->extra_state = from->extra_state;
	memcpy(rep->name, name, strlen(name) + 1);
	return 0;
}

int PMPI_Register_datarep(const char *datarep,
			  MPI_Datarep_conversion_function *read_conversion_fn,
			  MPI_Datarep_conversion_function *write_conversion_fn,
			  MPI_Datarep_extent_function *dtype_file_extent_fn,
			  void *extra_state)
{
	struct vm_call call = vm_call_enter(VM_CALL_Register_datarep);
	const struct vm_datarep from = { .extent = dtype_file_extent_fn,
					 .read = read_conversion_fn,
					 .write = write_conversion_fn,
					 .extra_state = extra_state };

	return vm_file_exit(&call, MPI_FILE_NULL,
			    datarep_make(&call, datarep, &from));
}

int PMPI_Register_datarep_c(
	const char *datarep,
	MPI_Datarep_conversion_function_c *read_conversion_fn,
	MPI_Datarep_conversion_function_c *write_conversion_fn,
	MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
	struct vm_call call = vm_call_enter(VM_CALL_Register_datarep_c);
	const struct vm_datarep from = { .extent = dtype_file_extent_fn,
					 .read_c = read_conversion_fn,
					 .write_c = write_conversion_fn,
					 .extra_state = extra_state };

	return vm_file_exit(&call, MPI_FILE_NULL,
			    datarep_make(&call, datarep, &from));
}
