/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of places.
 */
#include "fabric/shm/load.h"

#include <errno.h>

#include "base/err.h"

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

/* One call moves so much at most. */
#define MOVE_MAX ((size_t)1 << 30)

int vm_load_move(pid_t pid, const struct vm_load *load, size_t at, size_t bytes,
		 bool write)
{
	ssize_t (*move)(pid_t, const struct iovec *, unsigned long,
			const struct iovec *, unsigned long, unsigned long) =
		write ? process_vm_writev : process_vm_readv;
	struct iovec here[VM_LOAD_PLACES], there[VM_LOAD_PLACES];
	ssize_t n;

	/* As a rule it is one place on each side.  The loop finds what is wrong. */
	if (load->here_count == 1 && load->there_count == 1 &&
	    bytes == load->bytes) {
		n = move(pid, load->here, 1, load->there, 1, 0);
		if (VM_LIKELY(n == (ssize_t)bytes))
			return 0;
	}
	while (bytes) {
		size_t most = bytes < MOVE_MAX ? bytes : MOVE_MAX;
		size_t ours = vm_load_cut(here, load->here, load->here_count,
					  at, most);
		size_t theirs = vm_load_cut(there, load->there,
					    load->there_count, at, most);

		n = move(pid, here, ours, there, theirs, 0);
		if (n < 0)
			return errno;
		if (n == 0)
			return EFAULT;
		at += (size_t)n;
		bytes -= (size_t)n;
	}
	return 0;
}
