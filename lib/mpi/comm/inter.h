/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators: two groups of ranks that talk to each other.
 *
 * Underneath there is one channel of all members, those of the first side
 * before those of the second; struct vm_comm knows which is the own side.
 */
#ifndef MPI_COMM_INTER_H
#define MPI_COMM_INTER_H

#include "mpi/call/check.h"

/* Makes an intercommunicator of comm; the first side has first_size members. */
void vm_inter_set(struct vm_comm *comm, int first_size);

/* The group of the own or of the remote side: 0 or an MPI error. */
int vm_inter_group(struct vm_call *call, const struct vm_comm *comm,
		   bool remote, MPI_Group *group);

/* As MPI_Comm_compare, of which at least one is an intercommunicator, but never
 * MPI_CONGRUENT: 0 or MPI_ERR_NO_MEM. */
int vm_inter_compare(const struct vm_comm *a, const struct vm_comm *b,
		     int *result);

/*
 * Both sides of each colour make a new one; *out is MPI_COMM_NULL where there
 * is no colour, or one side has none.  0, an MPI error, or a negative code of
 * core.  May switch.
 */
int vm_inter_split(struct vm_call *call, struct vm_comm *parent, int color,
		   int key, MPI_Comm *out);

#endif
