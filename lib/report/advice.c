/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules.  A rule returns its weight, of 1000, after writing its sentence,
 * or 0.  A sentence has its subject first, then the counts, then the option.
 */
#include "report/advice.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "report/advice_rules.h"

/* Time in which ranks waited while their core had nothing else to run, of the
 * time they were in calls. */
static unsigned waits(const struct vm_advice_facts *facts)
{
	return vm_advice_permille(facts->idle_ns, facts->call_ns);
}

/* The call with the highest count at `offset`; NULL: all are 0. */
static const struct vm_advice_call *
call_most(const struct vm_advice_facts *facts, size_t offset)
{
	const struct vm_advice_call *most = NULL;
	uint64_t count = 0;

	for (int i = 0; i < VM_ADVICE_CALLS && facts->calls[i].name[0]; i++) {
		const struct vm_advice_call *call = &facts->calls[i];
		uint64_t value;

		memcpy(&value, (const char *)call + offset, sizeof(value));
		if (value > count) {
			count = value;
			most = call;
		}
	}
	return most;
}

#define CALL_MOST(facts, field) \
	call_most(facts, offsetof(struct vm_advice_call, field))

/* " (most from MPI_Isend)", if that is known. */
static const char *by_text(char *text, size_t room, const char *words,
			   const struct vm_advice_call *call)
{
	text[0] = '\0';
	if (call)
		snprintf(text, room, " (most %s %s)", words, call->name);
	return text;
}

#define BY_BYTES (VM_ADVICE_CALL_NAME + 32)

/* ", and ranks waited on idle cores 60.0 % of their time in calls (most in
 * MPI_Wait)" */
static const char *waits_text(char *text, size_t room,
			      const struct vm_advice_facts *facts)
{
	char by[BY_BYTES];

	text[0] = '\0';
	if (facts->call_ns)
		snprintf(text, room,
			 ", and ranks waited on idle cores " PERCENT
			 " of their time in calls%s",
			 IN_PERCENT(waits(facts)),
			 by_text(by, sizeof(by), "in",
				 CALL_MOST(facts, idle_ns)));
	return text;
}

#define WAITS_BYTES (BY_BYTES + 64)

static uint64_t long_messages(const struct vm_advice_facts *facts)
{
	return facts->reads + facts->writes + facts->pieces;
}

/* The next round value: "20K" for 18300. */
static const char *size_text(char *text, size_t room, uint64_t bytes)
{
	uint64_t kib = (bytes + 1023) / 1024;
	uint64_t step = kib > 256 ? 64 : kib > 64 ? 16 : 4;

	snprintf(text, room, "%" PRIu64 "K", (kib + step - 1) / step * step);
	return text;
}

#define LONG_LEAST 100	      /* messages */
#define EAGER_MOST 131072     /* bytes: longer ones are better fetched */
#define EAGER_WAITS_LEAST 300 /* of 1000 */
/* Waiting that no other rank used, of 1000 of the workers' time. */
#define EAGER_IDLE_LEAST 150

/* Whether ranks wait so much that another protocol is worth mentioning. */
static bool suffers(const struct vm_advice_facts *facts)
{
	return vm_advice_idle(facts) >= EAGER_IDLE_LEAST &&
	       (!facts->call_ns || waits(facts) >= EAGER_WAITS_LEAST);
}

static unsigned eager_rule(char *text, const struct vm_advice_facts *facts)
{
	uint64_t count = long_messages(facts);
	uint64_t mean = count ? facts->long_bytes / count : 0;
	uint64_t times = facts->eager_times ? facts->eager_times : 1;
	char size[32], by[BY_BYTES], waited[WAITS_BYTES];

	if (count < LONG_LEAST || mean > EAGER_MOST ||
	    mean <= facts->eager_limit * times || !suffers(facts))
		return 0;
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 "%" PRIu64 " messages of %" PRIu64
		 " bytes on average%s were sent by rendezvous%s: --set "
		 "core_eager_limit=%s",
		 count, mean,
		 by_text(by, sizeof(by), "from", CALL_MOST(facts, announced)),
		 waits_text(waited, sizeof(waited), facts),
		 size_text(size, sizeof(size), (mean + times - 1) / times));
	return vm_advice_idle(facts);
}

#define LATE_LEAST 750 /* of 1000 */

