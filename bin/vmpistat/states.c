/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that was woken looks as if it waited until it runs, and a message may
 * be under way.  So nobody is called stuck unless all workers of all processes
 * sleep for want of anything to do, and, while the job lives, nothing has
 * changed between two looks.  Of channels other than the world nobody here knows
 * the members: who waits in them counts as able to go on.
 */
#include "states.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "stuck.h"

#define LOOK_NS 100000000 /* between two looks */

/* All ranks of a job. */
struct look {
	const struct job *job;
	unsigned ranks;
	struct vm_share_doing *doing;
	bool *known; /* its process is on this host */
	struct waiter *waiters;
	bool idle;	 /* no worker has anything to do */
	uint64_t sleeps; /* how often workers of all processes began to */
	unsigned stuck;
};

static void look_fini(struct look *look)
{
	free(look->doing);
	free(look->known);
	free(look->waiters);
}

static int look_init(struct look *look, const struct job *job)
{
	size_t ranks = job_head(job)->ranks;

	*look = (struct look){ .job = job, .ranks = (unsigned)ranks };
	look->doing = calloc(ranks + 1, sizeof(*look->doing));
	look->known = calloc(ranks + 1, sizeof(*look->known));
	look->waiters = calloc(ranks + 1, sizeof(*look->waiters));
	if (look->doing && look->known && look->waiters)
		return 0;
	look_fini(look);
	complain("out of memory for %zu ranks", ranks);
	return -VMPI_ENOMEM;
}

/* The total of a variable of a process, 0 if it has none. */
static uint64_t total_of(const struct vm_share_file *file, const char *name)
{
	struct vm_share_pvar_view view;
	uint64_t value;

	for (unsigned i = 0; i < vm_share_pvar_count(file); i++) {
		vm_share_pvar_info(file, &view, i);
		if (strcmp(view.name, name) == 0 &&
		    vm_share_total(file, &value, i, 0) == 0)
			return value;
	}
	return 0;
}

static void look_take(struct look *look)
{
	const struct job *job = look->job;

	look->idle = true;
	look->sleeps = 0;
	for (unsigned f = 0; f < job->count; f++) {
		look->idle &= vm_share_asleep(job->files[f]);
		look->sleeps += total_of(job->files[f], "sched_sleeps");
	}
	for (unsigned r = 0; r < look->ranks; r++) {
		const struct vm_share_file *file = job_rank(job, r);

		look->known[r] = file &&
				 !vm_share_doing(file, &look->doing[r], r);
	}
}

static bool is_world(const struct vm_share_wait *wait)
{
	return wait->context == 0 || (wait->flags & VM_SHARE_OF_WORLD);
}

static struct waiter waiter_of(const struct look *look, unsigned rank)
{
	const struct vm_share_doing *doing = &look->doing[rank];
	const struct vm_share_wait *wait = &doing->wait;
	struct waiter waiter = { .need = NEED_NOTHING };

	if (!look->known[rank])
		return waiter;
	if (doing->state == VM_SHARE_DONE)
		waiter.need = NEED_MIRACLE;
	if (doing->state < VM_SHARE_RECEIVE ||
	    doing->state > VM_SHARE_COLLECTIVE || !is_world(wait) ||
	    wait->others != 0)
		return waiter;
	if (doing->state == VM_SHARE_COLLECTIVE) {
		waiter.need = NEED_ALL;
		waiter.group = wait->context;
	} else if (wait->peer == -1) {
		waiter.need = NEED_ANY;
	} else if (wait->peer >= 0 && (unsigned)wait->peer < look->ranks) {
		waiter.need = NEED_ONE;
		waiter.peer = (unsigned)wait->peer;
	}
	return waiter;
}

static bool same(const struct look *a, const struct look *b)
{
	for (unsigned r = 0; r < a->ranks; r++)
		if (a->known[r] != b->known[r] ||
		    (a->known[r] && a->doing[r].state != b->doing[r].state))
			return false;
	return a->sleeps == b->sleeps;
}

