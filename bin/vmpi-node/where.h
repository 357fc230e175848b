/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a signal has met a rank, as addr2line takes it.
 */
#ifndef WHERE_H
#define WHERE_H

#define WHERE_MAX 512

/*
 * "pc 0x7f..., ./prog+0x11d9"; of a place in a library "pc 0x7f...,
 * libc.so.6+0x8a1, called from ./prog+0x11d9".  In the handler of the signal,
 * with its context.
 */
void where_describe(char text[WHERE_MAX], const void *context);

#endif
