/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The states of all ranks in lines, those together that do the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "report/live/states.h"
#include "report/live/text.h"

/* The values from which the words for a rank follow: ranks with the same key do
 * the same. */
struct key {
	int state; /* -1: unknown */
	uint32_t call, context, flags;
	int32_t peer, tag;
	uint64_t bytes;
	const char *place, *does; /* of the stack; "": unknown */
	unsigned rank;
	unsigned count; /* of the first of a group: its size */
	bool named;	/* one of them is in the circle */
};

static struct key key_of(const struct vm_states *states, unsigned rank)
{
	const struct vm_live_doing *doing = &states->doing[rank];
	const struct vm_export_wait *wait = &doing->wait;
	struct key key = { .state = -1, .rank = rank, .place = "", .does = "" };

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
	key.peer = wait->peer;
	key.tag = wait->tag;
	key.bytes = wait->bytes;
	return key;
}

/* Compares all but the rank. */
static int alike(const struct key *a, const struct key *b)
{
	int order;

#define BY(field)                 \
	if (a->field != b->field) \
		return a->field < b->field ? -1 : 1;
	BY(state)
	BY(call)
	BY(context)
	BY(flags)
	BY(peer)
	BY(tag)
	BY(bytes)
#undef BY
	order = strcmp(a->place, b->place);
	return order ? order : strcmp(a->does, b->does);
}

static int key_compare(const void *left, const void *right)
{
	const struct key *a = left, *b = right;
	int rc = alike(a, b);

	return rc ? rc : (a->rank > b->rank) - (a->rank < b->rank);
}

/* Keys of those that do the same, by their first rank; those of the circle
 * come first where there is no room for all. */
static int named_compare(const void *left, const void *right)
{
	const struct key *const *a = left, *const *b = right;

	if ((*a)->named != (*b)->named)
		return (*a)->named ? -1 : 1;
	return ((*a)->rank > (*b)->rank) - ((*a)->rank < (*b)->rank);
}

/* Those that few do come first. */
static int count_compare(const void *left, const void *right)
{
	const struct key *const *a = left, *const *b = right;

	if ((*a)->count != (*b)->count)
		return (*a)->count < (*b)->count ? -1 : 1;
	return named_compare(left, right);
}

#define WHO_MAX 72

/* "rank 3", "ranks 0-2, 7": of count keys. */
static void who_add(struct vm_text *text, const struct key *keys,
		    unsigned count)
{
	size_t begin = text->used;

	vm_text_add(text, count == 1 ? "rank " : "ranks ");
	for (unsigned i = 0, n; i < count; i += n) {
		unsigned first = keys[i].rank;

		for (n = 1; i + n < count && keys[i + n].rank == first + n; n++)
			;
		if (text->used - begin > WHO_MAX) {
			vm_text_add(text, ", ... (%u)", count);
			return;
		}
		vm_text_add(text, n == 1 ? "%s%u" : "%s%u-%u", i ? ", " : "",
			    first, first + n - 1);
	}
}

static void group_say(const struct vm_states *states, const struct key *group,
		      vm_states_line line, void *arg)
{
	char buffer[WHO_MAX + 64 + 2 * VM_STATES_TEXT_MAX];
	struct vm_text text = { .at = buffer, .bytes = sizeof(buffer) };
	char does[VM_STATES_TEXT_MAX];

	who_add(&text, group, group->count);
	vm_states_rank(states, does, group->rank);
	while (text.used < 16)
		vm_text_add(&text, " ");
	vm_text_add(&text, " %s %s", group->count == 1 ? "is" : "are", does);
	if (group->place[0])
		vm_text_add(&text, ", at %s", group->place);
	line(buffer, arg);
}

/* Prints how many of the ranks without a line are in which state. */
static void rest_say(const struct vm_states *states, struct key **groups,
		     unsigned count, vm_states_line line, void *arg)
{
	unsigned in[VM_EXPORT_STATE_COUNT] = { 0 }, all = 0, elsewhere = 0;
	char buffer[VM_STATES_TEXT_MAX];
	struct vm_text text = { .at = buffer, .bytes = sizeof(buffer) };
	const char *between = ": ";

	for (unsigned i = 0; i < count; i++) {
		all += groups[i]->count;
		if (groups[i]->state < 0)
			elsewhere += groups[i]->count;
		else
			in[groups[i]->state] += groups[i]->count;
	}
	vm_text_add(&text, "and %u more rank%s", all, all == 1 ? "" : "s");
	for (unsigned i = 0; i < VM_EXPORT_STATE_COUNT; i++) {
		if (!in[i])
			continue;
		vm_text_add(&text, "%s%u %s", between, in[i],
			    vm_live_state_word((enum vm_export_state)i));
		between = ", ";
	}
	if (elsewhere)
		vm_text_add(&text, "%s%u not on this host", between, elsewhere);
	vm_text_add(&text, " (vmpistat --states %s shows all)",
		    states->job->name);
	line(buffer, arg);
}

#define CIRCLE_SHOWN 16

