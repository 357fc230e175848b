/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Internode collectives: a leader's view of a meeting, and the steps of a
 * collective from the exchange of calls to the result.
 */
#include "mpi/coll/algo/hier.h"

#include <stdlib.h>
#include <string.h>

#include "core/local/engine.h"
#include "mpi/coll/algo/pack.h"
#include "mpi/coll/algo/node_reduce.h"
#include "mpi/coll/algo/small.h"
#include "mpi/coll/types.h"
#include "mpi/op/fold.h"

void *vm_coll_view_memory(struct vm_coll_view *view, size_t bytes)
{
	return vm_kept_get(&view->memory, bytes);
}

/* Zeros for `count` objects. */
static void *zeros(struct vm_coll_view *view, size_t count, size_t bytes)
{
	void *memory = vm_coll_view_memory(view, count * bytes);

	return memory ? memset(memory, 0, count * bytes) : NULL;
}

static int view_alloc(struct vm_coll_view *view, const struct vm_meet *meet)
{
	size_t n = meet->size, processes = (size_t)meet->leaders->count;

	view->meet.size = meet->size;
	view->meet.leaders = meet->leaders;
	view->meet.context = meet->context;
	view->meet.tag = meet->tag;
	view->leaders = meet->leaders;
	view->here = &meet->leaders->processes[meet->leaders->self];
	view->meet.seats =
		vm_coll_view_memory(view, n * sizeof(*view->meet.seats));
	view->proxies = zeros(view, n, sizeof(*view->proxies));
	view->types = zeros(view, n, sizeof(*view->types));
	view->sizes = zeros(view, n, sizeof(*view->sizes));
	view->plans = zeros(view, processes, sizeof(*view->plans));
	view->parts = zeros(view, processes, sizeof(*view->parts));
	if (!view->meet.seats || !view->proxies || !view->types ||
	    !view->sizes || !view->plans || !view->parts)
		return -VMPI_ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		atomic_init(&view->meet.seats[i].args, vm_meet_args(meet, i));
	view->any = vm_coll_of(meet, view->here->members[0]);
	view->plans[view->leaders->self] = view->plan;
	return 0;
}

/* Packs the message to each process. */
static int parts_pack(struct vm_coll_view *view)
{
	int rc = 0;

	for (int p = 0; p < view->leaders->count && rc == 0; p++)
		if (p != view->leaders->self)
			rc = vm_coll_pack(view, p);
	return rc;
}

int vm_coll_view_prepare(struct vm_coll_view *view, const struct vm_meet *meet,
			 const struct vm_coll_plan *plan)
{
	int rc;

	memset(view, 0, sizeof(*view));
	view->plan = *plan;
	view->packed_bytes = (size_t)mpi_cvar.coll_packed_bytes;
	rc = view_alloc(view, meet);
	if (rc || !vm_coll_is_node_reduce(plan, view->any))
		return rc;
	view->reduce = vm_coll_node_reduce_open(view);
	return view->reduce ? 0 : -VMPI_ENOMEM;
}

int vm_coll_view_open(struct vm_coll_view *view, struct vm_meet *meet,
		      const struct vm_coll_plan *plan)
{
	int rc = vm_coll_view_prepare(view, meet, plan);

	if (rc == 0)
		rc = parts_pack(view);
	if (rc != 0) {
		/* The other leaders are waiting for this one. */
		vm_leaders_barrier(meet, VM_LEADERS_MISMATCH);
		return rc;
	}
	rc = vm_leaders_exchange(meet, VM_LEADERS_COLL, view->parts);
	for (int p = 0; p < view->leaders->count && rc == 0; p++)
		if (p != view->leaders->self)
			rc = vm_coll_unpack(view, p);
	return rc;
}

bool vm_coll_is_plain(const struct vm_type *type)
{
	return type->dense && !type->dense_offset &&
	       type->extent == (MPI_Count)type->size;
}

