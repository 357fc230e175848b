/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether this process may load a program many times.
 */
#ifndef NODE_LIBC_H
#define NODE_LIBC_H

#include <stdbool.h>
#include <stddef.h>

#include "boot/job.h"

/* false: the C library cannot, and why[bytes] says what (core/libc/probe.h).
 * vmpirun has asked already, unless this host has another one. */
bool libc_loads_many(const struct vm_job *job, char *why, size_t bytes);

#endif
