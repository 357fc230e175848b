/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes that lie in several places of our memory, one behind the other, and go to
 * as many bytes in several places of another process, or come from there.
 */
#ifndef FABRIC_SHM_LOAD_H
#define FABRIC_SHM_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/* The most places, on each side. */
#define VM_LOAD_PLACES 64

struct vm_load {
	const struct iovec *here, *there;
	size_t here_count, there_count;
	size_t bytes; /* of each side */
};

/* One place on each side, of the same length. */
static inline struct vm_load vm_load_one(const struct iovec *here,
					 const struct iovec *there)
{
	return (struct vm_load){ here, there, 1, 1, here->iov_len };
}

/* Adds a place to a row of *count, which has room for one: at the end of the last
 * one, if it follows that, as the kernel looks up each one of another process. */
static inline void vm_load_add(struct iovec *row, size_t *count,
			       const struct iovec *place)
{
	struct iovec *last = *count ? &row[*count - 1] : NULL;

	if (last && (char *)last->iov_base + last->iov_len == place->iov_base)
		last->iov_len += place->iov_len;
	else
		row[(*count)++] = *place;
}

/* The places of bytes of a row from `at` on: returns how many. */
size_t vm_load_cut(struct iovec *out, const struct iovec *row, size_t count,
		   size_t at, size_t bytes);

/* Copies bytes of a load from `at` on from the process, or writes them there: 0
 * or an errno; EFAULT: they are not all there. */
int vm_load_move(pid_t pid, const struct vm_load *load, size_t at, size_t bytes,
		 bool write);

#endif
