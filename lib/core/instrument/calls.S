/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a watched call: from its entry, with the arguments of the call, its
 * number (r11d, w17) and the function that it is to reach (r10, x16).
 */
	.text
	.balign 16
	.globl vm_entry_watched
	.type vm_entry_watched, %function
	.hidden vm_intercept_enter
	.hidden vm_intercept_exit
vm_entry_watched:
	.cfi_startproc
#if defined(__x86_64__)
	pushq %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq $144, %rsp		/* 8 words for the arguments, then ours */
	movq %rdi, 64(%rsp)
	movq %rsi, 72(%rsp)
	movq %rdx, 80(%rsp)
	movq %rcx, 88(%rsp)
	movq %r8, 96(%rsp)
	movq %r9, 104(%rsp)
	movq %r10, 112(%rsp)
	movq %rax, 120(%rsp)	/* al: of functions with ... */
	movl %r11d, %edi
	movq %rbp, %rsi
	call vm_intercept_enter
	movl %eax, 128(%rsp)
	.irp word, 0, 8, 16, 24, 32, 40, 48, 56
	movq 16 + \word(%rbp), %rax
	movq %rax, \word(%rsp)
	.endr
	movq 64(%rsp), %rdi
	movq 72(%rsp), %rsi
	movq 80(%rsp), %rdx
	movq 88(%rsp), %rcx
	movq 96(%rsp), %r8
	movq 104(%rsp), %r9
	movq 120(%rsp), %rax
	call *112(%rsp)
	cmpl $0, 128(%rsp)
	je 1f
	movq %rax, 64(%rsp)
	movups %xmm0, 80(%rsp)
	call vm_intercept_exit
	movq 64(%rsp), %rax
	movups 80(%rsp), %xmm0
1:	leave
	.cfi_def_cfa %rsp, 8
	ret
#elif defined(__aarch64__)
	stp x29, x30, [sp, #-112]!
	.cfi_def_cfa_offset 112
	.cfi_offset x29, -112
	.cfi_offset x30, -104
	mov x29, sp
	.cfi_def_cfa_register x29
	stp x0, x1, [x29, #16]
	stp x2, x3, [x29, #32]
	stp x4, x5, [x29, #48]
	stp x6, x7, [x29, #64]
	stp x8, x16, [x29, #80]
	sub sp, sp, #64		/* 8 words for the arguments */
	mov w0, w17
	mov x1, x29
	bl vm_intercept_enter
	str w0, [x29, #96]
	.irp word, 0, 16, 32, 48
	ldp x9, x10, [x29, #(112 + \word)]
	stp x9, x10, [sp, #\word]
	.endr
	ldp x0, x1, [x29, #16]
	ldp x2, x3, [x29, #32]
	ldp x4, x5, [x29, #48]
	ldp x6, x7, [x29, #64]
	ldp x8, x16, [x29, #80]
	blr x16
	ldr w9, [x29, #96]
	cbz w9, 1f
	str x0, [x29, #16]
	str q0, [x29, #32]
	bl vm_intercept_exit
	ldr x0, [x29, #16]
	ldr q0, [x29, #32]
1:	mov sp, x29
	ldp x29, x30, [sp], #112
	.cfi_def_cfa sp, 0
	ret
#endif
	.cfi_endproc
	.size vm_entry_watched, . - vm_entry_watched

	.section .note.GNU-stack, "", %progbits
