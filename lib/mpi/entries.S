/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entries of mpi.h: PMPI_x, and MPI_x as its weak alias (core/instrument/entry.h).
 */
#include "core/instrument/entry.h"
#include "core/instrument/entry.inc"
#include "mpi/call/calls.h"

	.set number, VM_CALL_MPI_FIRST

	.macro mpi_entry name is_lookup
	.if \is_lookup
	.set lookup_PMPI_\name, 1
	.endif
	entry PMPI_\name
	.weak MPI_\name
	.set MPI_\name, PMPI_\name
	.endm

#define ENTRY(name, ...) mpi_entry name VM_CALL_IS_LOOKUP(__VA_ARGS__) ;
MPI_CALLS(ENTRY)

/* What only fails is reached through the table of libmpi_abi.so (abi.c). */
	.macro hide name
	.hidden PMPI_\name
	.hidden MPI_\name
	.endm

#define HIDE(name) hide name ;
MPI_CALLS_UNSUPPORTED(HIDE)

	.section .note.GNU-stack, "", %progbits