static unsigned rndv_rule(char *text, const struct vm_advice_facts *facts)
{
	uint64_t offers = facts->sender_late + facts->receiver_late;
	unsigned late = vm_advice_permille(facts->receiver_late, offers);
	char by[BY_BYTES], waited[WAITS_BYTES];

	/* The messages that eager_rule() is about had better not be
	 * announced. */
	if (offers < LONG_LEAST || late < LATE_LEAST || facts->protocol ||
	    facts->writes > facts->reads || !suffers(facts) ||
	    facts->long_bytes / offers <= EAGER_MOST)
		return 0;
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 PERCENT " of %" PRIu64
			 " long messages%s were announced before their "
			 "receive was posted%s: --set "
			 "core_rndv_protocol=write, or post receives earlier",
		 IN_PERCENT(late), offers,
		 by_text(by, sizeof(by), "from", CALL_MOST(facts, announced)),
		 waits_text(waited, sizeof(waited), facts));
	return vm_advice_idle(facts);
}

#define IDLE_LEAST 300 /* of 1000 */
#define FEW_RANKS 3    /* ranks per worker */

static unsigned ranks_rule(char *text, const struct vm_advice_facts *facts)
{
	char waited[WAITS_BYTES];

	if (vm_advice_idle(facts) < IDLE_LEAST || !facts->sends ||
	    facts->cores < 2 || facts->ranks >= FEW_RANKS * facts->workers)
		return 0;
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 "workers were idle " PERCENT " of the time, with %" PRIu64
		 " ranks on %" PRIu64
		 " workers%s: more ranks per worker hide waiting: -n %" PRIu64,
		 IN_PERCENT(vm_advice_idle(facts)), facts->ranks,
		 facts->workers, waits_text(waited, sizeof(waited), facts),
		 FEW_RANKS * facts->workers);
	return vm_advice_idle(facts);
}

#define SWITCH_NS 200	/* cost of a switch, with its effect on caches */
#define SWITCH_LEAST 50 /* of 1000 of the time of workers */
#define MANY_RANKS 16	/* ranks per worker */

static unsigned switches_rule(char *text, const struct vm_advice_facts *facts)
{
	uint64_t time = facts->wall_ns * facts->workers;
	unsigned cost = vm_advice_permille(facts->switches * SWITCH_NS, time);

	if (cost < SWITCH_LEAST || facts->ranks < MANY_RANKS * facts->workers)
		return 0;
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 "%" PRIu64 " switches in %.1f s among %" PRIu64
		 " ranks on %" PRIu64 " workers: with fewer ranks, each does "
		 "more between two messages: -n %" PRIu64,
		 facts->switches, (double)facts->wall_ns / 1e9, facts->ranks,
		 facts->workers, facts->workers * MANY_RANKS / 4);
	return cost;
}

#define CORES_BUSY_LEAST 700 /* of 1000 */

static unsigned workers_rule(char *text, const struct vm_advice_facts *facts)
{
	uint64_t per = facts->processes ? facts->cores / facts->processes : 0;
	unsigned busy = 1000 - vm_advice_idle(facts);

	if (!per || facts->workers == facts->cores)
		return 0;
	if (facts->workers > facts->cores) {
		snprintf(text, VM_ADVICE_TEXT_MAX,
			 "%" PRIu64 " workers share %" PRIu64
			 " cores: --workers %" PRIu64,
			 facts->workers, facts->cores, per);
		return vm_advice_permille(facts->workers - facts->cores,
					  facts->workers);
	}
	if (facts->ranks <= facts->workers || busy < CORES_BUSY_LEAST)
		return 0;
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 "%" PRIu64 " ranks kept %" PRIu64 " workers busy " PERCENT
		 " of the time, but there are %" PRIu64
		 " cores: --workers %" PRIu64,
		 facts->ranks, facts->workers, IN_PERCENT(busy), facts->cores,
		 per);
	return busy;
}

#define SHORT_SLEEPS_LEAST 100
#define SHORT_SLEEPS_PER_S 20
#define POLLS_LEAST 10000
#define POLLS_PER_MESSAGE 100

static uint64_t polls_all(const struct vm_advice_facts *facts)
{
	uint64_t sum = 0;

	for (int i = 0; i < VM_ADVICE_CALLS; i++)
		sum += facts->calls[i].polls;
	return sum;
}

