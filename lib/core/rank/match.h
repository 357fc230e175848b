/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message matching: which arrival meets which receive.
 *
 * Two queues, posted receives and arrivals without a receive.  The one rule is
 * MPI's (4.1, 3.5): of the candidates the oldest wins.  Entries hang in hash
 * bins by (context, source, tag), wildcards included as values of their own, so
 * that an arrival looks in at most four; a short queue is one bin, a list.  No
 * locks, no copies, no waiting in here: a mailbox adds those.
 */
#ifndef CORE_RANK_MATCH_H
#define CORE_RANK_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "core/rank/vars.h"

#define VM_ANY (-1) /* as source or tag of a receive */

struct vm_env {
	uint32_t context;
	int32_t source;
	int32_t tag;
};

/* An envelope, to be passed to a function: it goes in two registers, which are
 * loaded from what is written here, and a load from two stores would stall. */
static inline struct vm_env vm_env_of(uint32_t context, int32_t source,
				      int32_t tag)
{
	union {
		struct vm_env env;
		struct {
			uint64_t first;
			uint32_t last;
		} words;
	} made = { .words = { (uint64_t)(uint32_t)source << 32 | context,
			      (uint32_t)tag } };

	return made.env;
}

/* Embedded in requests (posted) and, as part of the next, in messages. */
struct vm_match_node {
	struct vm_list bin; /* in its hash bin */
	union {
		struct vm_list order; /* arrivals: all of the mailbox by age */
		uint64_t stamp;	      /* posted: order of posting */
	};
	struct vm_env env;
	uint32_t kind; /* posted: which of the four patterns */
};

/* An arrival. */
struct vm_match_queued {
	struct vm_match_node node;
	struct vm_list wild; /* in its bin of struct vm_match_wild, if any */
};

struct vm_match_bins {
	struct vm_list *bins; /* mask + 1 of them */
	uint32_t mask;
	struct vm_list first; /* the only bin of a short queue */
};

/* The arrivals once more, as receives of one pattern with wildcards see them:
 * such a receive goes through the arrivals by age, but once those looks have cost
 * more than bins for their pattern would, it gets those. */
struct vm_match_wild {
	struct vm_match_bins bins;
	uint32_t pattern;	/* of those in the bins; 0: there are none */
	uint32_t wanted;	/* pattern of the last look through the list */
	unsigned long compared; /* entries in such looks since bins were made */
};

struct vm_match {
	struct core_match_pvars pvars; /* first the lengths of the queues */
	struct vm_match_bins posted, arrived;
	/* The bin of posted receives that was used last: its first one is the
	 * oldest of all with its key.  &nowhere, which is empty: it need not be,
	 * there are receives with wildcards in other bins. */
	struct vm_list *recent, nowhere;
	struct vm_list order;  /* arrivals by age */
	uint64_t stamp;	       /* of the next posted receive */
	uint32_t room;	       /* posted receives that need no more bins */
	uint32_t wildcards[4]; /* posted receives of the patterns that have
				  some; [0]: of all these */
	struct vm_match_wild wild;
};

/* Whether a concrete envelope fits one that may hold wildcards. */
static inline bool vm_env_fits(const struct vm_env *env,
			       const struct vm_env *wanted)
{
	return env->context == wanted->context &&
	       (wanted->source == VM_ANY || wanted->source == env->source) &&
	       (wanted->tag == VM_ANY || wanted->tag == env->tag);
}

static inline bool vm_env_equal(const struct vm_env *a, const struct vm_env *b)
{
	return VM_LIKELY(a->context == b->context) &&
	       VM_LIKELY(a->source == b->source) && VM_LIKELY(a->tag == b->tag);
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

/* Entries per bin before the bins double. */
#define VM_MATCH_BIN_LOAD 4u

/* The bin of a key, in which entries are in order. */
static inline struct vm_list *vm_match_bin(const struct vm_match_bins *bins,
					   const struct vm_env *env)
{
	uint64_t key =
		((uint64_t)(uint32_t)env->source << 32 | (uint32_t)env->tag) ^
		(uint64_t)env->context << 20;

	if (!bins->mask)
		return &bins->bins[0];
	key *= UINT64_C(0x9e3779b97f4a7c15);
	return &bins->bins[(uint32_t)(key >> 32) & bins->mask];
}

/* Whether another posted receive fits in without more bins, and without being the
 * first one beyond the most there were. */
static inline bool vm_match_has_room(const struct vm_match *match)
{
	uint64_t len = match->pvars.posted_len;

	/* Tools lower that meanwhile. */
	return len < match->room &&
	       (!VM_PVARS_COUNTED ||
		len < __atomic_load_n(&match->pvars.posted_max,
				      __ATOMIC_RELAXED));
}

/* vm_match_arrival(), but left in place, if that is seen at one look; NULL:
 * it is not, or there is none. */
static VM_ALWAYS_INLINE struct vm_match_node *
vm_match_front(struct vm_match *match, const struct vm_env *env)
{
	struct vm_list *bin = match->recent, *link = bin->next;
	struct vm_match_node *node;

	if (VM_LIKELY(link != bin)) {
		node = vm_container_of(link, struct vm_match_node, bin);
		if (vm_env_equal(&node->env, env))
			return node;
	}
	if (match->wildcards[0] && match->posted.mask)
		return NULL;
	bin = vm_match_bin(&match->posted, env);
	link = bin->next;
	if (link == bin)
		return NULL;
	node = vm_container_of(link, struct vm_match_node, bin);
	if (!vm_env_fits(env, &node->env))
		return NULL;
	match->recent = bin;
	return node;
}

/* Queues an entry whose env is set; an arrival is in a vm_match_queued. */
void vm_match_post(struct vm_match *match, struct vm_match_node *node);
void vm_match_arrive(struct vm_match *match, struct vm_match_node *node);

/* The bin for another receive without wildcards, which is then used last. */
static VM_ALWAYS_INLINE struct vm_list *
vm_match_bin_plain(struct vm_match *match, const struct vm_env *env)
{
	struct vm_list *bin = match->recent, *last = bin->prev;
	const struct vm_match_node *node =
		vm_container_of(last, struct vm_match_node, bin);

	if (VM_LIKELY(last != bin) && vm_env_equal(&node->env, env))
		return bin;
	bin = vm_match_bin(&match->posted, env);
	if (!match->wildcards[0])
		match->recent = bin;
	return bin;
}

/* vm_match_post() of an entry without wildcards, whose kind is set, while there
 * is room. */
static VM_ALWAYS_INLINE void vm_match_post_plain(struct vm_match *match,
						 struct vm_match_node *node)
{
	struct vm_list *bin = vm_match_bin_plain(match, &node->env);

	node->stamp = match->stamp++;
	vm_list_append(bin, &node->bin);
	vm_pvar_keep(match->pvars.posted_len, 1);
}

/* Takes such an entry out. */
static inline void vm_match_unpost_plain(struct vm_match *match,
					 struct vm_match_node *node)
{
	vm_list_remove(&node->bin);
	vm_pvar_keep(match->pvars.posted_len, (uint64_t)-1);
}

/* Takes any queued entry out. */
static inline void vm_match_unpost(struct vm_match *match,
				   struct vm_match_node *node)
{
	if (node->kind) {
		match->wildcards[node->kind]--;
		match->wildcards[0]--;
	}
	vm_match_unpost_plain(match, node);
}

/* Takes an arrival out. */
void vm_match_take(struct vm_match *match, struct vm_match_node *node);

#endif
