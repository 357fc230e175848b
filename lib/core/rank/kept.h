/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for the time of a call.  What one call has used the next one gets, whose
 * pages are there and, if that is soon, in the caches.
 */
#ifndef CORE_RANK_KEPT_H
#define CORE_RANK_KEPT_H

#include <stddef.h>

struct vm_kept_block;

/* The memory of one call; zeros at its begin. */
struct vm_kept {
	struct vm_kept_block *first;
	size_t used, wanted; /* bytes of the first block; of all */
};

/* Memory until the end, at a cache line; NULL: there is none. */
void *vm_kept_get(struct vm_kept *kept, size_t bytes);

/* May be called without a vm_kept_get(). */
void vm_kept_end(struct vm_kept *kept);

/* Frees what is kept for the next call. */
void vm_kept_drop(void);

#endif
