/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks: functions of a tool that are called with each call of each rank
 * (vmpi_hook_add).
 *
 * They come and go while ranks call.  Tasks that run hooks are counted, in one
 * of several cache lines by worker; removing a hook waits until each of these
 * counts has been 0 for a moment, when no task can be in it any more.
 */
#ifndef CORE_INSTRUMENT_HOOK_H
#define CORE_INSTRUMENT_HOOK_H

#include <stdint.h>

struct vm_rank;

#define VM_HOOKS_MAX 8

/* Observers of calls (core/instrument/intercept.h). */
void vm_hook_enter(struct vm_rank *rank, uint32_t call);
void vm_hook_exit(struct vm_rank *rank, uint32_t call);

#endif
