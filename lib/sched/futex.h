/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sleeping in the kernel until a word changes.
 */
#ifndef SCHED_FUTEX_H
#define SCHED_FUTEX_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *word is `value`, at most ns nanoseconds (0: no limit); may
 * return early. */
static inline void vm_futex_wait(_Atomic uint32_t *word, uint32_t value,
				 uint64_t ns)
{
	struct timespec limit = { .tv_sec = (time_t)(ns / 1000000000),
				  .tv_nsec = (long)(ns % 1000000000) };

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, ns ? &limit : NULL,
		NULL, 0);
}

static inline void vm_futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

#endif
