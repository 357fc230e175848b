/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives among members in several processes.
 *
 * Each process's leader (core/meeting/leaders.h) sends the others its members'
 * calls and small data (pack.c).  Proxies, struct vm_colls that send the
 * received data, then stand for remote members.  If all agree, large data
 * follows (direct.c, relay.c), and the kinds' functions work as in any meeting.
 * Reductions, if possible, reduce within each process, then among leaders
 * (node_reduce.c).  Of some calls cards say all (behind.h).
 */
#ifndef MPI_COLL_ALGO_HIER_H
#define MPI_COLL_ALGO_HIER_H

#include "core/rank/kept.h"
#include "core/meeting/leaders.h"
#include "mpi/coll/coll.h"
#include "mpi/coll/algo/plan.h"

struct vm_coll_block;
struct vm_coll_node_reduce;

/* Large blocks, sent from buffer to buffer (pack.h). */
struct vm_coll_blocks {
	struct vm_coll_block *list;
	size_t count, room;
};

/* What this process has posted (posted.h). */
struct vm_coll_post {
	struct vm_leaders_card *card; /* that tells of it; NULL: nothing */
	bool left;		      /* vm_coll_posted_left() */
	bool reads;		      /* it reads what others post */
	size_t stride;		      /* from block to block */
};

/* A meeting of all members: local ones and proxies. */
struct vm_coll_view {
	struct vm_meet meet; /* talks: our card has gone ahead of its data */
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
	/* The places here that other processes fill themselves; the meeting in
	 * which all cards have come, which may say some for us. */
	struct vm_leaders_places *places;
	const struct vm_meet *told;
	struct vm_coll_post post;
	bool posted;	       /* all data have been */
	struct vm_kept memory; /* for data that has no better place, too */
	struct vm_coll_node_reduce *reduce;
};

/* Does the work of vm_coll_arrived() if there are members in other
 * processes. */
void vm_coll_hier(struct vm_meet *meet);

/*
 * Exchanges calls and data and fills the view: 0, or a negative code of core;
 * the view must be closed in either case.  May switch.
 */
int vm_coll_view_open(struct vm_coll_view *view, struct vm_meet *meet,
		      const struct vm_coll_plan *plan);

/* Its first step, before anything is packed or exchanged. */
int vm_coll_view_prepare(struct vm_coll_view *view, const struct vm_meet *meet,
			 const struct vm_coll_plan *plan);

/* Transfers large data and does all parts; all members agree.  root: its seat, on
 * an intercommunicator.  0 or an error.  May switch. */
int vm_coll_view_do(struct vm_coll_view *view, struct vm_meet *meet, long root);

/* Completes the proxies, after the members have been found to agree, so that
 * the kinds' functions can use them: 0 or -VMPI_ENOMEM. */
int vm_coll_view_compute(struct vm_coll_view *view);

/* Does the parts of the local members. */
void vm_coll_view_work(struct vm_coll_view *view);

void vm_coll_view_close(struct vm_coll_view *view);

/* Allocates memory that is freed with the view; NULL when out of memory. */
void *vm_coll_view_memory(struct vm_coll_view *view, size_t bytes);

/* Tells whether the packed bytes of operands can be used as operands. */
bool vm_coll_is_plain(const struct vm_type *type);

/* Sets the operands of a proxy, `count` elements, copied unless its bytes can
 * be used as operands: 0 or -VMPI_ENOMEM. */
int vm_coll_operands_fill(struct vm_coll *proxy, const struct vm_coll *like,
			  size_t count);

/* Runs an ordered reduction of large data, `step` elements at a time
 * (slice.c). */
int vm_coll_slices(struct vm_meet *meet, size_t step);

/* Transfers the announced blocks: 0 or an error.  May switch (direct.c). */
int vm_coll_direct(struct vm_coll_view *view);

/* Runs a broadcast or allgather through other processes; the proxies then send
 * the received data.  0 or an error.  May switch (relay.c). */
int vm_coll_relay(struct vm_coll_view *view);

#endif
