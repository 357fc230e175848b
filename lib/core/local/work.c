/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which chunks are taken: every worker first those at home with
 * it, so that data stays with the core that uses it, then the rest.
 */
#include "core/local/work.h"

#include "base/lock.h"
#include "core/local/engine.h"
#include "core/rank/state.h"

#define CHUNKS_WORKER 2 /* so that an unequal pair comes out even */

/* The chunks that are at home on a worker, a bit each. */
static uint64_t at_home(const struct vm_work *work, int worker)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < work->chunks; i++)
		bits |= (uint64_t)(work->homes[i] == worker) << i;
	return bits;
}

/* Takes a chunk, one of those preferred if there is one; -1: there is none. */
static int chunk_take(struct vm_work *work, uint64_t preferred)
{
	uint64_t bits = atomic_load_explicit(&work->free, memory_order_acquire);

	while (bits) {
		int chunk = __builtin_ctzll(
			bits & preferred ? bits & preferred : bits);
		uint64_t bit = (uint64_t)1 << chunk;

		/* Pairs with the store in offer(). */
		bits = atomic_fetch_and_explicit(&work->free, ~bit,
						 memory_order_acq_rel);
		if (bits & bit)
			return chunk;
	}
	return -1;
}

/* The first part of a chunk. */
static size_t chunk_begin(const struct vm_work *work, unsigned chunk)
{
	return work->parts * chunk / work->chunks;
}

/* Does chunks as long as there are some; whether there were. */
static bool chunks_do(struct vm_work *work, int worker)
{
	uint64_t preferred;
	int chunk;

	/* Pairs with the store in offer(). */
	if (!atomic_load_explicit(&work->free, memory_order_acquire))
		return false;
	preferred = at_home(work, worker);
	chunk = chunk_take(work, preferred);
	if (chunk < 0)
		return false;
	do
		work->kind->part(work->arg, chunk_begin(work, (unsigned)chunk),
				 chunk_begin(work, (unsigned)chunk + 1));
	while ((chunk = chunk_take(work, preferred)) >= 0);
	return true;
}

/* Shows others what is in the work; those that sleep are woken. */
static void offer(struct vm_work *work, const struct vm_engine *self)
{
	atomic_fetch_add_explicit(&vm_node->works, 1, memory_order_relaxed);
	/* Pairs with the loads in chunk_take() and chunks_do(). */
	atomic_store_explicit(&work->free,
			      ~(uint64_t)0 >> (VM_WORK_CHUNKS - work->chunks),
			      memory_order_release);
	for (int i = 0; i < vm_node->engine_count; i++)
		if (i != self->index)
			vm_worker_nudge(vm_node->engines[i].worker);
}

void vm_work_run(const struct vm_work_kind *kind, void *arg, size_t parts)
{
	struct vm_engine *engine = vm_thread_cache_self()->engine;
	unsigned chunks;
	struct vm_work *work;

	if (parts < 2 || vm_node->engine_count < 2 || !engine) {
		kind->part(arg, 0, parts);
		return;
	}
	work = &engine->work;
	chunks = CHUNKS_WORKER * (unsigned)vm_node->engine_count;
	if (chunks > VM_WORK_CHUNKS)
		chunks = VM_WORK_CHUNKS;
	work->kind = kind;
	work->arg = arg;
	work->parts = parts;
	work->chunks = parts < chunks ? (unsigned)parts : chunks;
	for (unsigned i = 0; i < work->chunks; i++)
		work->homes[i] =
			(uint16_t)kind->home(arg, chunk_begin(work, i));
	offer(work, engine);
	chunks_do(work, engine->index);
	atomic_fetch_sub_explicit(&vm_node->works, 1, memory_order_relaxed);
	/* Pairs with the decrement in help(). */
	for (int spins = 1;
	     atomic_load_explicit(&work->helpers, memory_order_acquire);
	     spins++)
		if (spins % 64)
			vm_cpu_relax();
		else
			vm_cpu_yield();
}

/* A helper is counted before it takes a chunk: an owner that finds none free
 * any more sees all that have one. */
static bool help(struct vm_work *work, int worker)
{
	bool did;

	if (VM_LIKELY(!atomic_load_explicit(&work->free, memory_order_relaxed)))
		return false;
	atomic_fetch_add_explicit(&work->helpers, 1, memory_order_relaxed);
	did = chunks_do(work, worker);
	atomic_fetch_sub_explicit(&work->helpers, 1, memory_order_release);
	return did;
}

bool vm_work_help(struct vm_worker *worker)
{
	struct vm_thread_cache *cache = worker->cache;
	int self = cache->engine->index;
	bool did = false;

	if (VM_LIKELY(!atomic_load_explicit(&vm_node->works,
					    memory_order_relaxed)))
		return false;
	for (int i = 0; i < vm_node->engine_count; i++)
		if (i != self)
			did |= help(&vm_node->engines[i].work, self);
	return did;
}
