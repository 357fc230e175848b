/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Algorithms by which leaders combine their vectors.
 *
 * Left operands are always of processes before those of the right operands,
 * unless the operation commutes.  Each element is computed in one process and
 * copied, or everywhere from the same operands in the same order, so that all
 * members get identical bits.
 */
#include <stdlib.h>

#include "mpi/coll/node_reduce.h"

/* State of a combination. */
struct work {
	struct vm_coll_node_reduce *reduce;
	struct vm_leaders_data talk;
	int count, self; /* processes */
	int root;	 /* the process of a root */
};

/* Elements of a vector. */
static struct vm_data range(const struct work *work, const void *vector,
			    size_t first, size_t n)
{
	return vm_type_data(work->reduce->type,
			    vm_coll_element(work->reduce, vector, first), n);
}

static void send(struct work *work, int to, const void *vector, size_t first,
		 size_t n)
{
	struct vm_data data = range(work, vector, first, n);

	vm_leaders_send(&work->talk, to, &data);
}

static void receive(struct work *work, int from, const void *vector,
		    size_t first, size_t n)
{
	struct vm_data data = range(work, vector, first, n);

	vm_leaders_recv(&work->talk, from, &data);
}

static void swap(struct vm_coll_node_reduce *reduce)
{
	void *sum = reduce->sum;

	reduce->sum = reduce->other;
	reduce->other = sum;
}

/* Computes sum = other op sum, or sum op other; nothing after an error. */
static void add(struct work *work, bool other_first)
{
	struct vm_coll_node_reduce *reduce = work->reduce;

	if (work->talk.error)
		return;
	if (other_first || reduce->op->commutes) {
		vm_coll_combine(reduce, reduce->other, reduce->sum,
				reduce->count);
		return;
	}
	vm_coll_combine(reduce, reduce->sum, reduce->other, reduce->count);
	swap(reduce);
}

/* Combines the vectors of the first `n` processes, received with the calls. */
static int linear(struct work *work, int n)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	struct vm_coll_view *view = reduce->view;
	struct vm_seat *seats =
		vm_coll_view_memory(view, (size_t)n * sizeof(*seats));
	struct vm_meet meet = { .size = (uint32_t)n, .seats = seats };
	struct vm_coll self = *reduce->me;
	size_t step = vm_coll_fold_step(reduce->me, reduce->count), m;
	int rc = seats ? 0 : -VMPI_ENOMEM;

	self.send.buf = reduce->sum;
	for (int p = 0; p < n && rc == 0; p++) {
		size_t seat = view->leaders->processes[p].members[0];
		struct vm_coll *proxy = vm_coll_of(&view->meet, seat);

		if (p != work->self)
			rc = vm_coll_operands_fill(proxy, reduce->me);
		atomic_init(&seats[p].args, p == work->self ? &self : proxy);
	}
	if (rc)
		return rc;
	for (size_t i = 0; i < reduce->count; i += m) {
		m = reduce->count - i < step ? reduce->count - i : step;
		vm_coll_fold(&meet, reduce->me,
			     vm_coll_element(reduce, reduce->other, i), i, m);
	}
	swap(reduce);
	return 0;
}

/*
 * Recursive doubling: in each step pairs of processes exchange their sums, of
 * twice as many processes as in the step before.  If their number is not a
 * power of two, some first send theirs to a neighbour.
 */
static void doubling(struct work *work)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	size_t n = reduce->count;
	int self = work->self, power = 1, rest, number;

	while (2 * power <= work->count)
		power *= 2;
	rest = work->count - power;
	number = self < 2 * rest ? self / 2 : self - rest;
	if (self < 2 * rest && self % 2 == 0) {
		send(work, self + 1, reduce->sum, 0, n);
		vm_leaders_wait(&work->talk);
		receive(work, self + 1, reduce->sum, 0, n);
		vm_leaders_wait(&work->talk);
		return;
	}
	if (self < 2 * rest) {
		receive(work, self - 1, reduce->other, 0, n);
		vm_leaders_wait(&work->talk);
		add(work, true);
	}
	for (int step = 1; step < power; step *= 2) {
		int other = number ^ step;
		int process = other < rest ? 2 * other + 1 : other + rest;

		receive(work, process, reduce->other, 0, n);
		send(work, process, reduce->sum, 0, n);
		vm_leaders_wait(&work->talk);
		if (other < number || work->talk.error)
			add(work, true);
		else {
			vm_coll_combine(reduce, reduce->sum, reduce->other, n);
			swap(reduce);
		}
	}
	if (self < 2 * rest)
		send(work, self - 1, reduce->sum, 0, n);
}

/* Reduces along a binomial tree.  Its root is that of the collective if the
 * operation commutes, else the first process. */
