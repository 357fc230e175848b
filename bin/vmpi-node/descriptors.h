/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptors of the process that are vmpi's and the network's.  To a rank
 * that closes all it does not know they look closed: close() is EBADF and leaves
 * them open.  They have high numbers, since programs begin with 3; dup2() onto
 * one is EBUSY.
 */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include <stdbool.h>

/* Before the process opens any: what it opens until descriptors_keep_open() has
 * a high number, as far as the limit of the process allows that. */
void descriptors_reserve(void);

/* Keeps all that are open for this process alone, before ranks run. */
void descriptors_keep_open(void);

/* Keeps one that was opened later, closed when the process executes another
 * program; returns its number from now on. */
int descriptors_keep(int fd);

/* Whether a function was called by the network's library. */
bool descriptors_network_calls(const void *caller);

#endif
