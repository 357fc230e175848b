/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives between two groups.
 *
 * All members of both sides meet; the last to arrive does all the work, once
 * for each direction in which data is sent.  The kinds' cross() sees the
 * meeting with the sending side first.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mpi/coll/coll.h"

/* The seats of a meeting in the order of one direction. */
struct side_view {
	struct vm_meet meet;
	size_t n;
	struct vm_seat *turned; /* NULL: the order is that of the meeting */
};

/* Opens the view from the first side to the second, or back; false: no
 * memory. */
static bool view_open(struct side_view *view, struct vm_meet *meet, bool second)
{
	size_t n = meet->size;
	size_t first_size = (size_t)vm_coll_of(meet, 0)->first_size;
	size_t bytes = n * sizeof(*view->turned);

	view->n = n;
	view->turned = NULL;
	view->meet.seats = meet->seats;
	view->meet.size = (uint32_t)(second ? n - first_size : first_size);
	if (!second)
		return true;
	view->turned = aligned_alloc(_Alignof(struct vm_seat), bytes);
	if (!view->turned)
		return false;
	for (size_t i = 0; i < n; i++)
		atomic_init(&view->turned[i].args,
			    vm_coll_of(meet, (i + first_size) % n));
	view->meet.seats = view->turned;
	return true;
}

static void view_close(struct side_view *view)
{
	free(view->turned);
}

/* Records for all members that they disagree. */
static void disagree(struct vm_meet *meet, const char *what)
{
	for (size_t i = 0; i < meet->size; i++)
		vm_coll_fail(vm_coll_of(meet, i), MPI_ERR_OTHER,
			     "the ranks disagree: %s", what);
}

static bool is_second(const struct vm_meet *meet, size_t i)
{
	return i >= (size_t)vm_coll_of(meet, 0)->first_size;
}

/* Returns the seat of the root; -1 if there is none or more than one. */
static long root_find(const struct vm_meet *meet)
{
	long root = -1;

	for (size_t i = 0; i < meet->size; i++) {
		if (vm_coll_of(meet, i)->root != MPI_ROOT)
			continue;
		if (root >= 0)
			return -1;
		root = (long)i;
	}
	return root;
}

/* Tells whether member i wants what the root wants.  Those beside the root only
 * say that they take no part. */
static bool follows(const struct vm_meet *meet, size_t i, size_t root,
		    char *what, size_t size)
{
	struct vm_coll lead = *vm_coll_of(meet, root);
	const struct vm_coll *coll = vm_coll_of(meet, i);

	if (is_second(meet, i) == is_second(meet, root)) {
		if (i == root || coll->root == MPI_PROC_NULL)
			return true;
		snprintf(what, size,
			 "rank %d of the root's group names root %d",
			 coll->rank, coll->root);
		return false;
	}
	lead.root = lead.rank;
	return !vm_coll_differs(&lead, coll, what, size);
}

/* Tells whether all members agree; if not, records an error for all of them. */
static bool agreed(struct vm_meet *meet, long root)
{
	const struct vm_coll *first = vm_coll_of(meet, 0);
	char what[sizeof(first->what) / 2];

	for (size_t i = 1; i < meet->size; i++) {
		const struct vm_coll *coll = vm_coll_of(meet, i);

		/* Roots are compared below. */
		if (first->kind->rooted && coll->as == first->as)
			continue;
		if (vm_coll_differs(first, coll, what, sizeof(what))) {
			disagree(meet, what);
			return false;
		}
	}
	if (!first->kind->rooted)
		return true;
	if (root < 0) {
		disagree(meet, "there is not exactly one MPI_ROOT");
		return false;
	}
	for (size_t i = 0; i < meet->size; i++) {
		if (!follows(meet, i, (size_t)root, what, sizeof(what))) {
			disagree(meet, what);
			return false;
		}
	}
	return true;
}

/* Returns the member that reduces: the caller, for the sake of user functions,
 * which depend on the calling task; if it takes no part, a member that does. */
static const struct vm_coll *worker(const struct vm_meet *meet, size_t n)
{
	const struct vm_rank *self = vm_rank_self();

	for (size_t i = 0; i < n; i++) {
		const struct vm_coll *coll = vm_coll_of(meet, i);

		if (coll->op && coll->owner == self)
			return coll;
	}
	return vm_coll_of(meet, 0);
}

/* Does the work in one direction. */
static void cross(struct vm_meet *meet, bool second, long root)
{
	struct vm_coll me;
	struct side_view view;

	if (!view_open(&view, meet, second)) {
		for (size_t i = 0; i < meet->size; i++)
			vm_coll_fail(vm_coll_of(meet, i), MPI_ERR_NO_MEM,
				     "no memory for the list of ranks");
		return;
	}
	me = *worker(&view.meet, view.n);
	if (root >= 0) {
		size_t before = second ? (size_t)me.first_size : 0;

		me.root = (int)(((size_t)root + view.n - before) % view.n);
	}
	me.kind->cross(&view.meet, &me, view.n);
	view_close(&view);
}

bool vm_coll_inter_agreed(struct vm_meet *meet, long *root)
{
	*root = vm_coll_of(meet, 0)->kind->rooted ? root_find(meet) : -1;
	return agreed(meet, *root);
}

/* Tells whether the data of one direction goes to anybody in this process. */
static bool is_here(const struct vm_meet *meet, bool second, long root)
{
	if (root >= 0 && vm_coll_of(meet, 0)->kind->gathers)
		return vm_coll_of(meet, (size_t)root)->owner != NULL;
	for (size_t i = 0; i < meet->size; i++)
		if (is_second(meet, i) != second && vm_coll_of(meet, i)->owner)
			return true;
	return false;
}

void vm_coll_inter_cross(struct vm_meet *meet, long root)
{
	const struct vm_coll_kind *kind = vm_coll_of(meet, 0)->kind;
	bool second = root >= 0 && is_second(meet, (size_t)root);

	if (kind->rooted) {
		second = kind->gathers ? !second : second;
		if (is_here(meet, second, root))
			cross(meet, second, root);
		return;
	}
	if (is_here(meet, false, -1))
		cross(meet, false, -1);
	if (is_here(meet, true, -1))
		cross(meet, true, -1);
}
