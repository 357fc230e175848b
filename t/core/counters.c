/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of messages: sizes, protocols, and the queues of a mailbox.
 */
#include <string.h>
#include <vmpi.h>

#include "base/err.h"
#include "introspect/vars/pvar.h"
#include "introspect/vars/sizes.h"
#include "tap.h"

#define LONG_BYTES 100000 /* stays with the sender */

static char buffer[LONG_BYTES], other[LONG_BYTES];

static uint64_t words[VM_PVAR_WORDS_MAX];

/* A variable of rank 0, or word `word` of it. */
static int word_of(const char *name, int word)
{
	if (vm_pvar_value(words, vm_pvar_find(name), 0))
		bail(name);
	return (int)words[word];
}

static int value_of(const char *name)
{
	return word_of(name, 0);
}

static void send_to_self(vmpi_req **req, size_t bytes, int tag)
{
	vmpi_isend(vmpi_world(), req, buffer, bytes, 0, tag);
}

static void waiting(void)
{
	vmpi_req *reqs[3];

	send_to_self(&reqs[0], 0, 1);
	send_to_self(&reqs[1], 100, 2);
	send_to_self(&reqs[2], LONG_BYTES, 3);
	is_int(value_of("core_unexpected_len"), 3, "three messages wait");
	is_int(value_of("core_unexpected_bytes"), 100 + LONG_BYTES,
	       "with their payload");
	is_int(word_of("core_sizes_local", 0), 0, "short ones are not");
	is_int(word_of("core_sizes_local", (int)vm_size_bin(100)), 1,
	       "one has 97 to 128 bytes");
	is_int(word_of("core_sizes_local", (int)vm_size_bin(LONG_BYTES)), 1,
	       "one is long");
	is_int(value_of("core_bytes_copy"), 100, "one was copied");
	is_int(value_of("core_bytes_direct"), LONG_BYTES, "one was not");
	vmpi_recv(vmpi_world(), other, LONG_BYTES, 0, 3, NULL);
	is_int(value_of("core_unexpected_len"), 2, "two still wait");
	is_int(value_of("core_unexpected_bytes"), 100, "with theirs");
	is_int(value_of("core_unexpected_attempts"), 2,
	       "two others were looked at first");
	vmpi_recv(vmpi_world(), other, LONG_BYTES, 0, 1, NULL);
	vmpi_recv(vmpi_world(), other, LONG_BYTES, 0, 2, NULL);
	vmpi_wait_all(reqs, NULL, 3);
	is_int(value_of("core_unexpected_len"), 0, "then none");
	is_int(value_of("core_unexpected_bytes"), 0, "with nothing");
	is_int(value_of("core_unexpected_max"), 3, "three were the most");
	is_int(value_of("core_unexpected_bytes_max"), 100 + LONG_BYTES,
	       "and had the most");
}

static void posted(void)
{
	vmpi_req *reqs[4];

	vmpi_irecv(vmpi_world(), &reqs[0], other, 8, 0, 1);
	vmpi_irecv(vmpi_world(), &reqs[1], other + 8, 8, 0, 2);
	is_int(value_of("core_posted_len"), 2, "two receives are posted");
	send_to_self(&reqs[2], 8, 2);
	is_int(value_of("core_posted_len"), 1, "one of them matches");
	is_int(value_of("core_posted_attempts"), 1,
	       "the other one was looked at first");
	send_to_self(&reqs[3], 8, 1);
	vmpi_wait_all(reqs, NULL, 4);
	is_int(value_of("core_posted_len"), 0, "then none is posted");
	is_int(value_of("core_posted_max"), 2, "two were the most");
	is_int(value_of("core_unexpected"), 3, "three times the receiver was");
	is_int(value_of("core_sends"), 5, "all sends were counted");
}

static int nothing(void *arg)
{
	(void)arg;
	return 0;
}

