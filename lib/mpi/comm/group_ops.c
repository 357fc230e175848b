/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups made from others.
 */
#include <stdlib.h>
#include <string.h>

#include "core/rank/state.h"
#include "mpi/call/check.h"
#include "mpi/comm/group.h"

/* Returns a handle of a group whose members are set, made of another one. */
static int group_finish(struct vm_call *call, struct vm_group *group,
			const struct vm_mpi_group *from, MPI_Group *out)
{
	int rank = vm_group_place(group, call->mpi->rank);
	int rc = vm_mpi_group_new(call->mpi, out, group, rank);

	if (rc == 0)
		vm_mpi_group_from(*out, from->session);
	return rc;
}

enum set_operation { UNION, INTERSECTION, DIFFERENCE };

/* Makes a group of members of a, b, or both, in the order of MPI 4.1, 7.3.2. */
static int group_combine(struct vm_call *call, const struct vm_mpi_group *a,
			 const struct vm_mpi_group *b,
			 enum set_operation operation, MPI_Group *out)
{
	int a_size = vm_mpi_group_size(a), b_size = vm_mpi_group_size(b);
	int *in_a = vm_group_places(a->group),
	    *in_b = vm_group_places(b->group);
	struct vm_group *group = vm_group_new(a_size + b_size);
	int size = 0, rc = MPI_ERR_NO_MEM;

	if (!in_a || !in_b || !group)
		goto free_places;
	for (int i = 0; i < a_size; i++) {
		struct vm_rank *rank = a->group->ranks[i];
		bool both = in_b[rank->index] >= 0;

		if (operation == UNION || both == (operation == INTERSECTION))
			group->ranks[size++] = rank;
	}
	for (int i = 0; operation == UNION && i < b_size; i++)
		if (in_a[b->group->ranks[i]->index] < 0)
			group->ranks[size++] = b->group->ranks[i];
	group->size = size;
	rc = group_finish(call, group, a_size ? a : b, out);
	group = NULL;
free_places:
	vm_group_drop(group);
	vm_group_places_free(in_a);
	vm_group_places_free(in_b);
	return rc;
}

static int combine_entry(enum vm_call_id id, MPI_Group group1, MPI_Group group2,
			 enum set_operation operation, MPI_Group *newgroup)
{
	struct vm_call call = vm_call_enter(id);
	struct vm_mpi_group *a, *b;
	int rc = vm_check_group(&call, group1, &a);

	if (rc == 0)
		rc = vm_check_group(&call, group2, &b);
	if (rc == 0)
		rc = vm_check_pointer(&call, newgroup, "newgroup");
	if (rc == 0)
		rc = group_combine(&call, a, b, operation, newgroup);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
	return combine_entry(VM_CALL_Group_union, group1, group2, UNION,
			     newgroup);
}

int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2,
			    MPI_Group *newgroup)
{
	return combine_entry(VM_CALL_Group_intersection, group1, group2,
			     INTERSECTION, newgroup);
}

int PMPI_Group_difference(MPI_Group group1, MPI_Group group2,
			  MPI_Group *newgroup)
{
	return combine_entry(VM_CALL_Group_difference, group1, group2,
			     DIFFERENCE, newgroup);
}

/* A choice of members: a list of their ranks, each at most once. */
struct choice {
	int size;  /* of the group chosen from */
	int count; /* chosen so far */
	bool *chosen;
	int *ranks; /* in the order of choice */
};

static int choice_init(struct choice *choice, int size)
{
	size_t room = (size_t)size + 1; /* calloc(0) may be NULL */

	*choice = (struct choice){ .size = size };
	choice->chosen = calloc(room, sizeof(*choice->chosen));
	choice->ranks = calloc(room, sizeof(*choice->ranks));
	return choice->chosen && choice->ranks ? 0 : MPI_ERR_NO_MEM;
}

static void choice_fini(struct choice *choice)
{
	free(choice->chosen);
	free(choice->ranks);
}

