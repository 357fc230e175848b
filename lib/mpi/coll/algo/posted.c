/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks lie one behind the other, aligned, in the order in which they are
 * announced: those for the members of a process together, but once where all get
 * the same.
 */
#include "mpi/coll/algo/posted.h"

#include "core/meeting/leaders_board.h"
#include "mpi/coll/algo/node_reduce.h"
#include "mpi/coll/algo/pack.h"

#define ALIGN 64

static size_t aligned(size_t bytes)
{
	return (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static bool is_for_all(const struct vm_coll_view *view)
{
	return view->any->kind->flow == VM_FLOW_ALL;
}

/* Whether only the process of the root reads what the others post. */
static bool is_for_root(const struct vm_coll_view *view)
{
	return view->reduce && view->any->kind->family == VM_FAMILY_REDUCE &&
	       vm_coll_node_reduce_is_flat(view->reduce);
}

static bool posts(const struct vm_coll_view *view, int process)
{
	return !is_for_root(view) ||
	       (int)view->leaders->of[view->any->root] != process;
}

/* Longer blocks two processes copy more quickly by the kernel, once. */
#define PAIR_MOST 32768

/* Whether calls like this one, with such blocks, are posted. */
static bool is_posted(const struct vm_coll_view *view, size_t block_bytes)
{
	const struct vm_coll_node_reduce *reduce = view->reduce;

	if (!reduce)
		return (view->any->kind->flow == VM_FLOW_ALL ||
			view->any->kind->flow == VM_FLOW_BLOCKS) &&
		       (view->leaders->count > 2 || block_bytes <= PAIR_MOST);
	return reduce->pieces.count == (size_t)view->leaders->count &&
	       (view->post.left || vm_coll_is_plain(reduce->type)) &&
	       (vm_coll_node_reduce_is_flat(reduce) ?
			view->any->kind->family == VM_FAMILY_REDUCE :
			vm_coll_node_reduce_is_shared(reduce));
}

/* How much a process posts for the first `count` others. */
static size_t before(const struct vm_coll_view *view, int process, int count)
{
	const struct vm_leaders_process *processes = view->leaders->processes;
	size_t blocks = 0;

	if (is_for_all(view))
		return 0;
	for (int p = 0; p < count; p++)
		if (p != process)
			blocks += processes[p].count;
	return blocks * processes[process].count * view->post.stride;
}

static size_t bytes_of(const struct vm_coll_view *view, int process)
{
	const struct vm_leaders *leaders = view->leaders;

	if (view->reduce)
		return view->reduce->count * view->reduce->type->size;
	if (is_for_all(view))
		return leaders->processes[process].count * view->post.stride;
	return before(view, process, leaders->count);
}

static void fill(const struct vm_coll_view *view, char *to)
{
	const struct vm_coll_blocks *going = &view->going;
	struct vm_data data, place;

	if (view->reduce) {
		data = vm_coll_node_reduce_data(view->reduce);
		place = vm_data_bytes(to, data.bytes);
		vm_data_copy_slow(&place, &data);
		return;
	}
	for (size_t i = 0; i < going->count; i++) {
		const struct vm_coll_block *block = &going->list[i];

		if (is_for_all(view) &&
		    block->process != going->list[0].process)
			return;
		place = vm_data_bytes(to, block->out.bytes);
		vm_data_copy_slow(&place, &block->out);
		to += view->post.stride;
	}
}

bool vm_coll_posted_left(const struct vm_meet *meet,
			 const struct vm_coll_plan *plan)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_coll *any =
		vm_coll_of(meet, leaders->processes[leaders->self].members[0]);
	const struct vm_type *type = any->recv.type;

	return any->kind->family == VM_FAMILY_REDUCE &&
	       plan->algorithm == VM_ALGORITHM_LINEAR && !plan->packs &&
	       leaders->of[any->root] == 0 && vm_leaders_may_go_ahead(meet) &&
	       any->op->loops && type->extent == (MPI_Count)type->size &&
	       vm_leaders_board_reaches(leaders);
}

void vm_coll_posted_put(struct vm_coll_view *view, struct vm_leaders_card *card,
			size_t block_bytes)
{
	const struct vm_leaders *leaders = view->leaders;
	struct vm_coll_post *post = &view->post;
	size_t bytes;
	char *to;

	if (!is_posted(view, block_bytes) || !vm_leaders_board_reaches(leaders))
		return;
	post->reads = true;
	card->reads = 1;
	post->stride = aligned(block_bytes);
	bytes = bytes_of(view, leaders->self);
	if (bytes > VM_COLL_POSTED_MOST || !posts(view, leaders->self))
		return;
	to = vm_leaders_board_post(
		card, bytes, is_for_root(view) ? 1 : (uint32_t)leaders->count);
	if (!to)
		return;
	post->card = card;
	fill(view, to);
}

const void *vm_coll_posted_of(const struct vm_coll_view *view, int process)
{
	return vm_leaders_board_of(view->told, process,
				   bytes_of(view, process));
}

/* The proxies send what is there. */
static bool blocks_take(struct vm_coll_view *view)
{
	const char *at = NULL;
	int last = -1;

	for (size_t i = 0; i < view->coming.count; i++) {
		struct vm_coll_block *block = &view->coming.list[i];

		if (block->process != last) {
			last = block->process;
			at = vm_coll_posted_of(view, last);
			if (!at)
				return false;
			at += before(view, last, view->leaders->self);
		}
		*block->data = vm_data_bytes(at, block->data->bytes);
		at += view->post.stride;
	}
	view->coming.count = view->going.count = 0;
	return true;
}

/* Whether a process has posted what it sends, or reads what others do. */
static bool agrees(const struct vm_coll_view *view, const struct vm_meet *meet,
		   int process)
{
	const struct vm_leaders_card *card;
	size_t bytes;

	if (posts(view, process))
		return vm_leaders_board_of(meet, process, 0) != NULL;
	if (process == view->leaders->self)
		return view->post.reads;
	card = vm_leaders_card_of(meet, process, &bytes);
	return card && card->reads;
}

int vm_coll_posted_see(struct vm_coll_view *view, struct vm_meet *meet,
		       int error)
{
	struct vm_coll_post *post = &view->post;
	bool all = error == 0 && post->reads;

	if (post->left) {
		view->posted = error == 0 &&
			       (!meet->leaders->self || post->card);
		return error;
	}

	for (int p = 0; p < view->leaders->count && all; p++)
		all = agrees(view, meet, p);
	view->posted = all;
	if (all)
		return view->reduce || blocks_take(view) ? 0 : -VMPI_EIO;
	/* After other errors somebody else may know of none, and read. */
	if (post->card &&
	    (error == 0 || error == VM_PENDING || error == -VMPI_EMISMATCH))
		vm_leaders_board_take_back(post->card);
	return error;
}

void vm_coll_posted_end(struct vm_coll_view *view)
{
	int self = view->leaders->self;

	if (!view->posted || (is_for_root(view) && posts(view, self)))
		return;
	for (int p = 0; p < view->leaders->count; p++)
		if (posts(view, p))
			vm_leaders_board_read(view->told, p);
}
