/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks of a job: where each of them is, and the tasks of those that are in
 * this process.
 */
#ifndef CORE_RUNTIME_RANKS_H
#define CORE_RUNTIME_RANKS_H

#include "core/rank/state.h"
#include "vmpi.h"

/* Makes the ranks of the job, with their places and channels.  0, -VMPI_ENOMEM,
 * or -VMPI_EINVAL after a log: the placement names a worker that is not there.
 * After a failure vm_ranks_fini() frees what was made. */
int vm_ranks_init(struct vm_node *node);
void vm_ranks_fini(struct vm_node *node);

/* Starts body as every rank of this process.  After an error none has run; the
 * stacks made so far go back with all others when the node stops. */
int vm_ranks_start(vmpi_body body, void *arg);

/* Waits for the bodies to return.  Result: the first that is not 0, by rank. */
int vm_ranks_join(void);

/* The parts of a rank of this process (spares.c): its mailbox; its channel of
 * itself alone; all its objects; and its task, which is not started yet. The
 * second and the last: 0 or -VMPI_ENOMEM; -VMPI_ELIMIT (logged). */
void vm_rank_mailbox_init(struct vm_rank *rank, int local,
			  struct vm_engine *engine);
int vm_rank_self_make(struct vm_rank *rank);
void vm_rank_objects_free(struct vm_rank *rank);
int vm_rank_task_make(struct vm_rank *rank);

/* Ends the calling rank's task as if its body had returned status. */
_Noreturn void vm_rank_exit(int status);

#endif