static int choice_add(struct vm_call *call, struct choice *choice, int rank)
{
	if (rank < 0 || rank >= choice->size)
		return vm_error(call, MPI_ERR_RANK,
				"rank %d of a group with %d members", rank,
				choice->size);
	if (choice->chosen[rank])
		return vm_error(call, MPI_ERR_RANK, "rank %d comes twice",
				rank);
	choice->chosen[rank] = true;
	choice->ranks[choice->count++] = rank;
	return 0;
}

static int choice_add_list(struct vm_call *call, struct choice *choice, int n,
			   const int *ranks)
{
	int rc = 0;

	for (int i = 0; i < n && rc == 0; i++)
		rc = choice_add(call, choice, ranks[i]);
	return rc;
}

/* Triplets of first, last and stride. */
static int choice_add_ranges(struct vm_call *call, struct choice *choice, int n,
			     int (*ranges)[3])
{
	int rc = 0;

	for (int i = 0; i < n && rc == 0; i++) {
		long first = ranges[i][0], last = ranges[i][1];
		long stride = ranges[i][2];

		if (stride == 0)
			return vm_error(call, MPI_ERR_ARG,
					"the stride of range %d is 0", i);
		for (long rank = first;
		     rc == 0 && (stride > 0 ? rank <= last : rank >= last);
		     rank += stride)
			rc = choice_add(call, choice, (int)rank);
	}
	return rc;
}

/* Makes a group of the chosen members in the order of choice, or of the others
 * in the original order. */
static int choice_group(struct vm_call *call, const struct choice *choice,
			const struct vm_mpi_group *from, bool others,
			MPI_Group *out)
{
	struct vm_group *group = vm_group_new(choice->size);
	int size = 0;

	if (!group)
		return MPI_ERR_NO_MEM;
	if (others) {
		for (int i = 0; i < choice->size; i++)
			if (!choice->chosen[i])
				group->ranks[size++] = from->group->ranks[i];
	} else {
		for (; size < choice->count; size++)
			group->ranks[size] =
				from->group->ranks[choice->ranks[size]];
	}
	group->size = size;
	return group_finish(call, group, from, out);
}

/* Common part of the four functions below; one of ranks and ranges is set. */
static int choose_entry(enum vm_call_id id, MPI_Group handle, int n,
			const int *ranks, int (*ranges)[3], bool others,
			MPI_Group *newgroup)
{
	struct vm_call call = vm_call_enter(id);
	struct choice choice = { 0 };
	struct vm_mpi_group *group;
	int rc = vm_check_group(&call, handle, &group);

	if (rc == 0)
		rc = vm_check_pointer(&call, newgroup, "newgroup");
	if (rc == 0 && n < 0)
		rc = vm_error(&call, MPI_ERR_ARG, "n %d is negative", n);
	if (rc == 0 && n > 0 && !ranks && !ranges)
		rc = vm_error(&call, MPI_ERR_ARG, "the list of ranks is NULL");
	if (rc == 0)
		rc = choice_init(&choice, vm_mpi_group_size(group));
	if (rc == 0 && ranks)
		rc = choice_add_list(&call, &choice, n, ranks);
	if (rc == 0 && ranges)
		rc = choice_add_ranges(&call, &choice, n, ranges);
	if (rc == 0)
		rc = choice_group(&call, &choice, group, others, newgroup);
	choice_fini(&choice);
	return vm_call_exit_self(&call, rc);
}

int PMPI_Group_incl(MPI_Group group, int n, const int ranks[],
		    MPI_Group *newgroup)
{
	return choose_entry(VM_CALL_Group_incl, group, n, ranks, NULL, false,
			    newgroup);
}

int PMPI_Group_excl(MPI_Group group, int n, const int ranks[],
		    MPI_Group *newgroup)
{
	return choose_entry(VM_CALL_Group_excl, group, n, ranks, NULL, true,
			    newgroup);
}

int PMPI_Group_range_incl(MPI_Group group, int n, int ranges[][3],
			  MPI_Group *newgroup)
{
	return choose_entry(VM_CALL_Group_range_incl, group, n, NULL, ranges,
			    false, newgroup);
}

int PMPI_Group_range_excl(MPI_Group group, int n, int ranges[][3],
			  MPI_Group *newgroup)
{
	return choose_entry(VM_CALL_Group_range_excl, group, n, NULL, ranges,
			    true, newgroup);
}
