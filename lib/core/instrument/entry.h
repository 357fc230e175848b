/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entries: the few instructions before each public function.
 *
 * A function F of the tables (core/instrument/calls.h, mpi/call/calls.h) is
 * compiled under the name vm_entry_F; F itself is a few instructions that jump
 * there (entry.inc). One predictable branch asks whether calls are observed;
 * then the call goes through vm_entry_watched (calls.S), which reports its
 * begin and its end to core/instrument/intercept.h.
 */
#ifndef CORE_INSTRUMENT_ENTRY_H
#define CORE_INSTRUMENT_ENTRY_H

/*
 * Functions that are no calls have an entry too, a jump.  An image that is not
 * observed, and cannot begin to be, is bound past its entries
 * (core/image/direct.h).
 */

/* Numbers of calls: 0 none, then those of vmpi.h, then those of mpi.h. */
#define VM_CALL_NATIVE_FIRST 1
#define VM_CALL_MPI_FIRST 96

#ifndef __ASSEMBLER__
#include <stdint.h>

/* The address of the function behind an entry; what is no entry comes back. */
uintptr_t vm_entry_direct(uintptr_t entry);

#if defined(__x86_64__) && defined(__has_attribute)
#if __has_attribute(function_return)
#define VM_ENTRY_RETURN __attribute__((function_return("thunk-extern")))
#endif
#endif
#ifndef VM_ENTRY_RETURN
#define VM_ENTRY_RETURN
#endif

/* In the file that defines `name`, before it does. */
#define VM_ENTRY(name) extern __typeof__(name) name __asm__("vm_entry_" #name);
/* The same for a call that may switch, which returns by return.S. */
#define VM_ENTRY_WAITS(name) VM_ENTRY(name) VM_ENTRY_RETURN_OF(name)
#define VM_ENTRY_RETURN_OF(name) extern VM_ENTRY_RETURN __typeof__(name) name;
/* A part of one, with which it ends where the usual way does not do. */
#define VM_ENTRY_REST __attribute__((noinline)) VM_ENTRY_RETURN

/* Its last statement, where it would end with a jump to a function that returns
 * in its own way. */
static inline void vm_entry_end(void)
{
	__asm__ volatile("");
}
#endif

#endif
