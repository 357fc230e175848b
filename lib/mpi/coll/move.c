/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives that move data.
 *
 * A member's part is the data that it receives, so that data is copied to the
 * core that will use it.  In a gather, where only the root receives, it is the
 * data that the member sends.
 */
#include <string.h>

#include "base/copy.h"
#include "mpi/coll/coll.h"

static __attribute__((noinline)) void
data_move_slow(struct vm_coll *to, const struct vm_data *to_data,
	       const struct vm_coll *from, const struct vm_data *from_data)
{
	size_t bytes = to_data->bytes;

	if (!to->owner)
		return; /* done in its own process */
	if (bytes != from_data->bytes) {
		vm_coll_fail(to, MPI_ERR_TRUNCATE,
			     "rank %d sends %zu bytes, rank %d expects %zu",
			     from->rank, from_data->bytes, to->rank,
			     to_data->bytes);
		if (bytes > from_data->bytes)
			bytes = from_data->bytes;
	}
	if (to_data->addr == from_data->addr && !from->owner)
		return; /* it has come there */
	if (to_data->layout || from_data->layout)
		vm_data_copy_slow(to_data, from_data);
	else
		vm_copy(to_data->addr, from_data->addr, bytes);
}

/* Copies data from one member's buffer to another's: what is contiguous on both
 * sides and right on the spot. */
static inline void data_move(struct vm_coll *to, const struct vm_data *to_data,
			     const struct vm_coll *from,
			     const struct vm_data *from_data)
{
	if (VM_LIKELY(to->owner && to_data->bytes == from_data->bytes &&
		      !to_data->layout && !from_data->layout &&
		      to_data->addr != from_data->addr))
		vm_copy(to_data->addr, from_data->addr, to_data->bytes);
	else
		data_move_slow(to, to_data, from, from_data);
}

static size_t block_bytes(const struct vm_blocks *blocks)
{
	return blocks->count * (blocks->type ? blocks->type->size : 0);
}

/* Returns the bytes of all blocks of one side with n members. */
static size_t side_bytes(const struct vm_blocks *blocks, size_t n)
{
	size_t bytes = 0;

	if (!blocks->counts.array)
		return n * block_bytes(blocks);
	for (size_t i = 0; i < n; i++)
		bytes += vm_blocks_data(blocks, i).bytes;
	return bytes;
}

/* A barrier is only a meeting. */
static void barrier_cross(struct vm_meet *meet, struct vm_coll *me, size_t n)
{
}

const struct vm_coll_kind vm_coll_barrier = {
	.calls = VM_COLL_CALLS(barrier),
	.cross = barrier_cross,
};

static void bcast_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
		       size_t last)
{
	struct vm_coll *root = vm_coll_of(meet, (size_t)me->root);
	struct vm_data from = vm_blocks_data(&root->recv, 0);

	for (size_t i = first; i < last; i++) {
		struct vm_coll *to = vm_coll_of(meet, i);
		struct vm_data data;

		if (to == root)
			continue;
		data = vm_blocks_data(&to->recv, 0);
		data_move(to, &data, root, &from);
	}
}

static size_t bcast_work(const struct vm_coll *any, size_t n)
{
	return n * block_bytes(&any->recv);
}

static void bcast_cross(struct vm_meet *meet, struct vm_coll *me, size_t n)
{
	bcast_part(meet, me, meet->size, n);
}

const struct vm_coll_kind vm_coll_bcast = {
	.calls = VM_COLL_CALLS(bcast),
	.cross = bcast_cross,
	.part = bcast_part,
	.flow = VM_FLOW_BCAST,
	.work = bcast_work,
	.rooted = true,
	.direct = true,
	.relays = true,
	.family = VM_FAMILY_BCAST,
};

static void gather_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
			size_t last)
{
	struct vm_coll *root = vm_coll_of(meet, (size_t)me->root);

	for (size_t i = first; i < last; i++) {
		struct vm_coll *from = vm_coll_of(meet, i);
		struct vm_data from_data, to_data;

		if (from->in_place)
			continue;
		from_data = vm_blocks_data(&from->send, 0);
		to_data = vm_blocks_data(&root->recv, i);
		data_move(root, &to_data, from, &from_data);
	}
}

/* An estimate: one member's data says little about all of gatherv and
 * scatterv. */
static size_t gather_work(const struct vm_coll *any, size_t n)
{
	if (any->recv.counts.array)
		return side_bytes(&any->recv, n);
	return n * block_bytes(any->in_place ? &any->recv : &any->send);
}

static void gather_cross(struct vm_meet *meet, struct vm_coll *me, size_t n)
{
	gather_part(meet, me, 0, meet->size);
}

const struct vm_coll_kind vm_coll_gather = {
	.calls = VM_COLL_CALLS(gather),
	.cross = gather_cross,
	.gathers = true,
	.part = gather_part,
	.flow = VM_FLOW_GATHER,
	.work = gather_work,
	.rooted = true,
	.slices = true,
	.direct = true,
};

