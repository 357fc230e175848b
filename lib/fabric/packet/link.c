/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of the link model.
 */
#include "fabric/packet/link.h"

#include <stdio.h>

/* The time that a message occupies the link. */
static uint64_t occupied_ns(size_t bytes)
{
	uint64_t ns = (uint64_t)fabric_cvar.link_message_ns;
	int64_t bandwidth = fabric_cvar.link_bandwidth;

	if (bandwidth > 0)
		ns += (uint64_t)((double)bytes * 1e9 / (double)bandwidth);
	return ns;
}

/* Takes a turn from `now` on; returns when the last byte has left. */
static uint64_t turn(_Atomic uint64_t *free, uint64_t now, size_t bytes)
{
	uint64_t busy = occupied_ns(bytes);
	uint64_t was = atomic_load_explicit(free, memory_order_relaxed);
	uint64_t end;

	do {
		end = (was > now ? was : now) + busy;
	} while (!atomic_compare_exchange_weak_explicit(
		free, &was, end, memory_order_relaxed, memory_order_relaxed));
	return end;
}

uint64_t vm_link_send(struct vm_link *link, uint64_t *left, uint64_t now,
		      size_t bytes)
{
	uint64_t end = turn(&link->out_free, now, bytes);

	if (left)
		*left = end;
	return end + (uint64_t)fabric_cvar.link_latency_ns;
}

uint64_t vm_link_rma(struct vm_link *link, enum vm_link_op op, uint64_t now,
		     size_t bytes)
{
	uint64_t latency = (uint64_t)fabric_cvar.link_latency_ns;
	uint64_t left;

	if (op == VM_LINK_READ)
		return turn(&link->in_free, now + latency, bytes) + latency;
	left = turn(&link->out_free, now, bytes);
	return op == VM_LINK_PUT ? left : left + 2 * latency;
}

bool vm_link_on(char *text, size_t bytes)
{
	double latency = (double)fabric_cvar.link_latency_ns / 1e3;
	double message = (double)fabric_cvar.link_message_ns / 1e3;
	double bandwidth = (double)fabric_cvar.link_bandwidth / 1e6;

	if (!vm_link_active())
		return false;
	if (bandwidth > 0)
		snprintf(text, bytes, "latency %g us, %g us a message, %g MB/s",
			 latency, message, bandwidth);
	else
		snprintf(text, bytes, "latency %g us, %g us a message", latency,
			 message);
	return true;
}

static bool due_before(const struct vm_due *a, const struct vm_due *b)
{
	return a->when < b->when || (a->when == b->when && a->order < b->order);
}

/* Merges along the right spines, swapping children; no recursion. */
static struct vm_due *due_merge(struct vm_due *a, struct vm_due *b)
{
	struct vm_due *root = NULL, **place = &root;

	while (a && b) {
		struct vm_due *least = due_before(a, b) ? a : b;

		b = least == a ? b : a;
		a = least->right;
		least->right = least->left;
		*place = least;
		place = &least->left;
	}
	*place = a ? a : b;
	return root;
}

void vm_due_put(struct vm_due_heap *heap, struct vm_due *due, uint64_t when)
{
	due->when = when;
	due->order = heap->order++;
	due->left = due->right = NULL;
	heap->top = due_merge(heap->top, due);
}

struct vm_due *vm_due_take(struct vm_due_heap *heap, uint64_t now)
{
	struct vm_due *due = heap->top;

	if (!due || due->when > now)
		return NULL;
	heap->top = due_merge(due->left, due->right);
	return due;
}
