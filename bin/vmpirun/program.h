/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the program before anything is started, and what it is.
 */
#ifndef VMPIRUN_PROGRAM_H
#define VMPIRUN_PROGRAM_H

#include <stdbool.h>

/*
 * The path of the program that the user calls `name`: as execvp() finds it from
 * the current directory.  A name with a slash that does not exist there is also
 * tried in `origin`, the directory before -wdir.  *path is to be freed. Result:
 * 0; -VMPI_ENOENT or -VMPI_ENOMEM after one line.
 */
int program_find(char **path, const char *name, const char *origin);

/*
 * Determines whether the file was linked by vmpicc: then node processes run it,
 * as many ranks each.  Otherwise it is an ordinary executable or a script, of
 * which each process is one rank.  A file that cannot be run is refused.
 * Result: 0, or -VMPI_E... after one line.
 */
int program_kind(bool *image, const char *path, const char *name);

#endif
