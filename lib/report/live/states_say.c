/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The states of all ranks in lines, those together that do the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "report/live/states_fold.h"
#include "report/live/text.h"

/* Keys of those that do the same, by their first rank; those of the circle
 * come first where there is no room for all. */
static int named_compare(const void *left, const void *right)
{
	const struct vm_states_key *const *a = left, *const *b = right;

	if ((*a)->named != (*b)->named)
		return (*a)->named ? -1 : 1;
	return ((*a)->rank > (*b)->rank) - ((*a)->rank < (*b)->rank);
}

/* Those that few do come first. */
static int count_compare(const void *left, const void *right)
{
	const struct vm_states_key *const *a = left, *const *b = right;

	if ((*a)->count != (*b)->count)
		return (*a)->count < (*b)->count ? -1 : 1;
	return named_compare(left, right);
}

#define WHO_MAX 72
#define STEPS_MIN 4 /* "0, 2, ..., 8" */

/* How many numbers from the first on lie *step apart: those that follow each
 * other, or at least STEPS_MIN; else 1. */
static unsigned run_of(const int32_t *numbers, unsigned count, int32_t *step)
{
	unsigned n = 1;

	*step = count > 1 ? numbers[1] - numbers[0] : 1;
	while (n < count && numbers[n] - numbers[n - 1] == *step)
		n++;
	return *step == 1 || n >= STEPS_MIN ? n : 1;
}

/* "rank 3", "ranks 0-2, 7", "ranks 0, 2, ..., 98". */
static void who_add(struct vm_text *text, const int32_t *numbers,
		    unsigned count)
{
	size_t begin = text->used;
	int32_t step;

	vm_text_add(text, count == 1 ? "rank " : "ranks ");
	for (unsigned i = 0, n; i < count; i += n) {
		int32_t first = numbers[i];

		n = run_of(numbers + i, count - i, &step);
		if (text->used - begin > WHO_MAX) {
			vm_text_add(text, ", ... (%u)", count);
			return;
		}
		vm_text_add(text, i ? ", %d" : "%d", (int)first);
		if (n > 1 && step == 1)
			vm_text_add(text, "-%d", (int)numbers[i + n - 1]);
		else if (n > 1)
			vm_text_add(text, ", %d, ..., %d", (int)numbers[i + 1],
				    (int)numbers[i + n - 1]);
	}
}

static int number_compare(const void *left, const void *right)
{
	const int32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* What is said, and room for as many numbers as there are ranks. */
struct saying {
	const struct vm_states *states;
	int32_t *numbers;
	vm_states_line line;
	void *arg;
};

static void keys_who_add(const struct saying *saying, struct vm_text *text,
			 const struct vm_states_key *keys, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		saying->numbers[i] = (int32_t)keys[i].rank;
	who_add(text, saying->numbers, count);
}

/* The partners of all, each once. */
static void partners_add(const struct saying *saying, struct vm_text *text,
			 const struct vm_states_key *group)
{
	int32_t *numbers = saying->numbers;
	unsigned count = 0;

	for (unsigned i = 0; i < group->count; i++)
		numbers[i] = saying->states->doing[group[i].rank].wait.peer;
	qsort(numbers, group->count, sizeof(*numbers), number_compare);
	for (unsigned i = 0; i < group->count; i++)
		if (count == 0 || numbers[i] != numbers[count - 1])
			numbers[count++] = numbers[i];
	who_add(text, numbers, count);
}

static void span_find(const struct saying *saying, struct vm_states_span *span,
		      const struct vm_states_key *group)
{
	const struct vm_live_doing *doing = saying->states->doing;
	struct vm_text text = { .at = span->partner,
				.bytes = sizeof(span->partner) };

	for (unsigned i = 0; i < group->count; i++) {
		const struct vm_export_wait *wait = &doing[group[i].rank].wait;

		if (i == 0 || wait->tag < span->tag_least)
			span->tag_least = wait->tag;
		if (i == 0 || wait->tag > span->tag_most)
			span->tag_most = wait->tag;
		if (i == 0 || wait->bytes < span->bytes_least)
			span->bytes_least = wait->bytes;
		if (i == 0 || wait->bytes > span->bytes_most)
			span->bytes_most = wait->bytes;
	}
	if (group->relation == VM_FOLD_SEVERAL)
		partners_add(saying, &text, group);
	else if (group->relation != VM_FOLD_SAME)
		vm_fold_partner(span->partner, sizeof(span->partner),
				saying->states, group);
}

static void group_say(const struct saying *saying,
		      const struct vm_states_key *group)
{
	char buffer[WHO_MAX + 64 + 2 * VM_STATES_TEXT_MAX];
	struct vm_text text = { .at = buffer, .bytes = sizeof(buffer) };
	char does[VM_STATES_TEXT_MAX];
	struct vm_states_span span = { .partner = "" };

	keys_who_add(saying, &text, group, group->count);
	span_find(saying, &span, group);
	vm_states_ranks(saying->states, does, group->rank, &span);
	while (text.used < 16)
		vm_text_add(&text, " ");
	vm_text_add(&text, " %s %s", group->count == 1 ? "is" : "are", does);
	if (group->place[0])
		vm_text_add(&text, ", at %s", group->place);
	saying->line(buffer, saying->arg);
}

/* Prints how many of the ranks without a line are in which state. */
static void rest_say(const struct saying *saying, struct vm_states_key **groups,
		     unsigned count)
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
	vm_text_add(&text, " (vmpistat --states --all %s shows all)",
		    saying->states->job->name);
	saying->line(buffer, saying->arg);
}

