/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The place of an ordinary executable's thread-local variables
 * (core/image/exe_tls.h).
 *
 * Linkers put what is common last in the block, so that it ends at the thread
 * pointer.
 */
	.section .tcommon, "awT", %nobits
	.balign	64			/* VM_EXE_TLS_ALIGN */
	.globl	node_tls_reserve
	.hidden	node_tls_reserve
	.type	node_tls_reserve, %tls_object
	.size	node_tls_reserve, 4096	/* VM_EXE_TLS_BYTES */
node_tls_reserve:
	.zero	4096

	.section .note.GNU-stack, "", %progbits
