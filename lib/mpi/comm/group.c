/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups: handles and inquiries.
 */
#include "mpi/comm/group.h"

#include <stdlib.h>

#include "core/rank/state.h"
#include "mpi/call/check.h"

/* MPI_GROUP_EMPTY: never written. */
static const struct vm_mpi_group empty = { .rank = MPI_UNDEFINED };

static struct vm_mpi_group *group_get(MPI_Group handle)
{
	if (handle == MPI_GROUP_EMPTY)
		return (struct vm_mpi_group *)(uintptr_t)&empty;
	return vm_object_of(handle, VM_MAGIC_GROUP);
}

int vm_check_group(struct vm_call *call, MPI_Group handle,
		   struct vm_mpi_group **group)
{
	*group = group_get(handle);
	if (*group)
		return 0;
	return vm_error(call, MPI_ERR_GROUP,
			handle == MPI_GROUP_NULL ?
				"MPI_GROUP_NULL" :
				"not a group, or it was freed");
}

int vm_mpi_group_new(struct vm_mpi *mpi, MPI_Group *out, struct vm_group *group,
		     int rank)
{
	struct vm_mpi_group *object;

	if (!group || group->size == 0) {
		vm_group_drop(group);
		*out = MPI_GROUP_EMPTY;
		return 0;
	}
	object = vm_object_new(mpi, VM_OBJECT_GROUP, sizeof(*object));
	if (!object) {
		vm_group_drop(group);
		return MPI_ERR_NO_MEM;
	}
	object->group = group;
	object->rank = rank;
	*out = (MPI_Group)object;
	return 0;
}

void vm_mpi_group_clear(struct vm_mpi_group *group)
{
	vm_group_drop(group->group);
	group->group = NULL;
}

int vm_group_place(const struct vm_group *group, const struct vm_rank *rank)
{
	for (int i = 0; group && i < group->size; i++)
		if (group->ranks[i] == rank)
			return i;
	return MPI_UNDEFINED;
}

int *vm_group_places(const struct vm_group *group)
{
	size_t count = (size_t)vm_rank_limit();
	int *places = malloc(count * sizeof(*places));

	if (!places)
		return NULL;
	for (size_t i = 0; i < count; i++)
		places[i] = -1;
	for (int i = 0; group && i < group->size; i++)
		places[group->ranks[i]->index] = i;
	return places;
}

void vm_group_places_free(int *places)
{
	free(places);
}

/* Ranks of a group are ordered by nothing: compares sorted copies. */
static int rank_compare(const void *left, const void *right)
{
	const struct vm_rank *a = *(struct vm_rank *const *)left;
	const struct vm_rank *b = *(struct vm_rank *const *)right;

	return (a->index > b->index) - (a->index < b->index);
}

static struct vm_group *group_sorted(const struct vm_group *group)
{
	struct vm_group *copy = vm_group_new(group->size);

	if (!copy)
		return NULL;
	for (int i = 0; i < group->size; i++)
		copy->ranks[i] = group->ranks[i];
	qsort(copy->ranks, (size_t)copy->size, sizeof(copy->ranks[0]),
	      rank_compare);
	return copy;
}

static bool group_equal(const struct vm_group *a, const struct vm_group *b)
{
	for (int i = 0; i < a->size; i++)
		if (a->ranks[i] != b->ranks[i])
			return false;
	return true;
}

int vm_group_compare(const struct vm_group *a, const struct vm_group *b)
{
	struct vm_group *x, *y;
	int result = MPI_UNEQUAL;

	if (a == b)
		return MPI_IDENT;
	if (!a || !b || a->size != b->size)
		return MPI_UNEQUAL;
	if (group_equal(a, b))
		return MPI_IDENT;
	x = group_sorted(a);
	y = group_sorted(b);
	if (x && y && group_equal(x, y))
		result = MPI_SIMILAR;
	vm_group_drop(x);
	vm_group_drop(y);
	return result;
}

int PMPI_Group_size(MPI_Group group, int *size)
{
	struct vm_call call = vm_call_enter(VM_CALL_Group_size);
	struct vm_mpi_group *g;
	int rc = vm_check_group(&call, group, &g);

	if (rc == 0)
		rc = vm_check_pointer(&call, size, "size");
	if (rc == 0)
		*size = vm_mpi_group_size(g);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Group_rank(MPI_Group group, int *rank)
{
	struct vm_call call = vm_call_enter(VM_CALL_Group_rank);
	struct vm_mpi_group *g;
	int rc = vm_check_group(&call, group, &g);

	if (rc == 0)
		rc = vm_check_pointer(&call, rank, "rank");
	if (rc == 0)
		*rank = g->rank;
	return vm_call_exit_self(&call, rc);
}

int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
	struct vm_call call = vm_call_enter(VM_CALL_Group_compare);
	struct vm_mpi_group *a, *b;
	int rc = vm_check_group(&call, group1, &a);

	if (rc == 0)
		rc = vm_check_group(&call, group2, &b);
	if (rc == 0)
		rc = vm_check_pointer(&call, result, "result");
	if (rc == 0)
		*result = vm_group_compare(a->group, b->group);
	return vm_call_exit_self(&call, rc);
}

static int translate(struct vm_call *call, const struct vm_mpi_group *from,
		     int n, const int *ranks1, const struct vm_mpi_group *to,
		     int *ranks2)
{
	int size = vm_mpi_group_size(from);
	int *places = vm_group_places(to->group);

	if (!places)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < n; i++) {
		int rank = ranks1[i], place;

		if (rank == MPI_PROC_NULL) {
			ranks2[i] = MPI_PROC_NULL;
			continue;
		}
		if (rank < 0 || rank >= size) {
			vm_group_places_free(places);
			return vm_error(call, MPI_ERR_RANK,
					"rank %d of a group with %d members",
					rank, size);
		}
		place = places[from->group->ranks[rank]->index];
		ranks2[i] = place < 0 ? MPI_UNDEFINED : place;
	}
	vm_group_places_free(places);
	return 0;
}

int PMPI_Group_translate_ranks(MPI_Group group1, int n, const int ranks1[],
			       MPI_Group group2, int ranks2[])
{
	struct vm_call call = vm_call_enter(VM_CALL_Group_translate_ranks);
	struct vm_mpi_group *from, *to;
	int rc = vm_check_group(&call, group1, &from);

	if (rc == 0)
		rc = vm_check_group(&call, group2, &to);
	if (rc == 0 && n < 0)
		rc = vm_error(&call, MPI_ERR_ARG, "n %d is negative", n);
	if (rc == 0 && n > 0)
		rc = vm_check_pointer(&call, ranks1, "ranks1");
	if (rc == 0 && n > 0)
		rc = vm_check_pointer(&call, ranks2, "ranks2");
	if (rc == 0 && n > 0)
		rc = translate(&call, from, n, ranks1, to, ranks2);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Group_free(MPI_Group *group)
{
	struct vm_call call = vm_call_enter(VM_CALL_Group_free);
	struct vm_mpi_group *g;
	int rc = vm_check_pointer(&call, group, "group");

	if (rc == 0)
		rc = vm_check_group(&call, *group, &g);
	if (rc == 0) {
		if (*group != MPI_GROUP_EMPTY) {
			vm_mpi_group_clear(g);
			vm_object_free(call.mpi, VM_OBJECT_GROUP, g);
		}
		*group = MPI_GROUP_NULL;
	}
	return vm_call_exit_self(&call, rc);
}
