/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI groups: handles on lists of ranks (struct vm_group of core/rank/chan.h).
 */
#ifndef MPI_COMM_GROUP_H
#define MPI_COMM_GROUP_H

#include "mpi/call/call.h"

struct vm_mpi_group {
	struct vm_object object;
	int rank;		/* the caller's place, or MPI_UNDEFINED */
	struct vm_group *group; /* holds a reference; NULL: no members */
};

/* The group behind a handle, or NULL. */
int vm_check_group(struct vm_call *call, MPI_Group handle,
		   struct vm_mpi_group **group);

static inline int vm_mpi_group_size(const struct vm_mpi_group *group)
{
	return group->group ? group->group->size : 0;
}

/* A handle on group, whose reference it takes (given back on error);
 * MPI_GROUP_EMPTY if that has no members.  0 or an MPI error. */
int vm_mpi_group_new(struct vm_mpi *mpi, MPI_Group *out, struct vm_group *group,
		     int rank);

/* Frees what the object holds. */
void vm_mpi_group_clear(struct vm_mpi_group *group);

/* MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.  NULL has no members. */
int vm_group_compare(const struct vm_group *a, const struct vm_group *b);

/* The place of rank in group, or MPI_UNDEFINED. */
int vm_group_place(const struct vm_group *group, const struct vm_rank *rank);

/* The places of all ranks, by their index in the world; -1: not a member.  NULL
 * when out of memory. */
int *vm_group_places(const struct vm_group *group);
void vm_group_places_free(int *places);

#endif
