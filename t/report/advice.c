/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recommendations: each rule speaks at its threshold, with the flag to set, and
 * is silent just below.
 */
#include "report/advice.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

#define MIB UINT64_C(1048576)
#define MS UINT64_C(1000000)

/* A run of ten seconds in which nothing is wrong. */
static const struct vm_advice_facts quiet = {
	.wall_ns = 10000 * MS,
	.processes = 2,
	.ranks = 8,
	.workers = 2,
	.cores = 2,
	.run_ns = 20000 * MS,
	.busiest_ns = 10000 * MS,
	.switches = 10000,
	.sends = 10000,
	.receives = 10000,
	.eager = 10000,
	.call_ns = 8000 * MS,
	.idle_ns = 2400 * MS,
	.eager_limit = 8192,
	.credits = 64,
	.pool_keep = 1,
};

/* A fact with another value; the end of a list has none. */
struct change {
	size_t field;
	uint64_t value;
};

#define FIELDS 6
#define SET(field, value)                                          \
	{                                                          \
		offsetof(struct vm_advice_facts, field) + 1, value \
	}

/* Facts that trigger a rule, its sentence, and facts that silence it, each
 * alone. */
static const struct row {
	const char *rule, *says;
	struct change at[FIELDS], below[FIELDS];
} rows[] = {
	{ "eager",
	  "100 messages of 18300 bytes on average were sent by "
	  "rendezvous, and ranks waited on idle cores 30.0 % of their time in calls: --set "
	  "core_eager_limit=20K",
	  { SET(reads, 100), SET(long_bytes, 1830000),
	    SET(run_ns, 17000 * MS) },
	  { SET(run_ns, 17020 * MS), SET(reads, 99), SET(long_bytes, 13107300),
	    SET(eager_limit, 18300), SET(idle_ns, 2390 * MS) } },
	{ "eager",
	  "--set core_eager_limit=12K",
	  { SET(writes, 100), SET(long_bytes, 1200000),
	    SET(run_ns, 17000 * MS) },
	  { SET(writes, 0) } },
	{ "eager",
	  "100 messages of 100000 bytes on average were sent by rendezvous, and "
	  "ranks waited on idle cores 30.0 % of their time in calls: --set "
	  "core_eager_limit=16K",
	  { SET(reads, 100), SET(long_bytes, 10000000), SET(run_ns, 17000 * MS),
	    SET(eager_times, 8) },
	  { SET(eager_limit, 12500), SET(long_bytes, 6553600) } },
	{ "rendezvous",
	  "75.0 % of 100 long messages were announced before their receive "
	  "was posted, and ranks waited on idle cores 30.0 % of their time in calls: --set "
	  "core_rndv_protocol=write",
	  { SET(receiver_late, 75), SET(sender_late, 25), SET(reads, 100),
	    SET(long_bytes, 20000000), SET(run_ns, 17000 * MS) },
	  { SET(receiver_late, 74), SET(sender_late, 26), SET(protocol, 1),
	    SET(run_ns, 17020 * MS), SET(writes, 101),
	    SET(long_bytes, 13107200) } },
	{ "ranks",
	  "workers were idle 30.0 % of the time, with 5 ranks on 2 workers, and "
	  "ranks waited on idle cores 30.0 % of their time in calls: more ranks per worker "
	  "hide waiting: -n 6",
	  { SET(run_ns, 14000 * MS), SET(busiest_ns, 7000 * MS),
	    SET(ranks, 5) },
	  { SET(run_ns, 14020 * MS), SET(ranks, 6), SET(sends, 0),
	    SET(cores, 1) } },
	{ "switches",
	  "5000000 switches in 10.0 s among 32 ranks on 2 workers: with "
	  "fewer ranks, each does more between two messages: -n 8",
	  { SET(switches, 5000000), SET(ranks, 32) },
	  { SET(switches, 4990000), SET(ranks, 31) } },
	{ "workers",
	  "4 workers share 2 cores: --workers 1",
	  { SET(workers, 4), SET(run_ns, 40000 * MS) },
	  { SET(workers, 2), SET(cores, 4) } },
	{ "workers",
	  "8 ranks kept 2 workers busy 70.0 % of the time, but there are 4 "
	  "cores: --workers 2",
	  { SET(cores, 4), SET(run_ns, 14000 * MS) },
	  { SET(run_ns, 13980 * MS), SET(cores, 2), SET(ranks, 2) } },
	{ "balance",
	  "the busiest worker ran ranks for 10.0 s, the average worker for 8.5 s; "
	  "ranks placed by what they did a moment before would take 10.0 % less: "
	  "--balance=auto",
	  { SET(run_ns, 17000 * MS), SET(moments_ns, 10000 * MS),
	    SET(placed_ns, 9000 * MS) },
	  { SET(busiest_ns, 9980 * MS), SET(balance, 1), SET(ranks, 3),
	    SET(placed_ns, 9010 * MS), SET(moments_ns, 0) } },
	{ "balance",
	  "10.0 % less: these ranks cannot move: --balance=learn, then --map with "
	  "the file that it writes",
	  { SET(run_ns, 17000 * MS), SET(moments_ns, 10000 * MS),
	    SET(placed_ns, 9000 * MS), SET(tied, 1) },
	  { SET(placed_ns, 10000 * MS) } },
	{ "heavy",
	  "rank 5 ran for 7.0 s of 10.0 s, the average rank for 1.5 s, which no "
	  "placement of ranks evens out: give it less to do, or divide its work",
	  { SET(run_ns, 12000 * MS), SET(heaviest.rank, 5),
	    SET(heaviest.run_ns, 7000 * MS) },
	  { SET(heaviest.run_ns, 6980 * MS), SET(busiest_ns, 5990 * MS),
	    SET(ranks, 3), SET(workers, 1) } },
	{ "small",
	  "3000000 messages of 1024 bytes on average: calls took 20.0 % of the "
	  "time for which ranks ran: send fewer, longer ones",
	  { SET(sends, 3000000), SET(sent_bytes, 3072000000),
	    SET(work_ns, 4000 * MS) },
	  { SET(sent_bytes, 3075000000), SET(work_ns, 3980 * MS),
	    SET(sends, 1999999) } },
	{ "polling",
	  "400 times all ranks of a worker only tested or probed without "
	  "success, mostly in MPI_Test or MPI_Iprobe: MPI_Wait",
	  { SET(short_sleeps, 400) },
	  { SET(short_sleeps, 399) } },
	{ "flood",
	  "50.0 % of 2000 messages arrived before their receive was posted, and "
	  "up to 1000 were queued at one rank: post receives earlier, or make "
	  "senders wait: --set "
	  "core_unexpected_limit=250",
	  { SET(receives, 2000), SET(unexpected, 1000), SET(queue_max, 1000) },
	  { SET(queue_max, 999), SET(unexpected, 999) } },
	{ "credits",
	  "100 of 2000 messages to other processes waited for credits: --set fabric_credits=256",
	  { SET(eager, 2000), SET(in_line, 100) },
	  { SET(in_line, 99), SET(eager, 2041), SET(credits, 4096) } },
	{ "pool",
	  "8.0 MiB of the 16.0 MiB of packet memory allocated at the end had "
	  "been unused for at least a second: --set fabric_pool_keep=0",
	  { SET(pool_unused, 8 * MIB), SET(pool_bytes, 16 * MIB) },
	  { SET(pool_unused, 8 * MIB - 1), SET(pool_bytes, 17 * MIB),
	    SET(pool_keep, 0), SET(processes, 3) } },
	{ "pool",
	  "--set fabric_pool_keep=1",
	  { SET(pool_unused, 8 * MIB), SET(pool_bytes, 8 * MIB),
	    SET(pool_keep, 1000) },
	  { SET(pool_unused, 0) } },
	{ "copies",
	  "50.0 % of 2000 messages were copied twice because their receive was "
	  "not posted: post receives earlier (MPI_Irecv), or make senders wait: "
	  "--set core_copy_limit=512",
	  { SET(sends, 2000), SET(copies, 1000), SET(copied_bytes, 1024000) },
	  { SET(copies, 999), SET(sends, 2005) } },
	{ "collectives",
	  "100 of 200 collectives among 4 processes used the algorithm linear or "
	  "ordered; MPI_Allreduce is set to one of them: --set mpi_coll_allreduce_algorithm=auto",
	  { SET(processes, 4), SET(coll_linear_internode, 60),
	    SET(coll_ordered_internode, 40), SET(far_other, 100),
	    SET(coll_slow, 1 << 4) },
	  { SET(coll_linear_internode, 59), SET(processes, 3),
	    SET(far_other, 101), SET(coll_slow, 0) } },
	{ "collectives",
	  "100 of 200 collectives among 4 processes sent all operands to all "
	  "processes, because operations do not commute and processes do not "
	  "have consecutive ranks: --map=block",
	  { SET(processes, 4), SET(coll_ordered_internode, 100),
	    SET(far_other, 100), SET(scattered, 1) },
	  { SET(coll_ordered_internode, 99), SET(processes, 3),
	    SET(far_other, 101), SET(scattered, 0) } },
};