/* Looks, and finds out who is stuck. */
static int look_at(struct look *look, const struct job *job)
{
	const struct timespec moment = { .tv_nsec = LOOK_NS };
	struct look before;
	bool sure;

	if (look_init(look, job))
		return -VMPI_ENOMEM;
	look_take(look);
	if (!look->idle)
		return 0;
	if (look_init(&before, job)) {
		look_fini(look);
		return -VMPI_ENOMEM;
	}
	look_take(&before);
	if (job_lives(job))
		nanosleep(&moment, NULL);
	look_take(look);
	sure = look->idle && same(look, &before);
	look_fini(&before);
	if (!sure)
		return 0;
	for (unsigned r = 0; r < look->ranks; r++)
		look->waiters[r] = waiter_of(look, r);
	look->stuck = stuck_find(look->waiters, look->ranks);
	return 0;
}

static void peer_format(char text[64], const struct vm_share_wait *wait)
{
	if (wait->peer == -1)
		snprintf(text, 64, "any rank");
	else if (is_world(wait))
		snprintf(text, 64, "rank %d", (int)wait->peer);
	else
		snprintf(text, 64, "rank %d of communicator %u",
			 (int)wait->peer, wait->context);
}

static void tag_format(char text[64], const struct vm_share_wait *wait)
{
	if (wait->tag == -1)
		snprintf(text, 64, "any tag");
	else
		snprintf(text, 64, "tag %d", (int)wait->tag);
}

#define WORDS_BYTES 256

/* What a rank waits for, of those states that say. */
static void wait_format(char text[WORDS_BYTES],
			const struct vm_share_doing *doing)
{
	const struct vm_share_wait *wait = &doing->wait;
	unsigned long long bytes = wait->bytes;
	char peer[64], tag[64];

	peer_format(peer, wait);
	tag_format(tag, wait);
	switch (doing->state) {
	case VM_SHARE_RECEIVE:
		snprintf(text, WORDS_BYTES,
			 "receives from %s, %s, up to %llu bytes", peer, tag,
			 bytes);
		return;
	case VM_SHARE_SEND:
		snprintf(text, WORDS_BYTES, "sends to %s, %s, %llu bytes", peer,
			 tag, bytes);
		return;
	case VM_SHARE_PROBE:
		snprintf(text, WORDS_BYTES,
			 "waits for a message from %s, %s (probe)", peer, tag);
		return;
	default:
		break;
	}
	if (wait->peer == VM_SHARE_NOBODY)
		snprintf(text, WORDS_BYTES,
			 "waits for one of several operations, or a collective "
			 "one");
	else if (wait->flags & VM_SHARE_SENDS)
		snprintf(text, WORDS_BYTES,
			 "waits for its send to %s, %s, %llu bytes", peer, tag,
			 bytes);
	else
		snprintf(text, WORDS_BYTES,
			 "waits for its receive from %s, %s, up to %llu bytes",
			 peer, tag, bytes);
}

static void doing_format(char text[WORDS_BYTES], const struct look *look,
			 unsigned rank)
{
	const struct vm_share_doing *doing = &look->doing[rank];

	if (!look->known[rank]) {
		snprintf(text, WORDS_BYTES, "is not on this host");
		return;
	}
	switch (doing->state) {
	case VM_SHARE_NEW:
		snprintf(text, WORDS_BYTES, "has not begun");
		break;
	case VM_SHARE_RUNNING:
		snprintf(text, WORDS_BYTES, "runs, or could");
		break;
	case VM_SHARE_COLLECTIVE:
		if (doing->wait.context == 0)
			snprintf(text, WORDS_BYTES,
				 "is in a collective operation of all ranks");
		else
			snprintf(text, WORDS_BYTES,
				 "is in a collective operation of communicator "
				 "%u",
				 doing->wait.context);
		break;
	case VM_SHARE_SLEEP:
		snprintf(text, WORDS_BYTES, "sleeps");
		break;
	case VM_SHARE_OTHER:
		snprintf(text, WORDS_BYTES,
			 "waits for a lock, a thread or a task");
		break;
	case VM_SHARE_DONE:
		snprintf(text, WORDS_BYTES, "has ended");
		break;
	default:
		wait_format(text, doing);
	}
}

