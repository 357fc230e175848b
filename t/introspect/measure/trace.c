/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces of made-up processes: rings that overflow, records out of order, hosts
 * whose clocks differ, files that are none, text that has to be escaped.
 */
#include "introspect/measure/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/trace/merge.h"
#include "report/trace/pair.h"
#include "tap.h"

static char path[64], text[1 << 20];

static const char *call_name(uint32_t call)
{
	return call == 1 ? "a \"call\"" : "none";
}

static struct vm_trace process_new(int process, const char *host,
				   uint64_t real_ns)
{
	struct vm_trace_file head = { .process = process,
				      .processes = 2,
				      .ranks = 4,
				      .workers = 1,
				      .counters = 2,
				      .names = { "still", "moves" },
				      .tick_ns = 1,
				      .ticks = 1000,
				      .real_ns = 1000000000 + real_ns };
	struct vm_trace trace = { 0 };

	snprintf(head.host, sizeof(head.host), "%s", host);
	if (vm_trace_new(&trace, path, &head, 4096))
		exit(1);
	return trace;
}

static void add(struct vm_trace *trace, int worker, uint64_t ticks,
		enum vm_trace_kind kind, uint32_t rank, int32_t peer)
{
	struct vm_trace_record record = { .ticks = ticks,
					  .kind = (uint8_t)kind,
					  .rank = rank,
					  .peer = peer,
					  .extra = VM_TRACE_TO_MAIN,
					  .tag = 5,
					  .context = 2,
					  .id = kind == VM_TRACE_SEND ? rank :
									1,
					  .value = 8 };

	vm_trace_add(trace, worker, &record);
}

/* The text of all, and what is said about it. */
static struct vm_trace_summary merge(struct vm_trace *traces, int count)
{
	struct vm_trace_summary summary;
	FILE *file;
	char part[96];

	for (int i = 0; i < count; i++)
		vm_trace_close(&traces[i]);
	is_int(vm_trace_merge(&summary, path, 2, call_name), 0, "merged");
	file = fopen(path, "r");
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	for (int i = 0; i < 2; i++)
		if (vm_trace_path(part, sizeof(part), path, i))
			unlink(part);
	return summary;
}

static void host_checks(void)
{
	struct vm_trace traces[2] = { process_new(0, "a", 0),
				      process_new(1, "b", 0) };
	struct vm_trace_summary sum;

	/* The clock of b is late: it seems to receive before a has sent. */
	add(&traces[1], 0, 2000, VM_TRACE_MATCH, 1, 0);
	add(&traces[0], 0, 3000, VM_TRACE_SEND, 0, 1);
	add(&traces[0], 0, 4000, VM_TRACE_SEND, 0, 1);
	add(&traces[1], 0, 5000, VM_TRACE_MATCH, 1, 0);
	sum = merge(traces, 2);
	is_int((int)sum.messages, 2, "two hosts: both messages are found");
	is_int(sum.hosts, 2, "they are two");
	ok(strstr(text, "\"ph\":\"f\",\"name\":\"message\",\"pid\":1,\"tid\":1,"
			"\"ts\":1.000") != NULL,
	   "none is received before it was sent");
}

/* The least and the greatest length of the arrows in the text, in ns. */
static void arrows(double *least, double *most)
{
	double from, to;

	*least = 1e9;
	*most = -1e9;
	for (const char *at = text; (at = strstr(at, "\"ph\":\"s\"")); at++) {
		const char *f = strstr(at, "\"ph\":\"f\"");

		from = strtod(strstr(at, "\"ts\":") + 5, NULL);
		to = f ? strtod(strstr(f, "\"ts\":") + 5, NULL) : 0;
		*least = (to - from) * 1000 < *least ? (to - from) * 1000 :
						       *least;
		*most = (to - from) * 1000 > *most ? (to - from) * 1000 : *most;
	}
}

/* A clock that is seven milliseconds ahead and gains a second in three
 * hours. */
static uint64_t other_clock(uint64_t ns)
{
	return ns + ns / 10000 + 7000000;
}

static void clock_checks(void)
{
	struct vm_trace traces[2];
	struct vm_trace_summary sum;
	double least, most;

	for (int both = 0; both < 2; both++) {
		traces[0] = process_new(0, "a", 0);
		traces[1] = process_new(1, "b", 0);
		for (uint64_t i = 0; i < 16; i++) {
			uint64_t ns = i * 1000000;

			add(&traces[0], 0, ns, VM_TRACE_SEND, 0, 1);
			add(&traces[1], 0, other_clock(ns + 1000),
			    VM_TRACE_MATCH, 1, 0);
			if (!both)
				continue;
			add(&traces[1], 0, other_clock(ns + 500000),
			    VM_TRACE_SEND, 1, 0);
			add(&traces[0], 0, ns + 501000, VM_TRACE_MATCH, 0, 1);
		}
		sum = merge(traces, 2);
		arrows(&least, &most);
		is_int(sum.unset, !both, "%s",
		       both ? "messages both ways put two clocks together" :
			      "messages one way do not");
		if (!both)
			continue;
		ok(least > 900 && most < 1100,
		   "all arrows are as long as they are: %.0f to %.0f ns", least,
		   most);
		ok(strstr(text, "clocks of hosts aligned by messages") != NULL,
		   "which is said");
	}
}

