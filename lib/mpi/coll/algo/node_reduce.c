/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hierarchical reductions within a process: reduction of its members' operands,
 * shared with idle workers if there is much to do, and distribution of the
 * results.
 *
 * Vectors are addressed like user buffers.  The vector of a reduce-scatter has
 * its elements ordered by process, then by member, so that each process's share
 * is contiguous.
 */
#include "mpi/coll/algo/node_reduce.h"

#include <stdlib.h>
#include <string.h>

#include "core/local/engine.h"
#include "core/local/work.h"

/* User functions take an int as length. */
#define COMBINE_MOST ((size_t)1 << 24)

/* Allocates a vector; NULL when out of memory. */
static void *vector_new(struct vm_coll_node_reduce *reduce, size_t count)
{
	ptrdiff_t low;
	size_t bytes = vm_fold_span(reduce->type, count, &low) + 64;
	char *memory = vm_coll_view_memory(reduce->view, bytes);

	/* Elements keep the alignment that they have in a buffer at 0. */
	return memory ? vm_at(memory, (low & 63) - low) : NULL;
}

void vm_coll_combine(const struct vm_coll_node_reduce *reduce, const void *left,
		     void *right, size_t n)
{
	size_t i = 0, m;

	for (; i < n; i += m) {
		m = n - i < COMBINE_MOST ? n - i : COMBINE_MOST;
		vm_op_apply(reduce->op, reduce->type,
			    vm_coll_element(reduce, left, i),
			    vm_coll_element(reduce, right, i), m);
	}
}

struct vm_data
vm_coll_node_reduce_data(const struct vm_coll_node_reduce *reduce)
{
	return vm_type_data(reduce->type, reduce->sum,
			    reduce->own * reduce->count);
}

bool vm_coll_node_reduce_wanted(const struct vm_coll_view *view, int process)
{
	const struct vm_coll *any = view->any;

	if (any->kind->family == VM_FAMILY_REDUCE)
		return (int)view->leaders->of[any->root] == process;
	if (any->kind->family == VM_FAMILY_SCAN)
		return process > view->leaders->self;
	return true;
}

/* Reduces the elements from `from` on of local members first to last - 1 to
 * those of the vector `sum` from `to` on. */
static void fold(const struct vm_coll_node_reduce *reduce,
		 const struct vm_fold *fold, size_t first, size_t last,
		 size_t from, void *sum, size_t to, size_t n)
{
	for (size_t i = 0, m; i < n; i += m) {
		void *out = vm_coll_element(reduce, sum, to + i);

		m = n - i < fold->step ? n - i : fold->step;
		vm_fold_copy(reduce->type, out,
			     vm_fold_part(fold, first, last, from + i, m, out),
			     m);
	}
}

/* Does so for each piece, whose vector is in sum. */
static void pieces_fold(struct vm_coll_node_reduce *reduce, size_t from,
			size_t to, size_t n)
{
	const struct vm_coll_pieces *pieces = &reduce->pieces;
	uint32_t self = (uint32_t)reduce->view->leaders->self;
	size_t first = 0, last;
	struct vm_fold all;

	if (n == 0)
		return;
	if (!vm_coll_fold_open(&all, &reduce->local, reduce->me, n)) {
		atomic_store_explicit(&reduce->no_memory, true,
				      memory_order_relaxed);
		return;
	}
	for (uint32_t i = 0; i < pieces->count; i++) {
		if (pieces->process[i] != self)
			continue;
		last = reduce->local.size;
		if (reduce->own > 1)
			last = first + pieces->ends[i] -
			       (i ? pieces->ends[i - 1] : 0);
		fold(reduce, &all, first, last, from,
		     vm_coll_element(reduce, reduce->sum,
				     pieces->index[i] * reduce->count),
		     to, n);
		first = last;
	}
	vm_fold_close(&all);
}

/* Returns where part i of the elements begins. */
static size_t slice_begin(const struct vm_coll_node_reduce *reduce, size_t i)
{
	size_t size = reduce->local.size;

	return reduce->count / size * i + reduce->count % size * i / size;
}

static void fold_part(void *arg, size_t first, size_t last)
{
	struct vm_coll_node_reduce *reduce = arg;
	size_t begin = slice_begin(reduce, first);

	pieces_fold(reduce, begin, begin, slice_begin(reduce, last) - begin);
}

static int home(void *arg, size_t part)
{
	const struct vm_coll_node_reduce *reduce = arg;

	return vm_coll_of(&reduce->local, part)->owner->engine->index;
}

/* Runs the parts of all local members. */
static void run(struct vm_coll_node_reduce *reduce,
		const struct vm_work_kind *work)
{
	size_t n = reduce->local.size;
	size_t bytes = n * reduce->count * reduce->type->size;

	if (!reduce->op->loops || bytes <= (size_t)mpi_cvar.coll_share_bytes)
		work->part(reduce, 0, n);
	else
		vm_work_run(work, reduce, n);
}

