/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI groups: handles for lists of ranks (struct vm_group of core/rank/chan.h).
 */
#ifndef MPI_COMM_GROUP_H
#define MPI_COMM_GROUP_H

#include "mpi/call/call.h"

struct vm_mpi_group {
	struct vm_object object;
	int rank; /* the caller's place, or MPI_UNDEFINED */
	struct vm_mpi_session *session; /* that it stems from, or NULL */
	struct vm_group *group; /* holds a reference; NULL: no members */
};

/* Returns the group of a handle, or NULL. */
int vm_check_group(struct vm_call *call, MPI_Group handle,
		   struct vm_mpi_group **group);

static inline int vm_mpi_group_size(const struct vm_mpi_group *group)
{
	return group->group ? group->group->size : 0;
}

/* Creates a handle for group, MPI_GROUP_EMPTY if it has no members, and takes
 * over the reference (dropped on error): 0 or an MPI error. */
int vm_mpi_group_new(struct vm_mpi *mpi, MPI_Group *out, struct vm_group *group,
		     int rank);

/* Notes whence a new group stems; MPI_GROUP_EMPTY stems from nowhere. */
static inline void vm_mpi_group_from(MPI_Group group,
				     struct vm_mpi_session *session)
{
	if (group != MPI_GROUP_EMPTY)
		((struct vm_mpi_group *)group)->session = session;
}

/* Frees what the object holds. */
void vm_mpi_group_clear(struct vm_mpi_group *group);

/* Returns MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.  NULL is the empty group. */
int vm_group_compare(const struct vm_group *a, const struct vm_group *b);

/* Returns the place of rank in group, or MPI_UNDEFINED. */
int vm_group_place(const struct vm_group *group, const struct vm_rank *rank);

/* Returns the places of all ranks by their index in the world, -1 for those
 * that are not members; NULL when out of memory. */
int *vm_group_places(const struct vm_group *group);
void vm_group_places_free(int *places);

#endif
