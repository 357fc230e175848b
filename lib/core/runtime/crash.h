/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Faults of a process that is a rank: the line that says where.
 */
#ifndef CORE_RUNTIME_CRASH_H
#define CORE_RUNTIME_CRASH_H

/* Takes over the signals of faults that would end the process; those that the
 * program handles, or does later, stay its own. */
void vm_crash_start(void);

#endif
