/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counting arrivals and ended sends on a raw completion queue.
 */
#ifndef BENCH_EVENTS_H
#define BENCH_EVENTS_H

#include <stdint.h>

#include "fabric/ofi/fi.h"

/* Adds to *received and *sent what has; 0, or an error of libfabric. */
static inline int events_count(struct fid_cq *cq, uint64_t *received,
			       uint64_t *sent)
{
	struct fi_cq_data_entry entries[16];
	ssize_t n = vm_fi_real.cq_read(cq, entries, 16);

	if (n < 0)
		return n == -FI_EAGAIN ? 0 : (int)-n;
	for (ssize_t i = 0; i < n; i++)
		++*(entries[i].flags & FI_RECV ? received : sent);
	return 0;
}

#endif
