/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Algorithms by which leaders combine their vectors.
 *
 * Left operands are always of ranks before those of the right operands.  Each
 * element is computed in one process and copied, or everywhere from the same
 * operands in the same order, so that all members get identical bits; with a
 * tree (piece.h) those of a single process.
 */
#include <stdlib.h>

#include "core/meeting/leaders_place.h"
#include "mpi/coll/algo/node_reduce.h"

/* State of a combination. */
struct work {
	struct vm_coll_node_reduce *reduce;
	struct vm_leaders_data talk;
	int count, self; /* processes */
	int root;	 /* the process of a root */
};

static struct work work_of(struct vm_coll_node_reduce *reduce)
{
	const struct vm_leaders *leaders = reduce->view->leaders;

	return (struct work){
		.reduce = reduce,
		.count = leaders->count,
		.self = leaders->self,
		.root = (int)leaders->of[reduce->view->any->root],
	};
}

/* Elements of a vector. */
static struct vm_data range(const struct work *work, const void *vector,
			    size_t first, size_t n)
{
	return vm_type_data(work->reduce->type,
			    vm_coll_element(work->reduce, vector, first), n);
}

bool vm_coll_pieces_open(struct vm_fold *fold,
			 const struct vm_coll_node_reduce *reduce, size_t count,
			 size_t n)
{
	return vm_fold_open_trees(fold, reduce->op, reduce->type, count,
				  reduce->pieces.ends,
				  vm_coll_in_turn(reduce->me), n);
}

void vm_coll_pieces_fold(const struct vm_coll_node_reduce *reduce,
			 const struct vm_fold *fold, size_t count, size_t from,
			 size_t n, void *to)
{
	for (size_t i = 0, m; i < n; i += m) {
		m = n - i < fold->step ? n - i : fold->step;
		vm_fold_copy(reduce->type, vm_coll_element(reduce, to, i),
			     vm_fold_part(fold, 0, count, from + i, m, NULL),
			     m);
	}
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
	void *sum = reduce->spare ? reduce->spare : reduce->sum;

	reduce->sum = reduce->other;
	reduce->other = sum;
	reduce->spare = NULL;
}

/* Makes sum a vector of our own. */
static void sum_own(struct vm_coll_node_reduce *reduce)
{
	if (!reduce->spare)
		return;
	vm_fold_copy(reduce->type, reduce->spare, reduce->sum, reduce->count);
	reduce->sum = reduce->spare;
	reduce->spare = NULL;
}

/* Computes sum = other op sum, or sum op other; nothing after an error. */
static void add(struct work *work, bool other_first)
{
	struct vm_coll_node_reduce *reduce = work->reduce;

	if (work->talk.error)
		return;
	if (other_first) {
		sum_own(reduce);
		vm_coll_combine(reduce, reduce->other, reduce->sum,
				reduce->count);
		return;
	}
	vm_coll_combine(reduce, reduce->sum, reduce->other, reduce->count);
	swap(reduce);
}

/* Returns this process's vector of a piece. */
static void *own_vector(const struct vm_coll_node_reduce *reduce, size_t piece)
{
	return vm_coll_element(reduce, reduce->sum,
			       reduce->pieces.index[piece] * reduce->count);
}

/* Combines the vectors of the first `count` pieces, received with the calls. */
static int linear(struct work *work, size_t count)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	const struct vm_coll_pieces *pieces = &reduce->pieces;
	struct vm_coll_view *view = reduce->view;
	struct vm_fold fold;
	int rc = 0;

	if (!vm_coll_pieces_open(&fold, reduce, count, reduce->count))
		return -VMPI_ENOMEM;
	for (size_t i = 0; i < count && rc == 0; i++) {
		int p = (int)pieces->process[i];
		size_t seat = view->leaders->processes[p].members[0];
		struct vm_coll *proxy = vm_coll_of(&view->meet, seat);

		if (p != work->self && pieces->index[i] == 0)
			rc = vm_coll_operands_fill(proxy, reduce->me,
						   pieces->of[p] *
							   reduce->count);
		fold.operands[i] =
			p == work->self ?
				own_vector(reduce, i) :
				vm_coll_element(reduce, proxy->send.buf,
						pieces->index[i] *
							reduce->count);
	}
	if (rc == 0)
		vm_coll_pieces_fold(reduce, &fold, count, 0, reduce->count,
				    reduce->other);
	vm_fold_close(&fold);
	swap(reduce);
	return rc;
}

