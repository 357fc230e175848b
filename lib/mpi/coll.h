/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives among ranks that share memory.
 *
 * Every member describes its call in a struct vm_coll on its own stack and goes
 * to the meeting of the communicator (core/meet.h).  The last to arrive
 * compares what all have brought.  For little data it then does everybody's
 * part by copying between the members' buffers; for much data on several
 * workers every member does its own part, and they meet once more.  No messages
 * are sent and nothing is packed.
 */
#ifndef MPI_COLL_H
#define MPI_COLL_H

#include <stdatomic.h>

#include "core/meet.h"
#include "mpi/check.h"
#include "mpi/op.h"
#include "mpi/type.h"

/*
 * One block of data per member, or a single one: block j is count elements
 * behind j * count others; with counts it has counts[j] elements at displs[j],
 * in elements or, with types, in bytes.
 */
struct vm_blocks {
	const void *buf;
	const struct vm_type *type;
	size_t count;
	const int *counts, *displs; /* NULL: all blocks are alike */
	const MPI_Datatype *types;  /* NULL: all of one type */
};

struct vm_coll;

/*
 * A kind of collective.  part() does the parts of members first to last - 1,
 * in the task of member me; parts may run at the same time on different
 * workers.  finish() follows when all parts are done and touches only what
 * belongs to the members it is called for.
 */
struct vm_coll_kind {
	void (*part)(struct vm_meet *meet, struct vm_coll *me, size_t first,
		     size_t last);
	void (*finish)(struct vm_meet *meet, size_t first, size_t last);
	/* About how many bytes all parts move; 0: never worth sharing. */
	size_t (*work)(const struct vm_coll *any, size_t members);
	bool rooted;  /* all members name the same root */
	bool reduces; /* all have the same operation and size */
	bool swaps;   /* all or none are in place */
};

/*
 * What a member brings.  Which sides are set depends on the kind; with
 * MPI_IN_PLACE a reduction's send side is its receive side.
 */
struct vm_coll {
	const struct vm_coll_kind *kind;
	struct vm_comm *comm;
	enum vm_call_id id;
	int root;
	bool in_place;
	bool split; /* set by the last to arrive: do your own part */
	const struct vm_op *op;
	struct vm_blocks send, recv;
	void *temp; /* between part() and finish() */
	/* How it ended for this member: 0 or an MPI error, and why. */
	_Atomic int error;
	char what[128];
};

extern const struct vm_coll_kind vm_coll_barrier, vm_coll_bcast, vm_coll_gather,
	vm_coll_scatter, vm_coll_allgather, vm_coll_alltoall, vm_coll_reduce,
	vm_coll_allreduce, vm_coll_reduce_scatter, vm_coll_scan, vm_coll_exscan;

/* Sets all but the sides. */
static inline void vm_coll_init(struct vm_coll *coll,
				const struct vm_coll_kind *kind,
				const struct vm_call *call,
				struct vm_comm *comm)
{
	coll->kind = kind;
	coll->comm = comm;
	coll->id = call->id;
	coll->root = 0;
	coll->in_place = false;
	coll->split = false;
	coll->op = NULL;
	coll->send = coll->recv = (struct vm_blocks){ 0 };
	coll->temp = NULL;
	atomic_init(&coll->error, 0);
}

/* Meets the others and does the work: 0 or an MPI error.  May switch. */
int vm_coll_run(struct vm_call *call, struct vm_coll *coll);

/* What member `rank` brought. */
static inline struct vm_coll *vm_coll_of(const struct vm_meet *meet,
					 size_t rank)
{
	return vm_meet_args(meet, (uint32_t)rank);
}

/* Notes an error of a member, unless it has one. */
void vm_coll_fail(struct vm_coll *coll, int code, const char *format, ...)
	VM_PRINTF(3, 4);

/* An address that may be absolute, against MPI_BOTTOM. */
static inline void *vm_at(const void *buf, ptrdiff_t offset)
{
	return (void *)((uintptr_t)buf + (uintptr_t)offset);
}

/* The data of block j. */
static inline struct vm_data vm_blocks_data(const struct vm_blocks *blocks,
					    size_t j)
{
	const struct vm_type *type = blocks->type;

	if (!blocks->counts)
		return vm_type_data(
			type,
			vm_at(blocks->buf,
			      (ptrdiff_t)(j * blocks->count) * type->extent),
			blocks->count);
	if (!blocks->types)
		return vm_type_data(type,
				    vm_at(blocks->buf,
					  blocks->displs[j] * type->extent),
				    (size_t)blocks->counts[j]);
	/* Without elements the type may be any, even MPI_DATATYPE_NULL. */
	if (blocks->counts[j] == 0)
		return (struct vm_data){ 0 };
	return vm_type_data(vm_type_get(blocks->types[j]),
			    vm_at(blocks->buf, blocks->displs[j]),
			    (size_t)blocks->counts[j]);
}

#endif
