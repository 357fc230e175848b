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
 * " in boom, crash.c:3, called from main, crash.c:8", own as in
 * core/runtime/where.h; if that cannot be found out " (pc 0x7f...,
 * ./prog+0x11d9)", which addr2line takes, or, of a place in a library, "(pc
 * 0x7f..., libc.so.6+0x8a1, called from ./prog+0x11d9)".  In the handler of the
 * signal, with its context.  The process is about to end: another thread that
 * asks does not come back.
 */
void where_describe(char text[WHERE_MAX], const void *context, bool own);

#endif