static unsigned polling_rule(char *text, const struct vm_advice_facts *facts)
{
	const struct vm_advice_call *call = CALL_MOST(facts, polls);
	double seconds = (double)facts->wall_ns / 1e9;
	double rate =
		(double)facts->short_sleeps / seconds / (double)facts->workers;
	uint64_t polls = polls_all(facts);
	bool short_sleeps = facts->short_sleeps >= SHORT_SLEEPS_LEAST &&
			    rate >= SHORT_SLEEPS_PER_S;
	char seen[128];

	if (short_sleeps)
		snprintf(seen, sizeof(seen),
			 "%" PRIu64 " times all ranks of a worker only tested "
			 "or probed without success",
			 facts->short_sleeps);
	else if (polls >= POLLS_LEAST &&
		 polls / POLLS_PER_MESSAGE >= facts->receives)
		snprintf(seen, sizeof(seen),
			 "ranks tested or probed %" PRIu64 " times for %" PRIu64
			 " messages",
			 polls, facts->receives);
	else
		return 0;
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 "%s, mostly in %s: MPI_Wait, MPI_Waitany or MPI_Recv instead "
		 "of such loops let other ranks run and the worker sleep",
		 seen, call ? call->name : "MPI_Test or MPI_Iprobe");
	return vm_advice_idle(facts) ? vm_advice_idle(facts) : 1;
}

#define FLOOD_LEAST 1000 /* messages in a queue */
#define FLOOD_PART 500	 /* of 1000 of all messages */

static unsigned flood_rule(char *text, const struct vm_advice_facts *facts)
{
	unsigned part = vm_advice_permille(facts->unexpected, facts->receives);

	if (facts->queue_max < FLOOD_LEAST || part < FLOOD_PART)
		return 0;
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 PERCENT " of %" PRIu64
			 " messages arrived before their receive was "
			 "posted, and up to %" PRIu64 " were queued at one "
			 "rank: post receives earlier, or make senders wait: "
			 "--set "
			 "core_unexpected_limit=%" PRIu64,
		 IN_PERCENT(part), facts->receives, facts->queue_max,
		 facts->queue_max / 4);
	return part;
}

#define CREDIT_LEAST 100 /* messages */
#define CREDIT_PART 50	 /* of 1000 */
#define CREDITS_MAX 4096

static unsigned credit_rule(char *text, const struct vm_advice_facts *facts)
{
	unsigned part = vm_advice_permille(facts->in_line, facts->eager);
	uint64_t more = facts->credits * 4;
	char by[BY_BYTES];

	if (facts->in_line < CREDIT_LEAST || part < CREDIT_PART ||
	    facts->credits >= CREDITS_MAX)
		return 0;
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 "%" PRIu64 " of %" PRIu64 " messages to other processes "
		 "waited for credits%s: --set "
		 "fabric_credits=%" PRIu64,
		 facts->in_line, facts->eager,
		 by_text(by, sizeof(by), "from", CALL_MOST(facts, in_line)),
		 more < CREDITS_MAX ? more : CREDITS_MAX);
	return part;
}

#define POOL_LEAST (UINT64_C(4) << 20) /* bytes of a process */
#define POOL_PART 500		       /* of 1000 of all that there was */

static unsigned pool_rule(char *text, const struct vm_advice_facts *facts)
{
	unsigned part =
		vm_advice_permille(facts->pool_unused, facts->pool_bytes);

	if (facts->pool_unused < POOL_LEAST * facts->processes ||
	    part < POOL_PART || !facts->pool_keep)
		return 0;
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 "%.1f MiB of the %.1f MiB of packet memory allocated at the "
		 "end had been unused for at least a second: --set "
		 "fabric_pool_keep=%d",
		 (double)facts->pool_unused / 1048576,
		 (double)facts->pool_bytes / 1048576, facts->pool_keep > 1);
	return part;
}

#define COPIES_LEAST 1000 /* messages */
#define COPIES_PART 500	  /* of 1000 */

/* The power of two that is half of the mean, or less. */
static uint64_t copy_limit(const struct vm_advice_facts *facts)
{
	uint64_t mean = facts->copied_bytes / facts->copies, limit = 1;

	while (limit * 4 <= mean)
		limit *= 2;
	return limit;
}

static unsigned copies_rule(char *text, const struct vm_advice_facts *facts)
{
	unsigned part = vm_advice_permille(facts->copies, facts->sends);
	char by[BY_BYTES];

	if (facts->copies < COPIES_LEAST || part < COPIES_PART)
		return 0;
	snprintf(text, VM_ADVICE_TEXT_MAX,
		 PERCENT " of %" PRIu64
			 " messages%s were copied twice because their receive "
			 "was not posted: post receives earlier (MPI_Irecv), "
			 "or make senders wait: --set core_copy_limit=%" PRIu64,
		 IN_PERCENT(part), facts->sends,
		 by_text(by, sizeof(by), "from", CALL_MOST(facts, copied)),
		 copy_limit(facts));
	return part / 10 ? part / 10 : 1;
}

