/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that reduce.
 *
 * A member's part is a slice of all members' elements, reduced block by block
 * in memory that stays in the cache (mpi/op/fold.h) and copied to all
 * receivers.
 */
#include <stdlib.h>

#include "mpi/coll/coll.h"
#include "mpi/op/fold.h"

/* Element i of what a member sends. */
static const void *operand(const struct vm_meet *meet, size_t rank, size_t i)
{
	const struct vm_coll *coll = vm_coll_of(meet, rank);

	return vm_fold_element(coll->recv.type, coll->send.buf, i);
}

bool vm_coll_fold_open(struct vm_fold *fold, const struct vm_meet *meet,
		       const struct vm_coll *me, size_t n)
{
	if (!vm_fold_open(fold, me->op, me->recv.type, meet->size,
			  vm_coll_in_turn(me), n))
		return false;
	for (size_t i = 0; i < meet->size; i++)
		fold->operands[i] = vm_coll_of(meet, i)->send.buf;
	return true;
}

/* Returns the first element of a member's part. */
static size_t slice_begin(const struct vm_meet *meet, const struct vm_coll *me,
			  size_t rank)
{
	size_t count = me->recv.count, size = meet->size;

	return count / size * rank + count % size * rank / size;
}

static void no_memory(struct vm_meet *meet, size_t first, size_t last)
{
	for (size_t i = first; i < last; i++)
		vm_coll_fail(vm_coll_of(meet, i), MPI_ERR_NO_MEM,
			     "no memory to reduce in");
}

/* Reduces a slice and copies the result to members to_first to to_last - 1. */
static void reduce_slice(struct vm_meet *meet, struct vm_coll *me, size_t first,
			 size_t last, size_t to_first, size_t to_last)
{
	size_t i = slice_begin(meet, me, first);
	size_t end = slice_begin(meet, me, last), n;
	const void *sum;
	struct vm_fold fold;

	if (i == end)
		return;
	if (!vm_coll_fold_open(&fold, meet, me, end - i)) {
		no_memory(meet, to_first, to_last);
		return;
	}
	for (; i < end; i += n) {
		n = end - i < fold.step ? end - i : fold.step;
		sum = vm_fold_part(&fold, 0, meet->size, i, n, NULL);
		for (size_t to = to_first; to < to_last; to++) {
			const struct vm_coll *coll = vm_coll_of(meet, to);
			const struct vm_type *type = coll->recv.type;

			if (coll->owner)
				vm_fold_copy(type,
					     vm_fold_element(type,
							     coll->recv.buf, i),
					     sum, n);
		}
	}
	vm_fold_close(&fold);
}

static void reduce_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
			size_t last)
{
	reduce_slice(meet, me, first, last, (size_t)me->root,
		     (size_t)me->root + 1);
}

static void allreduce_part(struct vm_meet *meet, struct vm_coll *me,
			   size_t first, size_t last)
{
	reduce_slice(meet, me, first, last, 0, meet->size);
}

static size_t reduce_work(const struct vm_coll *any, size_t n)
{
	return n * any->recv.count * any->recv.type->size;
}

static void reduce_cross(struct vm_meet *meet, struct vm_coll *me, size_t n)
{
	reduce_part(meet, me, 0, meet->size);
}

const struct vm_coll_kind vm_coll_reduce = {
	.calls = VM_COLL_CALLS(reduce),
	.cross = reduce_cross,
	.gathers = true,
	.part = reduce_part,
	.work = reduce_work,
	.rooted = true,
	.flow = VM_FLOW_GATHER,
	.reduces = true,
	.slices = true,
	.family = VM_FAMILY_REDUCE,
};

static void allreduce_cross(struct vm_meet *meet, struct vm_coll *me, size_t n)
{
	reduce_slice(meet, me, 0, meet->size, meet->size, n);
}

