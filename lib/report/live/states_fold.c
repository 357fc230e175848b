/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Of ranks that differ in their partner only, all have one kind of relation, the
 * one with the fewest numbers, if these are few.  Else the relation that most of
 * them have is taken out, then that of most of the others, and so on; one of few
 * ranks may be chance.
 */
#include "report/live/states_fold.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_MIN 4
#define MEMBERS_PART 8 /* of those that differ in their partner only */
#define RELATIONS_MAX 8

static struct vm_states_key key_of(const struct vm_states *states,
				   unsigned rank)
{
	const struct vm_live_doing *doing = &states->doing[rank];
	const struct vm_export_wait *wait = &doing->wait;
	struct vm_states_key key = {
		.state = -1, .rank = rank, .place = "", .does = ""
	};

	if (!states->known[rank])
		return key;
	key.state = (int)doing->state;
	if (states->notes && states->hung)
		key.place = states->notes[rank].place;
	if (states->notes && doing->state == VM_EXPORT_RUNNING)
		key.does = states->notes[rank].does;
	if (doing->state < VM_EXPORT_RECEIVE ||
	    doing->state > VM_EXPORT_COLLECTIVE)
		return key;
	key.call = wait->call;
	key.context = wait->context;
	if (doing->state == VM_EXPORT_COLLECTIVE)
		return key;
	key.flags = wait->flags;
	key.by = wait->peer;
	key.tag = wait->tag;
	key.bytes = wait->bytes;
	return key;
}

#define BY(field)                 \
	if (a->field != b->field) \
		return a->field < b->field ? -1 : 1;

/* All but partner and rank. */
static int kin(const struct vm_states_key *a, const struct vm_states_key *b)
{
	int order;

	BY(state)
	BY(call)
	BY(context)
	BY(flags)
	BY(tag)
	BY(bytes)
	order = strcmp(a->place, b->place);
	return order ? order : strcmp(a->does, b->does);
}

int vm_states_alike(const struct vm_states_key *a,
		    const struct vm_states_key *b)
{
	int order = kin(a, b);

	if (order)
		return order;
	BY(relation)
	BY(by)
	return 0;
}

#undef BY

static int key_compare(const void *left, const void *right)
{
	const struct vm_states_key *a = left, *b = right;
	int rc = vm_states_alike(a, b);

	return rc ? rc : (a->rank > b->rank) - (a->rank < b->rank);
}

static int kin_compare(const void *left, const void *right)
{
	return kin(left, right);
}

