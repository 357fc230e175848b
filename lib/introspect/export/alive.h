/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the process that made a shared-memory file lives: it holds a lock on
 * the file for as long as it does, also where its number means another process
 * (in another container), and its number is in the file, with the time of its
 * start, for programs that close all descriptors.
 */
#ifndef INTROSPECT_EXPORT_ALIVE_H
#define INTROSPECT_EXPORT_ALIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Locks the whole file for this process; false: somebody else has. */
bool vm_export_lock(int fd);

/* When the process started, in ticks of the kernel; 0: there is none. */
uint64_t vm_export_pid_start(pid_t pid);

/* Whether a signal has stopped it. */
bool vm_export_pid_stopped(pid_t pid);

/* Whether the process that made the file lives; fd may be read. */
bool vm_export_alive_fd(int fd);

/* The same by its path; a file that cannot be opened is nobody's. */
bool vm_export_alive(const char *path);

#endif
