/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hash bins that start as one list and double when they get crowded, so that a
 * few entries cost a list and ten thousand cost no more than that.
 */
#include "core/rank/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define BINS_MAX (1u << 20)

/* The patterns of a receive: bit 0 any source, bit 1 any tag. */
#define PATTERNS 4

/* A queue of so many arrivals gets no bins for wildcards, or loses them. */
#define WILD_MIN 64
#define WILD_DROP 16

static inline uint32_t pattern_of(const struct vm_env *env)
{
	return (env->source == VM_ANY ? 1u : 0) | (env->tag == VM_ANY ? 2u : 0);
}

/* A key as a receive of the pattern has it. */
static inline struct vm_env pattern_key(struct vm_env env, uint32_t pattern)
{
	if (pattern & 1)
		env.source = VM_ANY;
	if (pattern & 2)
		env.tag = VM_ANY;
	return env;
}

static inline struct vm_match_node *node_of(struct vm_list *link)
{
	return vm_container_of(link, struct vm_match_node, bin);
}

static void bins_init(struct vm_match_bins *bins)
{
	vm_list_init(&bins->first);
	bins->bins = &bins->first;
	bins->mask = 0;
}

static void bins_fini(struct vm_match_bins *bins)
{
	if (bins->bins != &bins->first)
		free(bins->bins);
}

/* Moves everything to twice (from a list: sixteen) as many bins; entries with
 * the same key keep their order.  Without memory nothing changes. */
static void bins_grow(struct vm_match_bins *bins)
{
	uint32_t old_count = bins->mask + 1;
	uint32_t count = old_count == 1 ? 16 : 2 * old_count;
	struct vm_list *old = bins->bins, *link;
	struct vm_list *new = malloc(count * sizeof(*new));

	if (!new)
		return;
	for (uint32_t i = 0; i < count; i++)
		vm_list_init(&new[i]);
	bins->bins = new;
	bins->mask = count - 1;
	for (uint32_t i = 0; i < old_count; i++)
		while ((link = vm_list_pop(&old[i])))
			vm_list_append(vm_match_bin(bins, &node_of(link)->env),
				       link);
	if (old != &bins->first)
		free(old);
}

/* length: the word that counts the queue's entries.  The code itself asks
 * it. */
static inline void bins_add(struct vm_match_bins *bins, uint64_t *length,
			    struct vm_match_node *node)
{
	if (VM_UNLIKELY(*length >= VM_MATCH_BIN_LOAD * (bins->mask + 1)) &&
	    bins->mask + 1 < BINS_MAX)
		bins_grow(bins);
	vm_list_append(vm_match_bin(bins, &node->env), &node->bin);
	vm_pvar_keep(*length, 1);
}

static inline void bins_remove(uint64_t *length, struct vm_match_node *node)
{
	vm_list_remove(&node->bin);
	vm_pvar_keep(*length, (uint64_t)-1);
}

/* The oldest entry with exactly this key; *looked grows by the entries
 * compared. */
static inline struct vm_match_node *bins_find(const struct vm_match_bins *bins,
					      const struct vm_env *env,
					      unsigned *looked)
{
	struct vm_list *bin = vm_match_bin(bins, env), *link;

	vm_list_each(link, bin) {
		++*looked;
		if (vm_env_equal(&node_of(link)->env, env))
			return node_of(link);
	}
	return NULL;
}

static inline struct vm_match_queued *wild_of(struct vm_list *link)
{
	return vm_container_of(link, struct vm_match_queued, wild);
}

static inline struct vm_match_queued *queued_of(struct vm_match_node *node)
{
	return vm_container_of(node, struct vm_match_queued, node);
}

static inline void wild_add(struct vm_match_wild *wild,
			    struct vm_match_queued *queued)
{
	struct vm_env key = pattern_key(queued->node.env, wild->pattern);

	vm_list_append(vm_match_bin(&wild->bins, &key), &queued->wild);
}

static void wild_drop(struct vm_match_wild *wild)
{
	bins_fini(&wild->bins);
	bins_init(&wild->bins);
	wild->pattern = 0;
	wild->compared = 0;
}

/* Hangs all arrivals into bins for receives of the pattern.  Without memory
 * those go on through the list, or the bins that are there stay. */
static void wild_make(struct vm_match *match, uint32_t pattern)
{
	struct vm_match_wild *wild = &match->wild;
	struct vm_list *bins, *link;
	uint32_t count = 16;

	while (count < BINS_MAX &&
	       VM_MATCH_BIN_LOAD * count < 2 * vm_match_arrived(match))
		count *= 2;
	bins = malloc(count * sizeof(*bins));
	wild->compared = 0;
	if (!bins)
		return;
	for (uint32_t i = 0; i < count; i++)
		vm_list_init(&bins[i]);
	bins_fini(&wild->bins);
	wild->bins.bins = bins;
	wild->bins.mask = count - 1;
	wild->pattern = pattern;
	vm_list_each(link, &match->order)
		wild_add(wild, queued_of(vm_container_of(
				       link, struct vm_match_node, order)));
}

/* The oldest arrival for a receive of the pattern that the bins are for. */
static struct vm_match_node *wild_find(const struct vm_match *match,
				       const struct vm_env *env,
				       unsigned *looked)
{
	struct vm_list *bin = vm_match_bin(&match->wild.bins, env), *link;

	vm_list_each(link, bin) {
		++*looked;
		if (vm_env_fits(&wild_of(link)->node.env, env))
			return &wild_of(link)->node;
	}
	return NULL;
}

