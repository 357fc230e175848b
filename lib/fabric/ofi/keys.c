/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A key is used once.
 */
#include "fabric/ofi/keys.h"

#include <sys/random.h>

#define TRIES 8 /* keys may be taken; with 64 bits they never are */

static uint64_t word_next(struct vm_keys *keys)
{
	if (keys->left == 0) {
		ssize_t n = getrandom(keys->words, sizeof(keys->words), 0);

		if (n != (ssize_t)sizeof(keys->words))
			return 0;
		keys->left = sizeof(keys->words) / sizeof(keys->words[0]);
	}
	return keys->words[--keys->left];
}

uint64_t vm_keys_take(struct vm_keys *keys, const struct fi_info *info)
{
	size_t bytes = info ? info->domain_attr->mr_key_size : 8;
	uint64_t key;

	vm_lock_take(&keys->lock);
	key = word_next(keys);
	vm_lock_give(&keys->lock);
	return bytes < 8 ? key >> (64 - 8 * bytes) : key;
}

int vm_keys_reg(struct vm_keys *keys, const struct vm_fi *fi,
		const struct vm_keys_memory *memory, struct fid_mr **mr)
{
	const struct fi_info *info = memory->info;
	int rc = -FI_ENOKEY;

	for (int i = 0; i < TRIES && rc == -FI_ENOKEY; i++)
		rc = fi->mr_reg(memory->domain, memory->base, memory->bytes,
				memory->access, vm_keys_take(keys, info), mr);
	if (rc == 0 && info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
		rc = fi->mr_enable(*mr, memory->ep);
		if (rc)
			fi->close(&(*mr)->fid);
	}
	return rc;
}
