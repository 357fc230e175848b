/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that was woken looks as if it waited until it runs, and a message may
 * be under way.  So no rank is called stuck unless all workers of all processes
 * sleep without work, and, while the job lives, nothing has changed between two
 * looks.
 *
 * Of channels other than the world the members are not known here, but each
 * that waits for all names the next one: those that wait lead from one to the
 * next, up to one that has not come.
 */
#include "report/live/states.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/log.h"

#define LOOK_NS 100000000 /* between two looks */

void vm_states_fini(struct vm_states *states)
{
	free(states->doing);
	free(states->known);
	free(states->needs);
}

static int states_alloc(struct vm_states *states, const struct vm_live_job *job)
{
	size_t count = vm_live_job_head(job)->ranks;

	*states = (struct vm_states){ .job = job, .count = (unsigned)count };
	states->doing = calloc(count + 1, sizeof(*states->doing));
	states->known = calloc(count + 1, sizeof(*states->known));
	states->needs = calloc(count + 1, sizeof(*states->needs));
	if (states->doing && states->known && states->needs)
		return 0;
	vm_states_fini(states);
	return -VMPI_ENOMEM;
}

/* The total of a variable of a process, 0 if it has none. */
static uint64_t total_of(const struct vm_live_file *file, const char *name)
{
	struct vm_live_pvar_view view;
	uint64_t value;

	for (unsigned i = 0; i < vm_live_pvar_count(file); i++) {
		vm_live_pvar_info(file, &view, i);
		if (strcmp(view.name, name) == 0 &&
		    vm_live_total(file, &value, i, 0) == 0)
			return value;
	}
	return 0;
}

static void states_take(struct vm_states *states)
{
	const struct vm_live_job *job = states->job;

	states->idle = true;
	states->sleeps = 0;
	for (unsigned f = 0; f < job->count; f++) {
		states->idle &= vm_live_asleep(job->files[f]);
		states->sleeps += total_of(job->files[f], "sched_sleeps");
	}
	for (unsigned r = 0; r < states->count; r++) {
		const struct vm_live_file *file = vm_live_job_rank(job, r);

		states->known[r] = file &&
				   !vm_live_doing(file, &states->doing[r], r);
	}
}

static bool same(const struct vm_states *a, const struct vm_states *b)
{
	for (unsigned r = 0; r < a->count; r++)
		if (a->known[r] != b->known[r] ||
		    (a->known[r] && a->doing[r].state != b->doing[r].state))
			return false;
	return a->sleeps == b->sleeps;
}

int vm_states_init(struct vm_states *states, const struct vm_live_job *job)
{
	const struct timespec moment = { .tv_nsec = LOOK_NS };
	struct vm_states before;
	bool sure;

	if (states_alloc(states, job))
		return -VMPI_ENOMEM;
	states_take(states);
	if (!states->idle)
		return 0;
	if (states_alloc(&before, job)) {
		vm_states_fini(states);
		return -VMPI_ENOMEM;
	}
	states_take(&before);
	if (vm_live_job_lives(job))
		nanosleep(&moment, NULL);
	states_take(states);
	sure = states->idle && same(states, &before);
	vm_states_fini(&before);
	if (sure)
		states->stuck = vm_states_judge(states->needs, states->doing,
						states->known, states->count);
	return 0;
}

static bool is_world(const struct vm_export_wait *wait)
{
	return wait->context == 0 || (wait->flags & VM_EXPORT_OF_WORLD);
}

/* The data read of ranks, to be judged. */
struct readings {
	const struct vm_live_doing *doing;
	const bool *known;
	unsigned count;
};

/* Whether the rank waits for all members of a channel. */
static bool in_meeting(const struct readings *readings, unsigned rank,
		       uint32_t context)
{
	const struct vm_live_doing *doing = &readings->doing[rank];

	return readings->known[rank] && doing->state == VM_EXPORT_COLLECTIVE &&
	       doing->wait.context == context &&
	       (doing->wait.flags & VM_EXPORT_ALL);
}

