/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Register contexts: the few instructions under every task switch.
 *
 * A context is a stack pointer; the registers that the ABI says a call
 * preserves lie on the stack below it, the floating point control words
 * included. Switching is done from one place only (ult.c), so that returns are
 * predicted. Source: System V ABI x86-64 3.2.1, AAPCS64 6.1.
 */
#ifndef SCHED_CTX_H
#define SCHED_CTX_H

#include <stddef.h>

/* Saves this context in *from and continues in `to`, a context saved before or
 * made by vm_ctx_make().  Returns when another context switches back. */
void vm_ctx_switch(void **from, void *to);

/*
 * Makes a context that calls entry(arg) on a fresh stack; entry must not
 * return. The floating point control words are those of the caller.
 */
void *vm_ctx_make(void *stack, size_t bytes, void (*entry)(void *), void *arg);

/* The first instructions of a made context; ends every backtrace.  Assembly,
 * not callable. */
void vm_ctx_start(void);

#endif
