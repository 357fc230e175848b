/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys and data of calls.
 */
#include "mpi/coll/algo/shown.h"

#include <string.h>

#include "mpi/coll/algo/small.h"

/*
 * Stores to a post wait in the store buffer for its cache line.  A wide load of
 * data written after them by narrower stores would wait too, so structs are
 * copied word by word here.
 */
static void data_set(struct vm_data *data, const struct vm_type *type,
		     const void *buf, size_t count)
{
	struct vm_data from = vm_type_data(type, buf, count);

	vm_data_assign(data, &from);
}

/* Gets the operands of a reduction, which keep their type for the
 * computation. */
static bool operands(const struct vm_coll *coll, struct vm_data *data)
{
	const struct vm_type *type = coll->recv.type;

	if (!type->dense || type->dense_offset ||
	    type->extent != (MPI_Count)type->size)
		return false;
	data->addr = (void *)(uintptr_t)coll->send.buf;
	data->bytes = type->size * coll->recv.count;
	data->layout = NULL;
	data->count = 0;
	return true;
}

struct vm_coll_span vm_coll_span_of(const struct vm_coll_team *team, size_t n)
{
	size_t first = team->members[0], count = team->count;

	if (count == n || team->members[count - 1] - first != count - 1)
		return (struct vm_coll_span){ 0, n };
	if (first == 0)
		return (struct vm_coll_span){ count, n - count };
	if (first + count == n)
		return (struct vm_coll_span){ 0, first };
	return (struct vm_coll_span){ 0, n };
}

/* Gets all data that a member sends; false: a proxy could not send it. */
static bool small_data(const struct vm_coll *coll,
		       const struct vm_coll_span *span, struct vm_data *data)
{
	const struct vm_blocks *side = &coll->send;
	struct vm_data from;
	size_t block = 0;

	if (coll->kind->reduces)
		return operands(coll, data);
	if (vm_coll_sends_blocks(coll)) {
		if (coll->in_place && coll->kind->swaps)
			return false;
		data_set(data, side->type,
			 vm_at(side->buf,
			       (ptrdiff_t)(span->first * side->count) *
				       side->type->extent),
			 side->count * span->count);
		return true;
	}
	if (coll->kind == &vm_coll_bcast) {
		side = &coll->recv;
	} else if (coll->in_place) {
		side = &coll->recv;
		block = (size_t)coll->rank;
	}
	if (!side->counts.array) {
		data_set(data, side->type,
			 vm_at(side->buf, (ptrdiff_t)(block * side->count) *
						  side->type->extent),
			 side->count);
		return true;
	}
	from = vm_blocks_data(side, block);
	vm_data_assign(data, &from);
	return true;
}

static void data_put(char *to, const struct vm_data *from)
{
	struct vm_data bytes;

	if (from->layout) {
		bytes = vm_data_bytes(to, from->bytes);
		vm_data_copy_slow(&bytes, from);
	} else if (from->bytes) {
		memcpy(to, from->addr, from->bytes); /* else it may be NULL */
	}
}

/* As data_show(), for blocks of any size: their sizes, where they begin behind
 * these, and the blocks.  Those for the members who show are left out. */
static bool uneven_show(const struct vm_coll *coll, struct vm_coll_shown *shown)
{
	size_t first = shown->span.first, n = shown->span.count;
	size_t used = vm_coll_uneven_head(n), at = 0;
	size_t room = shown->room - shown->used, own = 0;
	int *sizes = (int *)(void *)(shown->data + shown->used);
	char *blocks = (char *)sizes + used;

	if ((coll->in_place && coll->kind->swaps) || used > room)
		return false;
	for (size_t i = 0; i < n; i++) {
		struct vm_data from;

		sizes[i] = 0;
		sizes[n + i] = (int)at;
		while (own < shown->team.count &&
		       shown->team.members[own] < first + i)
			own++;
		if (own < shown->team.count &&
		    shown->team.members[own] == first + i)
			continue;
		from = vm_blocks_data(&coll->send, first + i);
		if (from.bytes > room - used)
			return false;
		sizes[i] = (int)from.bytes;
		data_put(blocks + at, &from);
		at += from.bytes;
		used += from.bytes;
	}
	/* Those of the next member are aligned. */
	used = (used + sizeof(int) - 1) & ~(sizeof(int) - 1);
	if (used > room || (shown->used && used != shown->bytes))
		return false;
	shown->bytes = (uint32_t)used;
	shown->used += used;
	return true;
}

/* Adds what a member sends. */
static bool data_show(const struct vm_coll *coll, struct vm_coll_shown *shown)
{
	struct vm_data from;

	if (coll->uneven)
		return uneven_show(coll, shown);
	if (!small_data(coll, &shown->span, &from) ||
	    from.bytes > shown->room - shown->used ||
	    (shown->used && from.bytes != shown->bytes))
		return false;
	/* Members that send nothing are not in the post. */
	if (from.bytes == 0)
		return false;
	shown->bytes = (uint32_t)from.bytes;
	data_put(shown->data + shown->used, &from);
	shown->used += shown->bytes;
	return true;
}

bool vm_coll_show_span(const struct vm_meet *meet, struct vm_coll_shown *shown,
		       uint64_t key[VM_MEET_KEY_WORDS])
{
	const struct vm_coll_team *team = &shown->team;
	const struct vm_coll *first = vm_coll_of(meet, team->members[0]);
	char what[sizeof(first->what)];

	/* Bytes have no type. */
	if (VM_UNLIKELY(mpi_cvar.check_types))
		return false;
	for (uint32_t i = 0; i < team->count; i++) {
		const struct vm_coll *coll = vm_coll_of(meet, team->members[i]);

		if (coll->first_size ||
		    (i && vm_coll_differs(first, coll, what, sizeof(what))))
			return false;
		if (vm_coll_small_sends(coll, coll->rank) &&
		    !data_show(coll, shown))
			return false;
	}
	vm_coll_key(key, first);
	return true;
}

bool vm_coll_show(const struct vm_meet *meet, struct vm_coll_shown *shown,
		  uint64_t key[VM_MEET_KEY_WORDS])
{
	const struct vm_coll *any = vm_coll_of(meet, shown->team.members[0]);

	shown->span = vm_coll_span_of(&shown->team, (size_t)any->size);
	return vm_coll_show_span(meet, shown, key);
}