/* The member after one that is in a meeting; -1: unknown. */
static int next_in(const struct readings *readings, unsigned rank)
{
	int next = readings->doing[rank].wait.peer;

	return next >= 0 && (unsigned)next < readings->count ? next : -1;
}

/*
 * The first member after the rank that is not in its meeting; -1: all are, or
 * it is unknown.  For those of needs that are marked (stuck) it is known
 * already.
 */
static int missing_find(const struct readings *readings,
			const struct vm_deadlock_rank *needs, unsigned rank)
{
	uint32_t context = readings->doing[rank].wait.context;
	int at = (int)rank;

	for (unsigned i = 0; i < readings->count; i++) {
		at = next_in(readings, (unsigned)at);
		if (at < 0 || at == (int)rank)
			return -1;
		if (!in_meeting(readings, (unsigned)at, context))
			return at;
		if (needs[at].stuck)
			return needs[at].need == VM_NEED_ONE ?
				       (int)needs[at].peer :
				       -1;
	}
	return -1;
}

/* All from the rank on wait for the same member, if for any. */
static void meeting_judge(const struct readings *readings,
			  struct vm_deadlock_rank *needs, unsigned rank)
{
	uint32_t context = readings->doing[rank].wait.context;
	int missing = missing_find(readings, needs, rank), at = (int)rank;

	while (at >= 0 && in_meeting(readings, (unsigned)at, context) &&
	       !needs[at].stuck) {
		needs[at] = (struct vm_deadlock_rank){ .stuck = true };
		if (missing >= 0 && !readings->doing[at].wait.others) {
			needs[at].need = VM_NEED_ONE;
			needs[at].peer = (unsigned)missing;
		}
		at = next_in(readings, (unsigned)at);
	}
}

/* The need of a rank that is not in a meeting of part of the ranks. */
static struct vm_deadlock_rank need_of(const struct readings *readings,
				       unsigned rank)
{
	const struct vm_live_doing *doing = &readings->doing[rank];
	const struct vm_export_wait *wait = &doing->wait;
	struct vm_deadlock_rank need = { .need = VM_NEED_NOTHING };

	if (!readings->known[rank])
		return need;
	if (doing->state == VM_EXPORT_DONE)
		need.need = VM_NEED_MIRACLE;
	if (doing->state < VM_EXPORT_RECEIVE ||
	    doing->state > VM_EXPORT_COLLECTIVE || wait->others != 0)
		return need;
	need.group = doing->state == VM_EXPORT_COLLECTIVE && !wait->context;
	if (wait->flags & VM_EXPORT_ALL) {
		need.need = VM_NEED_ALL;
	} else if (wait->peer == -1) {
		need.need = VM_NEED_ANY;
	} else if (wait->peer >= 0 && (unsigned)wait->peer < readings->count &&
		   is_world(wait)) {
		need.need = VM_NEED_ONE;
		need.peer = (unsigned)wait->peer;
	}
	return need;
}

unsigned vm_states_judge(struct vm_deadlock_rank *needs,
			 const struct vm_live_doing *doing, const bool *known,
			 unsigned count)
{
	const struct readings readings = { doing, known, count };

	for (unsigned r = 0; r < count; r++)
		needs[r].stuck = false;
	for (unsigned r = 0; r < count; r++) {
		uint32_t context = doing[r].wait.context;

		if (!context || !in_meeting(&readings, r, context))
			needs[r] = need_of(&readings, r);
		else if (!needs[r].stuck)
			meeting_judge(&readings, needs, r);
	}
	return vm_deadlock_find(needs, count);
}

/* A text that grows up to an end. */
struct text {
	char *at;
	size_t bytes, used;
};

static void add(struct text *text, const char *format, ...) VM_PRINTF(2, 3);

static void add(struct text *text, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text->at + text->used, text->bytes - text->used, format,
		      args);
	va_end(args);
	if (n > 0)
		text->used += (size_t)n;
	if (text->used >= text->bytes)
		text->used = text->bytes - 1;
}

