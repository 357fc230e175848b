/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random keys of registered memory, which the kernel gives many at a time.
 */
#ifndef FABRIC_OFI_KEYS_H
#define FABRIC_OFI_KEYS_H

#include <stdint.h>

struct vm_keys {
	uint64_t words[32]; /* to be used up */
	unsigned left;
};

/* The next one; 0 when the kernel has no random numbers.  One thread at a
 * time. */
uint64_t vm_keys_next(struct vm_keys *keys);

#endif
