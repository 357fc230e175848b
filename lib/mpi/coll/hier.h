/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives among members in several processes.
 *
 * The leader of each process (core/comm/leaders.h) tells the others the calls of its
 * members, and what is small of the data that they send there (pack.c).  For
 * each member of another process there is then a proxy, a struct vm_coll that
 * sends what has come.  When all agree, large data follows: from buffer to buffer
 * (direct.c), or through other processes (relay.c).  Then the kinds'
 * functions find a meeting like any other.  Reductions, if they
 * can, take another path: each process reduces what its own members bring, and the leaders combine
 * that (node_reduce.c).
 */
#ifndef MPI_COLL_HIER_H
#define MPI_COLL_HIER_H

#include "core/comm/leaders.h"
#include "mpi/coll/coll.h"
#include "mpi/coll/plan.h"

struct vm_coll_block;
struct vm_coll_memory;
struct vm_coll_node_reduce;

/* Blocks that go directly (pack.h). */
struct vm_coll_blocks {
	struct vm_coll_block *list;
	size_t count, room;
};

/* A meeting of all members: those that are here and proxies. */
struct vm_coll_view {
	struct vm_meet meet;
	const struct vm_leaders *leaders;
	const struct vm_leaders_process *here;
	struct vm_coll_plan plan, *plans; /* ours; by process */
	size_t packed_bytes;		  /* of blocks that go along, at most */
	struct vm_coll *proxies;	  /* by member */
	struct vm_type *types;		  /* of proxies, by member */
	uint64_t *sizes;		  /* of what they send, by member */
	struct vm_leaders_msg *parts;	  /* by process */
	struct vm_coll *any;		  /* of a member here */
	struct vm_coll_blocks going, coming;
	struct vm_coll_memory *memory; /* for data that has no better place */
	struct vm_coll_node_reduce *reduce;
};

/* The work of vm_coll_arrived() when there are members in other processes. */
void vm_coll_hier(struct vm_meet *meet);

/*
 * Exchanges calls and data and fills the view: 0, or a negative code of core;
 * the view is to be closed in any case.  May switch.
 */
int vm_coll_view_open(struct vm_coll_view *view, struct vm_meet *meet,
		      const struct vm_coll_plan *plan);

/* When the members have been found to agree: makes the proxies such that the
 * kinds' functions can work with them.  0 or -VMPI_ENOMEM. */
int vm_coll_view_compute(struct vm_coll_view *view);

/* The parts of the members here. */
void vm_coll_view_work(struct vm_coll_view *view);

void vm_coll_view_close(struct vm_coll_view *view);

/* Memory that is freed with the view; NULL: there is none. */
void *vm_coll_view_memory(struct vm_coll_view *view, size_t bytes);

/* The operands of a proxy, in memory of their own unless their bytes are
 * operands already: 0 or -VMPI_ENOMEM. */
int vm_coll_operands_fill(struct vm_coll *proxy, const struct vm_coll *like);

/* An ordered reduction of much data, `step` elements at a time (slice.c). */
int vm_coll_slices(struct vm_meet *meet, size_t step);

/* The blocks that were announced: 0 or an error.  May switch (direct.c). */
int vm_coll_direct(struct vm_coll_view *view);

/* A broadcast or allgather through other processes: the proxies then send
 * what has come.  0 or an error.  May switch (relay.c). */
int vm_coll_relay(struct vm_coll_view *view);

#endif
