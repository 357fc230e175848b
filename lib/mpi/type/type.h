/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes, which MPI_Datatype handles stand for.  Begin here.
 *
 * A type is flattened into runs of bytes (core/local/layout.h) when it is made,
 * not when it is used.  Handles of predefined types are constants of the ABI
 * and stand for rows of a constant table; others point to a struct vm_type,
 * referenced by the user's handles and by types built from it.  Only the
 * attributes, name, commit flag and counts of a type change.
 */
#ifndef MPI_TYPE_TYPE_H
#define MPI_TYPE_TYPE_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/local/layout.h"
#include "mpi.h"
#include "mpi/call/object.h"

struct vm_attrs;
struct vm_call;
struct vm_type_recipe;

/* Name and attributes that the user may add to a type. */
struct vm_type_extra {
	char *name;		/* NULL: none */
	struct vm_attrs *attrs; /* NULL: none */
};

struct vm_type {
	struct vm_object object; /* magic: there is a handle of the user */
	bool builtin;
	bool committed;
	/* Committed, and INT_MAX elements are fewer bytes than the longest
	 * message. */
	bool plain;
	bool dense;	     /* any number of elements is one block of bytes */
	bool solid;	     /* a single element is one block of bytes */
	bool lb_set, ub_set; /* bounds come from a resized type or a marker */
	/* builtin: its handle - MPI_DATATYPE_NULL; if it has no name (f90.c),
	 * that of the one with its bytes. */
	uint8_t value;
	uint8_t kind,
		family; /* builtin: what one computes (mpi/type/basic.h) */
	uint32_t align;
	size_t size; /* data bytes of an element */
	MPI_Count lb, extent, true_lb, true_extent;
	ptrdiff_t dense_offset;		/* solid: where the first byte lies */
	const struct vm_layout *layout; /* NULL when dense */
	size_t repeat;	    /* elements of the layout in one of the type */
	MPI_Count elements; /* predefined types in one element */
	/* The predefined type, if all parts are of the same one, or NULL. */
	const struct vm_type *basic;
	/* Derived types: */
	_Atomic int handles; /* the user has */
	/* And predefined ones without a name: whose it is, and how it was
	 * made. */
	struct vm_mpi *mpi;
	const struct vm_type_recipe *recipe;
	struct vm_type_extra extra;
};

/* Predefined types by handle - MPI_DATATYPE_NULL; NULL where there is none. */
#define VM_TYPE_BUILTINS 256
extern const struct vm_type *const vm_type_builtin[VM_TYPE_BUILTINS];
/* The bytes of those whose elements are one block; else 0. */
extern VM_HIDDEN const uint8_t vm_type_dense_bytes[VM_TYPE_BUILTINS];

/* Returns the type of a handle; NULL for MPI_DATATYPE_NULL and invalid
 * handles. */
static inline struct vm_type *vm_type_get(MPI_Datatype handle)
{
	uintptr_t value = (uintptr_t)handle;

	if (value >= VM_HANDLE_MIN)
		return vm_object_of(handle, VM_MAGIC_TYPE);
	value -= (uintptr_t)MPI_DATATYPE_NULL;
	if (value >= VM_TYPE_BUILTINS)
		return NULL;
	return (struct vm_type *)(uintptr_t)vm_type_builtin[value];
}

/* Returns the type of a handle that was checked before; the type has been held
 * since, while the user may have freed the handle. */
static inline struct vm_type *vm_type_checked(MPI_Datatype handle)
{
	if ((uintptr_t)handle >= VM_HANDLE_MIN)
		return (struct vm_type *)handle;
	return vm_type_get(handle);
}

/* Tells whether a type is a row of the table, one for all ranks. */
static inline bool vm_type_is_named(const struct vm_type *type)
{
	return type->builtin && !type->mpi;
}

static inline MPI_Datatype vm_type_handle(const struct vm_type *type)
{
	if (vm_type_is_named(type))
		return (MPI_Datatype)((uintptr_t)MPI_DATATYPE_NULL +
				      type->value);
	return (MPI_Datatype)(uintptr_t)type;
}