int vm_coll_operands_fill(struct vm_coll *proxy, const struct vm_coll *like,
			  size_t count)
{
	const struct vm_type *type = like->recv.type;
	struct vm_data from = vm_data_bytes(proxy->send.buf, proxy->send.count);
	struct vm_data to;
	ptrdiff_t low;
	size_t bytes;

	proxy->op = like->op;
	proxy->send.type = type;
	proxy->send.count = count;
	if (from.addr && !vm_coll_is_plain(type)) {
		bytes = vm_fold_span(type, count, &low);
		/* Elements keep their alignment, as in a fold. */
		proxy->temp = calloc(1, bytes + 128);
		if (!proxy->temp)
			return -VMPI_ENOMEM;
		proxy->send.buf = vm_at(
			proxy->temp, (ptrdiff_t)(-(uintptr_t)proxy->temp & 63) +
					     (low & 63) - low);
		to = vm_type_data(type, proxy->send.buf, count);
		vm_data_copy_slow(&to, &from);
	}
	proxy->recv = proxy->send;
	return 0;
}

/* Returns the counts of a reduce-scatter: those of a member of the same
 * side. */
static struct vm_ints counts_like(const struct vm_coll_view *view, size_t seat)
{
	for (size_t i = 0; i < view->meet.size; i++) {
		const struct vm_coll *coll = vm_coll_of(&view->meet, i);

		if (coll->owner &&
		    vm_coll_is_second(coll, i) == vm_coll_is_second(coll, seat))
			return coll->recv.counts;
	}
	return (struct vm_ints){ 0 };
}

/* Returns a local member that computes; besides the root some may not. */
static const struct vm_coll *like_find(const struct vm_coll_view *view)
{
	const struct vm_coll *like = view->any;

	for (size_t i = 0; i < view->meet.size; i++) {
		const struct vm_coll *coll = vm_coll_of(&view->meet, i);

		if (coll->owner && coll->op)
			like = coll;
	}
	return like;
}

int vm_coll_view_compute(struct vm_coll_view *view)
{
	const struct vm_coll *like = like_find(view);
	int rc = 0;

	for (size_t i = 0; i < view->meet.size && rc == 0; i++) {
		struct vm_coll *proxy = vm_coll_of(&view->meet, i);

		if (proxy->owner)
			continue;
		/* A proxy receives nothing. */
		atomic_store_explicit(&proxy->error, MPI_ERR_OTHER,
				      memory_order_relaxed);
		proxy->in_place = proxy->kind->reduces && proxy->kind->slices;
		proxy->recv.type = proxy->send.type;
		proxy->recv.count = 0;
		if (proxy->kind->flow == VM_FLOW_BCAST)
			proxy->recv = proxy->send;
		if (!proxy->kind->reduces || !like->op)
			continue;
		rc = vm_coll_operands_fill(proxy, like, like->recv.count);
		if (!proxy->kind->slices)
			proxy->recv.counts = counts_like(view, i);
	}
	return rc;
}

void vm_coll_view_work(struct vm_coll_view *view)
{
	struct vm_meet *meet = &view->meet;
	const struct vm_leaders_process *here = view->here;
	struct vm_coll *me = vm_coll_own(meet, here->members[0]);
	const struct vm_coll_kind *kind = me->kind;
	bool all = kind->slices || kind->whole;

	if (kind->gathers && !vm_coll_of(meet, (size_t)me->root)->owner)
		return;
	if (all)
		kind->part(meet, me, 0, meet->size);
	for (uint32_t i = 0, end; i < here->count; i = end) {
		size_t first = here->members[i];

		for (end = i + 1; end < here->count; end++)
			if (here->members[end] != first + end - i)
				break;
		if (!all)
			kind->part(meet, me, first, first + end - i);
		if (kind->finish)
			kind->finish(meet, first, first + end - i);
	}
}

void vm_coll_view_close(struct vm_coll_view *view)
{
	for (size_t i = 0; view->proxies && i < view->meet.size; i++)
		free(view->proxies[i].temp);
	for (int p = 0; view->parts && p < view->leaders->count; p++) {
		free((void *)(uintptr_t)view->parts[p].out);
		free(view->parts[p].in);
	}
	free(view->going.list);
	free(view->coming.list);
	vm_kept_end(&view->memory);
}

/* Tells whether all members of all processes make the same call, which is
 * compared first. */
static bool same_call(struct vm_meet *meet)
{
	const struct vm_coll *first = vm_coll_of(meet, 0);

	for (size_t i = 1; i < meet->size; i++) {
		const struct vm_coll *coll = vm_coll_of(meet, i);

		if (coll->as == first->as)
			continue;
		for (size_t j = 0; j < meet->size; j++)
			vm_coll_fail(vm_coll_of(meet, j), MPI_ERR_OTHER,
				     "the ranks disagree: rank %d calls %s, "
				     "rank %d %s",
				     coll->rank, vm_call_name(coll->id),
				     first->rank, vm_call_name(first->id));
		return false;
	}
	return true;
}