static void change(struct vm_advice_facts *facts, const struct change *change)
{
	memcpy((char *)facts + change->field - 1, &change->value,
	       sizeof(change->value));
}

/* The sentence of the rule, or NULL. */
static const char *said(const struct vm_advice_facts *facts, const char *rule)
{
	static struct vm_advice advice[VM_ADVICE_MAX];
	int count = vm_advice_give(advice, VM_ADVICE_MAX, facts);

	for (int i = 0; i < count; i++)
		if (!strcmp(advice[i].rule, rule))
			return advice[i].text;
	return NULL;
}

static void row_test(const struct row *row)
{
	struct vm_advice_facts facts = quiet, less;
	const char *text;

	for (int i = 0; i < FIELDS && row->at[i].field; i++)
		change(&facts, &row->at[i]);
	text = said(&facts, row->rule);
	if (!ok(text && strstr(text, row->says), "%s: %s", row->rule,
		row->says))
		diag("%s", text ? text : "nothing");
	for (int i = 0; i < FIELDS && row->below[i].field; i++) {
		less = facts;
		change(&less, &row->below[i]);
		/* Of two facts that only together make a part. */
		if (row->below[i].field ==
		    offsetof(struct vm_advice_facts, receiver_late) + 1)
			change(&less, &row->below[++i]);
		text = said(&less, row->rule);
		if (!ok(!text, "%s: silent with change %d", row->rule, i))
			diag("%s", text);
	}
}

