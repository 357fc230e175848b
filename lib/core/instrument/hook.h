/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks: functions of a tool that hear of each call of each rank (vmpi_hook_add).
 *
 * They come and go while ranks call.  Who runs hooks is counted, in one of
 * several lines of memory by worker; who takes a hook away waits until each of
 * these has been 0 for a moment, when nobody can be in it any more.
 */
#ifndef CORE_INSTRUMENT_HOOK_H
#define CORE_INSTRUMENT_HOOK_H

#include <stdint.h>

struct vm_rank;

#define VM_HOOKS_MAX 8

/* Watchers of the border (core/instrument/intercept.h). */
void vm_hook_enter(struct vm_rank *rank, uint32_t call);
void vm_hook_exit(struct vm_rank *rank, uint32_t call);

#endif
