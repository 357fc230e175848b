/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching against a model that goes through lists: all short sequences of
 * arrivals and receives, then long random ones.
 */
#include "core/rank/match.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "tap.h"

/* The model: two lists by age. */
#define MODEL_MAX 32768

struct model {
	int count;
	struct entry {
		struct vm_env env;
		int id;
	} list[MODEL_MAX];
};

static bool fits(struct vm_env a, struct vm_env w)
{
	return a.context == w.context &&
	       (w.source == a.source || w.source == VM_ANY) &&
	       (w.tag == a.tag || w.tag == VM_ANY);
}

static void model_remove(struct model *model, int at)
{
	model->count--;
	memmove(&model->list[at], &model->list[at + 1],
		(size_t)(model->count - at) * sizeof(model->list[0]));
}

static void model_add(struct model *model, struct vm_env env, int id)
{
	model->list[model->count++] = (struct entry){ env, id };
}

/* The place of the oldest entry; the model's key is the one or the other. */
static int model_find(const struct model *model, struct vm_env env, bool posted)
{
	for (int i = 0; i < model->count; i++)
		if (posted ? fits(env, model->list[i].env) :
			     fits(model->list[i].env, env))
			return i;
	return -1;
}

/* An entry under test. */
struct thing {
	union {
		struct vm_match_node node;
		struct vm_match_queued queued;
	};
	int id;
};

static struct vm_match match;
static struct model posted, arrived;

static struct thing *thing_of(struct vm_match_node *node)
{
	return node ? vm_container_of(node, struct thing, node) : NULL;
}

/* By the short way where it is one. */
static void post(struct vm_match_node *node)
{
	node->kind = 0;
	if (node->env.source != VM_ANY && node->env.tag != VM_ANY &&
	    vm_match_has_room(&match))
		vm_match_post_plain(&match, node);
	else
		vm_match_post(&match, node);
}

/* Whether the short look finds the receive with this number, or none. */
static bool front_is(const struct vm_env *env, int id)
{
	struct thing *front = thing_of(vm_match_front(&match, env));

	return !front || front->id == id;
}

/* One receive or arrival, by both; whether they agree. */
static bool receive(struct thing *thing)
{
	struct vm_env env = thing->node.env;
	int at = model_find(&arrived, env, false);
	struct thing *found = thing_of(vm_match_peek(&match, &env));

	if (at < 0) {
		post(&thing->node);
		model_add(&posted, env, thing->id);
		return !found;
	}
	if (!found || found->id != arrived.list[at].id)
		return false;
	vm_match_take(&match, &found->node);
	model_remove(&arrived, at);
	return true;
}

static bool arrive(struct thing *thing)
{
	struct vm_env env = thing->node.env;
	int at = model_find(&posted, env, true);
	bool right = front_is(&env, at < 0 ? -1 : posted.list[at].id);
	struct thing *found = thing_of(vm_match_arrival(&match, &env));

	if (!right)
		return false;
	if (at < 0) {
		vm_match_arrive(&match, &thing->node);
		model_add(&arrived, env, thing->id);
		return !found;
	}
	if (!found || found->id != posted.list[at].id)
		return false;
	model_remove(&posted, at);
	return true;
}

/*
 * All sequences: an event is one of `kinds` envelopes; those before `arrivals`
 * are arrivals, the others receives.
 */
static const struct vm_env all_kinds[] = {
	{ 6, 0, 0 },	       { 6, 0, 1 },	 { 6, 1, 0 },
	{ 6, 1, 1 },	       { 6, 0, 0 },	 { 6, 0, 1 },
	{ 6, 1, 0 },	       { 6, 1, 1 },	 { 6, 0, VM_ANY },
	{ 6, 1, VM_ANY },      { 6, VM_ANY, 0 }, { 6, VM_ANY, 1 },
	{ 6, VM_ANY, VM_ANY },
};

static const struct vm_env few_kinds[] = {
	{ 6, 0, 0 },	  { 6, 1, 0 },	    { 6, 1, 0 },
	{ 6, 0, VM_ANY }, { 6, VM_ANY, 0 }, { 6, VM_ANY, VM_ANY },
};

/* One sequence, then everything that is left is taken out again. */
static bool sequence(const struct vm_env *kinds, int arrivals,
		     const int *events, int n)
{
	struct thing things[8];
	bool agree = true;

	for (int i = 0; i < n && agree; i++) {
		things[i].id = i;
		things[i].node.env = kinds[events[i]];
		agree = events[i] < arrivals ? arrive(&things[i]) :
					       receive(&things[i]);
	}
	for (int i = 0; i < posted.count; i++)
		vm_match_unpost(&match, &things[posted.list[i].id].node);
	for (int i = 0; i < arrived.count; i++)
		vm_match_take(&match, &things[arrived.list[i].id].node);
	posted.count = arrived.count = 0;
	return agree;
}

