/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scripts: files that the kernel gives to an interpreter.
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include <stdbool.h>

/* Whether the kernel would give it to an interpreter, or it cannot be read. */
bool script_is(const char *path);

/* Whether there is the interpreter of a script: 0, or -VMPI_EINVAL, said with
 * `name`, as the user calls the script. */
int script_check(const char *path, const char *name);

#endif
