/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives.  Begin here; hier.h has internode collectives, mpi/joint the
 * entries.  docs/architecture.md describes how a collective runs.
 *
 * Members join the communicator's meeting (core/meeting/meet.h) with a struct
 * vm_coll that describes their call.  One of them compares the calls and copies
 * all data between the members' buffers; idle workers share large work
 * (core/local/work.h).  With small data each worker serves its own members
 * (small.h).  In long nonblocking ones the last to start does all (mpi/icoll).
 */
#ifndef MPI_COLL_COLL_H
#define MPI_COLL_COLL_H

#include <stdatomic.h>

#include "core/meeting/meet.h"
#include "core/local/req.h"
#include "core/local/chan_stats.h"
#include "mpi/call/check.h"
#include "mpi/call/ints.h"
#include "mpi/call/state.h"
#include "mpi/op/op.h"
#include "mpi/type/type.h"

/*
 * One block of data per member, or a single one.  Block j is count elements,
 * after j * count others; if counts is set, counts[j] elements at displs[j],
 * which is in elements, or in bytes if types is set.
 */
struct vm_blocks {
	const void *buf;
	const struct vm_type *type;
	size_t count;
	struct vm_ints counts, displs; /* none: all blocks are alike */
	const MPI_Datatype *types;     /* NULL: all of one type */
	/* Of proxies: the blocks themselves, used instead of the values of
	 * counts, which is set but unused; else NULL. */
	const struct vm_data *made;
};

struct vm_coll;

/* Data that members in other processes need (hier.c). */
enum vm_coll_flow {
	VM_FLOW_NONE,
	VM_FLOW_BCAST,	 /* the root's buffer, by all */
	VM_FLOW_SCATTER, /* the root's blocks, each by its member */
	VM_FLOW_GATHER,	 /* everyone's data, by the root */
	VM_FLOW_ALL,	 /* everyone's data, by all */
	VM_FLOW_BLOCKS,	 /* everyone's blocks, each by its member */
};

/* Collectives that have a choice of algorithms (plan.c). */
enum vm_coll_family {
	VM_FAMILY_NONE,
	VM_FAMILY_BCAST,
	VM_FAMILY_ALLGATHER,
	VM_FAMILY_ALLTOALL,
	VM_FAMILY_REDUCE,
	VM_FAMILY_ALLREDUCE,
	VM_FAMILY_REDUCE_SCATTER,
	VM_FAMILY_SCAN,
	VM_FAMILIES
};

/* Index of a family among the settings of a communicator. */
#define VM_COLL_SETTING(family) (VM_CHAN_STATS_ABOVE + (unsigned)(family)-1)
VM_STATIC_ASSERT(VM_COLL_SETTING(VM_FAMILIES) <= VM_CHAN_STATS_SETTINGS,
		 "every family has a setting");

/* The last word of CORE_COLL_ALGORITHMS, after those of plan.h. */
#define VM_COLL_SHARED 10

/*
 * A kind of collective. part() does the parts of members first to last - 1,
 * with the operation of member me (the running task's own if that matters);
 * parts may run concurrently on several workers. finish() is called when all
 * parts are done and only touches data of the members it is called for.
 */
struct vm_coll_kind {
	void (*part)(struct vm_meet *meet, struct vm_coll *me, size_t first,
		     size_t last);
	void (*finish)(struct vm_meet *meet, size_t first, size_t last);
	/*
	 * On an intercommunicator: members 0 to meet->size - 1 are the sending
	 * side, the others, up to n - 1, the receiving side.  me->root is the
	 * root's number among all of them.  NULL: not defined on
	 * intercommunicators.
	 */
	void (*cross)(struct vm_meet *meet, struct vm_coll *me, size_t n);
	/* Approximate number of bytes that all parts move; 0: never worth
	 * sharing. */
	size_t (*work)(const struct vm_coll *any, size_t members);
	bool rooted;  /* all members name the same root */
	bool gathers; /* rooted: data goes to the root, not from it */
	bool reduces; /* all have the same operation and size */
	bool swaps;   /* all or none are in place */
	bool ends;    /* may begin while nonblocking ones are incomplete */
	/* A part is not one member's data but a slice of the data of all, or of
	 * the root. */
	bool slices;
	/* One member per process produces the results of all there, from more
	 * than their data; or from these alone. */
	bool whole, plain;
	bool direct; /* large blocks are sent from buffer to buffer */
	bool relays; /* data may be relayed by other processes */
	enum vm_coll_flow flow;
	enum vm_coll_family family;
	/* Offset of its counter in core_rank_pvars; 0: not counted. */
	size_t calls;
};

