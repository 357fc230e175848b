/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What makes a shared object a program: the name of its dynamic linker, an
 * entry point, and the note by which the loader knows it (core/image/image.h).
 *
 * The entry point is run only when the program is started by itself; the loader
 * calls main through the descriptor.  Source of the note's shape: System V
 * gABI, chapter 5, "Note section".
 */
	.section .interp, "a", %progbits
interpreter:
#if defined(__x86_64__)
	.asciz	"/lib64/ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
	.asciz	"/lib/ld-linux-aarch64.so.1"
#else
#error "no entry code for this machine"
#endif

	.section .note.vmpi, "a", %note
	.balign	4
	.long	5			/* bytes of the name */
	.long	4			/* bytes of the content */
	.long	1			/* VM_IMAGE_NOTE */
	.asciz	"vmpi"
	.balign	4
	.long	vmpi_image_descriptor - .
	.balign	4

	.text
	.globl	vmpi_image_start
	.hidden	vmpi_image_start
	.hidden	vmpi_image_descriptor
	.type	vmpi_image_start, %function
vmpi_image_start:
	.cfi_startproc
	/* Nothing else mentions it, and -Wl,--gc-sections would drop it. */
	.reloc	., BFD_RELOC_NONE, interpreter
#if defined(__x86_64__)
	.cfi_undefined rip
	endbr64
	xorl	%ebp, %ebp
	movl	(%rsp), %edi		/* argc */
	leaq	8(%rsp), %rsi		/* argv */
	andq	$-16, %rsp
	call	vmpi_image_main@PLT
	ud2
#elif defined(__aarch64__)
	.cfi_undefined x30
	hint	#34			/* bti c */
	mov	x29, #0
	mov	x30, #0
	ldr	w0, [sp]
	add	x1, sp, #8
	bl	vmpi_image_main
	brk	#0
#endif
	.cfi_endproc
	.size	vmpi_image_start, . - vmpi_image_start

	.section .note.GNU-stack, "", %progbits
