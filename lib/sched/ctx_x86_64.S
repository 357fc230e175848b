/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Context switch for x86-64, System V ABI: rbx, rbp, r12-r15, mxcsr and the x87
 * control word (the last two are loaded only when they differ: that is slow).
 * The frame layout is known to ctx.c.
 */
	.text
	.globl	vm_ctx_switch
	.hidden	vm_ctx_switch
	.type	vm_ctx_switch, @function
	.p2align 4
vm_ctx_switch:
	.cfi_startproc
	endbr64
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	subq	$8, %rsp
	stmxcsr	(%rsp)
	fnstcw	4(%rsp)
	movq	%rsp, (%rdi)
	movl	(%rsp), %eax
	movzwl	4(%rsp), %ecx
	movq	%rsi, %rsp
	cmpl	(%rsp), %eax
	je	1f
	ldmxcsr	(%rsp)
1:	cmpw	4(%rsp), %cx
	je	2f
	fldcw	4(%rsp)
2:	addq	$8, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret
	.cfi_endproc
	.size	vm_ctx_switch, .-vm_ctx_switch

/* First entry: r12 = function, r13 = argument. */
	.globl	vm_ctx_start
	.hidden	vm_ctx_start
	.type	vm_ctx_start, @function
	.p2align 4
	.cfi_startproc
	.cfi_undefined rip
	.cfi_undefined rbp
	nop
vm_ctx_start:
	endbr64
	xorl	%ebp, %ebp
	movq	%r13, %rdi
	call	*%r12
	ud2
	.cfi_endproc
	.size	vm_ctx_start, .-vm_ctx_start
	.section .note.GNU-stack, "", @progbits