static void scatter_part(struct vm_meet *meet, struct vm_coll *me, size_t first,
			 size_t last)
{
	struct vm_coll *root = vm_coll_of(meet, (size_t)me->root);

	for (size_t i = first; i < last; i++) {
		struct vm_coll *to = vm_coll_of(meet, i);
		struct vm_data from_data, to_data;

		if (to->in_place)
			continue;
		from_data = vm_blocks_data(&root->send, i);
		to_data = vm_blocks_data(&to->recv, 0);
		data_move(to, &to_data, root, &from_data);
	}
}

static size_t scatter_work(const struct vm_coll *any, size_t n)
{
	if (any->send.counts.array)
		return side_bytes(&any->send, n);
	return n * block_bytes(any->in_place ? &any->send : &any->recv);
}

static void scatter_cross(struct vm_meet *meet, struct vm_coll *me, size_t n)
{
	struct vm_coll *root = vm_coll_of(meet, (size_t)me->root);

	for (size_t i = meet->size; i < n; i++) {
		struct vm_coll *to = vm_coll_of(meet, i);
		struct vm_data from_data, to_data;

		from_data = vm_blocks_data(&root->send, i - meet->size);
		to_data = vm_blocks_data(&to->recv, 0);
		data_move(to, &to_data, root, &from_data);
	}
}

const struct vm_coll_kind vm_coll_scatter = {
	.calls = VM_COLL_CALLS(scatter),
	.cross = scatter_cross,
	.part = scatter_part,
	.flow = VM_FLOW_SCATTER,
	.work = scatter_work,
	.rooted = true,
	.direct = true,
};

void vm_coll_allgather_block(struct vm_meet *meet, struct vm_coll *to, size_t i)
{
	struct vm_coll *from = vm_coll_of(meet, i);
	struct vm_data from_data, to_data;

	if (from == to && to->in_place)
		return;
	from_data = from->in_place ? vm_blocks_data(&from->recv, i) :
				     vm_blocks_data(&from->send, 0);
	to_data = vm_blocks_data(&to->recv, i);
	data_move(to, &to_data, from, &from_data);
}

static void allgather_pull(struct vm_meet *meet, struct vm_coll *to)
{
	for (size_t i = 0; i < meet->size; i++)
		vm_coll_allgather_block(meet, to, i);
}

/* Return the number of elements of block i and before it. */
static size_t block_count(const struct vm_blocks *blocks, size_t i)
{
	return blocks->counts.array ? (size_t)vm_ints_get(blocks->counts, i) :
				      blocks->count;
}

static ptrdiff_t block_begin(const struct vm_blocks *blocks, size_t i)
{
	return blocks->counts.array ? vm_ints_get(blocks->displs, i) :
				      (ptrdiff_t)(i * blocks->count);
}

/* Returns `count` elements from block i on. */
static struct vm_data blocks_from(const struct vm_blocks *blocks, size_t i,
				  size_t count)
{
	const struct vm_type *type = blocks->type;

	return vm_type_data(
		type, vm_at(blocks->buf, block_begin(blocks, i) * type->extent),
		count);
}

/* Returns where the blocks from i on, before `last`, that are alike and without
 * gaps on both sides end; *count is the number of their elements. */
static size_t run_end(const struct vm_blocks *a, const struct vm_blocks *b,
		      size_t i, size_t last, size_t *count)
{
	size_t end = i + 1, n = block_count(a, i);

	if (!a->counts.array && !b->counts.array) {
		*count = (last - i) * n;
		return last;
	}
	while (end < last && block_count(a, end) == block_count(b, end) &&
	       block_begin(a, end) == block_begin(a, i) + (ptrdiff_t)n &&
	       block_begin(b, end) == block_begin(b, i) + (ptrdiff_t)n)
		n += block_count(a, end++);
	*count = n;
	return end;
}

/* Copies blocks first to last - 1 to member `to` from a member that has them
 * all; blocks that differ in layout are copied from their owners. */
static void allgather_copy(struct vm_meet *meet, struct vm_coll *to,
			   const struct vm_coll *from, size_t first,
			   size_t last)
{
	const struct vm_blocks *a = &to->recv, *b = &from->recv;
	struct vm_data to_data, from_data;
	size_t count, end;

	while (first < last) {
		if (block_count(a, first) != block_count(b, first)) {
			vm_coll_allgather_block(meet, to, first++);
			continue;
		}
		end = run_end(a, b, first, last, &count);
		to_data = blocks_from(a, first, count);
		from_data = blocks_from(b, first, count);
		first = end;
		data_move(to, &to_data, from, &from_data);
	}
}

/*
 * For several parts the blocks are collected from their owners once and copied
 * from the first member to the others.  An in-place member's own block is not
 * written, since others may be reading it.
 */
