/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dlopen() of the node program.  libc's looks at who has called it, for its
 * search path, so it must be jumped to with the caller's return address.
 */
	.text
	.globl	dlopen
	.type	dlopen, %function
	.p2align 4
dlopen:
	.cfi_startproc
#if defined(__x86_64__)
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	movq	24(%rsp), %rdx		/* the caller */
	call	plugin_open
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testq	%rdx, %rdx		/* the real one, or NULL */
	jne	1f
	ret
1:	jmp	*%rdx
#elif defined(__aarch64__)
	hint	#34			/* bti c */
	stp	x29, x30, [sp, #-32]!
	.cfi_adjust_cfa_offset 32
	.cfi_rel_offset x29, 0
	.cfi_rel_offset x30, 8
	stp	x0, x1, [sp, #16]
	mov	x29, sp
	mov	x2, x30			/* the caller */
	bl	plugin_open
	mov	x16, x1			/* the real one, or NULL */
	cbz	x16, 1f
	ldp	x0, x1, [sp, #16]
1:	ldp	x29, x30, [sp], #32
	.cfi_adjust_cfa_offset -32
	.cfi_restore x29
	.cfi_restore x30
	cbz	x16, 2f
	br	x16
2:	ret
#endif
	.cfi_endproc
	.size	dlopen, . - dlopen

	.section .note.GNU-stack, "", %progbits
