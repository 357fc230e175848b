/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who takes which chunk: every worker first those at home with it, so that data
 * stays with the core that uses it, then what others have left.
 */
#include "core/local/work.h"

#include "base/lock.h"
#include "core/local/engine.h"
#include "core/runtime/node.h"

#define CHUNKS_WORKER 2 /* so that an unequal pair comes out even */

/* The chunks that are at home on a worker, a bit each. */
static uint64_t at_home(const struct vm_share *share, int worker)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < share->chunks; i++)
		bits |= (uint64_t)(share->homes[i] == worker) << i;
	return bits;
}

/* Takes a chunk, one of those preferred if there is one; -1: there is none. */
static int chunk_take(struct vm_share *share, uint64_t preferred)
{
	uint64_t bits =
		atomic_load_explicit(&share->free, memory_order_acquire);

	while (bits) {
		int chunk = __builtin_ctzll(
			bits & preferred ? bits & preferred : bits);
		uint64_t bit = (uint64_t)1 << chunk;

		/* Pairs with the store in offer(). */
		bits = atomic_fetch_and_explicit(&share->free, ~bit,
						 memory_order_acq_rel);
		if (bits & bit)
			return chunk;
	}
	return -1;
}

/* The first part of a chunk. */
static size_t chunk_begin(const struct vm_share *share, unsigned chunk)
{
	return share->parts * chunk / share->chunks;
}

/* Does chunks as long as there are some; whether there were. */
static bool chunks_do(struct vm_share *share, int worker)
{
	uint64_t preferred;
	int chunk;

	/* Pairs with the store in offer(). */
	if (!atomic_load_explicit(&share->free, memory_order_acquire))
		return false;
	preferred = at_home(share, worker);
	chunk = chunk_take(share, preferred);
	if (chunk < 0)
		return false;
	do
		share->work->part(share->arg,
				  chunk_begin(share, (unsigned)chunk),
				  chunk_begin(share, (unsigned)chunk + 1));
	while ((chunk = chunk_take(share, preferred)) >= 0);
	return true;
}

/* Shows others what is in the share; those that sleep are woken. */
static void offer(struct vm_share *share, const struct vm_engine *self)
{
	/* Pairs with the loads in chunk_take() and chunks_do(). */
	atomic_store_explicit(&share->free,
			      ~(uint64_t)0 >> (VM_SHARE_CHUNKS - share->chunks),
			      memory_order_release);
	for (int i = 0; i < vm_node->engine_count; i++)
		if (i != self->index)
			vm_worker_nudge(vm_node->engines[i].worker);
}

void vm_share_run(const struct vm_share_work *work, void *arg, size_t parts)
{
	struct vm_engine *engine = vm_lane_self()->engine;
	unsigned chunks;
	struct vm_share *share;

	if (parts < 2 || vm_node->engine_count < 2 || !engine) {
		work->part(arg, 0, parts);
		return;
	}
	share = &engine->share;
	chunks = CHUNKS_WORKER * (unsigned)vm_node->engine_count;
	if (chunks > VM_SHARE_CHUNKS)
		chunks = VM_SHARE_CHUNKS;
	share->work = work;
	share->arg = arg;
	share->parts = parts;
	share->chunks = parts < chunks ? (unsigned)parts : chunks;
	for (unsigned i = 0; i < share->chunks; i++)
		share->homes[i] =
			(uint16_t)work->home(arg, chunk_begin(share, i));
	offer(share, engine);
	chunks_do(share, engine->index);
	/* Pairs with the decrement in help(). */
	for (int spins = 1;
	     atomic_load_explicit(&share->helpers, memory_order_acquire);
	     spins++)
		if (spins % 64)
			vm_cpu_relax();
		else
			vm_cpu_yield();
}

/* A helper is counted before it takes a chunk: who finds none free any more
 * sees all who have one. */
static bool help(struct vm_share *share, int worker)
{
	bool did;

	if (VM_LIKELY(
		    !atomic_load_explicit(&share->free, memory_order_relaxed)))
		return false;
	atomic_fetch_add_explicit(&share->helpers, 1, memory_order_relaxed);
	did = chunks_do(share, worker);
	atomic_fetch_sub_explicit(&share->helpers, 1, memory_order_release);
	return did;
}

bool vm_share_help(struct vm_worker *worker)
{
	struct vm_lane *lane = worker->lane;
	int self = lane->engine->index;
	bool did = false;

	for (int i = 0; i < vm_node->engine_count; i++)
		if (i != self)
			did |= help(&vm_node->engines[i].share, self);
	return did;
}
