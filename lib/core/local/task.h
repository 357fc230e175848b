/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks that are no ranks: of a rank, on its home worker, or of none.
 *
 * 0 or -VMPI_ENOMEM.  The node waits for all of them before it stops.
 */
#ifndef CORE_LOCAL_TASK_H
#define CORE_LOCAL_TASK_H

#include "sched/ult.h"
#include "vmpi.h"

/* A task of the caller's rank on its home worker, or of no rank on any. */
int vm_task_new(struct vm_ult **task, vmpi_body body, void *arg);
/* The same for code of the user. */
int vm_task_new_user(struct vm_ult **task, vmpi_body body, void *arg);
/* ... with a stack of at least so many bytes; also -VMPI_ELIMIT. */
int vm_task_new_sized(struct vm_ult **task, size_t stack_bytes, vmpi_body body,
		      void *arg);
/* As the first with a stack as large as those of ranks. */
int vm_task_new_deep(struct vm_ult **task, vmpi_body body, void *arg);
/* The same, but the caller, a thread of the rank, runs it by vm_ult_step() until it
 * hands it over to the worker; or somebody else does, between two steps. */
int vm_task_new_steps(struct vm_ult **task, vmpi_body body, void *arg);
void vm_task_hand_over(struct vm_ult *task);

struct vm_node;

/* When no task is left. */
void vm_task_stacks_fini(struct vm_node *node);

#endif
