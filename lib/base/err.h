/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors and assertions.
 *
 * Functions return 0 or a negative code of the table VMPI_ERRORS in vmpi.h.
 * VM_ASSERT states an invariant (checked in builds with assertions on);
 * vm_panic is for what cannot happen.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>

#include "vmpi.h"

#define VM_LIKELY(x) __builtin_expect(!!(x), 1)
#define VM_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define VM_STATIC_ASSERT(cond, text) _Static_assert(cond, text)
#define VM_ALWAYS_INLINE inline __attribute__((always_inline))
/* Of a variable that is used often: reached without its address in a table. */
#define VM_HIDDEN __attribute__((visibility("hidden")))
#define VM_CACHELINE 64
#define VM_ALIGNED(n) __attribute__((aligned(n)))
#define VM_PRINTF(nth, first) __attribute__((format(printf, nth, first)))

/*
 * What a function that moves a message or its bytes returns, from MPI_Send to
 * the network.  VM_DONE, 0: it is complete, the caller's memory is free.
 * VM_PENDING or another positive value: it was taken, the memory stays in use
 * and the end is told later (a request completes, a callback is called).
 * Negative: an error, and nothing has begun; -VMPI_EAGAIN: try again later.
 */
enum { VM_DONE, VM_PENDING };

/* Prints and aborts the process: the state is beyond repair. */
_Noreturn void vm_panic(const char *format, ...) VM_PRINTF(1, 2);

#ifdef NDEBUG
#define VM_ASSERT(cond) ((void)sizeof(cond))
#else
#define VM_ASSERT(cond)                                                       \
	do {                                                                  \
		if (VM_UNLIKELY(!(cond)))                                     \
			vm_panic("%s:%d: %s: assertion failed: %s", __FILE__, \
				 __LINE__, __func__, #cond);                  \
	} while (0)
#endif

#endif
