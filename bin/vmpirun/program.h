/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding the program before anything is started.
 */
#ifndef VMPIRUN_PROGRAM_H
#define VMPIRUN_PROGRAM_H

/*
 * The path of the program that the user calls `name`: as execvp() finds it from
 * the current directory.  A name with a slash that is not there is also looked
 * for in `origin`, the directory before -wdir.  *path is to be freed.
 * Result: 0; -VMPI_ENOENT or -VMPI_ENOMEM after one line.
 */
int program_find(char **path, const char *name, const char *origin);

#endif
