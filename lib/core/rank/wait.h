/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a rank and the details of its wait: words that others read, also
 * when this process is stopped or dead (report/live/file.h).
 *
 * They are written where the rank's main task suspends itself, and nowhere
 * else: an operation that finds its message at once writes nothing.  A rank
 * that was woken counts as waiting until it runs.
 */
#ifndef CORE_RANK_WAIT_H
#define CORE_RANK_WAIT_H

#include "core/rank/chan.h"
#include "core/rank/context.h"
#include "core/rank/match.h"
#include "core/rank/rank.h"
#include "introspect/export/format.h"
#include "sched/ult.h"

static inline void vm_rank_does(struct vm_rank *rank,
				enum vm_export_state state)
{
	/* Pairs with the loads in vm_export_wait(). */
	__atomic_store_n(&rank->pvars.state, state, __ATOMIC_RELEASE);
}

/* The rank whose wait is to be exported; NULL: none, the rank's main task does
 * something else. */
static inline struct vm_rank *vm_wait_rank(void)
{
	struct vm_rank *rank = vm_self->owner;

	return rank && vm_rank_main(rank) == vm_self ? rank : NULL;
}

/* The caller is in this call, of core/instrument/calls.h or mpi/call/calls.h,
 * which may wait. */
static inline void vm_wait_in(struct vm_ult *self, uint32_t call)
{
	self->waits_in = call;
}

/*
 * Writes the details, before the state; a reader who finds the same state
 * before and after them has those of one wait, or of an equal one.  Atomic,
 * since a thread that was the main task until the rank's body began may still
 * be writing: then the details of one wait are lost.
 */
static inline void vm_wait_fill(struct vm_rank *rank, uint32_t context,
				int32_t peer, int32_t tag, uint64_t bytes,
				uint32_t flags)
{
	struct vm_export_wait *wait = &rank->wait;

	__atomic_store_n(&wait->call, vm_self->waits_in, __ATOMIC_RELAXED);
	__atomic_store_n(&wait->context, context, __ATOMIC_RELAXED);
	__atomic_store_n(&wait->peer, peer, __ATOMIC_RELAXED);
	__atomic_store_n(&wait->tag, tag, __ATOMIC_RELAXED);
	__atomic_store_n(&wait->flags, flags, __ATOMIC_RELAXED);
	__atomic_store_n(&wait->bytes, bytes, __ATOMIC_RELAXED);
}

/* The rank has so many more, or fewer, tasks and threads. */
static inline void vm_wait_others(struct vm_rank *rank, int more)
{
	__atomic_fetch_add(&rank->wait.others, more, __ATOMIC_RELAXED);
}

/* Suspends the caller, whose rank's wait has been filled in; NULL: it is not
 * exported.  May switch. */
static inline void vm_wait_now(struct vm_rank *rank, enum vm_export_state state)
{
	if (VM_UNLIKELY(!rank)) {
		vm_ult_suspend();
		return;
	}
	vm_pvar_add(rank->pvars.waits, 1);
	vm_rank_does(rank, state);
	vm_ult_suspend();
	vm_rank_does(rank, VM_EXPORT_RUNNING);
}

/* ... for a message or for its receiver.  May switch. */
static inline void vm_wait_message(enum vm_export_state state,
				   const struct vm_env *env, int32_t peer,
				   uint64_t bytes, uint32_t flags)
{
	struct vm_rank *rank = vm_wait_rank();

	if (VM_LIKELY(rank != NULL)) {
		/* Those of collectives' own messages are odd. */
		if (VM_UNLIKELY(env->context & 1))
			state = VM_EXPORT_COLLECTIVE;
		/* Members of other channels than the world have other numbers
		 * there. */
		if (VM_UNLIKELY(env->context > 1) && peer >= 0 &&
		    !(flags & VM_EXPORT_OF_WORLD)) {
			int32_t source = vm_chan_source(rank, env);

			if (VM_LIKELY(source >= 0)) {
				peer = source;
				flags |= VM_EXPORT_OF_WORLD;
			}
		}
		vm_wait_fill(rank, env->context & ~1u, peer, env->tag, bytes,
			     flags);
	}
	vm_wait_now(rank, state);
}

/* ... for all other members of a channel to come to where the caller is.  May
 * switch. */
static inline void vm_wait_members(const struct vm_chan *chan)
{
	struct vm_rank *rank = vm_wait_rank();

	if (VM_LIKELY(rank != NULL))
		vm_wait_fill(rank, chan->context,
			     VM_UNLIKELY(chan->context) ?
				     vm_chan_next(chan)->index :
				     VM_EXPORT_NOBODY,
			     VM_ANY, 0, VM_EXPORT_ALL | VM_EXPORT_OF_WORLD);
	vm_wait_now(rank, VM_EXPORT_COLLECTIVE);
}

/* ... for a collective that it has started: env is its context, and as the tag
 * the number of its call.  May switch. */
static inline void vm_wait_started(const struct vm_env *env)
{
	struct vm_rank *rank = vm_wait_rank();

	if (rank)
		vm_wait_fill(rank, env->context & ~1u, VM_EXPORT_NOBODY,
			     env->tag, 0, VM_EXPORT_STARTED);
	vm_wait_now(rank, VM_EXPORT_WAIT);
}

/* ... for none of these.  May switch. */
static inline void vm_wait_other(enum vm_export_state state)
{
	struct vm_rank *rank = vm_wait_rank();

	if (rank)
		vm_wait_fill(rank, VM_EXPORT_NOWHERE, VM_EXPORT_NOBODY, VM_ANY,
			     0, 0);
	vm_wait_now(rank, state);
}

/* The rank's main task does something else than computing from here to _end();
 * what it returns goes there. */
static inline struct vm_rank *vm_wait_begin(enum vm_export_state state)
{
	struct vm_rank *rank = vm_self ? vm_wait_rank() : NULL;

	if (rank)
		vm_rank_does(rank, state);
	return rank;
}

static inline void vm_wait_end(struct vm_rank *rank)
{
	if (rank)
		vm_rank_does(rank, VM_EXPORT_RUNNING);
}

#endif