/* A block of neighbouring processes: a subtree over the processes. */
struct block {
	int begin, size;
};

/* Returns the block of up to `step` processes that begins with `begin`. */
static struct block block_of(const struct work *work, int begin, int step)
{
	int left = work->count - begin;

	return (struct block){ begin, left < step ? left : step };
}

/*
 * Recursive doubling: in each step the blocks of twice as many processes as
 * before exchange their sums, each process with the one that has its place in
 * the other block.  If the last block lacks some, its processes send to several
 * of the other one.
 */
static void doubling(struct work *work)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	size_t n = reduce->count;

	for (int step = 1; step < work->count; step *= 2) {
		struct block own =
			block_of(work, work->self / step * step, step);
		struct block other = block_of(work, own.begin ^ step, step);
		int place = work->self - own.begin;

		if (other.size <= 0)
			continue;
		receive(work, other.begin + place % other.size, reduce->other,
			0, n);
		for (; place < other.size; place += own.size)
			send(work, other.begin + place, reduce->sum, 0, n);
		vm_leaders_wait(&work->talk);
		add(work, other.begin < own.begin);
	}
}

/* Returns who has the sum of a block: the root, or the first process. */
static int holder(const struct work *work, struct block block)
{
	int place = work->root - block.begin;

	return place >= 0 && place < block.size ? work->root : block.begin;
}

/* Returns from whom the vector comes that is added in a step of a binomial tree;
 * *to: to whom the sum goes instead, and that is all.  -1: nobody. */
static int tree_step(const struct work *work, int step, int *to)
{
	int own = work->self / step * step, other = own ^ step;
	struct block both = block_of(work, own < other ? own : other, 2 * step);

	*to = -1;
	if (other >= work->count)
		return -1;
	if (holder(work, both) == work->self)
		return holder(work, block_of(work, other, step));
	*to = holder(work, both);
	return -1;
}

int vm_coll_node_reduce_givers(const struct vm_coll_node_reduce *reduce,
			       int *givers)
{
	struct work work = work_of((struct vm_coll_node_reduce *)reduce);
	int n = 0, to = -1, from;

	if (vm_coll_node_reduce_is_flat(reduce)) {
		for (int p = 0; p < work.count; p++)
			if (work.self == work.root && p != work.self)
				givers[n++] = p;
		return n;
	}
	for (int step = 1; step < work.count && to < 0; step *= 2) {
		from = tree_step(&work, step, &to);
		if (from >= 0)
			givers[n++] = from;
	}
	return n;
}

/* Gives the sum to another process. */
static void sum_give(struct work *work, int to)
{
	struct vm_coll_view *view = work->reduce->view;
	struct vm_data data =
		range(work, work->reduce->sum, 0, work->reduce->count);

	if (!view->told ||
	    !vm_leaders_place_fill(&work->talk, view->told, to, &data))
		vm_leaders_send(&work->talk, to, &data);
	vm_leaders_wait(&work->talk);
}

/* Receives a vector and adds it. */
static void vector_add(struct work *work, int from)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	struct vm_leaders_places *places = reduce->view->places;

	if (reduce->rooms)
		reduce->other = reduce->rooms[from];
	vm_leaders_place_expect(places, &work->talk, from);
	vm_leaders_wait(&work->talk);
	if (!vm_leaders_place_full(places, from))
		receive(work, from, reduce->other, 0, reduce->count);
	vm_leaders_wait(&work->talk);
	add(work, from < work->self);
}

/* Reduces along a binomial tree. */
static void binomial(struct work *work)
{
	int from, to = -1;

	for (int step = 1; step < work->count && to < 0; step *= 2) {
		from = tree_step(work, step, &to);
		if (from >= 0)
			vector_add(work, from);
		if (to >= 0)
			sum_give(work, to);
	}
}

