/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The standard descriptors.
 */
#ifndef BASE_STANDARD_H
#define BASE_STANDARD_H

/*
 * Opens the null device on those of 0, 1 and 2 that are closed, before a socket
 * or a mapped file gets their number and what is printed.  First thing in every
 * program.
 */
void vm_standard_open(void);

#endif
