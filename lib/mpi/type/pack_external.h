/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pack and unpack in "external32": what the calls do.
 */
#ifndef MPI_TYPE_PACK_EXTERNAL_H
#define MPI_TYPE_PACK_EXTERNAL_H

#include "mpi/call/call.h"

struct vm_typed_buffer {
	const void *buf;
	MPI_Count count;
	MPI_Datatype type;
};

/* Packs or unpacks at *position of `size` bytes, which it moves on: 0 or an MPI
 * error. */
int vm_pack_external(struct vm_call *call, const char *datarep,
		     const struct vm_typed_buffer *typed, void *packed,
		     MPI_Count size, MPI_Count *position, bool to_external);
int vm_pack_external_size(struct vm_call *call, const char *datarep,
			  MPI_Count count, MPI_Datatype datatype,
			  MPI_Count *size);

#endif
