/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A key is used once.
 */
#include "fabric/ofi/keys.h"

#include <sys/random.h>

uint64_t vm_keys_next(struct vm_keys *keys)
{
	if (keys->left == 0) {
		ssize_t n = getrandom(keys->words, sizeof(keys->words), 0);

		if (n != (ssize_t)sizeof(keys->words))
			return 0;
		keys->left = sizeof(keys->words) / sizeof(keys->words[0]);
	}
	return keys->words[--keys->left];
}
