/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pack and unpack in "external32", a portable representation (MPI 4.1, 14.5.2):
 * big-endian, with fixed sizes.
 *
 * The data is first packed unconverted, in the order of the type map; then each
 * value is converted, following the predefined types of the map.
 */
#include "mpi/type/pack_external.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/type/basic.h"
#include "mpi/call/check.h"
#include "mpi/type/type.h"
#include "mpi/type/recipe.h"

/* One number in a predefined type: its size here and there. */
enum form { PLAIN, SIGNED, UNSIGNED, LONG_FLOAT };

struct number {
	uint8_t native, external;
	uint8_t form; /* what to do where the sizes or formats differ */
};

/* Kinds of two numbers: complex numbers and pairs. */
#define ONE(size)                             \
	{                                     \
		{                             \
			(size), (size), PLAIN \
		}                             \
	}
#define TWO(size)                             \
	{                                     \
		{ (size), (size), PLAIN },    \
		{                             \
			(size), (size), PLAIN \
		}                             \
	}
#define LONG_DOUBLE                                 \
	{                                           \
		sizeof(long double), 16, LONG_FLOAT \
	}
#define LONG                            \
	{                               \
		sizeof(long), 4, SIGNED \
	}
#define INT                 \
	{                   \
		4, 4, PLAIN \
	}

static const struct number parts_of_kind[VM_KINDS][2] = {
	[VM_KIND_I8] = ONE(1),
	[VM_KIND_I16] = ONE(2),
	[VM_KIND_I32] = ONE(4),
	[VM_KIND_I64] = ONE(8),
	[VM_KIND_I128] = ONE(16),
	[VM_KIND_U8] = ONE(1),
	[VM_KIND_U16] = ONE(2),
	[VM_KIND_U32] = ONE(4),
	[VM_KIND_U64] = ONE(8),
#define ONE_F16(kind, c_type) [VM_KIND_##kind] = ONE(2),
	VM_KINDS_F16(ONE_F16)
#define TWO_F16(kind, c_type) [VM_KIND_##kind] = TWO(2),
		VM_KINDS_C32(TWO_F16)[VM_KIND_F32] = ONE(4),
	[VM_KIND_F64] = ONE(8),
	[VM_KIND_F128] = ONE(16),
	[VM_KIND_FLONG] = { LONG_DOUBLE },
	[VM_KIND_C64] = TWO(4),
	[VM_KIND_C128] = TWO(8),
	[VM_KIND_C256] = TWO(16),
	[VM_KIND_CLONG] = { LONG_DOUBLE, LONG_DOUBLE },
	[VM_KIND_BOOL] = ONE(1),
	[VM_KIND_P_FLOAT_INT] = TWO(4),
	[VM_KIND_P_DOUBLE_INT] = { { 8, 8, PLAIN }, INT },
	[VM_KIND_P_LONG_INT] = { LONG, INT },
	[VM_KIND_P_INT_INT] = TWO(4),
	[VM_KIND_P_SHORT_INT] = { { 2, 2, PLAIN }, INT },
	[VM_KIND_P_LONG_DOUBLE_INT] = { LONG_DOUBLE, INT },
	[VM_KIND_P_FLOAT_FLOAT] = TWO(4),
	[VM_KIND_P_DOUBLE_DOUBLE] = TWO(8),
};

/* The types whose size there is not that of their kind. */
static void parts_get(const struct vm_type *type, struct number parts[2])
{
	MPI_Datatype handle = vm_type_handle(type);

	memcpy(parts, parts_of_kind[type->kind], 2 * sizeof(*parts));
	if (handle == MPI_LONG)
		parts[0] = (struct number){ sizeof(long), 4, SIGNED };
	else if (handle == MPI_UNSIGNED_LONG)
		parts[0] = (struct number){ sizeof(long), 4, UNSIGNED };
	else if (handle == MPI_WCHAR)
		parts[0] = (struct number){ 4, 2, UNSIGNED };
}

/* Goes over the values; both pointers move on. */
struct walk {
	char *native, *external;
	bool to_external;
	size_t external_bytes; /* of what was walked over */
	bool lost;	       /* a value does not fit there */
};

/* Both supported architectures are little-endian. */
static void reverse(char *to, const char *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[n - 1 - i];
}

/* Returns the fill byte that extends an integer.  char is unsigned on some
 * machines. */
static char fill_of(const char *value, const struct number *part)
{
	return part->form == SIGNED && value[part->external - 1] & 0x80 ?
		       (char)0xff :
		       0;
}

/* An integer into fewer bytes: the rest must be what sign or zero extends. */
static bool narrow(const char *value, const struct number *part)
{
	char fill = fill_of(value, part);

	for (size_t i = part->external; i < part->native; i++)
		if (value[i] != fill)
			return false;
	return true;
}

static void widen(char *value, const struct number *part)
{
	char fill = fill_of(value, part);

	memset(value + part->external, fill, part->native - part->external);
}

static void out(struct walk *walk, const struct number *part)
{
	char value[16] = { 0 };

	memcpy(value, walk->native, part->native);
	if (part->form == LONG_FLOAT) {
		long double number;
		vm_f128 quad;

		memcpy(&number, walk->native, sizeof(number));
		quad = (vm_f128)number;
		memcpy(value, &quad, sizeof(value));
	} else if (part->form != PLAIN && !narrow(value, part)) {
		walk->lost = true;
	}
	reverse(walk->external, value, part->external);
}

