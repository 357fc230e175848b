/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that cannot be in the process of who starts them: vmpirun starts them as
 * a job of their own, which connects to its parent in MPI_Init.
 */
#ifndef MPI_DYNAMIC_START_H
#define MPI_DYNAMIC_START_H

#include "mpi/comm/talk.h"
#include "mpi/dynamic/spawn_info.h"

/*
 * Starts a job of all commands and waits until its first rank is there, with whom
 * the caller then talks by a socket.  0 or MPI_ERR_SPAWN.  May switch.
 */
int vm_start_job(struct vm_call *call, const struct vm_spawn_command *commands,
		 int count, struct vm_talk *talk);

/* In MPI_Init of all ranks of such a job: connects it to its parents.  0 or an
 * MPI error.  May switch. */
int vm_start_attach(struct vm_call *call);

/*
 * Starts vmpirun with the commands; the job finds its parent by the port.  *alive
 * can be read, and is at its end, when all of its processes have ended.  0 or
 * MPI_ERR_SPAWN.
 */
int vm_start_command(struct vm_call *call,
		     const struct vm_spawn_command *commands, int count,
		     const char *port, int *alive);

#endif
