/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Variables of the environment that programs get: words VAR=VALUE, of which the
 * later ones count.
 */
#ifndef VMPIRUN_EXPORTS_H
#define VMPIRUN_EXPORTS_H

#include "command.h"

/* VAR=VALUE, or VAR, which has the value that it has here. */
int exports_add(struct command *exports, const char *text);

/* "ONE,TWO": those of them that there are here. */
int exports_add_list(struct command *exports, const char *text);

/* Puts them into the environment. */
int exports_set(const struct command *exports);

/* All three: 0, or -VMPI_E... after one line. */

#endif
