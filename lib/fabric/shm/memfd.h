/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files without a name that other processes of the user open in /proc.
 */
#ifndef FABRIC_SHM_MEMFD_H
#define FABRIC_SHM_MEMFD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Makes an empty file of memory, which only the user's processes may open; -1
 * with errno. */
int vm_memfd_make(const char *name);

/* A number of where pids are valid: this start of this kernel, in this name
 * space; 0: unknown. */
uint64_t vm_memfd_space(void);

/* Opens a descriptor of another process, of the user's own and of this kind; -1
 * with the reason in *why. */
int vm_memfd_open(pid_t pid, uint32_t fd, mode_t kind, const char **why);

/* A descriptor that is readable once that process has ended; -1 with errno. */
int vm_memfd_owner(pid_t pid);

/* Whether the process has ended, so that its parent can see that; waits so long
 * for it. */
bool vm_memfd_owner_ended(pid_t pid, int wait_ms);

#endif
