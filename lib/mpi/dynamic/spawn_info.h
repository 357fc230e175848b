/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of MPI_Comm_spawn, and their info keys (MPI 4.1, 11.8.4).
 */
#ifndef MPI_DYNAMIC_SPAWN_INFO_H
#define MPI_DYNAMIC_SPAWN_INFO_H

#include "mpi/call/call.h"

/* One command, and how many ranks run it. */
struct vm_spawn_command {
	const char *name;
	char **arguments;
	int wanted, count;
	MPI_Info info;
};

/* Checks the keys: 0, MPI_ERR_INFO, or MPI_ERR_SPAWN: what one of them wants is
 * not possible. */
int vm_spawn_check_keys(struct vm_call *call, MPI_Info info);

/* The directory of the processes; NULL: that of the root. */
const char *vm_spawn_folder(MPI_Info info);

/* Whether they differ from the root's process in what ranks of one share. */
bool vm_spawn_is_apart(MPI_Info info);

/* Returns the largest number, at most `most`, of ranks that the caller is
 * content with, who has asked for more; -1: there is none. */
int vm_spawn_soft(MPI_Info info, int most);

#endif