static void ring_checks(void)
{
	struct vm_trace traces[2] = { process_new(0, "a", 0) };
	struct vm_trace_summary sum;

	/* Records of other threads need not be in order. */
	add(&traces[0], -1, 9000, VM_TRACE_EXIT, 3, 0);
	add(&traces[0], -1, 8000, VM_TRACE_ENTER, 3, 0);
	sum = merge(traces, 1);
	is_int(sum.missing, 1, "a process that left nothing is missed");
	ok(strstr(text, "\"ph\":\"B\",\"name\":\"a \\\"call\\\"\"") != NULL,
	   "names are escaped");
	ok(strstr(text, "\"ph\":\"E\",\"name\":\"a \\\"call\\\"\",\"pid\":1,"
			"\"tid\":3,\"ts\":1.000") != NULL,
	   "a call begins before it ends");
	/* A ring of 64: of 100 messages the first 50 pairs get lost, and one
	 * that was under way. */
	traces[0] = process_new(0, "a", 0);
	add(&traces[0], 0, 1, VM_TRACE_SEND, 0, 1);
	for (uint64_t i = 1; i < 100; i++) {
		add(&traces[0], 0, 10 * i, VM_TRACE_SEND, 0, 1);
		add(&traces[0], 0, 10 * i + 5, VM_TRACE_MATCH, 1, 0);
	}
	add(&traces[0], 0, 2000, VM_TRACE_MATCH, 1, 0);
	sum = merge(traces, 1);
	ok(sum.dropped == 136 && sum.records == 64,
	   "a full ring loses its oldest");
	ok(sum.messages == 31 && sum.sends_alone == 0,
	   "a receive of what was sent before the gap takes no other's place");
	ok(strstr(text, "\"ts\":0.015") != NULL &&
		   strstr(text, "\"ts\":0.010,\"cat\"") == NULL,
	   "times count from the first record");
}

static void count(struct vm_trace *trace, uint64_t ticks, uint32_t id,
		  uint64_t value)
{
	struct vm_trace_record record = { .ticks = ticks,
					  .kind = VM_TRACE_COUNTER,
					  .rank = VM_TRACE_NO_RANK,
					  .id = id,
					  .value = value };

	vm_trace_add(trace, 0, &record);
}

static void counter_checks(void)
{
	struct vm_trace trace = process_new(0, "a", 0);

	for (uint64_t i = 0; i < 4; i++) {
		count(&trace, i * 1000, 0, 0);
		count(&trace, i * 1000, 1, i == 2 ? 7 : 0);
	}
	merge(&trace, 1);
	ok(!strstr(text, "still"), "a counter that stays 0 has no line");
	ok(strstr(text, "\"ts\":2.000,\"args\":{\"value\":7}") != NULL &&
		   strstr(text, "\"ts\":3.000,\"args\":{\"value\":0}") != NULL,
	   "another one has its values, 0 too");
}

static void file_checks(void)
{
	char part[96];
	struct vm_trace trace = process_new(0, "a", 0);
	struct vm_trace_summary sum;
	FILE *file;

	vm_trace_close(&trace);
	vm_trace_path(part, sizeof(part), path, 0);
	if (truncate(part, 4000))
		exit(1);
	is_int(vm_trace_open(&trace, part), -VMPI_EINVAL,
	       "a file that was cut is refused");
	file = fopen(part, "w");
	fputs("{}", file);
	fclose(file);
	is_int(vm_trace_merge(&sum, path, 1, call_name), -VMPI_EINVAL,
	       "and so is one that is none");
	unlink(part);
	is_int(vm_trace_merge(&sum, path, 1, call_name), -VMPI_ENOENT,
	       "nothing is told from nothing");
}

static void pair_checks(void)
{
	struct vm_trace_table table = { 0 };
	bool right = true;

	for (uint32_t i = 0; i < 5000; i++) {
		struct vm_trace_key key = { { i % 1000, 1, 2, 3 } };
		struct vm_trace_half half = { .value = i };

		if (vm_trace_put(&table, &key, &half))
			exit(1);
	}
	for (uint32_t i = 0; i < 5000; i++) {
		struct vm_trace_key key = { { i % 1000, 1, 2, 3 } };
		struct vm_trace_half half;

		right = right && vm_trace_take(&table, &key, &half) &&
			half.value == i;
	}
	ok(right, "each key is first in, first out");
	is_int((int)table.count, 0, "nothing is left");
	vm_trace_table_fini(&table);
}

int main(void)
{
	snprintf(path, sizeof(path), "/tmp/vmpi-trace-%d.json", (int)getpid());
	host_checks();
	clock_checks();
	ring_checks();
	counter_checks();
	file_checks();
	pair_checks();
	unlink(path);
	return done_testing();
}
