/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of system calls, for reports.
 */
#ifndef REPORT_LIVE_SYSTEM_CALL_H
#define REPORT_LIVE_SYSTEM_CALL_H

#define VM_SYSTEM_CALL_MAX 32

/* "read", "call 999"; nothing if it is negative. */
void vm_system_call_name(char name[VM_SYSTEM_CALL_MAX], long number);

#endif