#define CIRCLE_MAX 16 /* a longer one is cut after */
#define CIRCLE_SHOWN 4

static void deadlock_say(const struct vm_states *states, const unsigned *circle,
			 unsigned length, unsigned ended, vm_states_line line,
			 void *arg)
{
	unsigned shown = length > CIRCLE_MAX ? CIRCLE_SHOWN : length;
	char buffer[64 * (CIRCLE_MAX + 2)];
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
		for (unsigned i = 1; i < shown; i++)
			vm_text_add(&text, " waits for rank %u, which",
				    circle[i]);
		if (length > shown)
			vm_text_add(&text,
				    " waits for %u more, the last of which",
				    length - shown);
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

/* Makes of the keys, in order, groups, each the first of them with its count.
 * Result: how many. */
static unsigned groups_of(const struct vm_states *states,
			  struct vm_states_key *keys,
			  struct vm_states_key **groups, const bool *named)
{
	unsigned count = 0;

	for (unsigned i = 0; i < states->count; i++) {
		if (i == 0 || vm_states_alike(&keys[i], groups[count - 1]))
			groups[count++] = &keys[i];
		groups[count - 1]->count++;
		groups[count - 1]->named |= named[keys[i].rank];
	}
	return count;
}

/* As many differences are folded as it takes to have at most `most` groups. */
static unsigned groups_make(const struct saying *saying,
			    struct vm_states_key *keys,
			    struct vm_states_key **groups, const bool *named,
			    unsigned most)
{
	unsigned count = 0;

	for (int level = 0; level < VM_FOLD_LEVELS; level++) {
		vm_states_fold(saying->states, keys, saying->numbers,
			       (enum vm_fold_level)level);
		count = groups_of(saying->states, keys, groups, named);
		if (most == 0 || count <= most)
			break;
	}
	return count;
}

/* Those of the circle come first only where not all are shown. */
static void groups_say(const struct saying *saying,
		       struct vm_states_key **groups, unsigned count,
		       unsigned most)
{
	bool all = most == 0 || count <= most;
	unsigned shown = all ? count : most;

	for (unsigned i = 0; all && i < count; i++)
		groups[i]->named = false;
	qsort(groups, count, sizeof(struct vm_states_key *),
	      saying->states->hung ? count_compare : named_compare);
	for (unsigned i = 0; i < shown; i++)
		group_say(saying, groups[i]);
	if (!all)
		rest_say(saying, groups + shown, count - shown);
}

/* Ranks by the call that they are in. */
static int call_compare(const void *left, const void *right)
{
	const struct vm_states_key *a = left, *b = right;

	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	return (a->rank > b->rank) - (a->rank < b->rank);
}

/* "3 of 4 wait in MPI_Barrier; rank 1 is elsewhere", if most wait in one call.
 * keys are in the order of calls. */
static void most_of_say(const struct saying *saying, struct vm_states_key *keys)
{
	const struct vm_states *states = saying->states;
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
	keys_who_add(saying, &text, keys, rest);
	vm_text_add(&text, " %s elsewhere", rest == 1 ? "is" : "are");
	saying->line(buffer, saying->arg);
}

static void most_say(const struct saying *saying, struct vm_states_key *keys)
{
	vm_states_fold(saying->states, keys, saying->numbers, VM_FOLD_NOTHING);
	qsort(keys, saying->states->count, sizeof(*keys), call_compare);
	most_of_say(saying, keys);
}

int vm_states_say(const struct vm_states *states, unsigned most,
		  vm_states_line line, void *arg)
{
	size_t room = states->count + 1;
	struct saying saying = { .states = states,
				 .numbers = calloc(room, sizeof(int32_t)),
				 .line = line,
				 .arg = arg };
	struct vm_states_key *keys = calloc(room, sizeof(*keys));
	struct vm_states_key **groups =
		calloc(room, sizeof(struct vm_states_key *));
	bool *named = calloc(room, sizeof(*named));
	unsigned length, ended = 0, count;
	unsigned *circle = vm_states_circle(states, &length, &ended);
	int rc = saying.numbers && keys && groups && named &&
				 (circle || !states->stuck) ?
			 0 :
			 -VMPI_ENOMEM;

	for (unsigned i = 0; !rc && i < length; i++)
		named[circle[i]] = true;
	if (!rc) {
		if (states->hung)
			most_say(&saying, keys);
		count = groups_make(&saying, keys, groups, named, most);
		groups_say(&saying, groups, count, most);
	}
	if (!rc && circle)
		deadlock_say(states, circle, length, ended, line, arg);
	free(circle);
	free(named);
	free(groups);
	free(keys);
	free(saying.numbers);
	return rc;
}