/* Lines of ranks in a row that do the same are one. */
static void ranks_text(const struct look *look)
{
	char text[WORDS_BYTES], next[WORDS_BYTES], who[48];
	unsigned first = 0;

	doing_format(text, look, 0);
	for (unsigned r = 1; r <= look->ranks; r++) {
		if (r < look->ranks) {
			doing_format(next, look, r);
			if (strcmp(next, text) == 0)
				continue;
		}
		if (r - first == 1)
			snprintf(who, sizeof(who), "rank %u", first);
		else
			snprintf(who, sizeof(who), "ranks %u-%u", first, r - 1);
		printf("%-16s %s\n", who, text);
		memcpy(text, next, sizeof(text));
		first = r;
	}
}

#define CIRCLE_SHOWN 16

static void deadlock_text(const struct look *look)
{
	unsigned *circle = calloc(look->ranks + 1, sizeof(*circle));
	unsigned from = 0, ended = 0, length;

	if (!circle)
		return;
	while (!look->waiters[from].stuck)
		from++;
	length = stuck_circle(circle, &ended, look->waiters, look->ranks, from);
	if (length == 0) {
		printf("hang: rank %u waits, directly or through others, for "
		       "rank %u, which has ended (%u of %u ranks can never go "
		       "on)\n",
		       from, ended, look->stuck, look->ranks);
	} else {
		printf("deadlock: rank %u", circle[0]);
		for (unsigned i = 1; i < length && i < CIRCLE_SHOWN; i++)
			printf(" waits for rank %u, which", circle[i]);
		if (length > CIRCLE_SHOWN)
			printf(" waits for %u more, the last of which",
			       length - CIRCLE_SHOWN);
		printf(" waits for rank %u (%u of %u ranks can never go on)\n",
		       circle[0], look->stuck, look->ranks);
	}
	free(circle);
}

int states_text(const struct job *job)
{
	struct look look;

	if (look_at(&look, job))
		return -VMPI_ENOMEM;
	printf("job %s: %s, %s\n", job->name, job_head(job)->program,
	       job_state(job));
	if (look.ranks)
		ranks_text(&look);
	if (look.stuck)
		deadlock_text(&look);
	look_fini(&look);
	return 0;
}

int states_json(const struct job *job)
{
	unsigned *circle;
	char text[WORDS_BYTES];
	struct look look;
	unsigned ended = 0, length = 0, from = 0;

	if (look_at(&look, job))
		return -VMPI_ENOMEM;
	circle = calloc(look.ranks + 1, sizeof(*circle));
	printf("{\"job\":\"%s\",\"state\":\"%s\",\"ranks\":[", job->name,
	       job_state(job));
	for (unsigned r = 0; r < look.ranks; r++) {
		const struct vm_share_doing *doing = &look.doing[r];

		doing_format(text, &look, r);
		printf("%s{\"rank\":%u,\"state\":\"%s\",\"peer\":%d,\"tag\":%d,"
		       "\"context\":%u,\"bytes\":%llu,\"text\":\"%s\","
		       "\"stuck\":%s}",
		       r ? "," : "", r,
		       look.known[r] ? vm_share_state_word(doing->state) :
				       "elsewhere",
		       (int)doing->wait.peer, (int)doing->wait.tag,
		       doing->wait.context,
		       (unsigned long long)doing->wait.bytes, text,
		       look.waiters[r].stuck ? "true" : "false");
	}
	if (circle && look.stuck) {
		while (!look.waiters[from].stuck)
			from++;
		length = stuck_circle(circle, &ended, look.waiters, look.ranks,
				      from);
	}
	fputs("],\"deadlock\":[", stdout);
	for (unsigned i = 0; i < length; i++)
		printf("%s%u", i ? "," : "", circle[i]);
	puts("]}");
	free(circle);
	look_fini(&look);
	return 0;
}
