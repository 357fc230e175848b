/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Representations of data in files (MPI 4.1, 14.5): "native" and "internal" are
 * those of memory, "external32" is that of MPI_Pack_external, others convert by
 * functions of the program.
 */
#ifndef MPI_IO_DATAREP_H
#define MPI_IO_DATAREP_H

#include "mpi/call/call.h"
#include "mpi/type/type.h"

/* One that converts. */
struct vm_datarep {
	struct vm_object object; /* of the rank's, if the program made it */
	char name[MPI_MAX_DATAREP_STRING];
	/* NULL: external32. */
	MPI_Datarep_extent_function *extent;
	/* NULL: nothing is to be converted; one of each is set. */
	MPI_Datarep_conversion_function *read, *write;
	MPI_Datarep_conversion_function_c *read_c, *write_c;
	void *extra_state;
};

/* Finds a representation by its name: 0 with *rep, which is NULL if nothing is
 * to be converted; or an MPI error. */
int vm_datarep_find(struct vm_call *call, const char *name,
		    const struct vm_datarep **rep);

/* Returns the type whose bytes are where those of a type's values are in a file,
 * with a reference; rep may be NULL.  0 or an MPI error. */
int vm_datarep_type(struct vm_call *call, const struct vm_datarep *rep,
		    struct vm_type *type, struct vm_type **in_file);

/* Bytes of an element in a file: 0 or an MPI error. */
int vm_datarep_size(struct vm_call *call, const struct vm_datarep *rep,
		    const struct vm_type *type, size_t *bytes);

/* Elements first to first + count - 1 of a buffer, which are `bytes` bytes in a
 * file: converts them to those bytes, or back.  0 or an MPI error. */
struct vm_datarep_part {
	const void *buf;
	const struct vm_type *type;
	size_t first, count;
	char *packed;
	size_t bytes;
};
int vm_datarep_convert(struct vm_call *call, const struct vm_datarep *rep,
		       const struct vm_datarep_part *part, bool to_file);

#endif