/* Offset of a kind's counter, for the rows of kinds. */
#define VM_COLL_CALLS(name) \
	offsetof(struct core_rank_pvars, coll_##name##_calls)

/*
 * A member's call of a collective.  Which sides are set depends on the kind;
 * with MPI_IN_PLACE a reduction's send side is its receive side.
 */
struct vm_coll {
	const struct vm_coll_kind *kind;
	struct vm_comm *comm;  /* may be freed before a nonblocking one ends */
	struct vm_rank *owner; /* whose call it is; NULL: a proxy's, */
	int rank, size;	       /* its rank in comm, and the size of comm */
	/* Of enum vm_call_id: the call; calls that meet each other have the
	 * same `as`. */
	uint16_t id, as;
	int root;
	int shares; /* hash of the counts that define shares, if any; else 0 */
	int first_size; /* of an intercommunicator's first side; else 0 */
	bool in_place;
	bool uneven; /* blocks are sent whose sizes only the sender knows */
	/* The algorithm that its communicator asks for, a word of the family's
	 * setting, or VM_CHAN_STATS_UNSET; and the one used
	 * (CORE_COLL_ALGORITHMS). */
	int8_t asked, algorithm;
	/* While types are compared, of what a proxy sends to all, whose bytes
	 * recv.count has until they come; 0: unknown. */
	uint32_t signature;
	const struct vm_op *op;
	struct vm_blocks send, recv;
	void *temp;	    /* between part() and finish(); a proxy's memory */
	struct vm_req *req; /* of a nonblocking one */
	/* Result for this member: 0 or an MPI error, and details. */
	_Atomic int error;
	char what[120];
};

extern const struct vm_coll_kind vm_coll_barrier, vm_coll_bcast, vm_coll_gather,
	vm_coll_scatter, vm_coll_allgather, vm_coll_alltoall, vm_coll_reduce,
	vm_coll_allreduce, vm_coll_reduce_scatter, vm_coll_scan, vm_coll_exscan;

/* Initialises a description, except its sides. */
static inline void vm_coll_init(struct vm_coll *coll,
				const struct vm_coll_kind *kind,
				const struct vm_call *call,
				struct vm_comm *comm)
{
	coll->kind = kind;
	coll->comm = comm;
	coll->owner = call->mpi->rank;
	coll->rank = comm->rank;
	coll->size = comm->size;
	coll->id = coll->as = (uint16_t)call->id;
	coll->root = 0;
	coll->shares = 0;
	coll->first_size = vm_comm_first_size(comm);
	coll->in_place = false;
	coll->uneven = false;
	coll->asked = VM_CHAN_STATS_UNSET;
	coll->algorithm = VM_COLL_SHARED;
	coll->op = NULL;
	coll->send = coll->recv = (struct vm_blocks){ 0 };
	coll->temp = NULL;
	coll->req = NULL;
	atomic_init(&coll->error, 0);
}

/* Tell whether the caller is the root of a rooted collective, or one of the
 * members that the root sends to or receives from.  On an intracommunicator the
 * root is both; on an intercommunicator members may be neither. */
static inline bool vm_coll_is_root(const struct vm_coll *coll)
{
	return coll->root == (coll->first_size ? MPI_ROOT : coll->rank);
}

static inline bool vm_coll_is_leaf(const struct vm_coll *coll)
{
	return !coll->first_size || coll->root >= 0;
}

/* Tells whether all members agree; if not, records an error for all of them. */
bool vm_coll_agreed(struct vm_meet *meet);

/* Returns the caller's own description if the operation is a user function,
 * which must run on its own rank's task; else that of member `any`. */
struct vm_coll *vm_coll_own(struct vm_meet *meet, size_t any);

/* The same on an intercommunicator: tells whether all members agree and finds
 * the seat of the root, if any; does the work of vm_coll_arrived() then. */
bool vm_coll_inter_agreed(struct vm_meet *meet, long *root);
void vm_coll_inter_cross(struct vm_meet *meet, long root);

/* Tells whether the calls a and b differ, and writes the difference to
 * `what`. */
bool vm_coll_differs(const struct vm_coll *a, const struct vm_coll *b,
		     char *what, size_t size);

/* Prepares a fold of up to n elements of all members of a meeting, with the
 * operation of `me`; false: no memory. */
struct vm_fold;
bool vm_coll_fold_open(struct vm_fold *fold, const struct vm_meet *meet,
		       const struct vm_coll *me, size_t n);

/* Tells whether operands are combined one after the other, as in scans, not in
 * a tree. */
static inline bool vm_coll_in_turn(const struct vm_coll *coll)
{
	return coll->kind->family == VM_FAMILY_SCAN ||
	       mpi_cvar.coll_reduce_order == VM_ORDER_RANK;
}

/* Returns the number of elements that a member of a reduce-scatter receives, by
 * `coll`. */
static inline size_t vm_coll_share(const struct vm_coll *coll, size_t size,
				   size_t rank)
{
	if (!coll->recv.counts.array)
		return coll->recv.count / size;
	return (size_t)vm_ints_get(coll->recv.counts, rank);
}

/* Copies block i of an allgather from its owner to member `to`. */
void vm_coll_allgather_block(struct vm_meet *meet, struct vm_coll *to,
			     size_t i);

/* Returns the description of member `rank`. */
static inline struct vm_coll *vm_coll_of(const struct vm_meet *meet,
					 size_t rank)
{
	return vm_meet_args(meet, (uint32_t)rank);
}

/* Records an error of a member, unless it has one. */
void vm_coll_fail(struct vm_coll *coll, int code, const char *format, ...)
	VM_PRINTF(3, 4);

/* Adds an offset to a buffer's address, which may be MPI_BOTTOM. */
static inline void *vm_at(const void *buf, ptrdiff_t offset)
{
	return (void *)((uintptr_t)buf + (uintptr_t)offset);
}

/* Returns the data of block j. */
static inline struct vm_data vm_blocks_data(const struct vm_blocks *blocks,
					    size_t j)
{
	const struct vm_type *type = blocks->type;

	size_t count;

	if (!blocks->counts.array)
		return vm_type_data(
			type,
			vm_at(blocks->buf,
			      (ptrdiff_t)(j * blocks->count) * type->extent),
			blocks->count);
	if (VM_UNLIKELY(blocks->made != NULL))
		return blocks->made[j];
	count = (size_t)vm_ints_get(blocks->counts, j);
	if (!blocks->types)
		return vm_type_data(
			type,
			vm_at(blocks->buf,
			      vm_ints_get(blocks->displs, j) * type->extent),
			count);
	/* Without elements the type may be any, even MPI_DATATYPE_NULL. */
	if (count == 0)
		return (struct vm_data){ 0 };
	return vm_type_data(vm_type_checked(blocks->types[j]),
			    vm_at(blocks->buf, vm_ints_get(blocks->displs, j)),
			    count);
}

#endif
