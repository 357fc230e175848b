/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the C library of this host does what loading a program many times
 * needs (core/libc/trial.h).
 *
 * It is tried in a process of its own, the node program's, so that what goes
 * wrong there, also a crash or a hang, is an answer here.
 */
#ifndef CORE_LIBC_PROBE_H
#define CORE_LIBC_PROBE_H

#include <stdbool.h>
#include <stddef.h>

/* The argument by which the node program is asked. */
#define VM_PROBE_ARGUMENT "--probe"

/* How long the answer may take. */
#define VM_PROBE_SECONDS 10

/*
 * Asks the node program at path `node`.  false: something does not hold, and
 * why[bytes] names the C library and what it is, as "glibc 2.36: copies of a
 * file share their variables".  true: all holds, or it could not be asked:
 * then starting the job will say what is wrong.
 */
bool vm_probe_ask(const char *node, char *why, size_t bytes);

/* Answers: the whole work of a node program with that argument, which is at
 * path `node`.  Result: its exit code. */
int vm_probe_answer(const char *node);

/* The version of the C library, as "2.36". */
const char *vm_probe_version(void);

#endif
