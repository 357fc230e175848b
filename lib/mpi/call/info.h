/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Info objects: ordered pairs of keys and values.
 */
#ifndef MPI_CALL_INFO_H
#define MPI_CALL_INFO_H

#include "mpi/call/call.h"
#include "mpi/call/state.h"

struct vm_info {
	struct vm_object object;
	struct vm_list pairs; /* struct vm_info_pair, in the order of entry */
	int count;
};

struct vm_info_pair {
	struct vm_list link;
	char *value; /* lies behind key, in the same memory */
	char key[];
};

/* Creates an info object without pairs: 0 or MPI_ERR_NO_MEM. */
int vm_info_new(struct vm_mpi *mpi, MPI_Info *info);

/* Sets the value of a key of such an object: 0 or MPI_ERR_NO_MEM. */
int vm_info_put(MPI_Info info, const char *key, const char *value);

/* Frees an object that no user has yet. */
void vm_info_drop(struct vm_mpi *mpi, MPI_Info info);

/* Returns the value of a key of an info object or MPI_INFO_NULL, valid until
 * the object changes; NULL: there is none. */
const char *vm_info_value(MPI_Info handle, const char *key);

/* The alignment in bytes, a power of two up to most, that the key
 * mpi_minimum_memory_alignment asks for (MPI 4.1, 9.2); 0: none. */
size_t vm_info_alignment(MPI_Info handle, size_t most);

/* Checks an info argument that may be MPI_INFO_NULL: 0 or MPI_ERR_INFO. */
int vm_check_hints(struct vm_call *call, MPI_Info handle);

/* Frees the pairs. */
void vm_info_clear(struct vm_info *info);

#endif
