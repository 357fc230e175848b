/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings of collectives: comparison of the members' calls, distribution of
 * the work, results.
 */
#include "mpi/coll/coll.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/rank/chan.h"
#include "core/local/engine.h"
#include "core/local/work.h"
#include "core/comm/revoke.h"
#include "mpi/coll/hier.h"
#include "mpi/coll/small.h"
#include "mpi/coll/types.h"

void vm_coll_fail(struct vm_coll *coll, int code, const char *format, ...)
{
	int none = 0;
	va_list args;

	/* The first failure sets the text; the member reads both after the
	 * meeting. */
	if (!atomic_compare_exchange_strong_explicit(&coll->error, &none, code,
						     memory_order_relaxed,
						     memory_order_relaxed))
		return;
	va_start(args, format);
	vsnprintf(coll->what, sizeof(coll->what), format, args);
	va_end(args);
}

bool vm_coll_differs(const struct vm_coll *a, const struct vm_coll *b,
		     char *what, size_t size)
{
	const struct vm_type *x = a->recv.type, *y = b->recv.type;

	if (a->as != b->as)
		snprintf(what, size, "rank %d calls %s, rank %d %s", b->rank,
			 vm_call_name(b->id), a->rank, vm_call_name(a->id));
	else if (a->kind->rooted && a->root != b->root)
		snprintf(what, size, "rank %d has root %d, rank %d root %d",
			 b->rank, b->root, a->rank, a->root);
	else if (a->kind->swaps && a->in_place != b->in_place)
		snprintf(what, size, "of ranks %d and %d one is in place",
			 b->rank, a->rank);
	else if (a->shares != b->shares)
		snprintf(what, size,
			 "rank %d has other recvcounts than rank %d", b->rank,
			 a->rank);
	else if (!a->kind->reduces)
		return false;
	else if (a->op != b->op && (a->op->loops || b->op->loops ||
				    a->op->commutes != b->op->commutes))
		snprintf(what, size, "rank %d reduces with %s, rank %d with %s",
			 b->rank, vm_op_name(b->op), a->rank,
			 vm_op_name(a->op));
	else if (x->size * a->recv.count != y->size * b->recv.count ||
		 x->extent != y->extent || x->kind != y->kind)
		snprintf(what, size,
			 "rank %d reduces %zu of %s, rank %d %zu of %s",
			 b->rank, b->recv.count, vm_type_name(y), a->rank,
			 a->recv.count, vm_type_name(x));
	else
		return false;
	return true;
}

/* Whether nothing differs, as it is with most members; false: it may not. */
static inline bool are_alike(const struct vm_coll *a, const struct vm_coll *b)
{
	return VM_LIKELY(a->as == b->as && a->root == b->root &&
			 a->in_place == b->in_place && a->shares == b->shares &&
			 a->op == b->op && a->recv.type == b->recv.type &&
			 a->recv.count == b->recv.count);
}

bool vm_coll_agreed(struct vm_meet *meet)
{
	char what[sizeof(((struct vm_coll *)0)->what)];
	const struct vm_coll *first = vm_coll_of(meet, 0);

	for (size_t i = 1; i < meet->size; i++) {
		const struct vm_coll *coll = vm_coll_of(meet, i);

		if ((coll->as == first->as && !first->kind->part) ||
		    are_alike(first, coll) ||
		    !vm_coll_differs(first, coll, what, sizeof(what)))
			continue;
		for (size_t j = 0; j < meet->size; j++)
			vm_coll_fail(vm_coll_of(meet, j), MPI_ERR_OTHER,
				     "the ranks disagree: %s", what);
		return false;
	}
	return true;
}

struct vm_coll *vm_coll_own(struct vm_meet *meet, size_t any)
{
	struct vm_coll *coll = vm_coll_of(meet, any);
	const struct vm_rank *self;

	if (!coll->op || coll->op->loops)
		return coll;
	self = vm_rank_self();
	for (size_t i = 0; i < meet->size; i++) {
		coll = vm_coll_of(meet, i);
		if (coll->owner == self)
			return coll;
	}
	vm_panic("collective: the last to arrive is no member");
}

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
	if (VM_UNLIKELY(!in_order(chan)) && !coll->kind->ends)
		return vm_error(call, MPI_ERR_OTHER,
				"the ranks disagree: others have started a "
				"nonblocking collective that this rank has "
				"not, they do not match blocking ones");
	special = has_chan_stats(coll->owner);
	if (special)
		chan_stats_begin(coll, chan->context);
	rc = vm_meet_by(chan, coll, &how,
			coll->kind->ends ? VM_MEET_UNCOUNTED :
					   coll->kind->calls);
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
