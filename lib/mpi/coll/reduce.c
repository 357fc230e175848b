/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that reduce.
 *
 * A member's part is a slice of all members' elements, reduced block by block
 * in scratch memory that stays in the cache and copied to all receivers.
 *
 * Operands are combined in rank order, for reproducible results: from the left,
 * ((0 op 1) op 2) ..., if the operation commutes, since operations change their
 * right operand and send buffers may be read-only; else from the right.
 */
#include <stdlib.h>

#include "base/copy.h"
#include "mpi/coll/coll.h"

#define SCRATCH_BYTES 4096
/* User functions often expect all elements in one call. */
#define USER_SCRATCH_BYTES ((size_t)1 << 20)

/* Scratch memory for elements of a type, addressed like a user buffer. */
struct scratch {
	char *elements;	 /* where an element at 0 would be */
	size_t capacity; /* elements */
	void *heap;	 /* NULL: it is `stack` */
	_Alignas(64) char stack[SCRATCH_BYTES];
};

size_t vm_coll_span(const struct vm_type *type, size_t n, ptrdiff_t *low)
{
	ptrdiff_t rest = (ptrdiff_t)(n ? n - 1 : 0) * type->extent;

	*low = type->true_lb + (rest < 0 ? rest : 0);
	return (size_t)(type->true_extent + (rest < 0 ? -rest : rest));
}

/* Returns how many of n elements fit into `bytes` bytes; at least one. */
static size_t capacity(const struct vm_type *type, size_t n, size_t bytes)
{
	size_t extent =
		(size_t)(type->extent < 0 ? -type->extent : type->extent);
	size_t fit = n;

	if ((size_t)type->true_extent > bytes)
		return 1;
	if (extent)
		fit = 1 + (bytes - (size_t)type->true_extent) / extent;
	return fit < n ? fit : n;
}

size_t vm_coll_fold_step(const struct vm_coll *me, size_t n)
{
	return capacity(me->recv.type, n,
			me->op->user ? USER_SCRATCH_BYTES : SCRATCH_BYTES - 64);
}

/* Scratch for up to n elements; false when out of memory. */
static bool scratch_open(struct scratch *scratch, const struct vm_coll *me,
			 size_t n)
{
	const struct vm_type *type = me->recv.type;
	ptrdiff_t low, shift;
	size_t bytes;
	char *memory = scratch->stack;

	scratch->heap = NULL;
	/* Elements keep the alignment that they have in a buffer at 0. */
	scratch->capacity = vm_coll_fold_step(me, n);
	bytes = vm_coll_span(type, scratch->capacity, &low) + 64;
	if (bytes > SCRATCH_BYTES) {
		bytes = (bytes + 63) & ~(size_t)63;
		memory = scratch->heap = aligned_alloc(64, bytes);
		if (!memory)
			return false;
	}
	shift = low % 64;
	if (shift < 0)
		shift += 64;
	scratch->elements = vm_at(memory, shift - low);
	return true;
}

static void scratch_close(struct scratch *scratch)
{
	free(scratch->heap);
}

/* Element i of a buffer. */
static void *element(const struct vm_type *type, const void *buf, size_t i)
{
	return vm_at(buf, (ptrdiff_t)i * type->extent);
}

void vm_coll_copy(const struct vm_type *type, void *to, const void *from,
		  size_t n)
{
	struct vm_data to_data, from_data;

	if (to == from)
		return;

	if (type->dense) {
		vm_copy(vm_at(to, type->dense_offset),
			vm_at(from, type->dense_offset), n * type->size);
		return;
	}
	to_data = vm_type_data(type, to, n);
	from_data = vm_type_data(type, from, n);
	vm_data_copy_slow(&to_data, &from_data);
}

/* Element i of what a member sends. */
static const void *operand(const struct vm_meet *meet, size_t rank, size_t i)
{
	const struct vm_coll *coll = vm_coll_of(meet, rank);

	return element(coll->recv.type, coll->send.buf, i);
}

