/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A fence of all processes at once, for the one of two sides that seldom needs
 * it: the other one then needs none of its own.
 */
#ifndef FABRIC_SHM_BARRIER_H
#define FABRIC_SHM_BARRIER_H

#include <stdbool.h>

/* Lets other processes' barriers reach this one; false: the kernel, or a filter
 * of system calls, refuses. errno is the reason. */
bool vm_barrier_join(void);

/* All threads of processes that have joined have passed a full fence since the
 * call; false: refused. */
bool vm_barrier_pass(void);

#endif
