/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transfer of large blocks from a member's buffer to a remote member's.
 *
 * A block for one member is received in that member's buffer; a block for all
 * in the buffer of the first local member that expects as many bytes, from
 * which the others copy it.  If none does, which is an error of the program, it
 * is received in temporary memory.
 */
#include "mpi/coll/algo/pack.h"

#include <stdlib.h>

#include "core/meeting/leaders_place.h"

/* Returns where member `to` receives the data of member `from`. */
static struct vm_data place_of(const struct vm_coll_view *view, size_t to,
			       size_t from)
{
	const struct vm_coll *coll = vm_coll_of(&view->meet, to);

	if (coll->kind->flow == VM_FLOW_BCAST ||
	    coll->kind->flow == VM_FLOW_SCATTER)
		return vm_blocks_data(&coll->recv, 0);
	return vm_blocks_data(&coll->recv, vm_coll_block_of(coll, from));
}

/* Finds a local member's buffer with room for a block; false: there is none. */
static bool place_find(const struct vm_coll_view *view,
		       const struct vm_coll_block *block, struct vm_data *place)
{
	enum vm_coll_flow flow = view->any->kind->flow;
	bool one = flow == VM_FLOW_SCATTER || flow == VM_FLOW_BLOCKS;

	for (uint32_t i = 0; i < view->here->count; i++) {
		uint32_t to = view->here->members[i];
		const struct vm_coll *coll = vm_coll_of(&view->meet, to);

		if ((one && to != block->to) ||
		    !vm_coll_reaches(coll, block->from, to) ||
		    (flow == VM_FLOW_GATHER && !vm_coll_is_root(coll)))
			continue;
		*place = place_of(view, to, block->from);
		if (place->bytes == block->data->bytes)
			return true;
	}
	return false;
}

static void block_land(struct vm_coll_view *view, struct vm_coll_block *block)
{
	size_t bytes = block->data->bytes;
	struct vm_data place;

	if (!place_find(view, block, &place))
		place = vm_data_bytes(vm_coll_view_memory(view, bytes), bytes);
	/* Without memory the receive is truncated, which is reported as an
	 * error. */
	if (!place.addr && !place.layout)
		place.bytes = 0;
	*block->data = place;
}

/* Starts the sends to one process, or to all, and the receives from one, or
 * all. */
static void step(struct vm_coll_view *view, struct vm_leaders_data *talk,
		 int to, int from)
{
	for (size_t i = 0; i < view->coming.count; i++) {
		struct vm_coll_block *block = &view->coming.list[i];

		if (from >= 0 && block->process != from)
			continue;
		block_land(view, block);
		if (!vm_leaders_place_full(view->places, block->process))
			vm_leaders_recv(talk, block->process, block->data);
	}
	for (size_t i = 0; i < view->going.count; i++) {
		struct vm_coll_block *block = &view->going.list[i];

		if (to >= 0 && block->process != to)
			continue;
		if (!view->told ||
		    !vm_leaders_place_fill(talk, view->told, block->process,
					   &block->out))
			vm_leaders_send(talk, block->process, &block->out);
	}
}

int vm_coll_direct(struct vm_coll_view *view)
{
	int count = view->leaders->count, self = view->leaders->self;
	struct vm_leaders_data talk;
	int rc = 0, end;

	if (!view->coming.count && !view->going.count && !view->meet.talks)
		return 0;
	vm_leaders_data_begin(&talk, &view->meet);
	vm_leaders_places_expect(view->places, &talk);
	vm_leaders_received(&talk);
	if (view->plan.algorithm != VM_ALGORITHM_PAIRWISE)
		step(view, &talk, -1, -1);
	for (int k = 1;
	     k < count && view->plan.algorithm == VM_ALGORITHM_PAIRWISE; k++) {
		step(view, &talk, (self + k) % count,
		     (self + count - k) % count);
		vm_leaders_wait(&talk);
	}
	if (view->meet.talks)
		rc = vm_leaders_hear_late(&view->meet, &talk);
	end = vm_leaders_data_end(&talk);
	return rc ? rc : end;
}
