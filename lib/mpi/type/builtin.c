/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The predefined datatypes: one constant row each, expanded from the tables of
 * mpi/type/basic.h, and the array that maps handles to rows.
 */
#include "mpi/type/type.h"

#include "mpi/type/basic.h"

/* The C type of each kind. */
#define KIND_C_TYPE_(kind, c_type) typedef c_type c_##kind;
VM_KINDS_INTEGER(KIND_C_TYPE_)
VM_KINDS_FLOAT(KIND_C_TYPE_)
VM_KINDS_COMPLEX(KIND_C_TYPE_)
VM_KINDS_BOOL(KIND_C_TYPE_)
#define PAIR_C_TYPE_(kind, v, i) typedef struct vm_##kind c_##kind;
VM_KINDS_PAIR(PAIR_C_TYPE_)

#define COMMON(mpi_name, handle, kind_, family_)                   \
	.object = { .magic = VM_MAGIC_TYPE }, .builtin = true,     \
	.committed = true, .plain = true, .value = (handle)-0x200, \
	.kind = VM_KIND_##kind_, .family = VM_FAMILY_##family_,    \
	.align = _Alignof(c_##kind_), .extent = sizeof(c_##kind_), \
	.repeat = 1, .basic = &type_##mpi_name,                    \
	.extra.name = (char *)(uintptr_t) "MPI_" #mpi_name

#define SIMPLE_(mpi_name, handle, kind, family)         \
	static const struct vm_type type_##mpi_name = { \
		COMMON(mpi_name, handle, kind, family), \
		.dense = true,                          \
		.solid = true,                          \
		.size = sizeof(c_##kind),               \
		.true_extent = sizeof(c_##kind),        \
		.elements = 1,                          \
	};
VM_TYPES_SIMPLE(SIMPLE_)

#define PAIR_DENSE_(mpi_name, handle, kind, family)     \
	static const struct vm_type type_##mpi_name = { \
		COMMON(mpi_name, handle, kind, family), \
		.dense = true,                          \
		.solid = true,                          \
		.size = sizeof(c_##kind),               \
		.true_extent = sizeof(c_##kind),        \
		.elements = 2,                          \
	};
VM_TYPES_PAIR_DENSE(PAIR_DENSE_)

/*
 * Pairs with padding after the value or the index.  Their layouts are
 * reference-counted like all layouts; the table holds the first reference, so
 * they are never freed.
 */
#define VALUE_BYTES(kind) sizeof(((c_##kind *)0)->value)
#define INDEX_BYTES(kind) sizeof(((c_##kind *)0)->index)
#define INDEX_OFFSET(kind) offsetof(c_##kind, index)
#define PAIR_SOLID(kind) (INDEX_OFFSET(kind) == VALUE_BYTES(kind))
#define PAIR_SPARSE_(mpi_name, handle, kind, family)                         \
	static struct vm_layout layout_##mpi_name = {                        \
		.refs = 1,                                                   \
		.bytes = VALUE_BYTES(kind) + INDEX_BYTES(kind),              \
		.extent = sizeof(c_##kind),                                  \
		.run_count = PAIR_SOLID(kind) ? 1 : 2,                       \
		.runs = { { 0,                                               \
			    VALUE_BYTES(kind) + (PAIR_SOLID(kind) ?          \
							 INDEX_BYTES(kind) : \
							 0),                 \
			    1, VALUE_BYTES(kind) },                          \
			  { INDEX_OFFSET(kind), INDEX_BYTES(kind), 1,        \
			    INDEX_BYTES(kind) } },                           \
	};                                                                   \
	static const struct vm_type type_##mpi_name = {                      \
		COMMON(mpi_name, handle, kind, family),                      \
		.solid = PAIR_SOLID(kind),                                   \
		.size = VALUE_BYTES(kind) + INDEX_BYTES(kind),               \
		.true_extent = INDEX_OFFSET(kind) + INDEX_BYTES(kind),       \
		.layout = &layout_##mpi_name,                                \
		.elements = 2,                                               \
	};
VM_TYPES_PAIR_SPARSE(PAIR_SPARSE_)

#define MARKER_(mpi_name, handle, bound)                            \
	static const struct vm_type type_##mpi_name = {             \
		.object = { .magic = VM_MAGIC_TYPE },               \
		.builtin = true,                                    \
		.committed = true,                                  \
		.plain = true,                                      \
		.value = (handle)-0x200,                            \
		.kind = VM_KIND_NONE,                               \
		.family = VM_FAMILY_TEXT,                           \
		.dense = true,                                      \
		.solid = true,                                      \
		.bound##_set = true,                                \
		.repeat = 1,                                        \
		.basic = &type_##mpi_name,                          \
		.extra.name = (char *)(uintptr_t) "MPI_" #mpi_name, \
	};
VM_TYPES_MARKER(MARKER_)

#define ROW_(mpi_name, handle, ...) [(handle)-0x200] = &type_##mpi_name,
const struct vm_type *const vm_type_builtin[VM_TYPE_BUILTINS] = {
	VM_TYPES_SIMPLE(ROW_) VM_TYPES_PAIR_DENSE(ROW_)
		VM_TYPES_PAIR_SPARSE(ROW_) VM_TYPES_MARKER(ROW_)
};

#define DENSE_(mpi_name, handle, kind, family) \
	[(handle)-0x200] = sizeof(c_##kind),
const uint8_t vm_type_dense_bytes[VM_TYPE_BUILTINS] = { VM_TYPES_SIMPLE(
	DENSE_) VM_TYPES_PAIR_DENSE(DENSE_) };

/* The value's bytes of a pair, by kind. */
#define PAIR_VALUE_(kind, value_type, index_type) \
	[VM_KIND_##kind] = sizeof(value_type),
static const uint8_t pair_value_bytes[VM_KINDS] = { VM_KINDS_PAIR(
	PAIR_VALUE_) };

size_t vm_type_pair_value(const struct vm_type *type)
{
	return pair_value_bytes[type->kind];
}