static void deadlock_say(const struct vm_states *states, const unsigned *circle,
			 unsigned length, unsigned ended, vm_states_line line,
			 void *arg)
{
	char buffer[64 * (CIRCLE_SHOWN + 2)];
	struct vm_text text = { .at = buffer, .bytes = sizeof(buffer) };
	unsigned from = 0;

	while (!states->needs[from].stuck)
		from++;
	if (length == 0) {
		vm_text_add(
			&text,
			"hang: rank %u waits, directly or indirectly, for rank "
			"%u, which has ended",
			from, ended);
	} else {
		vm_text_add(&text, "deadlock: rank %u", circle[0]);
		for (unsigned i = 1; i < length && i < CIRCLE_SHOWN; i++)
			vm_text_add(&text, " waits for rank %u, which",
				    circle[i]);
		if (length > CIRCLE_SHOWN)
			vm_text_add(&text,
				    " waits for %u more, the last of which",
				    length - CIRCLE_SHOWN);
		vm_text_add(&text, " waits for rank %u", circle[0]);
	}
	vm_text_add(&text, " (%u of %u ranks can never proceed)", states->stuck,
		    states->count);
	line(buffer, arg);
}

unsigned *vm_states_circle(const struct vm_states *states, unsigned *length,
			   unsigned *ended)
{
	unsigned *circle;

	*length = 0;
	if (!states->stuck)
		return NULL;
	circle = calloc(states->count + 1, sizeof(*circle));
	if (circle)
		*length = vm_deadlock_circle(circle, ended, states->needs,
					     states->count);
	return circle;
}

/* The keys in order, each group's first with its count, and pointers to these.
 * Result: how many groups. */
static unsigned groups_make(const struct vm_states *states, struct key *keys,
			    struct key **groups, const bool *named)
{
	unsigned count = 0;

	for (unsigned r = 0; r < states->count; r++)
		keys[r] = key_of(states, r);
	qsort(keys, states->count, sizeof(*keys), key_compare);
	for (unsigned i = 0; i < states->count; i++) {
		if (i == 0 || alike(&keys[i], groups[count - 1]))
			groups[count++] = &keys[i];
		groups[count - 1]->count++;
		groups[count - 1]->named |= named[keys[i].rank];
	}
	return count;
}

/* Those of the circle come first only where not all are shown. */
static void groups_say(const struct vm_states *states, struct key **groups,
		       unsigned count, unsigned most, vm_states_line line,
		       void *arg)
{
	bool all = most == 0 || count <= most;
	unsigned shown = all ? count : most;

	for (unsigned i = 0; all && i < count; i++)
		groups[i]->named = false;
	qsort(groups, count, sizeof(struct key *),
	      states->hung ? count_compare : named_compare);
	for (unsigned i = 0; i < shown; i++)
		group_say(states, groups[i], line, arg);
	if (!all)
		rest_say(states, groups + shown, count - shown, line, arg);
}

/* Ranks by the call that they are in. */
static int call_compare(const void *left, const void *right)
{
	const struct key *a = left, *b = right;

	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* "3 of 4 wait in MPI_Barrier; rank 1 is elsewhere", if most wait in one call.
 * keys are in the order of calls. */
static void most_of_say(const struct vm_states *states, struct key *keys,
			vm_states_line line, void *arg)
{
	char buffer[WHO_MAX + 256];
	struct vm_text text = { .at = buffer, .bytes = sizeof(buffer) };
	unsigned count = states->count, from = 0, rest = 0, n;
	const char *call = NULL;

	for (unsigned i = 0; i < count; i += n) {
		for (n = 1; i + n < count && keys[i + n].call == keys[i].call;
		     n++)
			;
		if (n > count / 2 && n < count && keys[i].call) {
			from = i;
			rest = count - n;
			call = vm_states_call(states, keys[i].rank);
		}
	}
	if (!call)
		return;
	/* Those before and behind them, in order of their numbers. */
	memmove(keys + from, keys + from + (count - rest),
		(rest - from) * sizeof(*keys));
	for (unsigned i = 0; i < rest; i++)
		keys[i].call = 0;
	qsort(keys, rest, sizeof(*keys), call_compare);
	vm_text_add(&text, "%u of %u wait in %s; ", count - rest, count, call);
	who_add(&text, keys, rest);
	vm_text_add(&text, " %s elsewhere", rest == 1 ? "is" : "are");
	line(buffer, arg);
}

static int most_say(const struct vm_states *states, vm_states_line line,
		    void *arg)
{
	struct key *keys = calloc(states->count + 1, sizeof(*keys));

	if (!keys)
		return -VMPI_ENOMEM;
	for (unsigned r = 0; r < states->count; r++)
		keys[r] = key_of(states, r);
	qsort(keys, states->count, sizeof(*keys), call_compare);
	most_of_say(states, keys, line, arg);
	free(keys);
	return 0;
}

int vm_states_say(const struct vm_states *states, unsigned most,
		  vm_states_line line, void *arg)
{
	size_t room = states->count + 1;
	struct key *keys = calloc(room, sizeof(*keys));
	struct key **groups = calloc(room, sizeof(struct key *));
	bool *named = calloc(room, sizeof(*named));
	unsigned length, ended = 0, count;
	unsigned *circle = vm_states_circle(states, &length, &ended);
	int rc = keys && groups && named && (circle || !states->stuck) ?
			 0 :
			 -VMPI_ENOMEM;

	for (unsigned i = 0; !rc && i < length; i++)
		named[circle[i]] = true;
	if (!rc) {
		count = groups_make(states, keys, groups, named);
		if (states->hung)
			rc = most_say(states, line, arg);
		groups_say(states, groups, count, most, line, arg);
	}
	if (!rc && circle)
		deadlock_say(states, circle, length, ended, line, arg);
	free(circle);
	free(named);
	free(groups);
	free(keys);
	return rc;
}