/* Gets the vectors of all others. */
static void rooms_fill(struct work *work)
{
	struct vm_leaders_places *places = work->reduce->view->places;

	vm_leaders_places_expect(places, &work->talk);
	vm_leaders_received(&work->talk);
	for (int p = 0; p < work->count; p++)
		if (p != work->self && !vm_leaders_place_full(places, p))
			receive(work, p, work->reduce->rooms[p], 0,
				work->reduce->count);
	vm_leaders_received(&work->talk);
}

/* Has one process combine all vectors. */
static int flat(struct work *work)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	const struct vm_coll_pieces *pieces = &reduce->pieces;
	struct vm_fold fold;

	if (work->self != work->root) {
		sum_give(work, work->root);
		return 0;
	}
	rooms_fill(work);
	if (work->talk.error)
		return 0;
	if (!vm_coll_pieces_open(&fold, reduce, pieces->count, reduce->count))
		return -VMPI_ENOMEM;
	for (size_t i = 0; i < pieces->count; i++)
		fold.operands[i] = pieces->process[i] == (uint32_t)work->self ?
					   reduce->sum :
					   reduce->rooms[pieces->process[i]];
	vm_coll_pieces_fold(reduce, &fold, pieces->count, 0, reduce->count,
			    reduce->result);
	vm_fold_close(&fold);
	reduce->sum = reduce->result;
	return 0;
}

/* The first process has the sum, and gives it to all others. */
static void sum_spread(struct work *work)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	size_t n = reduce->count;

	if (work->self && reduce->rooms)
		reduce->sum = reduce->result;
	if (work->self)
		receive(work, 0, reduce->sum, 0, n);
	for (int p = 1; p < work->count && !work->self; p++)
		send(work, p, reduce->sum, 0, n);
	vm_leaders_wait(&work->talk);
}

static size_t share(const struct work *work, int process)
{
	const size_t *begins = work->reduce->begins;

	return begins[process + 1] - begins[process];
}

/* Returns how many elements of the share of a process are sent at a time, so
 * that it has room for those of all other processes' vectors. */
static size_t chunk(const struct work *work, int process)
{
	const struct vm_coll_node_reduce *reduce = work->reduce;
	size_t n = share(work, process);
	size_t others = reduce->pieces.count - reduce->pieces.of[process];

	return n <= reduce->room / others ? n : reduce->room / others;
}

/* Sends its share of all vectors of this process to another one. */
static void share_send(struct work *work, int to)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	size_t begin = reduce->begins[to], end = reduce->begins[to + 1], n;

	for (; begin < end; begin += n) {
		n = chunk(work, to);
		if (n > end - begin)
			n = end - begin;
		for (uint32_t i = 0; i < reduce->own; i++)
			send(work, to, reduce->sum, i * reduce->count + begin,
			     n);
	}
}

/* Receives n elements of all other processes' vectors, one after the other, and
 * says where element `begin` of every vector would be or is. */
static void share_receive(struct work *work, const void **vectors, size_t begin,
			  size_t n)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	const struct vm_coll_pieces *pieces = &reduce->pieces;

	for (size_t i = 0, at = 0; i < pieces->count; i++) {
		int from = (int)pieces->process[i];

		if (from == work->self) {
			vectors[i] = vm_coll_element(
				reduce, own_vector(reduce, i), begin);
			continue;
		}
		vectors[i] = vm_coll_element(reduce, reduce->other, at);
		receive(work, from, reduce->other, at, n);
		at += n;
	}
	vm_leaders_received(&work->talk);
}

/* Receives this process's share of all vectors and combines them. */
static int scatter(struct work *work)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	size_t begin = reduce->begins[work->self];
	size_t end = reduce->begins[work->self + 1], n;
	size_t count = reduce->pieces.count;
	struct vm_fold fold;

	if (!vm_coll_pieces_open(&fold, reduce, count, end - begin))
		return -VMPI_ENOMEM;
	sum_own(reduce);
	for (int k = 1; k < work->count; k++)
		share_send(work, (work->self + k) % work->count);
	for (; begin < end; begin += n) {
		n = chunk(work, work->self);
		if (n > end - begin)
			n = end - begin;
		share_receive(work, fold.operands, begin, n);
		if (!work->talk.error)
			vm_coll_pieces_fold(reduce, &fold, count, 0, n,
					    vm_coll_element(reduce, reduce->sum,
							    begin));
	}
	vm_fold_close(&fold);
	vm_leaders_wait(&work->talk);
	return 0;
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
			vm_fold_copy(reduce->type, reduce->before,
				     reduce->other, n);
		else
			vm_coll_combine(reduce, reduce->other, reduce->before,
					n);
		vm_coll_combine(reduce, reduce->other, reduce->sum, n);
	}
}