void vm_match_each(const struct vm_match_bins *bins, vm_match_visit visit,
		   void *arg)
{
	struct vm_list *link;

	for (uint32_t i = 0; i <= bins->mask; i++)
		vm_list_each(link, &bins->bins[i])
			visit(node_of(link), arg);
}

void vm_match_init(struct vm_match *match)
{
	*match = (struct vm_match){ 0 };
	bins_init(&match->posted);
	bins_init(&match->arrived);
	vm_list_init(&match->nowhere);
	match->recent = &match->nowhere;
	vm_list_init(&match->order);
	bins_init(&match->wild.bins);
}

void vm_match_fini(struct vm_match *match)
{
	bins_fini(&match->posted);
	bins_fini(&match->arrived);
	wild_drop(&match->wild);
}

/* One bin is a list in the order of posting: the first that fits. */
static struct vm_match_node *list_find_posted(const struct vm_match *match,
					      const struct vm_env *env,
					      unsigned *looked)
{
	struct vm_list *link;

	vm_list_each(link, match->posted.bins) {
		++*looked;
		if (vm_env_fits(env, &node_of(link)->env))
			return node_of(link);
	}
	return NULL;
}

static struct vm_match_node *bins_find_posted(const struct vm_match *match,
					      const struct vm_env *env,
					      unsigned *looked)
{
	struct vm_match_node *oldest = NULL;

	/* Without wildcards one look is enough. */
	if (!match->wildcards[0])
		return bins_find(&match->posted, env, looked);
	for (uint32_t pattern = 0; pattern < PATTERNS; pattern++) {
		struct vm_env wanted = pattern_key(*env, pattern);
		struct vm_match_node *node;

		if (pattern && !match->wildcards[pattern])
			continue;
		node = bins_find(&match->posted, &wanted, looked);
		if (node && (!oldest || node->stamp < oldest->stamp))
			oldest = node;
	}
	return oldest;
}

struct vm_match_node *vm_match_arrival_slow(struct vm_match *match,
					    const struct vm_env *env)
{
	unsigned looked = 0;
	struct vm_match_node *oldest =
		match->posted.mask ? bins_find_posted(match, env, &looked) :
				     list_find_posted(match, env, &looked);

	if (VM_UNLIKELY(looked > 1))
		vm_pvar_add(match->pvars.posted_attempts, looked - 1);
	if (oldest)
		vm_match_unpost(match, oldest);
	return oldest;
}

/* The first arrival by age. */
static struct vm_match_node *order_find(const struct vm_match *match,
					const struct vm_env *env,
					unsigned *looked)
{
	struct vm_list *link;

	vm_list_each(link, &match->order) {
		struct vm_match_node *node =
			vm_container_of(link, struct vm_match_node, order);

		++*looked;
		if (vm_env_fits(&node->env, env))
			return node;
	}
	return NULL;
}

/* Looks through the list; makes bins for the next look of this pattern if such
 * looks cost too much. */
static struct vm_match_node *list_find_arrived(struct vm_match *match,
					       const struct vm_env *env,
					       uint32_t pattern,
					       unsigned *looked)
{
	struct vm_match_wild *wild = &match->wild;
	struct vm_match_node *node = order_find(match, env, looked);

	if (wild->wanted != pattern) {
		wild->wanted = pattern;
		wild->compared = 0;
	}
	wild->compared += *looked;
	if (VM_UNLIKELY(wild->compared > 4ul * vm_match_arrived(match)) &&
	    vm_match_arrived(match) >= WILD_MIN)
		wild_make(match, pattern);
	return node;
}

struct vm_match_node *vm_match_peek_slow(struct vm_match *match,
					 const struct vm_env *env)
{
	uint32_t pattern = pattern_of(env);
	unsigned looked = 0;
	struct vm_match_node *node;

	if (!pattern)
		node = bins_find(&match->arrived, env, &looked);
	else if (pattern == match->wild.pattern)
		node = wild_find(match, env, &looked);
	else
		node = list_find_arrived(match, env, pattern, &looked);

	if (VM_UNLIKELY(looked > 1))
		vm_pvar_add(match->pvars.unexpected_attempts, looked - 1);
	return node;
}

void vm_match_post(struct vm_match *match, struct vm_match_node *node)
{
	/* The bins may grow. */
	match->recent = &match->nowhere;
	node->kind = pattern_of(&node->env);
	node->stamp = match->stamp++;
	if (node->kind) {
		match->wildcards[node->kind]++;
		match->wildcards[0]++;
	}
	bins_add(&match->posted, &match->pvars.posted_len, node);
	vm_pvar_max(match->pvars.posted_max, match->pvars.posted_len);
	match->room = VM_MATCH_BIN_LOAD * (match->posted.mask + 1);
}

void vm_match_arrive(struct vm_match *match, struct vm_match_node *node)
{
	struct vm_match_wild *wild = &match->wild;

	vm_list_append(&match->order, &node->order);
	bins_add(&match->arrived, &match->pvars.unexpected_len, node);
	if (VM_LIKELY(!wild->pattern))
		return;
	wild_add(wild, queued_of(node));
	if (vm_match_arrived(match) >
		    VM_MATCH_BIN_LOAD * (wild->bins.mask + 1) &&
	    wild->bins.mask + 1 < BINS_MAX)
		wild_make(match, wild->pattern);
}

void vm_match_take(struct vm_match *match, struct vm_match_node *node)
{
	vm_list_remove(&node->order);
	bins_remove(&match->pvars.unexpected_len, node);
	if (VM_LIKELY(!match->wild.pattern))
		return;
	vm_list_remove(&queued_of(node)->wild);
	if (vm_match_arrived(match) < WILD_DROP)
		wild_drop(&match->wild);
}
