/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ordered reductions of large data among processes: the operands of all members
 * are sent to all processes, a slice of the elements at a time.
 */
#include <stdlib.h>

#include "mpi/coll/algo/hier.h"

/* A meeting for a slice of the elements of a reduction. */
struct slice {
	struct vm_meet meet;
	struct vm_coll *parts; /* of the local members */
};

static bool slice_open(struct slice *slice, const struct vm_meet *meet,
		       const struct vm_leaders_process *here)
{
	size_t n = meet->size;

	slice->meet.size = meet->size;
	slice->meet.leaders = meet->leaders;
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

/* Fills in the calls of the local members for n elements from `first` on. */
static void slice_fill(struct slice *slice, const struct vm_meet *meet,
		       const struct vm_leaders_process *here, size_t first,
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

/* Copies the errors of a slice to the calls. */
static void slice_errors(const struct slice *slice, const struct vm_meet *meet,
			 const struct vm_leaders_process *here)
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

/* Does one slice of a reduction; *alone: an error unknown to the others. */
static int slice_do(struct slice *slice, bool *alone)
{
	static const struct vm_coll_plan plan = {
		.algorithm = VM_ALGORITHM_ORDERED, .packs = true
	};
	struct vm_coll_view view;
	int rc = vm_coll_view_open(&view, &slice->meet, &plan);

	if (rc == 0) {
		rc = vm_coll_view_compute(&view);
		*alone = rc != 0;
	}
	if (rc == 0)
		vm_coll_view_work(&view);
	vm_coll_view_close(&view);
	return rc;
}

int vm_coll_slices(struct vm_meet *meet, size_t step)
{
	const struct vm_leaders *leaders = meet->leaders;
	const struct vm_leaders_process *here =
		&leaders->processes[leaders->self];
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
		rc = slice_do(&slice, &alone);
		slice_errors(&slice, meet, here);
		alone = alone && i + n < count;
	}
	/* The other leaders wait at the next slice. */
	if (alone)
		vm_leaders_barrier(meet, VM_LEADERS_MISMATCH);
	slice_close(&slice);
	return rc;
}
