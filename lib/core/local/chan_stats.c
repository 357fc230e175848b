/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entries of channels with statistics.  The list of a rank only grows, so
 * that it is walked without a lock; an entry whose channel is gone and that is
 * not held is reused for the next channel.
 */
#include "core/local/chan_stats.h"

#include <stdlib.h>

#include "core/instrument/intercept.h"
#include "core/rank/chan.h"
#include "core/local/engine.h"
#include "core/rank/state.h"

/* Observers: tools may observe for longer than the runtime runs. */
static struct {
	struct vm_lock lock;
	unsigned count;
} watchers;

void vm_chan_stats_watch(void)
{
	vm_lock_take(&watchers.lock);
	watchers.count++;
	vm_intercept_set(VM_INTERCEPT_CHAN_STATS);
	vm_lock_give(&watchers.lock);
}

void vm_chan_stats_unwatch(void)
{
	vm_lock_take(&watchers.lock);
	if (--watchers.count == 0)
		vm_intercept_clear(VM_INTERCEPT_CHAN_STATS);
	vm_lock_give(&watchers.lock);
}

static struct vm_chan_stats *next_of(_Atomic(struct vm_chan_stats *) *link)
{
	return atomic_load_explicit(link, memory_order_acquire);
}

struct vm_chan_stats *vm_chan_stats_look(const struct vm_rank *rank,
					 uint32_t context)
{
	struct vm_chan_stats *special =
		atomic_load_explicit(&rank->chan_stats, memory_order_acquire);

	/* Pairs with the store in entry_begin(). */
	while (special && atomic_load_explicit(&special->context,
					       memory_order_acquire) != context)
		special = next_of(&special->next);
	return special;
}

/* An unused entry, or NULL; chans_lock. */
static struct vm_chan_stats *entry_spare(const struct vm_rank *rank)
{
	struct vm_chan_stats *special =
		atomic_load_explicit(&rank->chan_stats, memory_order_relaxed);

	while (special &&
	       atomic_load_explicit(&special->uses, memory_order_acquire) != 1)
		special = next_of(&special->next);
	return special;
}

static struct vm_chan_stats *entry_new(struct vm_rank *rank)
{
	struct vm_chan_stats *special = calloc(1, sizeof(*special));

	if (!special)
		return NULL;
	special->rank = rank;
	vm_lock_init(&special->lock);
	atomic_init(&special->uses, 1);
	atomic_init(&special->context, VM_CHAN_STATS_NOWHERE);
	atomic_init(&special->next, atomic_load_explicit(&rank->chan_stats,
							 memory_order_relaxed));
	/* Pairs with the loads of readers. */
	atomic_store_explicit(&rank->chan_stats, special, memory_order_release);
	return special;
}

/* Makes it the entry of a channel; chans_lock. */
static void entry_begin(struct vm_chan_stats *special, struct vm_chan *chan)
{
	for (unsigned i = 0; i < VM_CHAN_STATS_SETTINGS; i++)
		atomic_store_explicit(&special->settings[i],
				      VM_CHAN_STATS_UNSET,
				      memory_order_relaxed);
	vm_pvars_clear(&core_chan_pvar_table, &special->pvars);
	vm_lock_take(&special->lock);
	special->chan = chan;
	vm_lock_give(&special->lock);
	atomic_fetch_add_explicit(&special->uses, 1, memory_order_relaxed);
	/* Pairs with the load in vm_chan_stats_look(). */
	atomic_store_explicit(&special->context, chan->context,
			      memory_order_release);
}

struct vm_chan_stats *vm_chan_stats_hold(struct vm_chan *chan)
{
	struct vm_rank *rank = chan->owner;
	struct vm_chan_stats *special;

	vm_lock_take(&vm_node->chans_lock);
	special = vm_chan_stats_find(rank, chan->context);
	if (!special) {
		special = entry_spare(rank);
		if (!special)
			special = entry_new(rank);
		if (special)
			entry_begin(special, chan);
	}
	if (special)
		atomic_fetch_add_explicit(&special->uses, 1,
					  memory_order_relaxed);
	vm_lock_give(&vm_node->chans_lock);
	return special;
}

void vm_chan_stats_drop(struct vm_chan_stats *special)
{
	/* Pairs with itself, and with the load in entry_spare(). */
	if (atomic_fetch_sub_explicit(&special->uses, 1,
				      memory_order_acq_rel) == 1)
		free(special);
}