/* "rank 3, tag 7, communicator 4" */
static void partner_add(struct text *text, const struct vm_export_wait *wait)
{
	bool elsewhere = wait->context != 0;

	if (wait->peer == -1)
		add(text, "any rank");
	else
		add(text, "rank %d", (int)wait->peer);
	if (elsewhere && !is_world(wait)) {
		add(text, " of communicator %u", wait->context);
		elsewhere = false;
	}
	if (wait->tag == -1)
		add(text, ", any tag");
	else
		add(text, ", tag %d", (int)wait->tag);
	if (elsewhere)
		add(text, ", communicator %u", wait->context);
}

/* Adds what a rank waits for, in states with details. */
static void wait_add(struct text *text, const struct vm_live_doing *doing)
{
	const struct vm_export_wait *wait = &doing->wait;
	bool sends = wait->flags & VM_EXPORT_SENDS;
	bool sized = doing->state != VM_EXPORT_PROBE;

	if (doing->state == VM_EXPORT_WAIT && wait->peer == VM_EXPORT_NOBODY) {
		add(text, "waiting for one of several operations, or for a "
			  "collective");
		return;
	}
	if (doing->state == VM_EXPORT_RECEIVE)
		add(text, "receiving from ");
	else if (doing->state == VM_EXPORT_SEND)
		add(text, "sending to ");
	else if (doing->state == VM_EXPORT_PROBE)
		add(text, "waiting for a message from ");
	else
		add(text, "waiting for its %s ",
		    sends ? "send to" : "receive from");
	partner_add(text, wait);
	if (sized)
		add(text, ", %s%llu bytes", sends ? "" : "up to ",
		    (unsigned long long)wait->bytes);
	else
		add(text, " (probe)");
}

const char *vm_states_call(const struct vm_states *states, unsigned rank)
{
	const struct vm_live_doing *doing = &states->doing[rank];

	if (!states->known[rank] || doing->state < VM_EXPORT_RECEIVE ||
	    doing->state > VM_EXPORT_COLLECTIVE)
		return NULL;
	return vm_live_call_name(vm_live_job_rank(states->job, rank),
				 doing->wait.call);
}

static void collective_add(struct text *text, const char *call,
			   const struct vm_export_wait *wait)
{
	if (call)
		add(text, "in %s of ", call);
	else
		add(text, "in a collective operation of ");
	if (wait->context == 0)
		add(text, "all ranks");
	else
		add(text, "communicator %u", wait->context);
}

void vm_states_rank(const struct vm_states *states,
		    char buffer[VM_STATES_TEXT_MAX], unsigned rank)
{
	static const char *const plain[VM_EXPORT_STATE_COUNT] = {
		[VM_EXPORT_NEW] = "not started",
		[VM_EXPORT_RUNNING] = "running or ready",
		[VM_EXPORT_SLEEP] = "sleeping",
		[VM_EXPORT_OTHER] = "waiting for a lock, a thread or a task",
		[VM_EXPORT_DONE] = "finished",
	};
	const struct vm_live_doing *doing = &states->doing[rank];
	struct text text = { .at = buffer, .bytes = VM_STATES_TEXT_MAX };
	const char *call;

	if (!states->known[rank]) {
		add(&text, "not on this host");
		return;
	}
	if (plain[doing->state]) {
		add(&text, "%s", plain[doing->state]);
		return;
	}
	call = vm_states_call(states, rank);
	if (doing->state == VM_EXPORT_COLLECTIVE) {
		collective_add(&text, call, &doing->wait);
		return;
	}
	if (call)
		add(&text, "in %s: ", call);
	wait_add(&text, doing);
}

/* The values from which the words for a rank follow: ranks with the same key do
 * the same. */
struct key {
	int state; /* -1: unknown */
	uint32_t call, context, flags;
	int32_t peer, tag;
	uint64_t bytes;
	unsigned rank;
	unsigned count; /* of the first of a group: its size */
	bool named;	/* one of them is in the circle */
};

static struct key key_of(const struct vm_states *states, unsigned rank)
{
	const struct vm_live_doing *doing = &states->doing[rank];
	const struct vm_export_wait *wait = &doing->wait;
	struct key key = { .state = -1, .rank = rank };

