/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Children made by fork().
 *
 * A child has a copy of the memory, one thread, and the connections of a
 * process that goes on: it is no rank of the job, and calls of vmpi in it fail.
 */
#ifndef CORE_RUNTIME_CHILD_H
#define CORE_RUNTIME_CHILD_H

#include <stdbool.h>

/* From now on a child of this process knows that it is one.  0 or
 * -VMPI_ENOMEM. */
int vm_child_watch(void);

/* Whether this process is a child of one whose runtime ran when it forked. */
bool vm_child(void);

#endif
