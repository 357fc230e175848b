/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics and settings of single channels, for those that somebody observes
 * and those with settings of their own.
 *
 * Most channels have neither and pay nothing.  Entries lie in a list of the
 * rank, found by context; the list is empty until the first channel of the rank
 * needs one.  Messages are counted where vm_observed() is asked anyway, from
 * the first observer on, for all entries of the process.
 */
#ifndef CORE_LOCAL_CHAN_STATS_H
#define CORE_LOCAL_CHAN_STATS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "core/rank/rank.h"
#include "core/rank/vars.h"

/*
 * An entry outlives its channel while it is held: then its counters keep their
 * values.
 */

struct vm_env;
struct vmpi_chan;

/* Settings: the first one is core's, the others the layer's above. */
enum {
	VM_CHAN_STATS_EAGER_LIMIT,
	VM_CHAN_STATS_ABOVE,
	VM_CHAN_STATS_SETTINGS = 16
};
#define VM_CHAN_STATS_UNSET (-1)

struct vm_chan_stats {
	/* In the list of the rank, where it stays until the rank ends; it is
	 * whole before the release store that links it. */
	_Atomic(struct vm_chan_stats *) next;
	struct vm_rank *rank;
	_Atomic uint64_t
		context;       /* VM_CHAN_STATS_NOWHERE: its channel is gone */
	_Atomic unsigned uses; /* list, channel, holders */
	struct vm_lock lock;
	struct vmpi_chan *chan; /* NULL: gone; under lock */
	_Atomic int64_t settings[VM_CHAN_STATS_SETTINGS];
	/* Atomic additions, by the thread that moves a message. */
	struct core_chan_pvars pvars;
};

#define VM_CHAN_STATS_NOWHERE UINT64_MAX

/* Finds or makes the entry of a channel, for its owner, who then holds it until
 * vm_chan_stats_drop(); NULL: out of memory. */
struct vm_chan_stats *vm_chan_stats_hold(struct vmpi_chan *chan);

/* Any thread, also when the rank and the runtime are gone. */
void vm_chan_stats_drop(struct vm_chan_stats *special);

/* Messages of special channels are counted from the first _watch() to the last
 * _unwatch(), or to the end of the runtime.  Any thread. */
void vm_chan_stats_watch(void);
void vm_chan_stats_unwatch(void);

/* The entry of a rank's channel with that context, or NULL.  Any thread. */
struct vm_chan_stats *vm_chan_stats_look(const struct vm_rank *rank,
					 uint32_t context);
static inline struct vm_chan_stats *
vm_chan_stats_find(const struct vm_rank *rank, uint32_t context)
{
	/* Pairs with the store in vm_chan_stats_hold(). */
	return VM_LIKELY(!atomic_load_explicit(&rank->chan_stats,
					       memory_order_acquire)) ?
		       NULL :
		       vm_chan_stats_look(rank, context);
}

/* A setting of its own that a channel of the rank has, or
 * VM_CHAN_STATS_UNSET. */
static inline int64_t vm_chan_stats_setting(const struct vm_rank *rank,
					    uint32_t context, unsigned which)
{
	const struct vm_chan_stats *special = vm_chan_stats_find(rank, context);

	return VM_LIKELY(!special) ?
		       VM_CHAN_STATS_UNSET :
		       atomic_load_explicit(&special->settings[which],
					    memory_order_relaxed);
}

/* Sets a setting; false: the channel is gone. */
bool vm_chan_stats_set(struct vm_chan_stats *special, unsigned which,
		       int64_t value);

/* A message that the rank sends, or one that meets a receive of its. */
void vm_chan_stats_sent(const struct vm_rank *rank, const struct vm_env *env,
			uint64_t bytes);
void vm_chan_stats_received(const struct vm_rank *rank,
			    const struct vm_env *env, uint64_t bytes);

/*
 * Brings the lengths of queues up to date in a block that is the pvars of an
 * entry.  Any thread, and in signal handlers: where the mailbox is not to be
 * had they stay what they were.
 */
void vm_chan_stats_refresh(const void *block);

/* The channel is about to be freed; the rank is. */
void vm_chan_stats_chan_ends(struct vmpi_chan *chan);
void vm_chan_stats_all_fini(struct vm_rank *rank);

#endif