static void merge_test(void)
{
	struct vm_advice_facts all = quiet, more = quiet;

	more.wall_ns *= 2;
	more.queue_max = 7;
	vm_advice_merge(&all, &more);
	is_int((intmax_t)all.ranks, 16, "ranks of two processes add up");
	is_int((intmax_t)all.sends, 20000, "so do messages");
	ok(all.wall_ns == more.wall_ns, "times do not: the longer counts");
	is_int((intmax_t)all.queue_max, 7, "nor do the longest queues");
	is_int((intmax_t)all.eager_limit, 8192, "settings stay");
}

static void order_test(void)
{
	struct vm_advice advice[VM_ADVICE_MAX];
	struct vm_advice_facts facts = quiet;
	int count;

	is_int(vm_advice_give(advice, VM_ADVICE_MAX, &facts), 0,
	       "a run in which nothing is wrong gets no advice");
	facts.in_line = 600;	   /* 60 of 1000 */
	facts.short_sleeps = 5000; /* nothing was idle: 1 */
	facts.queue_max = 1000;
	facts.unexpected = 7000;
	count = vm_advice_give(advice, VM_ADVICE_MAX, &facts);
	is_int(count, 3, "of three things three are said");
	is_string(advice[0].rule, "flood", "the one about most comes first");
	is_string(advice[2].rule, "polling", "that about least last");
	is_int(vm_advice_give(advice, 1, &facts), 1,
	       "no more than there is room");
	is_string(advice[0].rule, "flood", "and then the weightiest");
	facts.wall_ns = VM_ADVICE_LEAST_NS - 1;
	is_int(vm_advice_give(advice, VM_ADVICE_MAX, &facts), 0,
	       "a run this short says nothing");
}