bool vm_chan_stats_set(struct vm_chan_stats *special, unsigned which,
		       int64_t value)
{
	bool taken;

	vm_lock_take(&special->lock);
	taken = special->chan != NULL;
	if (taken)
		atomic_store_explicit(&special->settings[which], value,
				      memory_order_relaxed);
	vm_lock_give(&special->lock);
	return taken;
}

/* Lengths of queues. */

struct lengths {
	uint32_t context;
	uint64_t count;
};

static void length_count(struct vm_match_node *node, void *arg)
{
	struct lengths *lengths = arg;

	lengths->count += node->env.context == lengths->context;
}

static uint64_t length_of(const struct vm_match_bins *bins, uint32_t context)
{
	struct lengths lengths = { .context = context };

	vm_match_each(bins, length_count, &lengths);
	return lengths.count;
}

/*
 * Takes the engine of another owner; the caller's own one may be the very one
 * that a signal has interrupted.  False: not now.
 */
static bool engine_take(struct vm_engine *engine, bool own)
{
	if (own)
		return !atomic_load_explicit(&engine->inside,
					     memory_order_relaxed) &&
		       vm_engine_try(engine);
	if (!atomic_load_explicit(&engine->biased, memory_order_relaxed))
		return vm_engine_try_other(engine);
	vm_engine_lock_slow(engine);
	return true;
}

/* Under the entry's lock: the channel and its rank stay. */
static void lengths_look(struct vm_chan_stats *special)
{
	const struct vm_rank *rank = special->rank;
	struct vm_engine *engine = rank->engine;
	uint32_t context = special->chan->context;
	bool own = vm_self && vm_engine_is_own(engine, vm_self->worker);

	if (!engine_take(engine, own))
		return;
	vm_pvar_set(special->pvars.comm_posted_len,
		    length_of(&rank->match.posted, context));
	vm_pvar_set(special->pvars.comm_unexpected_len,
		    length_of(&rank->match.arrived, context));
	if (own)
		vm_engine_unlock(engine);
	else
		vm_lock_give(&engine->lock);
}

void vm_chan_stats_refresh(const void *block)
{
	struct vm_chan_stats *special =
		vm_container_of((struct core_chan_pvars *)(uintptr_t)block,
				struct vm_chan_stats, pvars);

	if (!vm_lock_try(&special->lock))
		return;
	if (special->chan)
		lengths_look(special);
	vm_lock_give(&special->lock);
}

/* Messages. */

static void count(uint64_t *word, uint64_t amount)
{
	if (VM_PVARS_COUNTED)
		__atomic_fetch_add(word, amount, __ATOMIC_RELAXED);
}

void vm_chan_stats_sent(const struct vm_rank *rank, const struct vm_env *env,
			uint64_t bytes)
{
	struct vm_chan_stats *special = vm_chan_stats_find(rank, env->context);

	if (!special)
		return;
	count(&special->pvars.comm_sends, 1);
	count(&special->pvars.comm_sent_bytes, bytes);
}

void vm_chan_stats_received(const struct vm_rank *rank,
			    const struct vm_env *env, uint64_t bytes)
{
	struct vm_chan_stats *special = vm_chan_stats_find(rank, env->context);

	if (!special)
		return;
	count(&special->pvars.comm_receives, 1);
	count(&special->pvars.comm_received_bytes, bytes);
}

/* Ends. */

void vm_chan_stats_chan_ends(struct vm_chan *chan)
{
	struct vm_chan_stats *special =
		vm_chan_stats_find(chan->owner, chan->context);

	if (!special || special->chan != chan)
		return;
	vm_lock_take(&special->lock);
	special->chan = NULL;
	vm_lock_give(&special->lock);
	/* Nothing waits on what is gone. */
	vm_pvar_set(special->pvars.comm_posted_len, 0);
	vm_pvar_set(special->pvars.comm_unexpected_len, 0);
	atomic_store_explicit(&special->context, VM_CHAN_STATS_NOWHERE,
			      memory_order_relaxed);
	vm_chan_stats_drop(special);
}

void vm_chan_stats_all_fini(struct vm_rank *rank)
{
	struct vm_chan_stats *special, *next;

	special = atomic_exchange_explicit(&rank->chan_stats, NULL,
					   memory_order_acq_rel);
	for (; special; special = next) {
		next = next_of(&special->next);
		vm_chan_stats_drop(special);
	}
}
