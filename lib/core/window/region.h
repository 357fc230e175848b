/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that a member attaches to a window and detaches from it.
 */
#ifndef CORE_WINDOW_REGION_H
#define CORE_WINDOW_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vm_window;

/* Attaches memory: 0, -VMPI_EINVAL: it overlaps what is attached, or
 * -VMPI_ENOMEM. */
int vm_window_attach(struct vm_window *window, const void *base, size_t bytes);

/* Detaches memory that was attached with this base: 0 or -VMPI_ENOENT. */
int vm_window_detach(struct vm_window *window, const void *base);

/* Tells whether all these bytes are attached, in one piece or in several that
 * touch. */
bool vm_window_attached(struct vm_window *window, uintptr_t from, size_t bytes);

#endif