const struct vm_coll_kind vm_coll_allreduce = {
	.calls = VM_COLL_CALLS(allreduce),
	.cross = allreduce_cross,
	.part = allreduce_part,
	.work = reduce_work,
	.flow = VM_FLOW_ALL,
	.reduces = true,
	.slices = true,
	.family = VM_FAMILY_ALLREDUCE,
};

/* Prepares a member for its share of `count` elements.  In place, other members
 * still read its buffer, so the share is collected elsewhere. */
static void share_open(struct vm_coll *to, size_t count, size_t sharers)
{
	size_t bytes, own = vm_coll_share(to, sharers, (size_t)to->rank);
	ptrdiff_t low;

	if (count != own) {
		vm_coll_fail(to, MPI_ERR_TRUNCATE,
			     "rank 0 has %zu elements for rank %d, which "
			     "expects %zu",
			     count, to->rank, own);
	} else if (to->in_place) {
		bytes = vm_fold_span(to->recv.type, count, &low);
		to->temp = malloc(bytes ? bytes : 1);
		if (!to->temp)
			vm_coll_fail(to, MPI_ERR_NO_MEM,
				     "no memory to reduce in");
	}
}

/* Copies to a member, unless it has failed, n of the `count` elements of its
 * share, from `at` on. */
static void share_give(struct vm_coll *to, size_t count, size_t at,
		       const void *elements, size_t n)
{
	const struct vm_type *type = to->recv.type;
	void *buf = (void *)(uintptr_t)to->recv.buf;
	ptrdiff_t low;

	if (atomic_load_explicit(&to->error, memory_order_relaxed))
		return;
	if (to->temp) {
		vm_fold_span(type, count, &low);
		buf = vm_at(to->temp, -low);
	}
	vm_fold_copy(type, vm_fold_element(type, buf, at), elements, n);
}

/*
 * Sharers first to last - 1 of those that sit from `seat` on.  Their shares are
 * one row of elements, which is reduced in pieces of any size: shares may be
 * small.
 */
static void shares_reduce(struct vm_meet *meet, struct vm_coll *me, size_t seat,
			  size_t sharers, size_t first, size_t last)
{
	const struct vm_coll *plan = vm_coll_of(meet, seat);
	size_t i = 0, end, n, rank = first, at = 0;
	const void *sum;
	struct vm_fold fold;

	for (size_t r = 0; r < first; r++)
		i += vm_coll_share(plan, sharers, r);
	end = i;
	for (size_t r = first; r < last; r++) {
		share_open(vm_coll_of(meet, seat + r),
			   vm_coll_share(plan, sharers, r), sharers);
		end += vm_coll_share(plan, sharers, r);
	}
	if (i == end)
		return;
	if (!vm_coll_fold_open(&fold, meet, me, end - i)) {
		no_memory(meet, seat + first, seat + last);
		return;
	}
	for (; i < end; i += n) {
		n = end - i < fold.step ? end - i : fold.step;
		sum = vm_fold_part(&fold, 0, meet->size, i, n, NULL);
		for (size_t given = 0, m; given < n; given += m) {
			size_t count = vm_coll_share(plan, sharers, rank);

			m = count - at < n - given ? count - at : n - given;
			share_give(vm_coll_of(meet, seat + rank), count, at,
				   vm_fold_element(me->recv.type, sum, given),
				   m);
			at += m;
			if (at == count) {
				rank++;
				at = 0;
			}
		}
	}
	vm_fold_close(&fold);
}

static void reduce_scatter_part(struct vm_meet *meet, struct vm_coll *me,
				size_t first, size_t last)
{
	shares_reduce(meet, me, 0, meet->size, first, last);
}

static void reduce_scatter_finish(struct vm_meet *meet, size_t first,
				  size_t last)
{
	for (size_t rank = first; rank < last; rank++) {
		struct vm_coll *to = vm_coll_of(meet, rank);
		size_t count = vm_coll_share(to, meet->size, rank);
		ptrdiff_t low;

		if (!to->temp)
			continue;
		vm_fold_span(to->recv.type, count, &low);
		vm_fold_copy(to->recv.type, (void *)(uintptr_t)to->recv.buf,
			     vm_at(to->temp, -low), count);
		free(to->temp);
		to->temp = NULL;
	}
}

