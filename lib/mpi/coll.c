/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings of collectives: do all members want the same, who does the work, and
 * how did it end.
 */
#include "mpi/coll.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/engine.h"
#include "core/share.h"
#include "mpi/coll_far.h"
#include "mpi/coll_stand.h"

void vm_coll_fail(struct vm_coll *coll, int code, const char *format, ...)
{
	int none = 0;
	va_list args;

	/* The first to fail it writes the text; the member reads both after the
	 * meeting that ends the work. */
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

	if (a->id != b->id)
		snprintf(what, size, "rank %d calls %s, rank %d %s", b->rank,
			 vm_call_name(b->id), a->rank, vm_call_name(a->id));
	else if (a->kind->rooted && a->root != b->root)
		snprintf(what, size, "rank %d has root %d, rank %d root %d",
			 b->rank, b->root, a->rank, a->root);
	else if (a->kind->swaps && a->in_place != b->in_place)
		snprintf(what, size, "of ranks %d and %d one is in place",
			 b->rank, a->rank);
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

/* Whether all members agree; if not they all know why. */
static bool agreed(struct vm_meet *meet)
{
	char what[sizeof(((struct vm_coll *)0)->what)];
	const struct vm_coll *first = vm_coll_of(meet, 0);

	for (size_t i = 1; i < meet->size; i++) {
		if (!vm_coll_differs(first, vm_coll_of(meet, i), what,
				     sizeof(what)))
			continue;
		for (size_t j = 0; j < meet->size; j++)
			vm_coll_fail(vm_coll_of(meet, j), MPI_ERR_OTHER,
				     "the ranks disagree: %s", what);
		return false;
	}
	return true;
}

/* The caller's own.  Only functions of the user mind whose task calls them. */
static struct vm_coll *own(struct vm_meet *meet, size_t any)
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

/* Parts of a meeting, for whichever worker has the time. */
struct parts {
	struct vm_meet *meet;
	const struct vm_coll_kind *kind;
};

static void parts_do(void *arg, size_t first, size_t last)
{
	const struct parts *parts = arg;

	parts->kind->part(parts->meet, vm_coll_of(parts->meet, 0), first, last);
}

/* Where the member is whose part it is. */
static int parts_home(void *arg, size_t part)
{
	const struct parts *parts = arg;

	return vm_coll_of(parts->meet, part)->owner->engine->index;
}

/* Whether all members of all processes make the same call; before anything else
 * is compared. */
static bool same_call(struct vm_meet *meet)
{
	const struct vm_coll *first = vm_coll_of(meet, 0);

	for (size_t i = 1; i < meet->size; i++) {
		const struct vm_coll *coll = vm_coll_of(meet, i);

		if (coll->id == first->id)
			continue;
		for (size_t j = 0; j < meet->size; j++)
			vm_coll_fail(vm_coll_of(meet, j), MPI_ERR_OTHER,
				     "the ranks disagree: rank %d calls %s, "
				     "rank %d %s",
				     coll->rank, vm_call_name(coll->id),
				     first->rank, vm_call_name(first->id));
		return false;
	}
	return true;
}

/* The parts of the members here. */
static void parts_here(struct vm_meet *meet, const struct vm_far_process *here)
{
	struct vm_coll *me = own(meet, here->members[0]);
	const struct vm_coll_kind *kind = me->kind;
	bool all = kind->slices || kind->whole;

	if (kind->gathers && !vm_coll_of(meet, (size_t)me->root)->owner)
		return;
	if (all)
		kind->part(meet, me, 0, meet->size);
	for (uint32_t i = 0, end; i < here->count; i = end) {
		size_t first = here->members[i];

		for (end = i + 1; end < here->count; end++)
			if (here->members[end] != first + end - i)
				break;
		if (!all)
			kind->part(meet, me, first, first + end - i);
		if (kind->finish)
			kind->finish(meet, first, first + end - i);
	}
}

/* A meeting about some elements of a reduction. */
struct slice {
	struct vm_meet meet;
	struct vm_coll *parts; /* of the members here */
};

static bool slice_open(struct slice *slice, const struct vm_meet *meet,
		       const struct vm_far_process *here)
{
	size_t n = meet->size;

	slice->meet.size = meet->size;
	slice->meet.far = meet->far;
	slice->meet.context = meet->context;
	slice->meet.tag = meet->tag;
	slice->meet.seats = aligned_alloc(_Alignof(struct vm_seat),
					  n * sizeof(struct vm_seat));
	slice->parts = calloc(here->count, sizeof(*slice->parts));
	for (uint32_t i = 0; slice->meet.seats && i < n; i++)
		atomic_init(&slice->meet.seats[i].args, NULL);
	return slice->meet.seats && slice->parts;
}

static void slice_close(struct slice *slice)
{
	free(slice->meet.seats);
	free(slice->parts);
}

/* The calls of the members here, for n elements from `first` on. */
static void slice_fill(struct slice *slice, const struct vm_meet *meet,
		       const struct vm_far_process *here, size_t first,
		       size_t n)
{
	for (uint32_t i = 0; i < here->count; i++) {
		const struct vm_coll *coll = vm_coll_of(meet, here->members[i]);
		struct vm_coll *part = &slice->parts[i];
		ptrdiff_t offset = (ptrdiff_t)first * coll->recv.type->extent;

		*part = *coll;
		part->send.buf = vm_at(coll->send.buf, offset);
		part->recv.buf = vm_at(coll->recv.buf, offset);
		part->send.count = part->recv.count = n;
		atomic_store_explicit(&slice->meet.seats[here->members[i]].args,
				      part, memory_order_relaxed);
	}
}

/* What has gone wrong in a slice is for the whole call. */
static void slice_errors(const struct slice *slice, const struct vm_meet *meet,
			 const struct vm_far_process *here)
{
	for (uint32_t i = 0; i < here->count; i++) {
		const struct vm_coll *part = &slice->parts[i];
		int error = atomic_load_explicit(&part->error,
						 memory_order_relaxed);

		if (error)
			vm_coll_fail(vm_coll_of(meet, here->members[i]), error,
				     "%s", part->what);
	}
}

/* One slice of a reduction; *alone: others do not know of the error. */
static int slice_do(struct slice *slice, const struct vm_far_process *here,
		    bool *alone)
{
	struct vm_coll_view view;
	int rc = vm_coll_view_open(&view, &slice->meet);

	if (rc == 0) {
		rc = vm_coll_view_compute(&view);
		*alone = rc != 0;
	}
	if (rc == 0)
		parts_here(&view.meet, here);
	vm_coll_view_close(&view, &slice->meet);
	return rc;
}

/* A reduction of much data, `step` elements at a time. */
static int slices_do(struct vm_meet *meet, size_t step)
{
	const struct vm_far *far = meet->far;
	const struct vm_far_process *here = &far->processes[far->self];
	size_t count = vm_coll_of(meet, here->members[0])->recv.count, n;
	struct slice slice = { 0 };
	bool alone = false;
	int rc = 0;

	if (!slice_open(&slice, meet, here)) {
		rc = -VMPI_ENOMEM;
		alone = true;
	}
	for (size_t i = 0; i < count && rc == 0; i += n) {
		n = count - i < step ? count - i : step;
		slice_fill(&slice, meet, here, i, n);
		rc = slice_do(&slice, here, &alone);
		slice_errors(&slice, meet, here);
		alone = alone && i + n < count;
	}
	/* The others are at the next slice. */
	if (alone)
		vm_far_barrier(meet, VM_FAR_MISMATCH);
	slice_close(&slice);
	return rc;
}

/* Members agree: the work of those here, within one group. */
static int work_here(struct vm_meet *meet, struct vm_coll_view *view)
{
	const struct vm_far *far = meet->far;
	size_t step = vm_coll_slice(view->any);

	if (step)
		return slices_do(meet, step);
	if (view->any->kind->part)
		parts_here(&view->meet, &far->processes[far->self]);
	return 0;
}

/* With members in other processes. */
static void arrived_far(struct vm_meet *meet)
{
	struct vm_coll_view view;
	int rc = vm_coll_view_open(&view, meet);
	bool inter = rc == 0 && view.any->first_size;
	bool agree = false;
	long root;

	if (rc == 0 && same_call(&view.meet))
		agree = inter ? vm_coll_inter_agreed(&view.meet, &root) :
				agreed(&view.meet);
	if (agree)
		rc = vm_coll_view_compute(&view);
	if (agree && rc == 0 && inter)
		vm_coll_inter_cross(&view.meet, root);
	else if (agree && rc == 0)
		rc = work_here(meet, &view);
	vm_coll_view_close(&view, meet);
	meet->result = rc;
}

void vm_coll_arrived(struct vm_meet *meet)
{
	const struct vm_coll *any;
	const struct vm_coll_kind *kind;
	static const struct vm_share_work work = { parts_do, parts_home };
	size_t n = meet->size, limit = (size_t)mpi_cvar.coll_share_bytes;
	long root;

	if (meet->far) {
		arrived_far(meet);
		return;
	}
	any = vm_coll_of(meet, 0);
	kind = any->kind;
	if (any->first_size) {
		if (vm_coll_inter_agreed(meet, &root))
			vm_coll_inter_cross(meet, root);
		return;
	}
	if (!agreed(meet) || !kind->part)
		return;
	if ((any->op && !any->op->loops) || kind->work(any, n) <= limit)
		kind->part(meet, own(meet, 0), 0, n);
	else
		vm_share_run(&work, &(struct parts){ meet, kind }, n);
	if (kind->finish)
		kind->finish(meet, 0, n);
}

int vm_coll_run(struct vm_call *call, struct vm_coll *coll)
{
	static const struct vm_meet_way way = {
		.show = vm_stand_show,
		.own = vm_stand_own,
		.last = vm_coll_arrived,
	};
	int rc = vm_meet_by(coll->comm->chan, coll, &way);

	if (rc == -VMPI_EMISMATCH)
		return vm_error(call, MPI_ERR_OTHER,
				"the ranks disagree: others make a call of "
				"another kind on this communicator");
	if (rc != 0)
		return rc;
	rc = atomic_load_explicit(&coll->error, memory_order_relaxed);
	if (rc != 0)
		return vm_error(call, rc, "%s", coll->what);
	return 0;
}