static void call_add(struct vm_advice_facts *facts, const char *name,
		     uint64_t time_ns, uint64_t announced)
{
	struct vm_advice_call call = { .count = 10,
				       .time_ns = time_ns,
				       .idle_ns = time_ns,
				       .announced = announced };

	snprintf(call.name, sizeof(call.name), "%s", name);
	vm_advice_call_add(facts, &call);
}

static void site_add(struct vm_advice_facts *facts, const char *name,
		     uint64_t idle_ns, uint64_t idle_sends_ns, int peer)
{
	struct vm_advice_site site = { .count = 10,
				       .place = "x.c:7",
				       .time_ns = idle_ns,
				       .idle_ns = idle_ns,
				       .idle_sends_ns = idle_sends_ns,
				       .peer = peer,
				       .idle_peer_ns = peer < 0 ? 0 : idle_ns };

	snprintf(site.name, sizeof(site.name), "%s", name);
	vm_advice_site_add(facts, &site);
}

static void says(const struct vm_advice_facts *facts, const char *rule,
		 const char *want, const char *name)
{
	const char *text = said(facts, rule);

	if (!ok(want ? text && strstr(text, want) : !text, "%s", name))
		diag("%s", text ? text : "nothing");
}

/* Who waits where, while nothing else is there to run. */
static void waits_test(void)
{
	struct vm_advice_facts facts = quiet, other;

	facts.run_ns = 10000 * MS;
	facts.busiest_ns = 9000 * MS;
	says(&facts, "sender", NULL, "of no place nothing is said");
	site_add(&facts, "MPI_Recv", 4000, 0, 3);
	site_add(&facts, "MPI_Recv", 1000, 0, 2);
	is_int((intmax_t)facts.sites[0].idle_ns, 5000, "places add up");
	says(&facts, "sender",
	     "cores were idle 50.0 % of the time, most in MPI_Recv at x.c:7, where "
	     "ranks waited for messages that were sent late, mostly of rank 3: ",
	     "a sender that is late");
	says(&facts, "serial", NULL, "is no chain, as it is busy all the time");
	other = facts;
	site_add(&other, "MPI_Barrier", 6000, 0, -1);
	says(&other, "sender", NULL, "what is lost in collectives is more");
	other = facts;
	other.run_ns = 17020 * MS;
	says(&other, "sender", NULL, "cores were not idle enough");
	other = facts;
	other.sites[0].idle_peer_ns = 0;
	says(&other, "sender",
	     "sent late: ", "of several senders none is named");
	other = facts;
	site_add(&other, "MPI_Ssend", 6000, 6000, 1);
	says(&other, "receiver",
	     "most in MPI_Ssend at x.c:7, where senders waited for their receivers, "
	     "mostly rank 1: ",
	     "a receiver that is late");
	says(&other, "sender", NULL, "... and no sender");
	facts.busiest_ns = 6000 * MS;
	says(&facts, "serial",
	     "of 2 cores one worked at a time (10.0 s of work in 10.0 s): ranks "
	     "wait for each other one after the other, most in MPI_Recv at x.c:7: ",
	     "a chain: one core's work, and no core that is always busy");
	says(&facts, "sender", NULL, "... and no single sender");
	facts.run_ns = 13100 * MS;
	says(&facts, "serial", NULL, "more than one core's work is none");
}