/* Counts of the switches of a rank, by reason. */
static void ways_out(void)
{
	int waits = value_of("core_waits"), yields = value_of("core_yields");
	vmpi_task *task;

	for (int i = 0; i < 5; i++)
		vmpi_yield();
	is_int(value_of("core_yields") - yields, 5, "the rank yielded");
	is_int(value_of("core_waits") - waits, 0, "and did not wait");
	is_int(value_of("core_tasks"), 0, "it has started nothing");
	vmpi_spawn(&task, nothing, NULL);
	vmpi_join(&task, NULL);
	is_int(value_of("core_tasks"), 1, "but one task");
}

/* Ranks 0 and 1, of one worker, wait for each other. */
static void turns(int rank)
{
	int waits = value_of("core_waits");

	for (int i = 0; i < 10; i++) {
		if (rank == 0)
			vmpi_recv(vmpi_world(), other, 8, 1, 4, NULL);
		vmpi_send(vmpi_world(), other, 8, 1 - rank, 4);
		if (rank == 1)
			vmpi_recv(vmpi_world(), other, 8, 0, 4, NULL);
	}
	if (rank == 0) {
		ok(value_of("core_waits") - waits >= 9,
		   "a rank that receives first waits");
		ok(value_of("core_waits") - waits <= 10, "once each time");
	}
}

static uint64_t ns_of(const char *name)
{
	value_of(name);
	return words[0];
}

/* Times that are not collected are 0; those that are asked for grow. */
static void times(void)
{
	uint64_t wall = ns_of("core_wall_ns"), run;

	ok(wall > 0, "a rank has begun");
	is_int((int)ns_of("core_run_ns"), 0, "nobody asked how long it ran");
	is_int((int)ns_of("core_wait_ns"), 0, "nor how long it waited");
	vmpi_rank_time_ns();
	vmpi_sleep(2000000);
	run = ns_of("core_run_ns");
	ok(run > 0, "its run time is known when somebody has");
	ok(ns_of("core_wall_ns") >= wall + 2000000, "time goes on");
	ok(run <= ns_of("core_run_ns"), "no time goes back");
	ok(run <= ns_of("core_wall_ns"), "it ran no longer than it was there");
	is_int((int)ns_of("core_wait_ns"), 0,
	       "how long it waited is known from the start on or not at all");
}

static int body(void *arg)
{
	waiting();
	posted();
	ways_out();
	times();
	return *(int *)arg;
}

static int pair_body(void *arg)
{
	int rank = vmpi_rank();

	turns(rank);
	if (rank == 0)
		vmpi_sleep(3000000);
	else
		vmpi_recv(vmpi_world(), other, 8, 0, 5, NULL);
	if (rank == 0) {
		ok(ns_of("core_wait_ns") >= 3000000, "time that it slept");
		ok(ns_of("core_run_ns") > 0, "and ran");
		ok(ns_of("core_wall_ns") >= ns_of("core_run_ns") + 3000000,
		   "is the time since it began");
		vmpi_send(vmpi_world(), other, 8, 1, 5);
	}
	(void)arg;
	return 0;
}

static int sleep_body(void *arg)
{
	vmpi_rank_time_ns();
	vmpi_sleep(1000000);
	*(uint64_t *)arg = ns_of("core_wall_ns");
	return 0;
}

static void again(const vmpi_config *config)
{
	uint64_t first = 0, second = 0;

	vmpi_start(config);
	vmpi_run(NULL, sleep_body, &first);
	ok(ns_of("core_wall_ns") >= first, "times stay when a rank has ended");
	vmpi_run(NULL, sleep_body, &second);
	ok(second >= first + 1000000, "and go on when it runs again");
	vmpi_stop();
}

int main(void)
{
	const vmpi_config config = { .ranks = 1 };
	const vmpi_config two = { .ranks = 2, .workers = 1 };
	int status = 0;

	is_int(vmpi_run(&config, body, &status), 0, "a rank runs");
	again(&config);
	vmpi_set("sched_rank_time", "1");
	is_int(vmpi_run(&two, pair_body, NULL), 0, "two ranks run");
	return done_testing();
}