/* Computes where each process's share begins: in a reduce-scatter its members'
 * shares, else equal ones. */
static void shares_begin(struct vm_coll_node_reduce *reduce)
{
	const struct vm_coll_view *view = reduce->view;
	const struct vm_leaders *leaders = view->leaders;
	size_t n = (size_t)leaders->count, at = 0;

	for (size_t p = 0; p < n; p++) {
		const struct vm_leaders_process *process =
			&leaders->processes[p];

		reduce->begins[p] =
			reduce->count / n * p + reduce->count % n * p / n;
		if (view->any->kind->family != VM_FAMILY_REDUCE_SCATTER)
			continue;
		reduce->begins[p] = at;
		for (uint32_t i = 0; i < process->count; i++)
			at += vm_coll_share(view->any, view->meet.size,
					    process->members[i]);
	}
	reduce->begins[n] = reduce->count;
}

/* Reduces members' shares that are not in the order of the processes. */
static void shares_fold(struct vm_coll_node_reduce *reduce)
{
	const struct vm_coll_view *view = reduce->view;
	size_t begin = 0;

	for (uint32_t seat = 0; seat < view->meet.size; seat++) {
		size_t p = view->leaders->of[seat];
		const struct vm_leaders_process *process =
			&view->leaders->processes[p];
		size_t n = vm_coll_share(view->any, view->meet.size, seat);
		size_t to = reduce->begins[p];

		for (uint32_t i = 0; process->members[i] != seat; i++)
			to += vm_coll_share(view->any, view->meet.size,
					    process->members[i]);
		pieces_fold(reduce, begin, to, n);
		begin += n;
	}
}

/*
 * Returns the memory for the sum of the local members: the buffer of one that
 * receives the result, unless its contents are needed after they are
 * overwritten.
 */
static void *sum_place(struct vm_coll_node_reduce *reduce)
{
	const struct vm_coll_view *view = reduce->view;
	const struct vm_coll *to = NULL;

	if (view->any->kind->family == VM_FAMILY_ALLREDUCE)
		to = view->any;
	else if (view->any->kind->family == VM_FAMILY_REDUCE &&
		 vm_meet_here(&view->meet, (uint32_t)view->any->root))
		to = vm_coll_of(&view->meet, (size_t)view->any->root);
	if (to && !to->in_place && to->recv.buf && reduce->own == 1)
		return (void *)(uintptr_t)to->recv.buf;
	return vector_new(reduce, reduce->own * reduce->count);
}

/* Whether the only operand here can be sent, and read, where it is. */
static bool is_lent(const struct vm_coll_node_reduce *reduce)
{
	const struct vm_coll_view *view = reduce->view;
	uint32_t algorithm = view->plan.algorithm;

	if (view->here->count != 1 || reduce->own != 1 || !reduce->count)
		return false;
	if (vm_coll_node_reduce_is_shared(reduce))
		return view->leaders->blocks;
	return (view->any->kind->family == VM_FAMILY_REDUCE ||
		view->any->kind->family == VM_FAMILY_ALLREDUCE) &&
	       (vm_coll_node_reduce_is_flat(reduce) ||
		algorithm == VM_ALGORITHM_BINOMIAL ||
		algorithm == VM_ALGORITHM_RECURSIVE_DOUBLING);
}

/* Whether vectors are received in rooms: all of them, or those of a tree in which
 * the only operand here comes before them. */
static bool has_rooms(const struct vm_coll_node_reduce *reduce,
		      const int *givers, int count)
{
	if (vm_coll_node_reduce_is_flat(reduce))
		return true;
	if (!reduce->lent ||
	    reduce->view->plan.algorithm != VM_ALGORITHM_BINOMIAL)
		return false;
	for (int i = 0; i < count; i++)
		if (givers[i] < reduce->view->leaders->self)
			return false;
	return true;
}

/* Makes room for the vectors of other processes; of a tree the last one is where
 * the sum belongs.  0, VM_PENDING: they need none, or -VMPI_ENOMEM. */
