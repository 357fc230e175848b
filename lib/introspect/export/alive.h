/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the process that made a shared-memory file lives: it holds a lock on
 * the file for as long as it does, also where its pid means another process (in
 * another container), and its pid is in the file, with the time of its start,
 * for programs that close all descriptors.
 */
#ifndef INTROSPECT_EXPORT_ALIVE_H
#define INTROSPECT_EXPORT_ALIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Locks the whole file for this process; false: another process has it
 * locked. */
bool vm_export_lock(int fd);

/* The time at which the process started, in ticks of the kernel; 0: there is
 * none. */
uint64_t vm_export_pid_start(pid_t pid);

/* Whether a signal has stopped it. */
bool vm_export_pid_stopped(pid_t pid);

/* Whether the process that made the file lives; fd may be read. */
bool vm_export_alive_fd(int fd);

/* Where this process's pid is one; 0: unknown. */
uint64_t vm_export_pid_space(void);

/* Whether it is certain that the process that made the file has died, and
 * nobody wants the file: one that is just being made has no living process,
 * either. */
bool vm_export_gone_fd(int fd);

/* Whether it has no living process and was not finished: nobody can read it.  One
 * that is just being made may be without a lock for a moment. */
bool vm_export_unfinished_fd(int fd);

/* As vm_export_alive_fd(), by its path; a file that cannot be opened has no
 * living process. */
bool vm_export_alive(const char *path);

#endif