	if (!states->known[rank])
		return key;
	key.state = (int)doing->state;
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
	return 0;
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

#define WHO_MAX 72

/* "rank 3", "ranks 0-2, 7": of count keys. */
static void who_add(struct text *text, const struct key *keys, unsigned count)
{
	size_t begin = text->used;

	add(text, count == 1 ? "rank " : "ranks ");
	for (unsigned i = 0, n; i < count; i += n) {
		unsigned first = keys[i].rank;

		for (n = 1; i + n < count && keys[i + n].rank == first + n; n++)
			;
		if (text->used - begin > WHO_MAX) {
			add(text, ", ... (%u)", count);
			return;
		}
		add(text, n == 1 ? "%s%u" : "%s%u-%u", i ? ", " : "", first,
		    first + n - 1);
	}
}

static void group_say(const struct vm_states *states, const struct key *group,
		      vm_states_line line, void *arg)
{
	char buffer[WHO_MAX + 64 + VM_STATES_TEXT_MAX];
	struct text text = { .at = buffer, .bytes = sizeof(buffer) };
	char does[VM_STATES_TEXT_MAX];

	who_add(&text, group, group->count);
	vm_states_rank(states, does, group->rank);
	while (text.used < 16)
		add(&text, " ");
	add(&text, " %s %s", group->count == 1 ? "is" : "are", does);
	line(buffer, arg);
}

/* Prints how many of the ranks without a line are in which state. */
static void rest_say(const struct vm_states *states, struct key **groups,
		     unsigned count, vm_states_line line, void *arg)
{
	unsigned in[VM_EXPORT_STATE_COUNT] = { 0 }, all = 0, elsewhere = 0;
	char buffer[VM_STATES_TEXT_MAX];
	struct text text = { .at = buffer, .bytes = sizeof(buffer) };
	const char *between = ": ";

	for (unsigned i = 0; i < count; i++) {
		all += groups[i]->count;
		if (groups[i]->state < 0)
			elsewhere += groups[i]->count;
		else
			in[groups[i]->state] += groups[i]->count;
	}
	add(&text, "and %u more rank%s", all, all == 1 ? "" : "s");
	for (unsigned i = 0; i < VM_EXPORT_STATE_COUNT; i++) {
		if (!in[i])
			continue;
		add(&text, "%s%u %s", between, in[i],
		    vm_live_state_word((enum vm_export_state)i));
		between = ", ";
	}
	if (elsewhere)
		add(&text, "%s%u not on this host", between, elsewhere);
	add(&text, " (vmpistat --states %s shows all)", states->job->name);
	line(buffer, arg);
}

#define CIRCLE_SHOWN 16

static void deadlock_say(const struct vm_states *states, const unsigned *circle,
			 unsigned length, unsigned ended, vm_states_line line,
			 void *arg)
{
	char buffer[64 * (CIRCLE_SHOWN + 2)];
	struct text text = { .at = buffer, .bytes = sizeof(buffer) };
	unsigned from = 0;

	while (!states->needs[from].stuck)
		from++;
	if (length == 0) {
		add(&text,
		    "hang: rank %u waits, directly or indirectly, for rank "
		    "%u, which has ended",
		    from, ended);
	} else {
		add(&text, "deadlock: rank %u", circle[0]);
		for (unsigned i = 1; i < length && i < CIRCLE_SHOWN; i++)
			add(&text, " waits for rank %u, which", circle[i]);
		if (length > CIRCLE_SHOWN)
			add(&text, " waits for %u more, the last of which",
			    length - CIRCLE_SHOWN);
		add(&text, " waits for rank %u", circle[0]);
	}
	add(&text, " (%u of %u ranks can never proceed)", states->stuck,
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
	qsort(groups, count, sizeof(struct key *), named_compare);
	for (unsigned i = 0; i < shown; i++)
		group_say(states, groups[i], line, arg);
	if (!all)
		rest_say(states, groups + shown, count - shown, line, arg);
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