static int rooms_new(struct vm_coll_node_reduce *reduce)
{
	size_t processes = (size_t)reduce->view->leaders->count;
	int *givers =
		vm_coll_view_memory(reduce->view, processes * sizeof(*givers));
	int n = givers ? vm_coll_node_reduce_givers(reduce, givers) : 0;
	bool flat = vm_coll_node_reduce_is_flat(reduce);

	if (!givers)
		return -VMPI_ENOMEM;
	if (!has_rooms(reduce, givers, n))
		return VM_PENDING;
	reduce->rooms = vm_coll_view_memory(reduce->view,
					    processes * sizeof(*reduce->rooms));
	if (!reduce->rooms)
		return -VMPI_ENOMEM;
	memset(reduce->rooms, 0, processes * sizeof(*reduce->rooms));
	if (n || !reduce->lent ||
	    reduce->view->any->kind->family == VM_FAMILY_ALLREDUCE)
		reduce->result = sum_place(reduce);
	reduce->sum = reduce->lent ? (void *)(uintptr_t)reduce->me->send.buf :
				     reduce->result;
	for (int i = 0; i < n; i++) {
		void *room = !flat && i == n - 1 ?
				     reduce->result :
				     vector_new(reduce, reduce->count);

		if (!room)
			return -VMPI_ENOMEM;
		reduce->rooms[givers[i]] = room;
	}
	return 0;
}

/* Lends the operand, so that sums of as many steps as there are end where the
 * result belongs. */
static void lend(struct vm_coll_node_reduce *reduce)
{
	int steps = 0;

	reduce->spare = reduce->sum;
	reduce->sum = (void *)(uintptr_t)reduce->me->send.buf;
	if (vm_coll_node_reduce_is_shared(reduce))
		return;
	for (int n = 1; n < reduce->view->leaders->count; n *= 2)
		steps++;
	if (steps % 2) {
		void *spare = reduce->spare;

		reduce->spare = reduce->other;
		reduce->other = spare;
	}
}

/* Fills in the local members, after an empty seat. */
static bool local_fill(struct vm_coll_node_reduce *reduce)
{
	const struct vm_coll_view *view = reduce->view;
	const struct vm_leaders_process *here = view->here;
	struct vm_seat *seats = vm_coll_view_memory(
		reduce->view, (here->count + 1) * sizeof(*seats));

	if (!seats)
		return false;
	reduce->local.size = here->count;
	reduce->local.seats = seats + 1;
	atomic_init(&seats[0].args, NULL);
	for (uint32_t i = 0; i < here->count; i++)
		atomic_init(&seats[i + 1].args,
			    vm_coll_of(&view->meet, here->members[i]));
	return true;
}

/* Fills in the pieces. */
static bool pieces_fill(struct vm_coll_node_reduce *reduce)
{
	const struct vm_leaders *leaders = reduce->view->leaders;
	uint32_t size = reduce->view->meet.size;
	bool in_turn = vm_coll_in_turn(reduce->me);
	uint32_t count = in_turn ? (uint32_t)leaders->count :
				   vm_coll_pieces_count(leaders, size);
	uint32_t *memory = vm_coll_view_memory(
		reduce->view,
		vm_coll_pieces_words(count, leaders->count) * sizeof(*memory));

	if (!memory)
		return false;
	vm_coll_pieces_fill(&reduce->pieces, memory, count, leaders, size,
			    in_turn);
	reduce->own = reduce->pieces.of[leaders->self];
	return true;
}

/* Allocates the vectors. */
static bool vectors_new(struct vm_coll_node_reduce *reduce)
{
	size_t processes = (size_t)reduce->view->leaders->count;
	int rc;

	reduce->begins = vm_coll_view_memory(
		reduce->view, (processes + 1) * sizeof(*reduce->begins));
	reduce->lent = is_lent(reduce);
	rc = rooms_new(reduce);
	if (rc != VM_PENDING)
		return rc == 0 && reduce->begins;
	reduce->sum = sum_place(reduce);
	/* Shares of equal size, which are rounded, of all pieces fit. */
	reduce->room = reduce->count + reduce->pieces.count;
	reduce->other = vector_new(reduce, reduce->room);
	reduce->before = reduce->other;
	if (reduce->view->any->kind->family == VM_FAMILY_SCAN)
		reduce->before = vector_new(reduce, reduce->count);
	if (!reduce->begins || !reduce->sum || !reduce->other ||
	    !reduce->before)
		return false;
	if (reduce->lent)
		lend(reduce);
	return true;
}

/* Reduces the operands of the local members; false: no memory. */
static bool local_reduce(struct vm_coll_node_reduce *reduce)
{
	static const struct vm_work_kind work = { fold_part, home };
	const struct vm_coll_view *view = reduce->view;

	/* The link of a chain before this one comes first. */
	if (!reduce->count || reduce->lent ||
	    view->plan.algorithm == VM_ALGORITHM_CHAIN)
		return true;
	if (view->leaders->blocks ||
	    view->any->kind->family != VM_FAMILY_REDUCE_SCATTER)
		run(reduce, &work);
	else
		shares_fold(reduce);
	return !atomic_load_explicit(&reduce->no_memory, memory_order_relaxed);
}

