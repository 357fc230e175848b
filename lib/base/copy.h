/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copying to memory that another core may hold.
 *
 * Stores leave a core in order, and each waits for its cache line: a plain
 * memcpy() into lines that another core has written fetches them one after the
 * other.  Prefetched, they come together.
 */
#ifndef BASE_COPY_H
#define BASE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

/* Bytes below and above which prefetching is not worth it.  Of more than can be
 * under way at a time the end is enough: it comes while memcpy() fetches what is
 * before. */
#define VM_COPY_FETCH_MIN 256
#define VM_COPY_FETCH_MAX 4096
#define VM_COPY_FETCH_ALL 2048
#define VM_COPY_FETCH_END 1024

/* Prefetches a line that will be written to soon. */
static inline void vm_fetch_to_write(void *line)
{
#if defined(__x86_64__)
	/* gcc's builtin emits this instruction for some processors only; those
	 * that do not know it ignore it. */
	__asm__ volatile("prefetchw %0" ::"m"(*(const char *)line));
#else
	__builtin_prefetch(line, 1);
#endif
}

/* As memcpy(), but with 0 bytes the pointers may be NULL.  The size of a double
 * is copied without a call. */
static inline void vm_copy(void *to, const void *from, size_t bytes)
{
	if (bytes == sizeof(double)) {
		memcpy(to, from, sizeof(double));
		return;
	}
	if (bytes >= VM_COPY_FETCH_MIN && bytes <= VM_COPY_FETCH_MAX) {
		size_t i = bytes > VM_COPY_FETCH_ALL ?
				   bytes - VM_COPY_FETCH_END :
				   0;

		for (; i < bytes; i += VM_CACHELINE)
			vm_fetch_to_write((char *)to + i);
	}
	if (bytes)
		memcpy(to, from, bytes);
}

#define VM_COPY_STEP 1024 /* of a longer copy, whose lines come a step ahead */

/* The same of any number. */
static inline void vm_copy_long(void *to, const void *from, size_t bytes)
{
	size_t at = 0, ahead = 0;

	if (bytes <= VM_COPY_FETCH_MAX) {
		vm_copy(to, from, bytes);
		return;
	}
	for (; bytes - at > VM_COPY_STEP; at += VM_COPY_STEP) {
		for (; ahead < at + 2 * VM_COPY_STEP && ahead < bytes;
		     ahead += VM_CACHELINE)
			vm_fetch_to_write((char *)to + ahead);
		memcpy((char *)to + at, (const char *)from + at, VM_COPY_STEP);
	}
	memcpy((char *)to + at, (const char *)from + at, bytes - at);
}

/* The same of up to 16 bytes, of any number without a call. */
static VM_ALWAYS_INLINE void vm_copy_few(char *to, const char *from,
					 size_t bytes)
{
	if (VM_LIKELY(bytes >= 8)) {
		uint64_t first, last;

		memcpy(&first, from, 8);
		memcpy(&last, from + bytes - 8, 8);
		memcpy(to, &first, 8);
		memcpy(to + bytes - 8, &last, 8);
	} else if (bytes >= 4) {
		uint32_t first, last;

		memcpy(&first, from, 4);
		memcpy(&last, from + bytes - 4, 4);
		memcpy(to, &first, 4);
		memcpy(to + bytes - 4, &last, 4);
	} else {
		for (size_t i = 0; i < bytes; i++)
			to[i] = from[i];
	}
}

#endif