/* All sequences of n events with at most `most` arrivals and receives each;
 * how many there were, or minus how many failed. */
static long sequences(const struct vm_env *kinds, int kind_count, int arrivals,
		      int n, int most)
{
	int events[8] = { 0 }, at = 0;
	long count = 0, wrong = 0;

	while (at < n) {
		int in = 0;

		for (int i = 0; i < n; i++)
			in += events[i] < arrivals;
		if (in <= most && n - in <= most) {
			count++;
			wrong += !sequence(kinds, arrivals, events, n);
		}
		for (at = 0; at < n && ++events[at] == kind_count; at++)
			events[at] = 0;
	}
	return wrong ? -wrong : count;
}

static void test_all(const char *name)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	const int longest = 5;
#else
	const int longest = 6;
#endif
	long count = 0, n;

	for (int length = 1; length <= longest; length++) {
		n = sequences(all_kinds, 13, 4, length, 4);
		count = n < 0 || count < 0 ? -1 : count + n;
	}
	ok(count > 0, "%s: all sequences up to %d events (%ld)", name, longest,
	   count);
	n = sequences(few_kinds, 6, 2, 8, 4);
	is_int(n, 70L * 16 * 256, "%s: all orders of 4 messages, 4 receives",
	       name);
}

/* Entries of another context make the queues long, so that bins are used. */
static void test_small(void)
{
	static struct thing others[200];

	vm_match_init(&match);
	test_all("lists");
	for (int i = 0; i < 100; i++) {
		others[i].node.env = (struct vm_env){ 8, i % 3, i };
		vm_match_arrive(&match, &others[i].node);
		others[100 + i].node.env =
			(struct vm_env){ 10, i % 2 ? VM_ANY : 1, VM_ANY };
		vm_match_post(&match, &others[100 + i].node);
	}
	ok(match.posted.mask && match.arrived.mask, "long queues have bins");
	test_all("bins");
	is_int(match.pvars.posted_len, 100, "other contexts are not touched");
	is_int(match.pvars.unexpected_len, 100, "in either queue");
	vm_match_fini(&match);
}

static uint64_t state;

static unsigned below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

static struct vm_env random_env(bool wild)
{
	struct vm_env env = { 2 * below(3), (int)below(12), (int)below(6) };

	if (wild && below(4) == 0)
		env.source = VM_ANY;
	if (wild && below(4) == 0)
		env.tag = VM_ANY;
	return env;
}

/* One random event; `swing` favours the one kind or the other, so that both
 * queues get long in turns. */
static bool random_event(struct thing *thing, unsigned swing)
{
	unsigned kind = below(100);
	struct vm_env env;
	struct thing *found;
	int at;

	if (kind < 8 && posted.count) {
		at = (int)below((unsigned)posted.count);
		found = thing - thing->id + posted.list[at].id;
		vm_match_unpost(&match, &found->node);
		model_remove(&posted, at);
		return true;
	}
	if (kind < 14 && arrived.count) {
		at = (int)below((unsigned)arrived.count);
		found = thing - thing->id + arrived.list[at].id;
		vm_match_take(&match, &found->node);
		model_remove(&arrived, at);
		return true;
	}
	if (kind < 30) {
		env = random_env(true);
		at = model_find(&arrived, env, false);
		found = thing_of(vm_match_peek(&match, &env));
		return at < 0 ? !found :
				found && found->id == arrived.list[at].id;
	}
	thing->node.env = random_env(below(100) < swing);
	return below(100) < swing ? receive(thing) : arrive(thing);
}

static void test_random(void)
{
	enum { EVENTS = 200000 };
	struct thing *things = calloc(EVENTS, sizeof(*things));
	int wrong = 0, longest = 0;

	if (!things)
		bail("no memory");
	vm_match_init(&match);
	posted.count = arrived.count = 0;
	for (int i = 0; i < EVENTS && !wrong; i++) {
		things[i].id = i;
		wrong = !random_event(&things[i], i / 20000 % 2 ? 70 : 35);
		if (posted.count + 1 >= MODEL_MAX ||
		    arrived.count + 1 >= MODEL_MAX)
			bail("the model is too small");
		longest = arrived.count > longest ? arrived.count : longest;
		longest = posted.count > longest ? posted.count : longest;
		if (match.pvars.posted_len != (uint32_t)posted.count ||
		    match.pvars.unexpected_len != (uint32_t)arrived.count)
			wrong = 1;
	}
	is_int(wrong, 0, "%d random events, queues up to %d long", EVENTS,
	       longest);
	vm_match_fini(&match);
	free(things);
}

