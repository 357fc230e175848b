/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which function of the runtime a call of the program's is: its own frame may be
 * missing, where it ends with a jump to another one.
 */
#ifndef REPORT_LIVE_TARGET_H
#define REPORT_LIVE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

struct vm_modules;
struct vm_module;

/* Whether an address is behind a call of a function of another file. */
bool vm_target_is_call(const struct vm_modules *modules, uint64_t back);

/* "MPI_Send": the function that the call before the address `back` leads to;
 * NULL: none of the runtime's, or unknown. */
const char *vm_target_name(const struct vm_modules *modules,
			   const struct vm_module *runtime, uint64_t back);

#endif