struct vm_coll_node_reduce *vm_coll_node_reduce_open(struct vm_coll_view *view)
{
	/* The meet in it has cache lines of its own. */
	struct vm_coll_node_reduce *reduce = aligned_alloc(
		_Alignof(struct vm_coll_node_reduce), sizeof(*reduce));

	if (!reduce)
		return NULL;
	*reduce = (struct vm_coll_node_reduce){ .view = view };
	if (!local_fill(reduce))
		goto free_reduce;
	/* The other seats are not used yet. */
	reduce->me = vm_coll_own(&reduce->local, 0);
	reduce->op = reduce->me->op;
	reduce->type = reduce->me->recv.type;
	reduce->count = reduce->me->recv.count;
	if (!pieces_fill(reduce) || !vectors_new(reduce))
		goto free_reduce;
	shares_begin(reduce);
	if (local_reduce(reduce))
		return reduce;
free_reduce:
	free(reduce);
	return NULL;
}

void vm_coll_node_reduce_close(struct vm_coll_node_reduce *reduce)
{
	free(reduce);
}

static void result_part(void *arg, size_t first, size_t last)
{
	const struct vm_coll_node_reduce *reduce = arg;

	for (size_t i = first; i < last; i++) {
		const struct vm_coll *coll = vm_coll_of(&reduce->local, i);

		vm_fold_copy(coll->recv.type, (void *)(uintptr_t)coll->recv.buf,
			     reduce->sum, reduce->count);
	}
}

/* Copies each local member its share of a reduce-scatter. */
static void shares_give(const struct vm_coll_node_reduce *reduce)
{
	const struct vm_coll_view *view = reduce->view;
	size_t at = reduce->begins[view->leaders->self];

	for (uint32_t i = 0; i < reduce->local.size; i++) {
		struct vm_coll *to = vm_coll_of(&reduce->local, i);
		size_t rank = (size_t)to->rank, size = view->meet.size;
		size_t n = vm_coll_share(view->any, size, rank);

		if (n != vm_coll_share(to, size, rank))
			vm_coll_fail(to, MPI_ERR_TRUNCATE,
				     "rank %d has %zu elements for rank %d, "
				     "which expects %zu",
				     view->any->rank, n, to->rank,
				     vm_coll_share(to, size, rank));
		else
			vm_fold_copy(to->recv.type,
				     (void *)(uintptr_t)to->recv.buf,
				     vm_coll_element(reduce, reduce->sum, at),
				     n);
		at += n;
	}
}

/* The local members, after one that brings the prefix, if there is one. */
static struct vm_meet with_prefix(const struct vm_coll_node_reduce *reduce,
				  struct vm_coll *prefix)
{
	struct vm_meet local = reduce->local;

	if (!reduce->prefix)
		return local;
	*prefix = *reduce->me;
	prefix->owner = NULL;
	prefix->in_place = true;
	prefix->send.buf = prefix->recv.buf = reduce->before;
	local.seats--;
	local.size++;
	atomic_init(&local.seats[0].args, prefix);
	return local;
}

bool vm_coll_node_reduce_chain(struct vm_coll_node_reduce *reduce, size_t from,
			       size_t n)
{
	struct vm_coll prefix;
	struct vm_meet local = with_prefix(reduce, &prefix);
	struct vm_fold all;

	if (!vm_coll_fold_open(&all, &local, reduce->me, n))
		return false;
	fold(reduce, &all, 0, local.size, from, reduce->sum, from, n);
	vm_fold_close(&all);
	return true;
}

/* Scans the operands of the local members, after the prefix. */
static void scan_give(struct vm_coll_node_reduce *reduce)
{
	struct vm_coll prefix;
	struct vm_meet local = with_prefix(reduce, &prefix);

	reduce->me->kind->part(&local, reduce->me, 0, local.size);
}

static void result_give(struct vm_coll_node_reduce *reduce)
{
	static const struct vm_work_kind work = { result_part, home };
	const struct vm_coll_view *view = reduce->view;
	struct vm_coll *root;

	switch (view->any->kind->family) {
	case VM_FAMILY_REDUCE:
		root = vm_coll_of(&view->meet, (size_t)view->any->root);
		if (root->owner)
			vm_fold_copy(root->recv.type,
				     (void *)(uintptr_t)root->recv.buf,
				     reduce->sum, reduce->count);
		break;
	case VM_FAMILY_ALLREDUCE:
		run(reduce, &work);
		break;
	case VM_FAMILY_REDUCE_SCATTER:
		shares_give(reduce);
		break;
	default:
		scan_give(reduce);
	}
}

int vm_coll_node_reduce_do(struct vm_coll_view *view)
{
	struct vm_coll_node_reduce *reduce = view->reduce;
	int rc = vm_coll_node_reduce_combine(reduce);

	if (rc == 0 && reduce->count)
		result_give(reduce);
	return rc;
}
