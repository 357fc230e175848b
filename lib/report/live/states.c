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

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/log.h"
#include "report/live/text.h"

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

int vm_states_init_hung(struct vm_states *states, const struct vm_live_job *job)
{
	if (states_alloc(states, job))
		return -VMPI_ENOMEM;
	states_take(states);
	states->hung = true;
	/* Their other tasks and threads wait, too. */
	for (unsigned r = 0; r < states->count; r++)
		states->doing[r].wait.others = 0;
	states->stuck = vm_states_judge(states->needs, states->doing,
					states->known, states->count);
	return 0;
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
		   vm_states_of_world(wait)) {
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

/* "rank 3, tag 7, communicator 4" */
static void partner_add(struct vm_text *text, const struct vm_export_wait *wait,
			const struct vm_states_span *span)
{
	bool elsewhere = wait->context != 0;

	if (span->partner[0])
		vm_text_add(text, "%s", span->partner);
	else if (wait->peer == -1)
		vm_text_add(text, "any rank");
	else
		vm_text_add(text, "rank %d", (int)wait->peer);
	if (elsewhere && !vm_states_of_world(wait)) {
		vm_text_add(text, " of communicator %u", wait->context);
		elsewhere = false;
	}
	if (span->tag_least < 0 && span->tag_most >= 0)
		vm_text_add(text, ", any tag or up to %d", (int)span->tag_most);
	else if (span->tag_least != span->tag_most)
		vm_text_add(text, ", tags %d-%d", (int)span->tag_least,
			    (int)span->tag_most);
	else if (wait->tag == -1)
		vm_text_add(text, ", any tag");
	else
		vm_text_add(text, ", tag %d", (int)wait->tag);
	if (elsewhere)
		vm_text_add(text, ", communicator %u", wait->context);
}

/* ", up to 8 bytes" */
static void bytes_add(struct vm_text *text, bool sends,
		      const struct vm_states_span *span)
{
	vm_text_add(text, sends ? ", " : ", up to ");
	if (span->bytes_least != span->bytes_most)
		vm_text_add(text, "%llu-",
			    (unsigned long long)span->bytes_least);
	vm_text_add(text, "%llu bytes", (unsigned long long)span->bytes_most);
}

/* "waiting for its MPI_Ibarrier of all ranks" */
static void started_add(struct vm_text *text, const struct vm_live_file *file,
			const struct vm_export_wait *wait)
{
	const char *call = vm_live_call_name(file, (uint32_t)wait->tag);

	vm_text_add(text, "waiting for its %s of ",
		    call ? call : "collective operation");
	if (wait->context == 0)
		vm_text_add(text, "all ranks");
	else
		vm_text_add(text, "communicator %u", wait->context);
}

/* Adds what a rank waits for, in states with details. */
static void wait_add(struct vm_text *text, const struct vm_live_file *file,
		     const struct vm_live_doing *doing,
		     const struct vm_states_span *span)
{
	const struct vm_export_wait *wait = &doing->wait;
	bool sends = wait->flags & VM_EXPORT_SENDS;
	bool sized = doing->state != VM_EXPORT_PROBE;

	if (wait->flags & VM_EXPORT_STARTED) {
		started_add(text, file, wait);
		return;
	}
	if (doing->state == VM_EXPORT_WAIT && wait->peer == VM_EXPORT_NOBODY) {
		vm_text_add(text, "waiting for one of several operations");
		return;
	}
	if (doing->state == VM_EXPORT_RECEIVE)
		vm_text_add(text, "receiving from ");
	else if (doing->state == VM_EXPORT_SEND)
		vm_text_add(text, "sending to ");
	else if (doing->state == VM_EXPORT_PROBE)
		vm_text_add(text, "waiting for a message from ");
	else
		vm_text_add(text, "waiting for its %s ",
			    sends ? "send to" : "receive from");
	partner_add(text, wait, span);
	if (sized)
		bytes_add(text, sends, span);
	else
		vm_text_add(text, " (probe)");
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

static void collective_add(struct vm_text *text, const char *call,
			   const struct vm_export_wait *wait)
{
	if (call)
		vm_text_add(text, "in %s of ", call);
	else
		vm_text_add(text, "in a collective operation of ");
	if (wait->context == 0)
		vm_text_add(text, "all ranks");
	else
		vm_text_add(text, "communicator %u", wait->context);
}

void vm_states_rank(const struct vm_states *states,
		    char text[VM_STATES_TEXT_MAX], unsigned rank)
{
	const struct vm_export_wait *wait = &states->doing[rank].wait;
	const struct vm_states_span own = { .tag_least = wait->tag,
					    .tag_most = wait->tag,
					    .bytes_least = wait->bytes,
					    .bytes_most = wait->bytes };

	vm_states_ranks(states, text, rank, &own);
}

void vm_states_ranks(const struct vm_states *states,
		     char buffer[VM_STATES_TEXT_MAX], unsigned rank,
		     const struct vm_states_span *span)
{
	static const char *const plain[VM_EXPORT_STATE_COUNT] = {
		[VM_EXPORT_NEW] = "not started",
		[VM_EXPORT_RUNNING] = "running or ready",
		[VM_EXPORT_SLEEP] = "sleeping",
		[VM_EXPORT_OTHER] = "waiting for a lock, a thread or a task",
		[VM_EXPORT_DONE] = "finished",
	};
	const struct vm_live_doing *doing = &states->doing[rank];
	struct vm_text text = { .at = buffer, .bytes = VM_STATES_TEXT_MAX };
	const char *call;

	if (!states->known[rank]) {
		vm_text_add(&text, "not on this host");
		return;
	}
	if (plain[doing->state]) {
		bool runs = doing->state == VM_EXPORT_RUNNING &&
			    states->notes && states->notes[rank].does[0];

		vm_text_add(&text, "%s",
			    runs ? states->notes[rank].does :
				   plain[doing->state]);
		return;
	}
	call = vm_states_call(states, rank);
	if (doing->state == VM_EXPORT_COLLECTIVE) {
		collective_add(&text, call, &doing->wait);
		return;
	}
	if (call)
		vm_text_add(&text, "in %s: ", call);
	wait_add(&text, vm_live_job_rank(states->job, rank), doing, span);
}
