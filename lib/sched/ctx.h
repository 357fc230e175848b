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
#include <stdint.h>

/* A saved context, for debuggers: `bytes` to where the stack pointer will be,
 * and the offsets of registers, by their numbers in DWARF; `pc` is the one that
 * holds the program counter. */
struct vm_ctx_layout {
	uint16_t bytes, count, pc, sp;
	struct {
		uint16_t number, offset;
	} registers[12];
};

#if defined(__x86_64__)
#define VM_CTX_LAYOUT                                                      \
	{                                                                  \
		.bytes = 64, .count = 7, .pc = 16, .sp = 7, .registers = { \
			{ 15, 8 },                                         \
			{ 14, 16 },                                        \
			{ 13, 24 },                                        \
			{ 12, 32 },                                        \
			{ 3, 40 },                                         \
			{ 6, 48 },                                         \
			{ 16, 56 },                                        \
		}                                                          \
	}
#elif defined(__aarch64__)
#define VM_CTX_LAYOUT                                                         \
	{                                                                     \
		.bytes = 176, .count = 12, .pc = 30, .sp = 31, .registers = { \
			{ 19, 0 },                                            \
			{ 20, 8 },                                            \
			{ 21, 16 },                                           \
			{ 22, 24 },                                           \
			{ 23, 32 },                                           \
			{ 24, 40 },                                           \
			{ 25, 48 },                                           \
			{ 26, 56 },                                           \
			{ 27, 64 },                                           \
			{ 28, 72 },                                           \
			{ 29, 80 },                                           \
			{ 30, 88 },                                           \
		}                                                             \
	}
#endif

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