/* Each side distributes the other's result by its own counts. */
static void reduce_scatter_cross(struct vm_meet *meet, struct vm_coll *me,
				 size_t n)
{
	size_t sharers = n - meet->size;

	shares_reduce(meet, me, meet->size, sharers, 0, sharers);
}

const struct vm_coll_kind vm_coll_reduce_scatter = {
	.calls = VM_COLL_CALLS(reduce_scatter),
	.cross = reduce_scatter_cross,
	.part = reduce_scatter_part,
	.finish = reduce_scatter_finish,
	.work = reduce_work,
	.flow = VM_FLOW_ALL,
	.reduces = true,
	.family = VM_FAMILY_REDUCE_SCATTER,
};

/* Computes each member's result from the previous one's and its operand. */
static void scan_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		      size_t last)
{
	const struct vm_type *type = me->recv.type;
	size_t i = slice_begin(meet, me, first);
	size_t end = slice_begin(meet, me, last), n;
	size_t most = vm_op_is_user(me->op) ?
			      end - i :
			      vm_fold_step(me->op, type, end - i);

	for (; i < end; i += n) {
		const void *before = NULL;

		n = end - i < most ? end - i : most;
		for (size_t rank = 0; rank < meet->size; rank++) {
			struct vm_coll *to = vm_coll_of(meet, rank);
			void *out =
				vm_fold_element(to->recv.type, to->recv.buf, i);

			if (!to->in_place)
				vm_fold_copy(to->recv.type, out,
					     operand(meet, rank, i), n);
			if (before)
				vm_op_apply(me->op, type, before, out, n);
			before = out;
		}
	}
}

const struct vm_coll_kind vm_coll_scan = {
	.calls = VM_COLL_CALLS(scan),
	.part = scan_part,
	.work = reduce_work,
	.flow = VM_FLOW_ALL,
	.reduces = true,
	.slices = true,
	.family = VM_FAMILY_SCAN,
};

/*
 * Copies each prefix to its member after the member's operand was saved, since
 * in place both share a buffer.  The total is not needed.
 */
static void exscan_block(struct vm_meet *meet, struct vm_coll *me, void *sum,
			 void *next, size_t i, size_t n)
{
	const struct vm_type *type = me->recv.type;
	const void *before = operand(meet, 0, i);

	for (size_t rank = 1; rank < meet->size; rank++) {
		struct vm_coll *to = vm_coll_of(meet, rank);
		void *out = vm_fold_element(type, to->recv.buf, i);

		if (rank == meet->size - 1) {
			vm_fold_copy(type, out, before, n);
			return;
		}
		vm_fold_copy(type, next, operand(meet, rank, i), n);
		vm_fold_copy(type, out, before, n);
		vm_op_apply(me->op, type, before, next, n);
		before = next;
		next = sum;
		sum = (void *)(uintptr_t)before;
	}
}

static void exscan_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
			size_t last)
{
	size_t i = slice_begin(meet, me, first);
	size_t end = slice_begin(meet, me, last), n;
	struct vm_fold fold;

	if (i == end)
		return;
	/* The partial results of a fold of three are those needed here. */
	if (!vm_fold_open(&fold, me->op, me->recv.type, 3, false, end - i)) {
		no_memory(meet, 0, meet->size);
		return;
	}
	for (; i < end; i += n) {
		n = end - i < fold.step ? end - i : fold.step;
		exscan_block(meet, me, fold.value, fold.value + fold.value_gap,
			     i, n);
	}
	vm_fold_close(&fold);
}

const struct vm_coll_kind vm_coll_exscan = {
	.calls = VM_COLL_CALLS(exscan),
	.part = exscan_part,
	.work = reduce_work,
	.flow = VM_FLOW_ALL,
	.reduces = true,
	.slices = true,
	.family = VM_FAMILY_SCAN,
};
