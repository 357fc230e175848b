/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings of collectives: comparison of the members' calls, and their errors.
 */
#include "mpi/coll/coll.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/coll/key.h"

void vm_coll_fail(struct vm_coll *coll, int code, const char *format, ...)
{
	int none = 0;
	va_list args;

	/* The first failure sets the text; the member reads both after the
	 * meeting. */
	if (!atomic_compare_exchange_strong_explicit(&coll->error, &none, code,
						     memory_order_relaxed,
						     memory_order_relaxed))
		return;
	va_start(args, format);
	vsnprintf(coll->what, sizeof(coll->what), format, args);
	va_end(args);
}

bool vm_coll_differs(const struct vm_coll *a, const struct vm_coll *b,
		     char *what, size_t size)
{
	const struct vm_type *x = a->recv.type, *y = b->recv.type;

	if (a->as != b->as)
		snprintf(what, size, "rank %d calls %s, rank %d %s", b->rank,
			 vm_call_name(b->id), a->rank, vm_call_name(a->id));
	else if (a->kind->rooted && a->root != b->root)
		snprintf(what, size, "rank %d has root %d, rank %d root %d",
			 b->rank, b->root, a->rank, a->root);
	else if (a->kind->swaps && a->in_place != b->in_place)
		snprintf(what, size, "of ranks %d and %d one is in place",
			 b->rank, a->rank);
	else if (a->shares != b->shares)
		snprintf(what, size,
			 "rank %d has other recvcounts than rank %d", b->rank,
			 a->rank);
	else if (!a->kind->reduces)
		return false;
	else if (a->op != b->op && (a->op->loops || b->op->loops ||
				    a->op->commutes != b->op->commutes))
		snprintf(what, size, "rank %d reduces with %s, rank %d with %s",
			 b->rank, vm_op_name(b->op), a->rank,
			 vm_op_name(a->op));
	else if (x->size * a->recv.count != y->size * b->recv.count ||
		 x->extent != y->extent || x->kind != y->kind)
		snprintf(what, size,
			 "rank %d reduces %zu of %s, rank %d %zu of %s",
			 b->rank, b->recv.count, vm_type_name(y), a->rank,
			 a->recv.count, vm_type_name(x));
	else
		return false;
	return true;
}

void vm_coll_differ_one(struct vm_coll *coll, uint64_t word, uint32_t other)
{
	if (vm_coll_key_as(word) != coll->as)
		vm_coll_fail(coll, MPI_ERR_OTHER,
			     "the ranks disagree: rank %d calls %s, rank %u %s",
			     coll->rank, vm_call_name(coll->id), other,
			     vm_call_name(vm_coll_key_as(word)));
	else if (coll->kind->rooted && vm_coll_key_root(word) != coll->root)
		vm_coll_fail(coll, MPI_ERR_OTHER,
			     "the ranks disagree: rank %d has root %d, "
			     "rank %u root %d",
			     coll->rank, coll->root, other,
			     vm_coll_key_root(word));
	else
		vm_coll_fail(coll, MPI_ERR_OTHER,
			     "the ranks disagree: rank %d calls %s with other "
			     "arguments than rank %u",
			     coll->rank, vm_call_name(coll->id), other);
}

/* Whether nothing differs, as it is with most members; false: it may not. */
static inline bool are_alike(const struct vm_coll *a, const struct vm_coll *b)
{
	return VM_LIKELY(a->as == b->as && a->root == b->root &&
			 a->in_place == b->in_place && a->shares == b->shares &&
			 a->op == b->op && a->recv.type == b->recv.type &&
			 a->recv.count == b->recv.count);
}

bool vm_coll_agreed(struct vm_meet *meet)
{
	char what[sizeof(((struct vm_coll *)0)->what)];
	const struct vm_coll *first = vm_coll_of(meet, 0);

	for (size_t i = 1; i < meet->size; i++) {
		const struct vm_coll *coll = vm_coll_of(meet, i);

		if ((coll->as == first->as && !first->kind->part) ||
		    are_alike(first, coll) ||
		    !vm_coll_differs(first, coll, what, sizeof(what)))
			continue;
		for (size_t j = 0; j < meet->size; j++)
			vm_coll_fail(vm_coll_of(meet, j), MPI_ERR_OTHER,
				     "the ranks disagree: %s", what);
		return false;
	}
	return true;
}

struct vm_coll *vm_coll_own(struct vm_meet *meet, size_t any)
{
	struct vm_coll *coll = vm_coll_of(meet, any);
	const struct vm_rank *self;

	if (!coll->op || coll->op->loops)
		return coll;
	self = vm_rank_self();
	for (size_t i = 0; i < meet->size; i++) {
		coll = vm_coll_of(meet, i);
		if (coll->owner == self)
			return coll;
	}
	vm_panic("collective: the last to arrive is no member");
}
