/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings of collectives: distribution of the work, results.
 */
#include "mpi/coll/algo/run.h"

#include "core/comm/revoke.h"
#include "core/local/engine.h"
#include "core/local/work.h"
#include "core/meeting/meet_pair.h"
#include "core/rank/chan.h"
#include "mpi/coll/algo/hier.h"
#include "mpi/coll/algo/quick.h"
#include "mpi/coll/algo/small.h"
#include "mpi/coll/pair.h"
#include "mpi/coll/types.h"

/* Parts of a meeting, shared among idle workers. */
struct parts {
	struct vm_meet *meet;
	const struct vm_coll_kind *kind;
};

static void parts_do(void *arg, size_t first, size_t last)
{
	const struct parts *parts = arg;

	parts->kind->part(parts->meet, vm_coll_of(parts->meet, 0), first, last);
}

/* Returns the worker of the member that a part belongs to. */
static int parts_home(void *arg, size_t part)
{
	const struct parts *parts = arg;

	return vm_coll_of(parts->meet, part)->owner->engine->index;
}

void vm_coll_arrived(struct vm_meet *meet)
{
	const struct vm_coll *any;
	const struct vm_coll_kind *kind;
	static const struct vm_work_kind work = { parts_do, parts_home };
	size_t n = meet->size, limit = (size_t)mpi_cvar.coll_share_bytes;
	long root;

	if (meet->leaders) {
		vm_coll_hier(meet);
		return;
	}
	any = vm_coll_of(meet, 0);
	kind = any->kind;
	if (any->first_size) {
		if (vm_coll_inter_agreed(meet, &root))
			vm_coll_inter_cross(meet, root);
		return;
	}
	if (!vm_coll_agreed(meet) || !kind->part)
		return;
	vm_coll_types_compare(meet);
	if ((any->op && !any->op->loops) || kind->work(any, n) <= limit)
		kind->part(meet, vm_coll_own(meet, 0), 0, n);
	else
		vm_work_run(&work, &(struct parts){ meet, kind }, n);
	if (kind->finish)
		kind->finish(meet, 0, n);
}

/* Tells whether the caller has started all that others have.  If not, waiting
 * could deadlock: if all members make the same calls in the same order, none
 * waits while others have started a collective that it has not. */
static bool in_order(const struct vm_chan *chan)
{
	return !vm_meet_is_started(chan->meet, chan->started);
}

/* The same of a pair: the other has been at the next meeting before. */
static bool in_order_behind(const struct vm_chan *chan)
{
	/* Pairs with the store in next_set() (core/meeting/meet_part.c). */
	atomic_thread_fence(memory_order_acquire);
	return chan->meet->pair && vm_meet_pair_came(chan);
}

/* Gets the algorithm that a communicator with statistics asks for, and counts
 * the collective there. */
static __attribute__((noinline)) void chan_stats_begin(struct vm_coll *coll,
						       uint32_t context)
{
	struct vm_chan_stats *special =
		vm_chan_stats_look(coll->owner, context);
	enum vm_coll_family family = coll->kind->family;

	if (!special)
		return;
	if (family)
		coll->asked = (int8_t)atomic_load_explicit(
			&special->settings[VM_COLL_SETTING(family)],
			memory_order_relaxed);
	if (coll->kind->calls && VM_PVARS_COUNTED)
		__atomic_fetch_add(&special->pvars.comm_collectives, 1,
				   __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void
chan_stats_went(const struct vm_coll *coll, uint32_t context)
{
	struct vm_chan_stats *special =
		vm_chan_stats_look(coll->owner, context);

	if (special && coll->kind->calls && VM_PVARS_COUNTED)
		vm_pvar_set(special->pvars.comm_algorithm,
			    (uint64_t)coll->algorithm);
}

static inline bool has_chan_stats(const struct vm_rank *rank)
{
	return VM_UNLIKELY(atomic_load_explicit(&rank->chan_stats,
						memory_order_acquire) != NULL);
}

static inline void went(const struct vm_coll *coll)
{
	if (VM_PVARS_COUNTED && VM_LIKELY(coll->kind->calls != 0))
		vm_pvar_set(coll->owner->pvars.coll_algorithm,
			    (uint64_t)coll->algorithm);
}

void vm_coll_begin(struct vm_coll *coll, uint32_t context)
{
	char *pvars = (char *)vm_counters();

	if (coll->kind->calls)
		vm_pvar_add(*(uint64_t *)(void *)(pvars + coll->kind->calls),
			    1);
	if (has_chan_stats(coll->owner))
		chan_stats_begin(coll, context);
}

void vm_coll_went(const struct vm_coll *coll, uint32_t context)
{
	went(coll);
	if (has_chan_stats(coll->owner))
		chan_stats_went(coll, context);
}

int vm_coll_run(struct vm_call *call, struct vm_coll *coll)
{
	static const struct vm_meet_how how = {
		.show = vm_coll_small_show,
		.own = vm_coll_small_own,
		.last = vm_coll_arrived,
	};
	struct vm_chan *chan = coll->comm->chan;
	bool special;
	int rc;

	if (VM_UNLIKELY(vm_is_revoked(chan)) && !coll->kind->ends)
		return -VMPI_EREVOKED;
	if (VM_UNLIKELY(!in_order(chan)) && !coll->kind->ends &&
	    !in_order_behind(chan))
		return vm_error(call, MPI_ERR_OTHER,
				"the ranks disagree: others have started a "
				"nonblocking collective that this rank has "
				"not, they do not match blocking ones");
	special = has_chan_stats(coll->owner);
	if (special)
		chan_stats_begin(coll, chan->context);
	rc = special	      ? VM_PENDING :
	     chan->meet->pair ? vm_coll_pair(coll, chan, vm_coll_arrived) :
				vm_coll_quick(coll, chan);
	if (rc == VM_PENDING)
		rc = vm_meet_by(chan, coll, &how,
				coll->kind->ends ? VM_MEET_UNCOUNTED :
						   coll->kind->calls);
	if (rc == -VMPI_EMISMATCH && chan->meet->pair &&
	    vm_coll_pair_differs(coll, chan, vm_coll_arrived))
		rc = 0;
	if (rc == -VMPI_EMISMATCH)
		return vm_error(call, MPI_ERR_OTHER,
				"the ranks disagree: others make a call of "
				"another kind on this communicator");
	if (rc != 0)
		return rc;
	rc = atomic_load_explicit(&coll->error, memory_order_relaxed);
	if (rc != 0)
		return vm_error(call, rc, "%s", coll->what);
	went(coll);
	if (special)
		chan_stats_went(coll, chan->context);
	return 0;
}