#define COLL_LEAST 100 /* calls */
#define COLL_PART 500  /* of 1000 */
#define COLL_PROCESSES 4

static const struct {
	const char *word, *call;
} families[] = {
#define FAMILY(word, call, slow) { #word, #call },
	VM_ADVICE_FAMILIES(FAMILY)
#undef FAMILY
};

#define FAMILIES (int)(sizeof(families) / sizeof(families[0]))

/* Whether it is MPI_Bcast, MPI_Ibcast, MPI_Bcast_init and so on. */
static bool is_of_family(const char *name, const char *family)
{
	static const char *const ends[] = { "",	      "v",	    "w",
					    "_block", "_init",	    "v_init",
					    "w_init", "_block_init" };
	size_t length = strlen(family);
	const char *at = strncmp(name, "MPI_", 4) ? "" : name + 4;

	at += at[0] == 'I' && at[1] != '\0';
	if (strncasecmp(at, family, length))
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (!strcmp(at + length, ends[i]))
			return true;
	return false;
}

bool vm_advice_is_collective(const char *name)
{
	static const char *const others[] = { "Barrier",  "Gather",
					      "Scatter",  "Allgather",
					      "Alltoall", "Reduce_scatter",
					      "Exscan" };

	for (int i = 0; i < FAMILIES; i++)
		if (is_of_family(name, families[i].call))
			return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (is_of_family(name, others[i]))
			return true;
	return false;
}

static uint64_t family_calls(const struct vm_advice_facts *facts, int family)
{
	uint64_t sum = 0;

	for (int i = 0; i < VM_ADVICE_CALLS; i++)
		if (is_of_family(facts->calls[i].name, families[family].call))
			sum += facts->calls[i].count;
	return sum;
}

/* The most called family whose algorithm is set to a slow one; -1: none. */
static int family_slow(const struct vm_advice_facts *facts)
{
	int most = -1;

	for (int i = 0; i < FAMILIES; i++)
		if (facts->coll_slow & UINT64_C(1) << i &&
		    (most < 0 ||
		     family_calls(facts, i) > family_calls(facts, most)))
			most = i;
	return most;
}

static unsigned coll_rule(char *text, const struct vm_advice_facts *facts)
{
	uint64_t slow =
		facts->coll_linear_internode + facts->coll_ordered_internode;
	unsigned part = vm_advice_permille(slow, slow + facts->far_other);
	int family = family_slow(facts);
	bool ordered = family < 0 && facts->scattered &&
		       facts->coll_ordered_internode >= COLL_LEAST;

	/* Among few processes there is nothing better. */
	if (slow < COLL_LEAST || part < COLL_PART ||
	    facts->processes < COLL_PROCESSES || (family < 0 && !ordered))
		return 0;
	if (ordered)
		snprintf(text, VM_ADVICE_TEXT_MAX,
			 "%" PRIu64 " of %" PRIu64 " collectives among %" PRIu64
			 " processes sent all operands to all processes, "
			 "because operations do not commute and processes do "
			 "not have consecutive ranks: --map=block",
			 facts->coll_ordered_internode, slow + facts->far_other,
			 facts->processes);
	else
		snprintf(
			text, VM_ADVICE_TEXT_MAX,
			"%" PRIu64 " of %" PRIu64 " collectives among %" PRIu64
			" processes used the algorithm linear or ordered; "
			"MPI_%s is set to one of them: --set mpi_coll_%s_algorithm=auto",
			slow, slow + facts->far_other, facts->processes,
			families[family].call, families[family].word);
	return part / 10;
}

static const struct {
	const char *name;
	vm_advice_rule *fn;
} rules[] = {
	{ "eager", eager_rule },
	{ "rendezvous", rndv_rule },
	{ "ranks", ranks_rule },
	{ "switches", switches_rule },
	{ "workers", workers_rule },
	{ "balance", vm_advice_rule_balance },
	{ "polling", polling_rule },
	{ "flood", flood_rule },
	{ "credits", credit_rule },
	{ "pool", pool_rule },
	{ "copies", copies_rule },
	{ "collectives", coll_rule },
	{ "heavy", vm_advice_rule_heavy },
	{ "serial", vm_advice_rule_serial },
	{ "sender", vm_advice_rule_sender },
	{ "receiver", vm_advice_rule_receiver },
	{ "small", vm_advice_rule_small },
};

