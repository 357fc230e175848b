/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random keys of registered memory, which the kernel gives many at a time.
 */
#ifndef FABRIC_OFI_KEYS_H
#define FABRIC_OFI_KEYS_H

#include <stdint.h>

#include "base/lock.h"
#include "fabric/ofi/fi.h"

/* All zeros at first. */
struct vm_keys {
	struct vm_lock lock;
	uint64_t words[32]; /* to be used up */
	unsigned left;
};

/* The next one, as long as the provider's are (info may be NULL); 0 when the
 * kernel has no random numbers. */
uint64_t vm_keys_take(struct vm_keys *keys, const struct fi_info *info);

struct vm_keys_memory {
	const struct fi_info *info;
	struct fid_domain *domain;
	struct fid_ep *ep;
	const void *base;
	size_t bytes;
	uint64_t access; /* flags of libfabric */
};

/* Registers memory under a key that is free: 0, or an error of libfabric. */
int vm_keys_reg(struct vm_keys *keys, const struct vm_fi *fi,
		const struct vm_keys_memory *memory, struct fid_mr **mr);

#endif
