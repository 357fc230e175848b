/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spare ranks: ranks that a process starts while the job runs.
 *
 * Each process has core_spawn_max empty places behind the ranks that the job
 * began with, so every process knows from the start which process a number
 * belongs to, and how it is reached.  A place gets a mailbox when it is first
 * used, and keeps it: whatever may still arrive for a rank that has ended finds
 * it there.
 */
#ifndef CORE_RUNTIME_SPARES_H
#define CORE_RUNTIME_SPARES_H

#include "core/rank/state.h"

/* A program of which ranks are to be started. */
struct vm_spare_program {
	const char *command;
	char *const *arguments; /* up to NULL; or NULL: none */
	const char *folders; /* where it is looked for, as in PATH; or NULL */
	struct vm_rank **ranks; /* that are to run it */
	int count;
};

/* The rank with this number in the job, which is below vm_node->rank_room, with
 * its place; any thread. */
struct vm_rank *vm_rank_at(int index);

/*
 * Takes places of this process for new ranks, in the order of their numbers;
 * frees what is left of ranks that have ended first.  0; -VMPI_ELIMIT: there are
 * not so many; -VMPI_ENOMEM.  May switch.
 */
int vm_spares_take(struct vm_rank **ranks, int count);

/* Gives places back whose ranks have not been started; they may have channels
 * and objects. */
void vm_spares_give(struct vm_rank **ranks, int count);

/* Makes a world of them, each with its channel: 0 or -VMPI_ENOMEM. */
int vm_spares_world(struct vm_rank **ranks, int count);

/* Starts them with the body of all ranks, which finds rank->image set.  0, or an
 * error after which none runs: -VMPI_ENOMEM, -VMPI_ELIMIT (logged). */
int vm_spares_start(struct vm_rank **ranks, int count);

/* The rank's body has ended. */
void vm_spare_left(struct vm_rank *rank);

/* Waits until there is none.  May switch. */
void vm_spares_join(void);

#endif
