/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens within the process: reducing the operands of its members, where
 * there is much to do with the help of idle workers, and handing out the result.
 *
 * Vectors are addressed like buffers of the user's.  That of a reduce-scatter has
 * the elements in the order of the processes, then of the members, so that what
 * goes to a process is one piece.
 */
#include "mpi/coll/node_reduce.h"

#include <stdlib.h>

#include "core/local/engine.h"
#include "core/local/work.h"

/* Functions of the user take an int. */
#define COMBINE_MOST ((size_t)1 << 24)

/* A vector; NULL when out of memory. */
static void *vector_new(struct vm_coll_node_reduce *partial, size_t count)
{
	ptrdiff_t low;
	size_t bytes = vm_coll_span(partial->type, count, &low) + 64;
	char *memory = vm_coll_view_memory(partial->view, bytes);

	/* Elements keep the alignment that they have in a buffer at 0. */
	return memory ? vm_at(memory, (low & 63) - low) : NULL;
}

void vm_coll_combine(const struct vm_coll_node_reduce *partial,
		     const void *left, void *right, size_t n)
{
	size_t i = 0, m;

	for (; i < n; i += m) {
		m = n - i < COMBINE_MOST ? n - i : COMBINE_MOST;
		vm_op_apply(partial->op, partial->type,
			    vm_coll_element(partial, left, i),
			    vm_coll_element(partial, right, i), m);
	}
}

struct vm_data
vm_coll_node_reduce_data(const struct vm_coll_node_reduce *partial)
{
	return vm_type_data(partial->type, partial->sum, partial->count);
}

bool vm_coll_node_reduce_wanted(const struct vm_coll_view *view, int process)
{
	const struct vm_coll *any = view->any;

	if (any->kind->family == VM_FAMILY_REDUCE)
		return (int)view->far->of[any->root] == process;
	if (any->kind->family == VM_FAMILY_SCAN)
		return process > view->far->self;
	return true;
}

/* Elements from `from` on of all members here are reduced to those of the vector
 * from `to` on. */
static void fold(struct vm_coll_node_reduce *partial, size_t from, size_t to,
		 size_t n)
{
	size_t step = vm_coll_fold_step(partial->me, n), m;

	for (size_t i = 0; i < n; i += m) {
		m = n - i < step ? n - i : step;
		vm_coll_fold(&partial->local, partial->me,
			     vm_coll_element(partial, partial->sum, to + i),
			     from + i, m);
	}
}

/* Part i of so many of the elements. */
static size_t slice_begin(const struct vm_coll_node_reduce *partial, size_t i)
{
	size_t size = partial->local.size;

	return partial->count / size * i + partial->count % size * i / size;
}

static void fold_part(void *arg, size_t first, size_t last)
{
	struct vm_coll_node_reduce *partial = arg;
	size_t begin = slice_begin(partial, first);

	fold(partial, begin, begin, slice_begin(partial, last) - begin);
}

static int home(void *arg, size_t part)
{
	const struct vm_coll_node_reduce *partial = arg;

	return vm_coll_of(&partial->local, part)->owner->engine->index;
}

/* Runs the parts of all members here. */
static void run(struct vm_coll_node_reduce *partial,
		const struct vm_work_kind *work)
{
	size_t n = partial->local.size;
	size_t bytes = n * partial->count * partial->type->size;

	if (!partial->op->loops || bytes <= (size_t)mpi_cvar.coll_share_bytes)
		work->part(partial, 0, n);
	else
		vm_work_run(work, partial, n);
}

/* Where each process's share begins: of a reduce-scatter its members', else
 * equal ones. */
static void shares_begin(struct vm_coll_node_reduce *partial)
{
	const struct vm_coll_view *view = partial->view;
	const struct vm_leaders *far = view->far;
	size_t n = (size_t)far->count, at = 0;

	for (size_t p = 0; p < n; p++) {
		const struct vm_leaders_process *process = &far->processes[p];

		partial->begins[p] =
			partial->count / n * p + partial->count % n * p / n;
		if (view->any->kind->family != VM_FAMILY_REDUCE_SCATTER)
			continue;
		partial->begins[p] = at;
		for (uint32_t i = 0; i < process->count; i++)
			at += vm_coll_share(view->any, view->meet.size,
					    process->members[i]);
	}
	partial->begins[n] = partial->count;
}

/* Members' shares, where they are not in the order of the processes. */
static void shares_fold(struct vm_coll_node_reduce *partial)
{
	const struct vm_coll_view *view = partial->view;
	size_t begin = 0;

	for (uint32_t seat = 0; seat < view->meet.size; seat++) {
		size_t p = view->far->of[seat];
		const struct vm_leaders_process *process =
			&view->far->processes[p];
		size_t n = vm_coll_share(view->any, view->meet.size, seat);
		size_t to = partial->begins[p];

		for (uint32_t i = 0; process->members[i] != seat; i++)
			to += vm_coll_share(view->any, view->meet.size,
					    process->members[i]);
		fold(partial, begin, to, n);
		begin += n;
	}
}

/*
 * Where the members here are reduced to: the buffer of one that gets the result,
 * unless something in it is needed later than it is overwritten.
 */
