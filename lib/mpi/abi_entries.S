/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libmpi_abi.so.1: every MPI function, as a jump into libvmpi.so.
 *
 * Arguments and return addresses stay where they are, so one text fits all
 * signatures.  The order is that of enum vm_call_id: both count the same rows.
 */
#include "mpi/abi.h"

	.text
	.set number, 0

	.macro entry name
	.balign 16
	.globl PMPI_\name
	.type PMPI_\name, %function
	.weak MPI_\name
	.set MPI_\name, PMPI_\name
PMPI_\name:
#if defined(__x86_64__)
	endbr64
	movq vmpi_abi@GOTPCREL(%rip), %r11
	jmpq *(VM_ABI_CALLS_OFFSET + 8 * number)(%r11)
#elif defined(__aarch64__)
	hint #34 /* bti c */
	adrp x16, :got:vmpi_abi
	ldr x16, [x16, :got_lo12:vmpi_abi]
	.if number >= 4000
	.error "the table is too long for one load"
	.endif
	ldr x17, [x16, #(VM_ABI_CALLS_OFFSET + 8 * number)]
	br x17
#endif
	.size PMPI_\name, . - PMPI_\name
	.set number, number + 1
	.endm

#define ENTRY(name, ...) entry name ;
MPI_CALLS(ENTRY)

	.section .note.GNU-stack, "", %progbits