static inline void vm_type_commit(struct vm_type *type)
{
	type->committed = true;
	type->plain = type->size <= PTRDIFF_MAX / INT_MAX;
}

/* Returns the data of count elements at buf. */
static inline struct vm_data vm_type_data(const struct vm_type *type,
					  const void *buf, size_t count)
{
	uintptr_t addr = (uintptr_t)buf;

	if (type->dense || (type->solid && count == 1))
		return (struct vm_data){
			.addr = (void *)(addr + (uintptr_t)type->dense_offset),
			.bytes = type->size * count,
		};
	return (struct vm_data){
		.addr = (void *)addr,
		.bytes = type->size * count,
		.layout = type->layout,
		.count = count * type->repeat,
	};
}

/* Returns the name of a predefined type, "" for a derived one without a
 * name. */
const char *vm_type_name(const struct vm_type *type);

/* Take and drop references; predefined types are not counted. */
struct vm_type *vm_type_hold(struct vm_type *type);
void vm_type_drop(struct vm_type *type);

/* Returns one more handle for the user. */
MPI_Datatype vm_type_give(struct vm_type *type);

/* Returns the name and attributes of a type, to be changed; NULL when out of
 * memory.  Predefined types are common to all ranks, so theirs are stored with
 * the rank and initially empty. */
struct vm_type_extra *vm_type_extra(struct vm_mpi *mpi, struct vm_type *type);

/* Frees the names and attributes of predefined types when a rank terminates. */
void vm_type_extras_free(struct vm_mpi *mpi);

/* Frees what a derived type of a terminating rank holds, not the type
 * itself. */
void vm_type_clear(struct vm_type *type);

/*
 * Returns the number of predefined elements in `bytes` bytes of data of the
 * type (by the rule of MPI_Get_elements), or -1 if they end within an element.
 */
MPI_Count vm_type_elements(const struct vm_type *type, MPI_Count bytes);

/* The reverse: the bytes of so many predefined elements, which the address space
 * has (vm_check_elements()). */
MPI_Count vm_type_bytes(const struct vm_type *type, MPI_Count elements);

/* Returns the size of the first part of a predefined pair; 0 for other
 * types. */
size_t vm_type_pair_value(const struct vm_type *type);

/* Check, like the functions of mpi/call/check.h, the handle of a datatype or of
 * a committed one; set *type on success. */
int vm_check_type(struct vm_call *call, MPI_Datatype handle,
		  struct vm_type **type);
int vm_check_committed(struct vm_call *call, MPI_Datatype handle,
		       struct vm_type **type);
/* The same of a buffer, which has `any` elements; else the datatype may be
 * MPI_DATATYPE_NULL. */
int vm_check_type_of(struct vm_call *call, MPI_Datatype handle, bool any,
		     struct vm_type **type);

/* Checks that `blocks` blocks of count elements, which are not negative, are no
 * more bytes than the address space has. */
int vm_check_bytes(struct vm_call *call, const struct vm_type *type,
		   MPI_Count count, MPI_Count blocks);
/* Checks that the bytes of so many predefined elements of a type are no more,
 * and that there can be so many. */
int vm_check_elements(struct vm_call *call, const struct vm_type *type,
		      MPI_Count elements);
/* Checks count, datatype (committed) and buffer of a communication: buf must
 * not be NULL if bytes of a predefined type are transferred.  Of no elements the
 * datatype may be MPI_DATATYPE_NULL. */
int vm_check_buffer(struct vm_call *call, const void *buf, MPI_Count count,
		    MPI_Datatype type);

/* Returns the type of a buffer that was checked. */
static inline struct vm_type *vm_type_of_buffer(MPI_Datatype handle)
{
	return vm_type_get(handle == MPI_DATATYPE_NULL ? MPI_BYTE : handle);
}

#endif