static void binomial(struct work *work)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	int count = work->count, step = 1;
	int base = reduce->op->commutes ? work->root : 0;
	int self = (work->self - base + count) % count;
	size_t n = reduce->count;

	for (; step < count && !(self & step); step *= 2) {
		if (self + step >= count)
			continue;
		receive(work, (self + step + base) % count, reduce->other, 0,
			n);
		vm_leaders_wait(&work->talk);
		add(work, false);
	}
	if (self)
		send(work, (self - step + base) % count, reduce->sum, 0, n);
	vm_leaders_wait(&work->talk);
	if (base == work->root)
		return;
	if (work->self == base)
		send(work, work->root, reduce->sum, 0, n);
	if (work->self == work->root)
		receive(work, base, reduce->sum, 0, n);
}

static size_t share(const struct work *work, int process)
{
	const size_t *begins = work->reduce->begins;

	return begins[process + 1] - begins[process];
}

/* Returns the process whose share is combined k-th: first the preceding ones,
 * nearest first, then the following ones, so that operands are always
 * adjacent. */
static int source(const struct work *work, int k)
{
	return k < work->self ? work->self - 1 - k : k + 1;
}

/* Combines the share received from the k-th source with this process's own. */
static void share_add(struct work *work, int k, size_t at)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	size_t n = share(work, work->self);
	void *sum = vm_coll_element(reduce, reduce->sum,
				    reduce->begins[work->self]);
	void *other = vm_coll_element(reduce, reduce->other, at);

	if (k < work->self || reduce->op->commutes) {
		vm_coll_combine(reduce, other, sum, n);
		return;
	}
	vm_coll_combine(reduce, sum, other, n);
	vm_coll_copy(reduce->type, sum, other, n);
}

/* Receives this process's share of all vectors, as many at a time as there is
 * room for, and combines them. */
static void scatter(struct work *work)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	size_t n = share(work, work->self);
	int others = work->count - 1, batch = others;

	if (n && reduce->count / n < (size_t)others)
		batch = (int)(reduce->count / n);
	for (int k = 1; k <= others; k++) {
		int to = (work->self + k) % work->count;

		send(work, to, reduce->sum, reduce->begins[to],
		     share(work, to));
	}
	for (int k = 0, end; k < others; k = end) {
		end = k + batch < others ? k + batch : others;
		for (int i = k; i < end; i++)
			receive(work, source(work, i), reduce->other,
				(size_t)(i - k) * n, n);
		vm_leaders_received(&work->talk);
		for (int i = k; i < end && !work->talk.error; i++)
			share_add(work, i, (size_t)(i - k) * n);
	}
	vm_leaders_wait(&work->talk);
}

/* Gathers the reduced shares, everywhere or at the root. */
static void gather(struct work *work, bool all)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	int self = work->self;

	for (int k = 1; k < work->count; k++) {
		int from = (self + work->count - k) % work->count;
		int to = (self + k) % work->count;

		if (all || self == work->root)
			receive(work, from, reduce->sum, reduce->begins[from],
				share(work, from));
		if (all || to == work->root)
			send(work, to, reduce->sum, reduce->begins[self],
			     share(work, self));
	}
}

/* Computes prefixes: in each step a process passes on the sum of twice as many
 * preceding processes. */
static void prefixes(struct work *work)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	size_t n = reduce->count;
	int self = work->self;

	for (int step = 1; step < work->count; step *= 2) {
		if (self >= step)
			receive(work, self - step, reduce->other, 0, n);
		if (self + step < work->count)
			send(work, self + step, reduce->sum, 0, n);
		vm_leaders_wait(&work->talk);
		if (self < step || work->talk.error)
			continue;
		if (step == 1)
			vm_coll_copy(reduce->type, reduce->before,
				     reduce->other, n);
		else
			vm_coll_combine(reduce, reduce->other, reduce->before,
					n);
		vm_coll_combine(reduce, reduce->other, reduce->sum, n);
	}
	reduce->sum = reduce->before;
}

static int linear_all(struct work *work, enum vm_coll_family family)
{
	int n = family == VM_FAMILY_SCAN ? work->self : work->count;

	if (n == 0 || (family == VM_FAMILY_REDUCE && work->self != work->root))
		return 0;
	return linear(work, n);
}

int vm_coll_node_reduce_combine(struct vm_coll_node_reduce *reduce)
{
	struct vm_coll_view *view = reduce->view;
	enum vm_coll_family family = view->any->kind->family;
	struct work work = { .reduce = reduce,
			     .count = view->leaders->count,
			     .self = view->leaders->self };

	work.root = (int)view->leaders->of[view->any->root];
	reduce->prefix = work.self > 0;
	if (!reduce->count)
		return 0;
	if (view->plan.algorithm == VM_ALGORITHM_LINEAR)
		return linear_all(&work, family);
	vm_leaders_data_begin(&work.talk, &view->meet);
	if (family == VM_FAMILY_SCAN) {
		prefixes(&work);
	} else if (view->plan.algorithm == VM_ALGORITHM_RECURSIVE_DOUBLING) {
		doubling(&work);
	} else if (view->plan.algorithm == VM_ALGORITHM_BINOMIAL) {
		binomial(&work);
	} else {
		scatter(&work);
		if (family != VM_FAMILY_REDUCE_SCATTER)
			gather(&work, family == VM_FAMILY_ALLREDUCE);
	}
	return vm_leaders_data_end(&work.talk);
}