/* What goes along a chain of some processes goes in pieces, so that those behind
 * have something to do while the first ones go on. */
#define PIECE_BYTES 131072
#define PIECES_MOST 32
#define PIECES_FROM 4 /* processes */

/* Returns how many elements a piece has. */
static size_t chain_piece(const struct work *work)
{
	const struct vm_coll_node_reduce *reduce = work->reduce;
	size_t bytes = reduce->count * reduce->type->size;
	size_t pieces = bytes / PIECE_BYTES;

	if (pieces < 2 || work->count < PIECES_FROM)
		return reduce->count;
	if (pieces > PIECES_MOST)
		pieces = PIECES_MOST;
	return (reduce->count + pieces - 1) / pieces;
}

/* Passes on what the process before this one gives, combined with the operands
 * of the local members. */
static int chain(struct work *work)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	bool last = work->self + 1 == work->count;
	size_t n = chain_piece(work), m;

	for (size_t at = 0; at < reduce->count; at += m) {
		m = reduce->count - at < n ? reduce->count - at : n;
		if (work->self > 0) {
			receive(work, work->self - 1, reduce->before, at, m);
			vm_leaders_received(&work->talk);
		}
		if (last)
			continue;
		if (!work->talk.error &&
		    !vm_coll_node_reduce_chain(reduce, at, m))
			work->talk.error = -VMPI_ENOMEM;
		send(work, work->self + 1, reduce->sum, at, m);
	}
	return 0;
}

static int linear_all(struct work *work, enum vm_coll_family family)
{
	struct vm_coll_node_reduce *reduce = work->reduce;
	size_t n = family == VM_FAMILY_SCAN ? (size_t)work->self :
					      reduce->pieces.count;
	int rc;

	if (n == 0 || (family == VM_FAMILY_REDUCE && work->self != work->root))
		return 0;
	rc = linear(work, n);
	if (family == VM_FAMILY_SCAN)
		reduce->before = reduce->sum;
	return rc;
}

static int combine(struct work *work, enum vm_coll_family family)
{
	int rc = 0;

	switch (work->reduce->view->plan.algorithm) {
	case VM_ALGORITHM_LINEAR:
		rc = flat(work);
		if (rc)
			work->talk.error = rc;
		return rc;
	case VM_ALGORITHM_CHAIN:
		return chain(work);
	case VM_ALGORITHM_RECURSIVE_DOUBLING:
		if (family == VM_FAMILY_SCAN)
			prefixes(work);
		else
			doubling(work);
		return 0;
	case VM_ALGORITHM_BINOMIAL:
		binomial(work);
		if (family == VM_FAMILY_ALLREDUCE)
			sum_spread(work);
		return 0;
	default:
		rc = scatter(work);
		if (rc == 0 && family != VM_FAMILY_REDUCE_SCATTER)
			gather(work, family == VM_FAMILY_ALLREDUCE);
		return rc;
	}
}

int vm_coll_node_reduce_combine(struct vm_coll_node_reduce *reduce)
{
	struct vm_coll_view *view = reduce->view;
	enum vm_coll_family family = view->any->kind->family;
	struct work work = work_of(reduce);
	int rc, error;

	reduce->prefix = work.self > 0;
	if (!reduce->count)
		return 0;
	if (view->plan.algorithm == VM_ALGORITHM_LINEAR && view->plan.packs)
		return linear_all(&work, family);
	vm_leaders_data_begin(&work.talk, &view->meet);
	rc = view->posted ? vm_coll_node_reduce_posted(reduce, &work.talk) :
			    combine(&work, family);
	if (rc)
		work.talk.error = rc;
	error = vm_leaders_data_end(&work.talk);
	return rc ? rc : error;
}