void vm_coll_fold(const struct vm_meet *meet, const struct vm_coll *me,
		  void *acc, size_t from, size_t n)
{
	const struct vm_op *op = me->op;
	const struct vm_type *type = me->recv.type;
	size_t size = meet->size;

	if (op->commutes) {
		vm_coll_copy(type, acc, operand(meet, 0, from), n);
		for (size_t i = 1; i < size; i++)
			vm_op_apply(op, type, operand(meet, i, from), acc, n);
		return;
	}
	vm_coll_copy(type, acc, operand(meet, size - 1, from), n);
	for (size_t i = size - 1; i-- > 0;)
		vm_op_apply(op, type, operand(meet, i, from), acc, n);
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
	struct scratch scratch;

	if (i == end)
		return;
	if (!scratch_open(&scratch, me, end - i)) {
		no_memory(meet, to_first, to_last);
		return;
	}
	for (; i < end; i += n) {
		n = end - i < scratch.capacity ? end - i : scratch.capacity;
		vm_coll_fold(meet, me, scratch.elements, i, n);
		for (size_t to = to_first; to < to_last; to++) {
			const struct vm_coll *coll = vm_coll_of(meet, to);
			const struct vm_type *type = coll->recv.type;

			if (coll->owner)
				vm_coll_copy(type,
					     element(type, coll->recv.buf, i),
					     scratch.elements, n);
		}
	}
	scratch_close(&scratch);
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
		bytes = vm_coll_span(to->recv.type, count, &low);
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
		vm_coll_span(type, count, &low);
		buf = vm_at(to->temp, -low);
	}
	vm_coll_copy(type, element(type, buf, at), elements, n);
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
	struct scratch scratch;

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
	if (!scratch_open(&scratch, me, end - i)) {
		no_memory(meet, seat + first, seat + last);
		return;
	}
	for (; i < end; i += n) {
		n = end - i < scratch.capacity ? end - i : scratch.capacity;
		vm_coll_fold(meet, me, scratch.elements, i, n);
		for (size_t given = 0, m; given < n; given += m) {
			size_t count = vm_coll_share(plan, sharers, rank);

			m = count - at < n - given ? count - at : n - given;
			share_give(vm_coll_of(meet, seat + rank), count, at,
				   element(me->recv.type, scratch.elements,
					   given),
				   m);
			at += m;
			if (at == count) {
				rank++;
				at = 0;
			}
		}
	}
	scratch_close(&scratch);
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
		vm_coll_span(to->recv.type, count, &low);
		vm_coll_copy(to->recv.type, (void *)(uintptr_t)to->recv.buf,
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
	size_t most = capacity(type, end - i,
			       me->op->user ? SIZE_MAX / 2 : SCRATCH_BYTES);

	for (; i < end; i += n) {
		const void *before = NULL;

		n = end - i < most ? end - i : most;
		for (size_t rank = 0; rank < meet->size; rank++) {
			struct vm_coll *to = vm_coll_of(meet, rank);
			void *out = element(to->recv.type, to->recv.buf, i);

			if (!to->in_place)
				vm_coll_copy(to->recv.type, out,
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
		void *out = element(type, to->recv.buf, i);

		if (rank == meet->size - 1) {
			vm_coll_copy(type, out, before, n);
			return;
		}
		vm_coll_copy(type, next, operand(meet, rank, i), n);
		vm_coll_copy(type, out, before, n);
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
	struct scratch one, other;

	if (i == end)
		return;
	if (!scratch_open(&one, me, end - i)) {
		no_memory(meet, 0, meet->size);
		return;
	}
	if (!scratch_open(&other, me, end - i)) {
		no_memory(meet, 0, meet->size);
		goto close_one;
	}
	for (; i < end; i += n) {
		n = end - i < one.capacity ? end - i : one.capacity;
		exscan_block(meet, me, one.elements, other.elements, i, n);
	}
	scratch_close(&other);
close_one:
	scratch_close(&one);
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