#define RULES (sizeof(rules) / sizeof(rules[0]))
_Static_assert(RULES <= VM_ADVICE_MAX, "all may speak");

static int weightier(const void *left, const void *right)
{
	const struct vm_advice *a = left, *b = right;

	return (a->weight < b->weight) - (a->weight > b->weight);
}

int vm_advice_give(struct vm_advice *advice, int room,
		   const struct vm_advice_facts *facts)
{
	struct vm_advice all[RULES];
	int count = 0;

	if (facts->wall_ns < VM_ADVICE_LEAST_NS || !facts->workers)
		return 0;
	for (size_t i = 0; i < RULES; i++) {
		all[count].rule = rules[i].name;
		all[count].weight = rules[i].fn(all[count].text, facts);
		count += all[count].weight > 0;
	}
	qsort(all, (size_t)count, sizeof(all[0]), weightier);
	if (count > room)
		count = room;
	for (int i = 0; i < count; i++)
		advice[i] = all[i];
	return count;
}

static void fold_SUM(uint64_t *all, uint64_t more)
{
	*all += more;
}

static void fold_MAX(uint64_t *all, uint64_t more)
{
	if (more > *all)
		*all = more;
}

void vm_advice_call_add(struct vm_advice_facts *facts,
			const struct vm_advice_call *call)
{
	struct vm_advice_call *at = facts->calls, *least = at;

	for (int i = 0; i < VM_ADVICE_CALLS; i++, at++) {
		if (!at->name[0] || !strcmp(at->name, call->name))
			break;
		if (at->time_ns < least->time_ns)
			least = at;
	}
	if (at == facts->calls + VM_ADVICE_CALLS) {
		if (least->time_ns < call->time_ns)
			*least = *call;
		return;
	}
	memcpy(at->name, call->name, sizeof(at->name));
	at->count += call->count;
	at->time_ns += call->time_ns;
	at->idle_ns += call->idle_ns;
	at->polls += call->polls;
#define ADD(field, counter, text) at->field += call->field;
	VM_ADVICE_COUNTS(ADD)
#undef ADD
}

/* Whoever is more than half of all is left in the end. */
void vm_advice_site_fold(struct vm_advice_site *all,
			 const struct vm_advice_site *more)
{
	all->count += more->count;
	all->time_ns += more->time_ns;
	all->idle_ns += more->idle_ns;
	all->idle_sends_ns += more->idle_sends_ns;
	if (all->peer == more->peer) {
		all->idle_peer_ns += more->idle_peer_ns;
	} else if (all->idle_peer_ns >= more->idle_peer_ns) {
		all->idle_peer_ns -= more->idle_peer_ns;
	} else {
		all->idle_peer_ns = more->idle_peer_ns - all->idle_peer_ns;
		all->peer = more->peer;
	}
}

void vm_advice_site_add(struct vm_advice_facts *facts,
			const struct vm_advice_site *site)
{
	struct vm_advice_site *at = facts->sites, *least = at;

	for (int i = 0; i < VM_ADVICE_SITES; i++, at++) {
		if (!at->name[0] || (!strcmp(at->name, site->name) &&
				     !strcmp(at->place, site->place)))
			break;
		if (at->idle_ns < least->idle_ns)
			least = at;
	}
	if (at == facts->sites + VM_ADVICE_SITES) {
		if (least->idle_ns < site->idle_ns)
			*least = *site;
		return;
	}
	if (!at->name[0]) {
		*at = *site;
		return;
	}
	vm_advice_site_fold(at, site);
}

void vm_advice_merge(struct vm_advice_facts *all,
		     const struct vm_advice_facts *more)
{
#define FOLD(merge, field, counter, text) \
	fold_##merge(&all->field, more->field);
	VM_ADVICE_FACTS(FOLD)
#undef FOLD
	if (more->heaviest.run_ns > all->heaviest.run_ns)
		all->heaviest = more->heaviest;
	for (int i = 0; i < VM_ADVICE_CALLS && more->calls[i].name[0]; i++)
		vm_advice_call_add(all, &more->calls[i]);
	for (int i = 0; i < VM_ADVICE_SITES && more->sites[i].name[0]; i++)
		vm_advice_site_add(all, &more->sites[i]);
}