static void *sum_place(struct vm_coll_node_reduce *partial)
{
	const struct vm_coll_view *view = partial->view;
	const struct vm_coll *to = NULL;

	if (view->any->kind->family == VM_FAMILY_ALLREDUCE)
		to = view->any;
	else if (view->any->kind->family == VM_FAMILY_REDUCE &&
		 vm_meet_here(&view->meet, (uint32_t)view->any->root))
		to = vm_coll_of(&view->meet, (size_t)view->any->root);
	if (to && !to->in_place && to->recv.buf)
		return (void *)(uintptr_t)to->recv.buf;
	return vector_new(partial, partial->count);
}

/* The members here, behind an empty seat. */
static bool local_fill(struct vm_coll_node_reduce *partial)
{
	const struct vm_coll_view *view = partial->view;
	const struct vm_leaders_process *here = view->here;
	struct vm_seat *seats = vm_coll_view_memory(
		partial->view, (here->count + 1) * sizeof(*seats));

	if (!seats)
		return false;
	partial->local.size = here->count;
	partial->local.seats = seats + 1;
	atomic_init(&seats[0].args, NULL);
	for (uint32_t i = 0; i < here->count; i++)
		atomic_init(&seats[i + 1].args,
			    vm_coll_of(&view->meet, here->members[i]));
	return true;
}

struct vm_coll_node_reduce *vm_coll_node_reduce_open(struct vm_coll_view *view)
{
	static const struct vm_work_kind work = { fold_part, home };
	struct vm_coll_node_reduce *partial = calloc(1, sizeof(*partial));
	size_t begins = (size_t)view->far->count + 1;

	if (!partial)
		return NULL;
	partial->view = view;
	if (!local_fill(partial)) {
		free(partial);
		return NULL;
	}
	/* There are no others yet. */
	partial->me = vm_coll_own(&partial->local, 0);
	partial->op = partial->me->op;
	partial->type = partial->me->recv.type;
	partial->count = partial->me->recv.count;
	partial->begins =
		vm_coll_view_memory(view, begins * sizeof(*partial->begins));
	partial->sum = sum_place(partial);
	partial->other = vector_new(partial, partial->count);
	partial->before = partial->other;
	if (view->any->kind->family == VM_FAMILY_SCAN)
		partial->before = vector_new(partial, partial->count);
	if (!partial->begins || !partial->sum || !partial->other ||
	    !partial->before) {
		free(partial);
		return NULL;
	}
	shares_begin(partial);
	if (!partial->count)
		return partial;
	if (view->far->blocks ||
	    view->any->kind->family != VM_FAMILY_REDUCE_SCATTER)
		run(partial, &work);
	else
		shares_fold(partial);
	return partial;
}

void vm_coll_node_reduce_close(struct vm_coll_node_reduce *partial)
{
	free(partial);
}

static void result_part(void *arg, size_t first, size_t last)
{
	const struct vm_coll_node_reduce *partial = arg;

	for (size_t i = first; i < last; i++) {
		const struct vm_coll *coll = vm_coll_of(&partial->local, i);

		vm_coll_copy(coll->recv.type, (void *)(uintptr_t)coll->recv.buf,
			     partial->sum, partial->count);
	}
}

/* Each member here gets its share of a reduce-scatter. */
static void shares_give(const struct vm_coll_node_reduce *partial)
{
	const struct vm_coll_view *view = partial->view;
	size_t at = partial->begins[view->far->self];

	for (uint32_t i = 0; i < partial->local.size; i++) {
		struct vm_coll *to = vm_coll_of(&partial->local, i);
		size_t rank = (size_t)to->rank, size = view->meet.size;
		size_t n = vm_coll_share(view->any, size, rank);

		if (n != vm_coll_share(to, size, rank))
			vm_coll_fail(to, MPI_ERR_TRUNCATE,
				     "rank %d has %zu elements for rank %d, "
				     "which expects %zu",
				     view->any->rank, n, to->rank,
				     vm_coll_share(to, size, rank));
		else
			vm_coll_copy(to->recv.type,
				     (void *)(uintptr_t)to->recv.buf,
				     vm_coll_element(partial, partial->sum, at),
				     n);
		at += n;
	}
}

/* The scan of the members here, behind the prefix. */
static void scan_give(struct vm_coll_node_reduce *partial)
{
	struct vm_coll before = *partial->me;
	struct vm_meet local = partial->local;

	if (partial->prefix) {
		before.owner = NULL;
		before.in_place = true;
		before.send.buf = before.recv.buf = partial->sum;
		local.seats--;
		local.size++;
		atomic_init(&local.seats[0].args, &before);
	}
	partial->me->kind->part(&local, partial->me, 0, local.size);
}

static void result_give(struct vm_coll_node_reduce *partial)
{
	static const struct vm_work_kind work = { result_part, home };
	const struct vm_coll_view *view = partial->view;
	struct vm_coll *root;

	switch (view->any->kind->family) {
	case VM_FAMILY_REDUCE:
		root = vm_coll_of(&view->meet, (size_t)view->any->root);
		if (root->owner)
			vm_coll_copy(root->recv.type,
				     (void *)(uintptr_t)root->recv.buf,
				     partial->sum, partial->count);
		break;
	case VM_FAMILY_ALLREDUCE:
		run(partial, &work);
		break;
	case VM_FAMILY_REDUCE_SCATTER:
		shares_give(partial);
		break;
	default:
		scan_give(partial);
	}
}

int vm_coll_node_reduce_do(struct vm_coll_view *view)
{
	struct vm_coll_node_reduce *partial = view->partial;
	int rc = vm_coll_node_reduce_combine(partial);

	if (rc == 0 && partial->count)
		result_give(partial);
	return rc;
}
