/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message matching: which arrival meets which receive.
 *
 * Two queues, posted receives and arrivals without a receive.  The one rule is
 * MPI's (4.1, 3.5): of the candidates the oldest wins.  Entries hang in hash
 * bins by (context, source, tag), wildcards included as values of their own, so
 * that an arrival looks in at most four bins; a short queue is one bin, that
 * is, a list.  No locks, no copies, no waiting in here: a mailbox adds those.
 */
#ifndef CORE_RANK_MATCH_H
#define CORE_RANK_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "core/rank/vars.h"

#define VM_ANY (-1) /* as source or tag of a receive */

struct vm_env {
	uint32_t context;
	int32_t source;
	int32_t tag;
};

/* Embedded in requests (posted) and messages (arrived). */
struct vm_match_node {
	struct vm_list bin; /* in its hash bin */
	union {
		struct vm_list order; /* arrivals: all of the mailbox by age */
		uint64_t stamp;	      /* posted: order of posting */
	};
	struct vm_env env;
	uint32_t kind; /* posted: which of the four patterns */
};

struct vm_match_bins {
	struct vm_list *bins; /* mask + 1 of them */
	uint32_t mask;
	struct vm_list first; /* the only bin of a short queue */
};

struct vm_match {
	struct core_match_pvars pvars; /* first the lengths of the queues */
	struct vm_match_bins posted, arrived;
	struct vm_list order; /* arrivals by age */
	uint64_t stamp;	      /* of the next posted receive */
	uint32_t pattern[4];  /* posted receives per pattern */
};

/* Whether a concrete envelope fits one that may hold wildcards. */
static inline bool vm_env_fits(const struct vm_env *env,
			       const struct vm_env *wanted)
{
	return env->context == wanted->context &&
	       (wanted->source == VM_ANY || wanted->source == env->source) &&
	       (wanted->tag == VM_ANY || wanted->tag == env->tag);
}

/* How long the queues are; exact under the lock, a hint without. */
static inline uint32_t vm_match_posted(const struct vm_match *match)
{
	return (uint32_t)__atomic_load_n(&match->pvars.posted_len,
					 __ATOMIC_RELAXED);
}

static inline uint32_t vm_match_arrived(const struct vm_match *match)
{
	return (uint32_t)__atomic_load_n(&match->pvars.unexpected_len,
					 __ATOMIC_RELAXED);
}

void vm_match_init(struct vm_match *match);
/* Frees the bins; the entries belong to the caller. */
void vm_match_fini(struct vm_match *match);

/* The oldest posted receive that env fits, taken out; or NULL. */
struct vm_match_node *vm_match_arrival_slow(struct vm_match *match,
					    const struct vm_env *env);
static inline struct vm_match_node *vm_match_arrival(struct vm_match *match,
						     const struct vm_env *env)
{
	if (!vm_match_posted(match))
		return NULL;
	return vm_match_arrival_slow(match, env);
}

/* The oldest arrival that env (wildcards allowed) fits; left in place. */
struct vm_match_node *vm_match_peek_slow(struct vm_match *match,
					 const struct vm_env *env);
static inline struct vm_match_node *vm_match_peek(struct vm_match *match,
						  const struct vm_env *env)
{
	if (!vm_match_arrived(match))
		return NULL;
	return vm_match_peek_slow(match, env);
}

/* Calls visit for all entries of one queue; of the same key the oldest comes
 * first. */
typedef void (*vm_match_visit)(struct vm_match_node *node, void *arg);
void vm_match_each(const struct vm_match_bins *bins, vm_match_visit visit,
		   void *arg);

/* Queues an entry whose env is set. */
void vm_match_post(struct vm_match *match, struct vm_match_node *node);
void vm_match_arrive(struct vm_match *match, struct vm_match_node *node);

/* Takes a queued entry out. */
void vm_match_unpost(struct vm_match *match, struct vm_match_node *node);
void vm_match_take(struct vm_match *match, struct vm_match_node *node);

#endif
