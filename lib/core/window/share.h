/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a window that its members in several processes of one host have in
 * common: a file without a name, which one process makes and the others open.
 *
 * The maker keeps its descriptor until all have mapped the file; from then on it
 * lives as long as the mappings, whatever ends their processes.
 */
#ifndef CORE_WINDOW_SHARE_H
#define CORE_WINDOW_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where other processes find the file. */
struct vm_window_share {
	uint64_t space; /* where pid is one */
	uint64_t device, number;
	uint32_t pid, fd;
};

/* Makes a file: its descriptor, to be closed, or -1 with the reason in *why. */
int vm_window_share_make(struct vm_window_share *share, const char **why);

/* Tells whether there is a file, on this host and in this container. */
bool vm_window_share_is_near(const struct vm_window_share *share);

/* Maps the file as so many bytes, not 0; NULL with the reason in *why. */
void *vm_window_share_map(const struct vm_window_share *share, size_t bytes,
			  const char **why);

#endif
