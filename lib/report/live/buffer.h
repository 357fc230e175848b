/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers that calls of MPI were given and that cannot be accessed: whose they
 * are.  A message is copied by one of its two ranks, or by a third, and a fault
 * meets whoever copies.
 */
#ifndef REPORT_LIVE_BUFFER_H
#define REPORT_LIVE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/live/snapshot.h"

struct vm_buffer {
	uint64_t address, bytes;
};

/* Finds the buffer that an address is in among the words of a stack, where it
 * is a struct vm_data (core/local/layout.h), and takes it if it begins later
 * than that found before.  false: they have none. */
bool vm_buffer_find(struct vm_buffer *buffer, pid_t pid, const uint64_t *words,
		    size_t count, uint64_t address);

/*
 * Finds the greatest word that points into what is not accessible around an
 * address, and not beyond it: greater than *nearest, which it becomes.  false:
 * there is none.
 */
bool vm_buffer_near(uint64_t *nearest, const struct vm_buffer *hole,
		    const uint64_t *words, size_t count, uint64_t address);

/* What is not accessible around an address: memory that is not mapped, or not
 * to be read, or only to be read. */
struct vm_buffer vm_buffer_hole(pid_t pid, uint64_t address);

/* A buffer of 0 bytes has an unknown size; whose: "its".  "bytes 4096 to 5000 of its buffer of 8192 bytes at 0x7f... are not
 * accessible", of a process in which an access to an address of it failed. */
void vm_buffer_say(const struct vm_buffer *buffer, const char *whose,
		   char *text, size_t bytes, pid_t pid, uint64_t address);

#endif
