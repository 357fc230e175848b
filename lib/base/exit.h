/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ending a process at once.
 */
#ifndef BASE_EXIT_H
#define BASE_EXIT_H

#include <sys/syscall.h>
#include <unistd.h>

#ifdef VM_COVERAGE
void __gcov_dump(void);
#endif

/* Keeps what has been counted for `make coverage`, which is lost otherwise when
 * the process ends without exit(). */
static inline void vm_exit_keep(void)
{
#ifdef VM_COVERAGE
	__gcov_dump();
#endif
}

/* Ends the process without handlers.  Not _exit(): the node program replaces
 * that one for its ranks. */
static inline _Noreturn void vm_exit_now(int status)
{
	vm_exit_keep();
	for (;;)
		syscall(SYS_exit_group, status);
}

#endif
