/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of places.
 */
#include "fabric/shm/load.h"

size_t vm_load_cut(struct iovec *out, const struct iovec *row, size_t count,
		   size_t at, size_t bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < count && bytes; i++) {
		size_t left = row[i].iov_len;

		if (at >= left) {
			at -= left;
			continue;
		}
		left -= at;
		out[n].iov_base = (char *)row[i].iov_base + at;
		out[n].iov_len = left < bytes ? left : bytes;
		bytes -= out[n++].iov_len;
		at = 0;
	}
	return n;
}
