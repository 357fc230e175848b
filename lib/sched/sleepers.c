/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A skew heap, merged without recursion.
 */
#include "sched/sleepers.h"

#include "base/clock.h"
#include "sched/ult.h"
#include "sched/worker.h"

static struct vm_ult *heap_merge(struct vm_ult *a, struct vm_ult *b)
{
	struct vm_ult *root = NULL, *up = NULL, **place = &root;

	while (a && b) {
		struct vm_ult *least = a->deadline <= b->deadline ? a : b;

		b = least == a ? b : a;
		a = least->heap_right;
		least->heap_right = least->heap_left;
		least->heap_up = up;
		*place = up = least;
		place = &least->heap_left;
	}
	*place = a ? a : b;
	if (*place)
		(*place)->heap_up = up;
	return root;
}

void vm_sleepers_add(struct vm_worker *worker, struct vm_ult *ult)
{
	ult->heap_left = ult->heap_right = NULL;
	worker->sleepers = heap_merge(worker->sleepers, ult);
}

void vm_sleepers_remove(struct vm_worker *worker, struct vm_ult *ult)
{
	struct vm_ult *up = ult->heap_up;
	struct vm_ult *rest = heap_merge(ult->heap_left, ult->heap_right);

	if (rest)
		rest->heap_up = up;
	if (!up)
		worker->sleepers = rest;
	else if (up->heap_left == ult)
		up->heap_left = rest;
	else
		up->heap_right = rest;
}

struct vm_ult *vm_sleepers_take(struct vm_worker *worker)
{
	struct vm_ult *ult = worker->sleepers;

	if (ult)
		vm_sleepers_remove(worker, ult);
	return ult;
}

void vm_sleepers_run(struct vm_worker *worker)
{
	uint64_t now = vm_clock_ns();

	while (worker->sleepers && worker->sleepers->deadline <= now) {
		struct vm_ult *ult = vm_sleepers_take(worker);

		if (vm_ult_alarm(ult))
			vm_ult_ring(ult);
		else
			vm_worker_push(worker, ult);
	}
}