static void in(struct walk *walk, const struct number *part)
{
	char value[16] = { 0 };

	reverse(value, walk->external, part->external);
	if (part->form == LONG_FLOAT) {
		long double number;
		vm_f128 quad;

		memcpy(&quad, value, sizeof(quad));
		number = (long double)quad;
		/* Its padding, too, has a value. */
		memset(value, 0, sizeof(value));
		memcpy(value, &number, sizeof(number));
	} else if (part->form != PLAIN) {
		widen(value, part);
	}
	memcpy(walk->native, value, part->native);
}

/* count values of a predefined type. */
static void walk_basic(struct walk *walk, const struct vm_type *type,
		       size_t count)
{
	struct number parts[2];

	parts_get(type, parts);
	if (!walk->native) {
		walk->external_bytes +=
			count * (parts[0].external + parts[1].external);
		return;
	}
	for (size_t i = 0; i < count; i++)
		for (int j = 0; j < 2 && parts[j].native; j++) {
			(walk->to_external ? out : in)(walk, &parts[j]);
			walk->native += parts[j].native;
			walk->external += parts[j].external;
		}
}

/* count elements of any type, in the order of its type map. */
static void walk_type(struct walk *walk, const struct vm_type *type,
		      size_t count)
{
	const struct vm_type *part;
	MPI_Count length;

	if (!type->size || !count)
		return;
	if (type->basic) {
		walk_basic(walk, type->basic,
			   count * type->size / type->basic->size);
		return;
	}
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0;
		     (part = vm_recipe_part(type->recipe, j, &length)); j++)
			walk_type(walk, part, (size_t)length);
}

static size_t external_bytes(const struct vm_type *type, size_t count)
{
	struct walk walk = { 0 };

	/* One element suffices: the size is needed first. */
	walk_type(&walk, type, 1);
	return walk.external_bytes * count;
}

static int check_datarep(struct vm_call *call, const char *datarep)
{
	if (datarep && strcmp(datarep, "external32") == 0)
		return 0;
	return vm_error(call, MPI_ERR_ARG,
			"the data representation is \"%s\", must be "
			"\"external32\"",
			datarep ? datarep : "(null)");
}

/* Checks the arguments of both directions; *bytes is the size of the data. */
static int check_move(struct vm_call *call, const char *datarep,
		      const struct vm_typed_buffer *typed, const void *packed,
		      MPI_Count size, const MPI_Count *position, size_t *bytes)
{
	struct vm_type *type;
	int rc = check_datarep(call, datarep);

	if (rc == 0)
		rc = vm_check_committed(call, typed->type, &type);
	if (rc == 0)
		rc = vm_check_size(call, typed->count, "count");
	if (rc == 0)
		rc = vm_check_buffer(call, typed->buf, typed->count,
				     typed->type);
	if (rc == 0)
		rc = vm_check_pointer(call, position, "position");
	if (rc != 0)
		return rc;
	*bytes = external_bytes(type, (size_t)typed->count);
	if (size < 0 || *position < 0 || *position > size)
		return vm_error(call, MPI_ERR_ARG,
				"position is %lld in a packed buffer of %lld "
				"bytes",
				(long long)*position, (long long)size);
	if (*bytes > (size_t)(size - *position))
		return vm_error(call, MPI_ERR_TRUNCATE,
				"%zu bytes at position %lld do not fit into a "
				"packed buffer of %lld bytes",
				*bytes, (long long)*position, (long long)size);
	return *bytes ? vm_check_pointer(call, packed, "the packed buffer") : 0;
}

/* Converts by way of the native bytes in type map order. */
static int move(struct vm_call *call, const struct vm_type *type,
		const void *typed, size_t count, char *packed, bool to_external)
{
	struct vm_data data = vm_type_data(type, typed, count);
	struct vm_data bytes =
		vm_data_bytes(malloc(data.bytes + 1), data.bytes);
	struct walk walk = { .native = bytes.addr,
			     .external = packed,
			     .to_external = to_external };

	if (!bytes.addr)
		return MPI_ERR_NO_MEM;
	if (to_external)
		vm_data_copy_slow(&bytes, &data);
	walk_type(&walk, type, count);
	if (!to_external)
		vm_data_copy_slow(&data, &bytes);
	free(bytes.addr);
	if (walk.lost)
		return vm_error(call, MPI_ERR_CONVERSION,
				"a value does not fit into its size in "
				"external32");
	return 0;
}

int vm_pack_external(struct vm_call *call, const char *datarep,
		     const struct vm_typed_buffer *typed, void *packed,
		     MPI_Count size, MPI_Count *position, bool to_external)
{
	size_t bytes;
	int rc = check_move(call, datarep, typed, packed, size, position,
			    &bytes);

	if (rc == 0 && bytes)
		rc = move(call, vm_type_get(typed->type), typed->buf,
			  (size_t)typed->count, (char *)packed + *position,
			  to_external);
	if (rc == 0)
		*position += (MPI_Count)bytes;
	return rc;
}

int vm_pack_external_size(struct vm_call *call, const char *datarep,
			  MPI_Count count, MPI_Datatype datatype,
			  MPI_Count *size)
{
	struct vm_type *type;
	int rc = check_datarep(call, datarep);

	if (rc == 0)
		rc = vm_check_type(call, datatype, &type);
	if (rc == 0)
		rc = vm_check_size(call, count, "incount");
	if (rc == 0)
		rc = vm_check_bytes(call, type, count, 1);
	if (rc == 0)
		rc = vm_check_pointer(call, size, "size");
	if (rc == 0)
		*size = (MPI_Count)external_bytes(type, (size_t)count);
	return rc;
}