static void balance_is(const uint64_t *loads, uint64_t moments, uint64_t placed,
		       const char *name)
{
	static const unsigned workers[] = { 0, 0, 1, 1 };
	uint64_t one, other;

	is_int(vm_advice_balance(&one, &other, loads, 4, 3, workers, 2), 0,
	       "%s", name);
	ok(one == moments && other == placed, "... %d instead of %d",
	   (int)placed, (int)moments);
}

/* Four ranks on two workers in three moments. */
static void balance_test(void)
{
	balance_is((const uint64_t[]){ 8, 8, 8, 8, 8, 8, 1, 1, 1, 1, 1, 1 }, 48,
		   34, "two ranks that always have more can be parted");
	balance_is((const uint64_t[]){ 8, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0 }, 24,
		   24, "what changes each moment cannot be followed");
	balance_is((const uint64_t[]){ 9, 9, 9, 0, 0, 0, 1, 1, 1, 1, 1, 1 }, 27,
		   27, "one heavy rank is on its own already");
}

/* Sentences name the calls that they are about. */
static void calls_test(void)
{
	struct vm_advice_facts facts = quiet, more = quiet;
	const char *text;

	facts.reads = 100;
	facts.long_bytes = 1830000;
	facts.run_ns = 17000 * MS;
	call_add(&facts, "MPI_Send", 7, 40);
	call_add(&facts, "MPI_Isend", 5, 30);
	call_add(&more, "MPI_Isend", 5, 30);
	call_add(&more, "MPI_Wait", 11, 0);
	more.run_ns = 17000 * MS;
	vm_advice_merge(&facts, &more);
	text = said(&facts, "eager");
	ok(text && strstr(text, " (most from MPI_Isend) ") &&
		   strstr(text, " (most in MPI_Wait):"),
	   "calls of two processes add up: where it came from, and what waited");
	is_int((intmax_t)facts.calls[1].count, 20, "so do their counts");
	for (int i = 0; i < 2 * VM_ADVICE_CALLS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "MPI_X%d", i);
		call_add(&facts, name, 100, 0);
	}
	ok(strcmp(facts.calls[0].name, "MPI_Send") != 0 &&
		   strcmp(facts.calls[2].name, "MPI_Wait") != 0,
	   "without room the shortest make place");
	facts.coll_slow = 1 << 3 | 1 << 5;
	facts.processes = 4;
	facts.coll_linear_internode = 100;
	memset(facts.calls, 0, sizeof(facts.calls));
	call_add(&facts, "MPI_Reduce_scatter_block", 1, 0);
	text = said(&facts, "collectives");
	ok(text && strstr(text, "=auto") &&
		   strstr(text, "MPI_Reduce_scatter is"),
	   "of two families that are set the one that is called");
	call_add(&facts, "MPI_Ireduce", 1, 0);
	call_add(&facts, "MPI_Reduce_init", 1, 0);
	text = said(&facts, "collectives");
	ok(text && strstr(text, "MPI_Reduce is"), "or the one called more");
}

/* Loops that test while others run. */
static void polls_test(void)
{
	struct vm_advice_facts facts = quiet;
	struct vm_advice_call call = { .name = "MPI_Testall",
				       .count = 1000000,
				       .polls = 1000000 };
	const char *text;

	vm_advice_call_add(&facts, &call);
	text = said(&facts, "polling");
	ok(text && strstr(text, "1000000 times for 10000 messages, mostly in "
				"MPI_Testall: "),
	   "a hundred tests for a message are a loop");
	facts.receives++;
	ok(!said(&facts, "polling"), "fewer may be something else");
	facts.receives = 0;
	facts.calls[0].polls = 9999;
	ok(!said(&facts, "polling"), "and so may be few");
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		row_test(&rows[i]);
	merge_test();
	calls_test();
	waits_test();
	balance_test();
	polls_test();
	order_test();
	return done_testing();
}
