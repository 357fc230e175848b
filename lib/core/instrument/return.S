/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way back from the function behind an entry (entry.h).
 *
 * A processor predicts a return from the calls that it has seen.  After a switch
 * those were another rank's, whose code lies elsewhere: 20 cycles and more are
 * lost.  A jump is predicted from what was jumped to before, which is right
 * where few ranks take turns.  It takes no call off the processor's list, so
 * where none was made in vain there is a return.
 */
#if defined(__x86_64__)
	.hidden vm_resumed
	.text
	.p2align 4
	.weak __x86_return_thunk	/* the name that compilers know */
	.hidden __x86_return_thunk
	.type __x86_return_thunk, @function
__x86_return_thunk:
	.cfi_startproc
	movq vm_resumed@gottpoff(%rip), %rcx
	cmpb $0, %fs:(%rcx)
	jne 1f
	ret
1:	movb $0, %fs:(%rcx)
	popq %rcx
	.cfi_adjust_cfa_offset -8
	.cfi_register %rip, %rcx
	jmp *%rcx
	.cfi_endproc
	.size __x86_return_thunk, . - __x86_return_thunk
#endif
	.section .note.GNU-stack, "", %progbits
