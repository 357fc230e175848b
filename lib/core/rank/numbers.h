/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers that are given once to all processes of a user on a host: a counter in
 * a file in /dev/shm, which the last one that has it open removes.
 */
#ifndef CORE_RANK_NUMBERS_H
#define CORE_RANK_NUMBERS_H

#include <stdint.h>

/* Opens it, once: 0, or -VMPI_EIO (logged).  One thread at a time. */
int vm_numbers_open(void);
void vm_numbers_close(void);

/* Takes so many numbers in a row, and returns the first; it is open.  They begin
 * anew after 2^32. */
uint32_t vm_numbers_take(uint32_t count);

#endif
