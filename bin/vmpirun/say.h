/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What vmpirun tells its user: one line each, to standard error.
 */
#ifndef VMPIRUN_SAY_H
#define VMPIRUN_SAY_H

/* Exit status of a mistake on the command line or in the environment. */
#define EXIT_MISTAKE 2

/* Writes "vmpirun: text" as one line with one write(2). */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
