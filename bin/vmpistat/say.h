/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes wrong, to standard error.
 */
#ifndef VMPISTAT_SAY_H
#define VMPISTAT_SAY_H

/* "vmpistat: " and a line. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
