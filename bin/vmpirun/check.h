/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The checks of what the user typed, besides its spelling.
 */
#ifndef VMPIRUN_CHECK_H
#define VMPIRUN_CHECK_H

/*
 * Checks that each line NAME=VALUE of set (or NULL) is a variable and its value
 * in range.  The values are not used: the node process reads them again, with
 * the files and the environment.  Result: 0, or -VMPI_E... after one line.
 */
int check_settings(const char *set);

/* Refuses a file to be written that can be executed: the name of the file was
 * forgotten. */
int check_not_program(const char *option, const char *path);

/* Make the directory and those above it.  0, or -VMPI_EIO after one line. */
int check_output(const char *directory);

/* Whether check_wdir() could go there, by the same result. */
int check_enter(const char *directory);

/* Go to the directory of -wdir.  Result: 0, or -VMPI_ENOENT after one line. */
int check_wdir(const char *directory);

#endif
