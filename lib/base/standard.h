/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The standard descriptors.
 */
#ifndef BASE_STANDARD_H
#define BASE_STANDARD_H

#include <stdbool.h>

/*
 * Opens the null device on those of 0, 1 and 2 that are closed, before a socket
 * or a mapped file gets their number and what is printed.  First thing in every
 * program.
 */
void vm_standard_open(void);

#define VM_STANDARD_NAME_MAX 1024

/* The name of descriptor 1 or 2 for messages: "standard output", or the file
 * that it was redirected to.  Returns name. */
const char *vm_standard_name(char name[VM_STANDARD_NAME_MAX], int fd);

/* Whether standard output and error are one file. */
bool vm_standard_one_place(void);

/* Whether standard output or error is a pipe or a socket that nobody reads any
 * more, as of a command before "| head".  Async-signal-safe. */
bool vm_standard_unread(void);

/* From this number on lie descriptors that the program is not to meet: it begins
 * with 3, as in a process of its own. */
#define VM_STANDARD_BEYOND 64

/* A copy of the descriptor, with a number from VM_STANDARD_BEYOND on if the
 * limit of this process allows that; programs that it executes have it if they
 * are to `inherit` it.  -1 with errno. */
int vm_standard_beyond(int fd, bool inherit);

#define VM_STANDARD_HANDED_MAX 64

/* Makes such a copy for programs that are executed, and describes it to them, as
 * FD:INODE.  False: errno. */
bool vm_standard_hand(char text[VM_STANDARD_HANDED_MAX], int fd);

/* The descriptor that was described; -1: it is none, or another one. */
int vm_standard_handed(const char *text);

#endif
