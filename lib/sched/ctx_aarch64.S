/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Context switch for aarch64, AAPCS64: x19-x30, d8-d15 and fpcr (written only
 * when it differs: the write is slow).  The frame layout is known to ctx.c.
 */
	.text
	.globl	vm_ctx_switch
	.hidden	vm_ctx_switch
	.type	vm_ctx_switch, %function
	.p2align 4
vm_ctx_switch:
	.cfi_startproc
	hint	#34
	sub	sp, sp, #176
	stp	x19, x20, [sp]
	stp	x21, x22, [sp, #16]
	stp	x23, x24, [sp, #32]
	stp	x25, x26, [sp, #48]
	stp	x27, x28, [sp, #64]
	stp	x29, x30, [sp, #80]
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	mrs	x9, fpcr
	str	x9, [sp, #160]
	mov	x10, sp
	str	x10, [x0]
	mov	sp, x1
	ldr	x10, [sp, #160]
	cmp	x9, x10
	b.eq	1f
	msr	fpcr, x10
1:	ldp	x19, x20, [sp]
	ldp	x21, x22, [sp, #16]
	ldp	x23, x24, [sp, #32]
	ldp	x25, x26, [sp, #48]
	ldp	x27, x28, [sp, #64]
	ldp	x29, x30, [sp, #80]
	ldp	d8, d9, [sp, #96]
	ldp	d10, d11, [sp, #112]
	ldp	d12, d13, [sp, #128]
	ldp	d14, d15, [sp, #144]
	add	sp, sp, #176
	ret
	.cfi_endproc
	.size	vm_ctx_switch, .-vm_ctx_switch

/* First entry: x19 = function, x20 = argument. */
	.globl	vm_ctx_start
	.hidden	vm_ctx_start
	.type	vm_ctx_start, %function
	.p2align 4
	.cfi_startproc
	.cfi_undefined x30
	nop
vm_ctx_start:
	hint	#36
	mov	x29, #0
	mov	x30, #0
	mov	x0, x20
	blr	x19
	brk	#1
	.cfi_endproc
	.size	vm_ctx_start, .-vm_ctx_start
	.section .note.GNU-stack, "", %progbits
