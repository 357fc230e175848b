/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splits and merges as kinds of collectives: the last member to arrive makes
 * the channels of all.
 */
#include "mpi/comm/split.h"

#include <stdlib.h>

#include "core/meeting/chan_make.h"

/* A member's call. */
struct split {
	struct vm_coll coll; /* first: meetings know this */
	struct vm_split split;
	const struct vm_group *group; /* of all members */
	int first_size;		      /* of an intercommunicator's first side */
};

static const struct vm_split_wish *wish_of(const struct vm_meet *meet, size_t i)
{
	return vm_comm_coll_brought(vm_coll_of(meet, i));
}

size_t vm_comm_coll_work(const struct vm_coll *any, size_t members)
{
	return 0;
}

void vm_comm_coll_init(struct vm_coll *coll, const struct vm_coll_kind *kind,
		       const struct vm_call *call, struct vm_comm *comm,
		       const void *brings, size_t bytes)
{
	vm_coll_init(coll, kind, call, comm);
	/* Both sides of an intercommunicator are one channel here. */
	coll->rank = comm->chan->rank;
	coll->size = comm->chan->group->size;
	coll->first_size = 0;
	coll->send = (struct vm_blocks){ .buf = brings,
					 .type = vm_type_get(MPI_BYTE),
					 .count = bytes };
}

static void split_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		       size_t last)
{
	const struct vm_group *group = ((struct split *)me)->group;
	size_t n = meet->size;
	struct vm_split **members = malloc(n * sizeof(*members));
	struct vm_split *others = calloc(n, sizeof(*others));
	int rc = -VMPI_ENOMEM;

	for (size_t i = 0; members && others && i < n; i++) {
		struct vm_coll *coll = vm_coll_of(meet, i);

		members[i] = coll->owner ? &((struct split *)coll)->split :
					   &others[i];
		members[i]->owner = group->ranks[i];
		members[i]->rank = (int)i;
		members[i]->wish = *wish_of(meet, i);
	}
	if (members && others)
		rc = vm_split_make(members, (int)n);
	free(members);
	free(others);
	for (size_t i = 0; rc != 0 && i < n; i++)
		vm_coll_fail(vm_coll_of(meet, i), MPI_ERR_NO_MEM,
			     "no memory for a communicator");
}

/* Returns the first member of a side that disagrees with the side's first one;
 * 0: all agree. */
static size_t side_odd(const struct vm_meet *meet, size_t first, size_t last)
{
	for (size_t i = first + 1; i < last; i++)
		if (wish_of(meet, i)->key != wish_of(meet, first)->key)
			return i;
	return 0;
}

static void merge_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		       size_t last)
{
	size_t n = meet->size, half = (size_t)((struct split *)me)->first_size;
	size_t lead = 0, odd = side_odd(meet, 0, half);

	if (!odd) {
		lead = half;
		odd = side_odd(meet, half, n);
	}
	if (!odd) {
		split_part(meet, me, first, last);
		return;
	}
	for (size_t i = 0; i < n; i++)
		vm_coll_fail(vm_coll_of(meet, i), MPI_ERR_ARG,
			     "rank %zu of a group says high = %d, rank 0 of "
			     "the same group %d",
			     odd - lead, wish_of(meet, odd)->key,
			     wish_of(meet, lead)->key);
}

static const struct vm_coll_kind kind_split = {
	.part = split_part,
	.work = vm_comm_coll_work,
	.whole = true,
	.flow = VM_FLOW_ALL,
};
static const struct vm_coll_kind kind_merge = {
	.part = merge_part,
	.work = vm_comm_coll_work,
	.whole = true,
	.flow = VM_FLOW_ALL,
};

static int run(struct vm_call *call, const struct vm_coll_kind *kind,
	       struct vm_comm *comm, struct vm_chan **out, int color, int key)
{
	struct split split = {
		.split = { .wish = vm_split_wish(comm->chan, color, key) },
		.group = comm->chan->group,
		.first_size = vm_comm_first_size(comm),
	};
	struct vm_split_wish wish = split.split.wish;
	int rc;

	vm_comm_coll_init(&split.coll, kind, call, comm, &wish, sizeof(wish));
	rc = vm_coll_run(call, &split.coll);
	vm_split_wished(comm->chan, &wish, rc ? NULL : split.split.out);
	if (rc == 0)
		*out = split.split.out;
	return rc;
}

int vm_comm_chan_split(struct vm_call *call, struct vm_comm *parent,
		       struct vm_chan **out, int color, int key)
{
	return run(call, &kind_split, parent, out, color, key);
}

int vm_comm_chan_merge(struct vm_call *call, struct vm_comm *inter,
		       struct vm_chan **out, bool high)
{
	return run(call, &kind_merge, inter, out, 0, high);
}
