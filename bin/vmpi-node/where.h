/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a signal has met a rank.
 */
#ifndef WHERE_H
#define WHERE_H

#include <stdbool.h>

#include "core/runtime/where.h"

#define WHERE_MAX VM_WHERE_MAX

/*
 * In the handler of the signal, with its context: " in boom, crash.c:3, called
 * from main, crash.c:8", own as in core/runtime/where.h.  False: that cannot be
 * found out.
 */
bool where_describe(char text[WHERE_MAX], const void *context, bool own);

/* The same for an access to an address that failed, and *rank may become the one
 * whose buffer is at fault (core/runtime/where.h). */
bool where_fault(char text[WHERE_MAX], int *rank, const void *context,
		 const void *address);

/* Then " (pc 0x7f..., ./prog+0x11d9)", which addr2line takes, or, of a place in a
 * library, "(pc 0x7f..., libc.so.6+0x8a1, called from ./prog+0x11d9)". */
void where_address(char text[WHERE_MAX], const void *context);

/* " (pc 0x7f...)", of which nothing has to be found out. */
void where_pc(char text[WHERE_MAX], const void *context);

#endif