static void plans_differ(struct vm_coll_view *view, int p)
{
	const struct vm_coll_plan *ours = &view->plans[0];
	const struct vm_coll_plan *theirs = &view->plans[p];

	for (size_t j = 0; j < view->meet.size; j++)
		vm_coll_fail(vm_coll_of(&view->meet, j), MPI_ERR_OTHER,
			     "process %u uses algorithm %s (%s, %s), process "
			     "%u %s (%s, %s): settings differ",
			     view->leaders->processes[0].process,
			     vm_coll_algorithm_name(ours->algorithm),
			     vm_coll_algorithm_name(ours->asked),
			     ours->in_turn ? "rank" : "tree",
			     view->leaders->processes[p].process,
			     vm_coll_algorithm_name(theirs->algorithm),
			     vm_coll_algorithm_name(theirs->asked),
			     theirs->in_turn ? "rank" : "tree");
}

/* Tells whether all processes have the same plan; if not, records an error for
 * all members.  A broadcast follows the plan of the root's process: others may
 * expect a different size, which is only their error. */
static bool plans_agree(struct vm_coll_view *view)
{
	bool bcast = view->any->kind->family == VM_FAMILY_BCAST;

	for (int p = 1; p < view->leaders->count; p++) {
		if (view->plans[p].asked == view->plans[0].asked &&
		    view->plans[p].in_turn == view->plans[0].in_turn &&
		    (bcast ||
		     view->plans[p].algorithm == view->plans[0].algorithm))
			continue;
		plans_differ(view, p);
		return false;
	}
	if (bcast && !view->any->first_size)
		view->plan = view->plans[view->leaders->of[view->any->root]];
	return true;
}

int vm_coll_view_do(struct vm_coll_view *view, struct vm_meet *meet, long root)
{
	const struct vm_coll *any = view->any;
	size_t step = 0;
	int rc;

	vm_coll_count(view->plan.algorithm);
	if (view->reduce)
		return vm_coll_node_reduce_do(view);
	if (any->kind->reduces && !view->plan.packs)
		step = vm_coll_slice(any);
	if (step)
		return vm_coll_slices(meet, step);
	rc = any->kind->relays && !view->plan.packs ? vm_coll_relay(view) :
						      vm_coll_direct(view);
	if (rc == 0)
		rc = vm_coll_view_compute(view);
	if (rc == 0 && any->first_size)
		vm_coll_inter_cross(&view->meet, root);
	else if (rc == 0 && any->kind->part)
		vm_coll_view_work(view);
	return rc;
}

/* Records the algorithm, for the local members. */
static void ways_set(const struct vm_meet *meet, uint32_t algorithm)
{
	const struct vm_leaders_process *here =
		&meet->leaders->processes[meet->leaders->self];

	for (uint32_t i = 0; i < here->count; i++)
		vm_coll_of(meet, here->members[i])->algorithm =
			(int8_t)algorithm;
}

static int long_do(struct vm_meet *meet)
{
	struct vm_coll_plan plan = vm_coll_plan(meet);
	struct vm_coll_view view;
	int rc = vm_coll_view_open(&view, meet, &plan);
	bool agree = false;
	long root = -1;

	if (rc == 0 && same_call(&view.meet))
		agree = view.any->first_size ?
				vm_coll_inter_agreed(&view.meet, &root) :
				vm_coll_agreed(&view.meet);
	if (agree && plans_agree(&view)) {
		ways_set(meet, view.plan.algorithm);
		vm_coll_types_compare(&view.meet);
		rc = vm_coll_view_do(&view, meet, root);
	}
	vm_coll_node_reduce_close(view.reduce);
	vm_coll_view_close(&view);
	return rc;
}

void vm_coll_hier(struct vm_meet *meet)
{
	int rc = vm_coll_small_far(meet);

	if (rc == 0) {
		vm_coll_count(VM_ALGORITHM_LINEAR);
		ways_set(meet, VM_ALGORITHM_LINEAR);
	} else if (rc == VM_PENDING) {
		rc = long_do(meet);
		if (rc == -VMPI_EMISMATCH && meet->gone)
			rc = vm_coll_differ_from(
				meet, meet->gone,
				meet->leaders->processes[0].members[0]);
	}
	meet->result = rc;
}
