/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Combining vectors where their processes have posted them: short ones by each who
 * needs the result, of others each combines its share.
 *
 * A process reads its share of its own vector alone, so that the share of the
 * result may take its place there.
 */
#include "mpi/coll/algo/node_reduce.h"
#include "mpi/coll/algo/posted.h"

/* So many bytes of vectors each process combines as quickly as it waits for the
 * others' shares. */
#define ALL_MOST ((size_t)65536)

/* A vector that is posted. */
static char *posted(const struct vm_coll_node_reduce *reduce, int process)
{
	return (char *)(uintptr_t)vm_coll_posted_of(reduce->view, process);
}

/* Where the vector of another process is, or has been received. */
static const void *operand(const struct vm_coll_node_reduce *reduce,
			   int process)
{
	const void *at = posted(reduce, process);

	return at && vm_coll_is_plain(reduce->type) ? at :
						      reduce->rooms[process];
}

/* Gets the vectors that are not posted, and those that have to be unpacked. */
static int rooms_fill(const struct vm_coll_node_reduce *reduce,
		      struct vm_leaders_data *talk)
{
	const struct vm_leaders *leaders = reduce->view->leaders;

	for (int p = 0; p < leaders->count; p++) {
		struct vm_data to, from;

		if (p == leaders->self)
			continue;
		to = vm_type_data(reduce->type, reduce->rooms[p],
				  reduce->count);
		from = vm_data_bytes(posted(reduce, p), to.bytes);
		if (!from.addr)
			vm_leaders_recv(talk, p, &to);
		else if (!vm_coll_is_plain(reduce->type))
			vm_data_copy_slow(&to, &from);
	}
	return vm_leaders_received(talk);
}

/* Combines n elements of all vectors, `from` on: 0 or -VMPI_ENOMEM. */
static int fold(const struct vm_coll_node_reduce *reduce, size_t from, size_t n,
		void *to)
{
	const struct vm_coll_pieces *pieces = &reduce->pieces;
	int self = reduce->view->leaders->self;
	struct vm_fold fold;

	if (!n)
		return 0;
	if (!vm_coll_pieces_open(&fold, reduce, pieces->count, n))
		return -VMPI_ENOMEM;
	for (size_t i = 0; i < pieces->count; i++) {
		int p = (int)pieces->process[i];

		/* Who alone reads the others' has posted nothing. */
		fold.operands[i] = p == self ? reduce->sum : operand(reduce, p);
	}
	vm_coll_pieces_fold(reduce, &fold, pieces->count, from, n, to);
	vm_fold_close(&fold);
	return 0;
}

static int share_fold(const struct vm_coll_node_reduce *reduce, char *vector)
{
	int self = reduce->view->leaders->self;
	size_t from = reduce->begins[self];

	return fold(reduce, from, reduce->begins[self + 1] - from,
		    vm_coll_element(reduce, vector, from));
}

/* Says that its share is there to a process, or to all others. */
static void say(struct vm_leaders_data *talk, int count, int self, int to)
{
	char word = 0;
	struct vm_data data = vm_data_bytes(&word, 1);

	for (int p = 0; p < count; p++)
		if (p != self && (to < 0 || to == p))
			vm_leaders_send(talk, p, &data);
	vm_leaders_wait(talk);
}

static void hear(struct vm_leaders_data *talk, int count, int self, int from)
{
	char word;
	struct vm_data data = vm_data_bytes(&word, 1);

	for (int p = 0; p < count; p++)
		if (p != self && (from < 0 || from == p))
			vm_leaders_recv(talk, p, &data);
	vm_leaders_received(talk);
}

/* Waits until all shares are there, by the first process. */
static int shares_await(struct vm_leaders_data *talk, int count, int self)
{
	if (self)
		say(talk, count, self, 0);
	hear(talk, count, self, self ? 0 : -1);
	if (!self)
		say(talk, count, self, -1);
	return talk->error;
}

/* Stores the result: the shares of all. */
static void shares_take(const struct vm_coll_node_reduce *reduce, void *to)
{
	for (int p = 0; p < reduce->view->leaders->count; p++) {
		size_t from = reduce->begins[p];

		vm_fold_copy(reduce->type, vm_coll_element(reduce, to, from),
			     vm_coll_element(reduce, posted(reduce, p), from),
			     reduce->begins[p + 1] - from);
	}
}

static int for_all(struct vm_coll_node_reduce *reduce,
		   struct vm_leaders_data *talk, void *to)
{
	const struct vm_leaders *leaders = reduce->view->leaders;
	size_t bytes = reduce->count * reduce->type->size;
	int rc;

	if (leaders->count == 2 || bytes <= ALL_MOST / (size_t)leaders->count)
		return fold(reduce, 0, reduce->count, to);
	rc = share_fold(reduce, posted(reduce, leaders->self));
	if (rc)
		talk->error = rc;
	rc = shares_await(talk, leaders->count, leaders->self);
	if (rc == 0)
		shares_take(reduce, to);
	return rc;
}

/* The root alone needs it. */
static int for_root(struct vm_coll_node_reduce *reduce,
		    struct vm_leaders_data *talk, void *to)
{
	const struct vm_leaders *leaders = reduce->view->leaders;
	int root = (int)leaders->of[reduce->view->any->root];
	int rc;

	if (vm_coll_node_reduce_is_flat(reduce)) {
		rc = leaders->self == root ? rooms_fill(reduce, talk) : 0;
		return rc || leaders->self != root ?
			       rc :
			       fold(reduce, 0, reduce->count, to);
	}
	rc = share_fold(reduce, posted(reduce, leaders->self));
	if (rc)
		talk->error = rc;
	if (leaders->self != root) {
		say(talk, leaders->count, leaders->self, root);
		return talk->error;
	}
	hear(talk, leaders->count, root, -1);
	if (!talk->error)
		shares_take(reduce, to);
	return talk->error;
}

int vm_coll_node_reduce_posted(struct vm_coll_node_reduce *reduce,
			       struct vm_leaders_data *talk)
{
	/* A vector of our own, unless the operands here have been folded into
	 * it, which are posted as well. */
	void *own = reduce->spare  ? reduce->spare :
		    reduce->result ? reduce->result :
				     reduce->sum;
	int rc;

	if (reduce->lent &&
	    reduce->view->any->kind->family == VM_FAMILY_ALLREDUCE)
		own = (void *)(uintptr_t)reduce->me->recv.buf;
	switch (reduce->view->any->kind->family) {
	case VM_FAMILY_REDUCE:
		rc = for_root(reduce, talk, own);
		break;
	case VM_FAMILY_ALLREDUCE:
		rc = for_all(reduce, talk, own);
		break;
	default:
		rc = share_fold(reduce, own);
	}
	reduce->sum = own;
	return rc;
}
