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

static bool is_from_root(const struct vm_coll_view *view)
{
	return view->any->kind->flow == VM_FLOW_BCAST;
}

static bool is_for_all(const struct vm_coll_view *view)
{
	return view->any->kind->flow == VM_FLOW_ALL || is_from_root(view);
}

/* Whether only the process of the root reads what the others post. */
static bool is_for_root(const struct vm_coll_view *view)
{
	return view->reduce && view->any->kind->family == VM_FAMILY_REDUCE &&
	       vm_coll_node_reduce_is_flat(view->reduce);
}

static bool posts(const struct vm_coll_view *view, int process)
{
	bool root = (int)view->leaders->of[view->any->root] == process;

	return is_from_root(view) ? root : !is_for_root(view) || !root;
}

/* Longer data of a root others fetch as quickly. */
#define ROOT_MOST 65536

/* Longer blocks two processes copy more quickly by the kernel, once. */
#define PAIR_MOST 32768

/* Whether calls like this one, with such blocks, are posted. */
static bool is_posted(const struct vm_coll_view *view, size_t block_bytes)
{
	const struct vm_coll_node_reduce *reduce = view->reduce;

	if (is_from_root(view))
		return view->leaders->count > 2 && block_bytes <= ROOT_MOST;
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
	if (is_from_root(view))
		return view->post.stride;
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

/* How many processes read what this one posts: a root does not itself. */
static uint32_t readers(const struct vm_coll_view *view)
{
	uint32_t count = (uint32_t)view->leaders->count;

	return is_for_root(view) ? 1 : is_from_root(view) ? count - 1 : count;
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
	to = vm_leaders_board_post(card, bytes, readers(view));
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

/* Whether all have, or the root has, or we have what is left to the root. */
static bool is_seen(const struct vm_coll_view *view, const struct vm_meet *meet)
{
	bool all = view->post.reads;

	if (is_from_root(view))
		return view->post.card;
	if (view->post.left)
		return !meet->leaders->self || view->post.card;
	for (int p = 0; p < view->leaders->count && all; p++)
		all = agrees(view, meet, p);
	return all;
}

int vm_coll_posted_see(struct vm_coll_view *view, struct vm_meet *meet,
		       int error)
{
	struct vm_coll_post *post = &view->post;

	view->posted = error == 0 && is_seen(view, meet);
	if (view->posted && is_from_root(view))
		view->going.count = 0;
	else if (view->posted && !view->reduce && !blocks_take(view))
		return -VMPI_EIO;
	/* After other errors somebody else may know of none, and read. */
	if (!view->posted && post->card &&
	    (error == 0 || error == VM_PENDING || error == -VMPI_EMISMATCH))
		vm_leaders_board_take_back(post->card);
	return error;
}

int vm_coll_posted_take(struct vm_coll_view *view, struct vm_meet *meet,
			const struct vm_leaders_card *card)
{
	if (!is_from_root(view) || !card->board)
		return 0;
	view->told = meet;
	view->post.stride = aligned(card->bytes);
	view->posted = blocks_take(view);
	return view->posted ? 0 : -VMPI_EIO;
}

void vm_coll_posted_end(struct vm_coll_view *view)
{
	int self = view->leaders->self;

	if (!view->posted ||
	    ((is_for_root(view) || is_from_root(view)) && posts(view, self)))
		return;
	for (int p = 0; p < view->leaders->count; p++)
		if (posts(view, p))
			vm_leaders_board_read(view->told, p);
}