/* Very long queues: the k-th arrival of a key meets its k-th receive. */
#define LARGE 60000
#define KEYS 2000

static struct vm_env key_env(int i)
{
	return (struct vm_env){ 4, i % KEYS / 40, i % 40 };
}

/* Envelopes in a random order, each of KEYS keys equally often. */
static void shuffle(int *order)
{
	for (int i = 0; i < LARGE; i++)
		order[i] = i;
	for (int i = LARGE - 1; i > 0; i--) {
		int j = (int)below((unsigned)i + 1), other = order[j];

		order[j] = order[i];
		order[i] = other;
	}
}

static void test_large(void)
{
	static int order[LARGE], next[KEYS];
	struct thing *things = calloc(LARGE, sizeof(*things));
	struct vm_env any = { 4, VM_ANY, VM_ANY };
	uint64_t start = vm_clock_ns();
	int wrong = 0, last = -1;

	if (!things)
		bail("no memory");
	vm_match_init(&match);
	shuffle(order);
	for (int i = 0; i < LARGE; i++) {
		things[i].id = i;
		things[i].node.env = key_env(i);
		vm_match_post(&match, &things[i].node);
	}
	for (int i = 0; i < LARGE; i++) {
		struct vm_env env = key_env(order[i]);
		struct thing *found = thing_of(vm_match_arrival(&match, &env));
		int key = order[i] % KEYS;

		wrong += !found || found->id != key + KEYS * next[key]++;
	}
	is_int(wrong, 0, "%d receives are met in order of their keys", LARGE);
	for (int i = 0; i < LARGE; i++) {
		things[i].node.env = key_env(order[i]);
		vm_match_arrive(&match, &things[i].node);
	}
	wrong = 0;
	for (int i = 0; i < LARGE; i++) {
		struct thing *found = thing_of(vm_match_peek(&match, &any));

		wrong += !found || found->id != last + 1;
		last++;
		if (found)
			vm_match_take(&match, &found->node);
	}
	is_int(wrong, 0, "and as many arrivals by age");
	ok(vm_clock_ns() - start < 5000000000, "in %d ms",
	   (int)((vm_clock_ns() - start) / 1000000));
	is_int(match.pvars.posted_len + match.pvars.unexpected_len, 0,
	       "nothing is left");
	vm_match_fini(&match);
	free(things);
}

/* Many arrivals, each by a receive with wildcards, the latest keys first: none
 * may go through all of the others. */
static void test_wild(const char *name, int any_source, int any_tag)
{
	struct thing *things = calloc(LARGE, sizeof(*things));
	uint64_t before;
	int wrong = 0;

	if (!things)
		bail("no memory");
	vm_match_init(&match);
	for (int i = 0; i < LARGE; i++) {
		things[i].id = i;
		things[i].node.env =
			(struct vm_env){ 4, any_tag ? i / 4 : i % 7,
					 any_source ? i / 4 : i % 7 };
		vm_match_arrive(&match, &things[i].node);
	}
	before = match.pvars.unexpected_attempts;
	for (int i = LARGE - 1; i >= 0; i--) {
		struct vm_env env = { 4, any_source ? VM_ANY : i / 4,
				      any_tag ? VM_ANY : i / 4 };
		struct thing *found = thing_of(vm_match_peek(&match, &env));

		wrong += !found || found->id != i / 4 * 4 + 3 - i % 4;
		if (found)
			vm_match_take(&match, &found->node);
	}
	is_int(wrong, 0, "%s: each meets the oldest", name);
	ok(match.pvars.unexpected_attempts - before < 20ul * LARGE,
	   "%llu arrivals were compared for %d receives",
	   (unsigned long long)(match.pvars.unexpected_attempts - before),
	   LARGE);
	ok(!match.wild.pattern, "nothing is left of the bins");
	vm_match_fini(&match);
	free(things);
}

int main(void)
{
	const char *given = getenv("SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);

	plan(18);
	diag("seed %llu (SEED=... repeats it)", (unsigned long long)seed);
	state = seed;
	test_small();
	test_random();
	test_large();
	test_wild("any source", 1, 0);
	test_wild("any tag", 0, 1);
	return done_testing();
}