static int number_compare(const void *left, const void *right)
{
	const int32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Whether it waits for one rank of the job, whose number is that of the job. */
static bool has_partner(const struct vm_states *states,
			const struct vm_states_key *key)
{
	const struct vm_export_wait *wait = &states->doing[key->rank].wait;

	return key->state >= VM_EXPORT_RECEIVE &&
	       key->state < VM_EXPORT_COLLECTIVE &&
	       !(wait->flags & VM_EXPORT_STARTED) && wait->peer >= 0 &&
	       (unsigned)wait->peer < states->count && vm_states_of_world(wait);
}

/* The nearer way round. */
static int32_t distance(int32_t rank, int32_t peer, int32_t count)
{
	int32_t by = peer - rank;

	if (by > count / 2)
		return by - count;
	return by < -(count - 1) / 2 ? by + count : by;
}

/* Whether rank and partner may have the relation, and its number. */
static bool relate(int relation, int32_t rank, int32_t peer, int32_t count,
		   int32_t *by)
{
	*by = 0;
	switch (relation) {
	case VM_FOLD_SAME:
		*by = peer;
		return true;
	case VM_FOLD_PLUS:
		*by = distance(rank, peer, count);
		return true;
	case VM_FOLD_XOR:
		*by = rank ^ peer;
		return true;
	case VM_FOLD_HALF:
		return peer == rank / 2;
	case VM_FOLD_LESS:
		return rank > 0 && peer == (rank - 1) / 2;
	case VM_FOLD_LOWEST:
		return rank > 0 && peer == (rank & (rank - 1));
	}
	return false;
}

/* Keys that differ in their partner only. */
struct kinship {
	const struct vm_states *states;
	struct vm_states_key *keys;
	unsigned count;
	int32_t *buffer;
};

static bool relates(const struct kinship *kinship, unsigned i, int relation,
		    int32_t *by)
{
	const struct vm_states_key *key = &kinship->keys[i];
	const struct vm_states *states = kinship->states;

	return !key->told && has_partner(states, key) &&
	       relate(relation, (int32_t)key->rank,
		      states->doing[key->rank].wait.peer,
		      (int32_t)states->count, by);
}

/* The numbers of those that have this relation, in order: how many. */
static unsigned numbers_of(const struct kinship *kinship, int relation)
{
	unsigned count = 0;

	for (unsigned i = 0; i < kinship->count; i++)
		count += relates(kinship, i, relation, &kinship->buffer[count]);
	qsort(kinship->buffer, count, sizeof(*kinship->buffer), number_compare);
	return count;
}

/* How many have this relation with the number that most have; and how many
 * numbers there are, 0: not all have it. */
static unsigned most_of(const struct kinship *kinship, int relation,
			int32_t *by, unsigned *numbers)
{
	unsigned count = numbers_of(kinship, relation), most = 0;
	const int32_t *buffer = kinship->buffer;

	*numbers = 0;
	for (unsigned i = 0, n; i < count; i += n) {
		for (n = 1; i + n < count && buffer[i + n] == buffer[i]; n++)
			;
		++*numbers;
		if (n > most) {
			most = n;
			*by = buffer[i];
		}
	}
	if (count < kinship->count)
		*numbers = 0;
	return most;
}

/* Those that have the relation with this number, or (all) with any. */
static void members_tell(const struct kinship *kinship, int relation,
			 int32_t by, bool all)
{
	for (unsigned i = 0; i < kinship->count; i++) {
		struct vm_states_key *key = &kinship->keys[i];
		int32_t number;

		if (!relates(kinship, i, relation, &number) ||
		    (!all && number != by))
			continue;
		key->told = true;
		key->relation = relation;
		key->by = number;
	}
}

/* Whether one kind of relation, with few numbers, does for all. */
static bool all_take(const struct kinship *kinship)
{
	unsigned least = RELATIONS_MAX + 1, numbers;
	int of = -1;
	int32_t by;

	for (int relation = 0; relation < VM_FOLD_SEVERAL; relation++) {
		most_of(kinship, relation, &by, &numbers);
		if (numbers && numbers < least) {
			least = numbers;
			of = relation;
		}
	}
	if (of >= 0)
		members_tell(kinship, of, 0, true);
	return of >= 0;
}

/* Takes out the relation that most have; false: it is of too few. */
static bool relation_take(const struct kinship *kinship)
{
	unsigned most = kinship->count / MEMBERS_PART, numbers;
	int32_t by = 0, number = 0;
	int of = -1;

	if (most < MEMBERS_MIN - 1)
		most = MEMBERS_MIN - 1;
	for (int relation = 0; relation < VM_FOLD_SEVERAL; relation++) {
		unsigned count = most_of(kinship, relation, &number, &numbers);

		if (count > most) {
			most = count;
			of = relation;
			by = number;
		}
	}
	if (of >= 0)
		members_tell(kinship, of, by, false);
	return of >= 0;
}

static void kin_fold(const struct kinship *kinship, enum vm_fold_level level)
{
	bool all = all_take(kinship);

	for (int i = 0; !all && i < RELATIONS_MAX && relation_take(kinship);
	     i++)
		;
	for (unsigned i = 0; level == VM_FOLD_ALL && i < kinship->count; i++) {
		struct vm_states_key *key = &kinship->keys[i];

		if (key->told || !has_partner(kinship->states, key))
			continue;
		key->relation = VM_FOLD_SEVERAL;
		key->by = 0;
	}
}

void vm_states_fold(const struct vm_states *states, struct vm_states_key *keys,
		    int32_t *buffer, enum vm_fold_level level)
{
	struct kinship kinship = { .states = states, .buffer = buffer };
	unsigned n;

	for (unsigned r = 0; r < states->count; r++) {
		keys[r] = key_of(states, r);
		if (level >= VM_FOLD_BYTES)
			keys[r].bytes = 0;
		if (level >= VM_FOLD_ALL && has_partner(states, &keys[r]))
			keys[r].tag = 0;
	}
	if (level > VM_FOLD_NOTHING)
		qsort(keys, states->count, sizeof(*keys), kin_compare);
	for (unsigned i = 0; level > VM_FOLD_NOTHING && i < states->count;
	     i += n) {
		for (n = 1;
		     i + n < states->count && !kin(&keys[i], &keys[i + n]); n++)
			;
		kinship.keys = &keys[i];
		kinship.count = n;
		kin_fold(&kinship, level);
	}
	qsort(keys, states->count, sizeof(*keys), key_compare);
}

void vm_fold_partner(char *text, size_t bytes, const struct vm_states *states,
		     const struct vm_states_key *group)
{
	bool around = false;

	for (unsigned i = 0; i < group->count; i++) {
		int64_t peer = (int64_t)group[i].rank + group->by;

		around |= peer < 0 || peer >= (int64_t)states->count;
	}
	switch (group->relation) {
	case VM_FOLD_PLUS:
		snprintf(text, bytes, "rank %c %d", group->by < 0 ? '-' : '+',
			 abs(group->by));
		if (around)
			snprintf(text + strlen(text), bytes - strlen(text),
				 " (mod %u)", states->count);
		break;
	case VM_FOLD_XOR:
		snprintf(text, bytes, "rank ^ %d", group->by);
		break;
	case VM_FOLD_HALF:
		snprintf(text, bytes, "rank / 2");
		break;
	case VM_FOLD_LESS:
		snprintf(text, bytes, "(rank - 1) / 2");
		break;
	default:
		snprintf(text, bytes, "rank & (rank - 1)");
	}
}