static void allgather_part(struct vm_meet *meet, struct vm_coll *me,
			   size_t first, size_t last)
{
	struct vm_coll *source = vm_coll_of(meet, first);
	size_t n = meet->size;
	bool failed;

	allgather_pull(meet, source);
	failed = atomic_load_explicit(&source->error, memory_order_relaxed);
	for (size_t rank = first + 1; rank < last; rank++) {
		struct vm_coll *to = vm_coll_of(meet, rank);

		if (failed || to->recv.type->size != source->recv.type->size) {
			allgather_pull(meet, to);
		} else if (to->in_place) {
			allgather_copy(meet, to, source, 0, rank);
			allgather_copy(meet, to, source, rank + 1, n);
		} else {
			allgather_copy(meet, to, source, 0, n);
		}
	}
}

static size_t allgather_work(const struct vm_coll *any, size_t n)
{
	return n * side_bytes(&any->recv, n);
}

static void allgather_cross(struct vm_meet *meet, struct vm_coll *me, size_t n)
{
	for (size_t i = meet->size; i < n; i++)
		allgather_pull(meet, vm_coll_of(meet, i));
}

const struct vm_coll_kind vm_coll_allgather = {
	.calls = VM_COLL_CALLS(allgather),
	.cross = allgather_cross,
	.part = allgather_part,
	.flow = VM_FLOW_ALL,
	.work = allgather_work,
	.direct = true,
	.relays = true,
	.family = VM_FAMILY_ALLGATHER,
};

/* Exchanges the data of two members. */
static void swap(struct vm_coll *one, const struct vm_data *one_data,
		 struct vm_coll *other, const struct vm_data *other_data)
{
	struct vm_cursor a, b;
	char *p = NULL, *q = NULL;
	char between[512];
	size_t n, m;

	if (one_data->bytes != other_data->bytes) {
		const char *text = "in place, %zu bytes are to be exchanged "
				   "with %zu bytes of rank %d";

		vm_coll_fail(one, MPI_ERR_TRUNCATE, text, one_data->bytes,
			     other_data->bytes, other->rank);
		vm_coll_fail(other, MPI_ERR_TRUNCATE, text, other_data->bytes,
			     one_data->bytes, one->rank);
		return;
	}
	vm_cursor_init(&a, one_data);
	vm_cursor_init(&b, other_data);
	while ((n = vm_cursor_piece(&a, &p, sizeof(between))) != 0) {
		for (; n; n -= m, p += m) {
			m = vm_cursor_piece(&b, &q, n);
			memcpy(between, p, m);
			memcpy(p, q, m);
			memcpy(q, between, m);
		}
	}
}

/* In each pair one member swaps their blocks; each does half of its pairs. */
static void alltoall_swap(struct vm_meet *meet, struct vm_coll *to, size_t rank)
{
	for (size_t i = 0; i < meet->size; i++) {
		struct vm_coll *from = vm_coll_of(meet, i);
		struct vm_data from_data, to_data;
		bool even = (i + rank) % 2 == 0;

		if (i == rank)
			continue;
		/* The data of a remote member has been received already. */
		if (!from->owner) {
			from_data = vm_blocks_data(&from->send, rank);
			to_data = vm_blocks_data(&to->recv, i);
			data_move(to, &to_data, from, &from_data);
			continue;
		}
		if ((i < rank) != even)
			continue;
		from_data = vm_blocks_data(&from->recv, rank);
		to_data = vm_blocks_data(&to->recv, i);
		swap(to, &to_data, from, &from_data);
	}
}

static void alltoall_part(struct vm_meet *meet, struct vm_coll *me,
			  size_t first, size_t last)
{
	for (size_t rank = first; rank < last; rank++) {
		struct vm_coll *to = vm_coll_of(meet, rank);

		if (to->in_place) {
			alltoall_swap(meet, to, rank);
			continue;
		}
		for (size_t i = 0; i < meet->size; i++) {
			struct vm_coll *from = vm_coll_of(meet, i);
			struct vm_data from_data, to_data;

			from_data = vm_blocks_data(&from->send, rank);
			to_data = vm_blocks_data(&to->recv, i);
			data_move(to, &to_data, from, &from_data);
		}
	}
}

static size_t alltoall_work(const struct vm_coll *any, size_t n)
{
	return n * side_bytes(&any->recv, n);
}

static void alltoall_cross(struct vm_meet *meet, struct vm_coll *me, size_t n)
{
	for (size_t j = meet->size; j < n; j++) {
		struct vm_coll *to = vm_coll_of(meet, j);

		for (size_t i = 0; i < meet->size; i++) {
			struct vm_coll *from = vm_coll_of(meet, i);
			struct vm_data from_data, to_data;

			from_data = vm_blocks_data(&from->send, j - meet->size);
			to_data = vm_blocks_data(&to->recv, i);
			data_move(to, &to_data, from, &from_data);
		}
	}
}

const struct vm_coll_kind vm_coll_alltoall = {
	.calls = VM_COLL_CALLS(alltoall),
	.cross = alltoall_cross,
	.part = alltoall_part,
	.flow = VM_FLOW_BLOCKS,
	.work = alltoall_work,
	.swaps = true,
	.direct = true,
	.family = VM_FAMILY_ALLTOALL,
};
