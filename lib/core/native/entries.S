/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entries of vmpi.h.
 */
#include "core/instrument/calls.h"
#include "core/instrument/entry.inc"

	.set number, VM_CALL_NATIVE_FIRST

#define ENTRY(name) entry vmpi_##name ;
VM_API_CALLS(ENTRY)

	.section .note.GNU-stack, "", %progbits
