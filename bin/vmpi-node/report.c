/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The summary is made of the counters that are kept anyway; only the run time
 * of each rank has to be asked for (sched_rank_time) and noted when a rank
 * ends, because its task is gone afterwards.
 */
#include "report.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "advise.h"
#include "base/clock.h"
#include "boot/boot.h"
#include "boot/job.h"
#include "core/local/engine.h"
#include "core/runtime/node.h"
#include "core/rank/rank.h"
#include "core/rank/vars.h"
#include "core/local/threads.h"
#include "fabric/fabric.h"
#include "fabric/packet/vars.h"
#include "introspect/vars/cvar.h"
#include "placement.h"
#include "node.h"
#include "report/amount.h"
#include "report/cli.h"
#include "report/pop.h"
#include "sched/clocks.h"
#include "sched/topo.h"
#include "sched/vars.h"
#include "sched/worker.h"

#define RANK_LINES_MAX 64 /* of a larger job only the totals are shown */

static struct {
	uint64_t begin_ns;
	uint64_t *ticks; /* run time by rank; NULL: not requested */
} report;

/* The lines of a report: written at once, so that those of several processes do
 * not mix. */
static struct {
	FILE *out;
	char *text;
	size_t bytes;
} block;

static void block_begin(void)
{
	block.out = open_memstream(&block.text, &block.bytes);
}

static void block_end(void)
{
	size_t done = 0;
	ssize_t n = 1;

	if (!block.out)
		return;
	fclose(block.out);
	block.out = NULL;
	while (done < block.bytes && n > 0) {
		n = write(STDERR_FILENO, block.text + done, block.bytes - done);
		done += n > 0 ? (size_t)n : 0;
	}
	free(block.text);
}

/* Past the ranks' streams. */
static void line_print(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static void line_print(const char *format, ...)
{
	char text[512], whose[40] = "";
	va_list args;

	/* With several node processes each has a report. */
	if (node.boot->processes > 1)
		snprintf(whose, sizeof(whose), "node %d: ", node.boot->process);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (block.out)
		fprintf(block.out, "%s: %s%s\n", vm_cli_program, whose, text);
	else
		vm_cli_say("%s%s", whose, text);
}

void report_prepare(const struct vm_job *job)
{
	if (!job->summary && !job->learn && !job->advise)
		return;
	report.ticks = calloc((size_t)node.ranks, sizeof(*report.ticks));
	if (report.ticks)
		sched_cvar.rank_time = 1;
}

static void bindings_print(void)
{
	for (int i = 0; i < vm_sched.worker_count; i++) {
		char place[128];

		vm_topo_describe(place, sizeof(place), i);
		line_print("worker %d: %s%s", i,
			   sched_cvar.bind ? "" : "not bound, would be ",
			   place);
	}
}

/* "0-3,8": the ranks at home on a worker, which are few ranges. */
static void map_print(void)
{
	for (int i = 0; i < vm_sched.worker_count; i++) {
		char text[400] = "";
		size_t used = 0;
		int count = 0;

		for (int r = 0; r < vm_node->rank_count; r++) {
			int first = r;

			if (vm_node->ranks[r].engine->index != i)
				continue;
			while (r + 1 < vm_node->rank_count &&
			       vm_node->ranks[r + 1].engine->index == i)
				r++;
			count += r - first + 1;
			if (used > sizeof(text) - 32)
				continue;
			used += (size_t)snprintf(
				text + used, sizeof(text) - used,
				first == r ? "%s%d" : "%s%d-%d",
				used ? "," : "", first, r);
		}
		line_print("worker %d: %d rank%s%s%s", i, count,
			   count == 1 ? "" : "s", count ? ": " : "", text);
	}
}

void report_start(const struct vm_job *job)
{
	report.begin_ns = vm_clock_ns();
	if (job->report_bindings)
		bindings_print();
	if (job->display_map)
		map_print();
}

void report_rank_end(const struct vm_rank *rank)
{
	if (report.ticks)
		report.ticks[rank->local] = vm_clocks_of(rank->ult);
}

static void counts_print(const char *whose, uint64_t ticks,
			 const struct core_rank_pvars *p)
{
	char run[VM_AMOUNT_MAX], sent[VM_AMOUNT_MAX], received[VM_AMOUNT_MAX];

	line_print("%8s %10s %10" PRIu64 " %10s %10" PRIu64 " %10s %9" PRIu64,
		   whose, vm_amount_ns(run, (double)vm_clock_span_ns(ticks)),
		   p->sends, vm_amount_bytes(sent, (double)p->sent_bytes),
		   p->receives,
		   vm_amount_bytes(received, (double)p->received_bytes),
		   p->meetings);
}

static void rank_print(int index)
{
	struct core_rank_pvars p;
	char rank[16];

	vm_rank_counters(vm_node->own[index], &p);
	snprintf(rank, sizeof(rank), "%d", node_number(index));
	counts_print(rank, report.ticks[index], &p);
}

/* Of the time of the cores the part that ranks have had, and why not all. */
static void efficiency_print(double elapsed_ns)
{
	struct vm_pop_core *cores =
		calloc((size_t)vm_sched.worker_count, sizeof(*cores));
	struct vm_pop pop;

	for (int i = 0; cores && i < node.ranks; i++) {
		int worker = vm_node->own[i]->engine->index;

		if (worker >= 0)
			cores[worker].useful +=
				(double)vm_clock_span_ns(report.ticks[i]);
	}
	if (cores &&
	    vm_pop_of(&pop, cores, (unsigned)vm_sched.worker_count, elapsed_ns))
		line_print("efficiency at most %.1f %%: load balance %.1f %% x "
			   "time without waits %.1f %%, with calls; --profile "
			   "tells them from computing",
			   100 * pop.parallel, 100 * pop.balance,
			   100 * pop.communication);
	free(cores);
}

static void ranks_print(int ranks)
{
	struct core_rank_pvars all = { 0 }, one;
	char text[VM_AMOUNT_MAX];
	uint64_t ticks = 0;

	line_print("%8s %10s %10s %10s %10s %10s %9s", "rank", "ran", "sends",
		   "sent", "receives", "received", "meetings");
	for (int i = 0; i < ranks; i++) {
		if (ranks <= RANK_LINES_MAX)
			rank_print(i);
		vm_rank_counters(vm_node->own[i], &one);
		vm_pvars_fold(&core_rank_pvar_table, &all, &one);
		ticks += report.ticks[i];
	}
	counts_print("all", ticks, &all);
	if (all.coll_sends)
		line_print("inside collectives: %" PRIu64
			   " messages more, of %s",
			   all.coll_sends,
			   vm_amount_bytes(text, (double)all.coll_sent_bytes));
}

/* Prints the algorithms of collectives among processes, if there were any. */
static void internode_print(void)
{
	static const char prefix[] = "coll_", suffix[] = "_internode";
	const struct vm_pvar_table *table = &core_node_pvar_table;
	char text[256] = "";
	unsigned word = 0;
	size_t used = 0;

	for (unsigned i = 0; i < table->count; i++) {
		uint64_t calls = vm_pvar_read(&vm_node->pvars, word);
		const char *field = table->rows[i].field;
		const char *end = strstr(field, suffix);

		word += table->rows[i].words;
		if (!calls || !end || used >= sizeof(text))
			continue;
		field += sizeof(prefix) - 1;
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 ", %.*s %" PRIu64, (int)(end - field),
					 field, calls);
	}
	if (used)
		line_print("internode collectives: %s", text + 2);
}

/* Prints which workers found something at a port, and how often. */
static void finders_print(int port)
{
	char text[256] = "";
	size_t used = 0;

	for (int i = 0; i < vm_node->engine_count; i++) {
		uint64_t found =
			vm_pvar_read(&vm_node->worker_pvars[i], (unsigned)port);

		if (found && used < sizeof(text))
			used += (size_t)snprintf(text + used,
						 sizeof(text) - used,
						 ", worker %d %" PRIu64, i,
						 found);
	}
	if (used)
		line_print("port %d: polls that found something: %s", port,
			   text + 2);
}

/* Prints which workers moved the messages from and to other processes; a port
 * belongs to a worker. */
static void moved_print(void)
{
	int ports;

	if (!vm_node->fabric)
		return;
	ports = (int)vm_fabric_limits(vm_node->fabric)->ports;
	for (int i = 0; i < ports; i++) {
		struct fabric_port_pvars p = { 0 };
		char text[VM_AMOUNT_MAX];

		vm_pvars_fold(&fabric_port_pvar_table, &p,
			      vm_port_pvars(vm_fabric_port(vm_node->fabric,
							   (unsigned)i)));
		line_print("port %d: %" PRIu64 " events handled by its worker, "
			   "%" PRIu64 " by others, with %s in packets",
			   i, p.events_own, p.events_helped,
			   vm_amount_bytes(text, (double)p.bytes_helped));
		line_print("port %d: %" PRIu64 " of %" PRIu64
			   " packets sent through shared memory, %s moved from "
			   "memory to memory",
			   i, p.shm_sent, p.sent,
			   vm_amount_bytes(text, (double)p.shm_moved_bytes));
		line_print("port %d: %" PRIu64 " KiB of packet memory, %" PRIu64
			   " KiB at most",
			   i, p.pool_bytes / 1024, p.pool_bytes_max / 1024);
		finders_print(i);
	}
}

static uint64_t places_sum(const uint64_t *words)
{
	uint64_t sum = 0;

	for (int i = 0; i < VM_PEER_STATS_PLACES; i++)
		sum += words[i];
	return sum;
}

/* Prints the protocols of long messages from other processes, and which side
 * was late. */
static void rndv_print(void)
{
	struct core_node_pvars p = { 0 };

	vm_pvars_fold(&core_node_pvar_table, &p, &vm_node->pvars);
	if (p.rndv_reads + p.rndv_writes + p.rndv_pipelines == 0)
		return;
	line_print("long messages: %" PRIu64 " read, %" PRIu64
		   " written, %" PRIu64 " pipelined; %" PRIu64
		   " announced after their receive was posted, %" PRIu64
		   " before",
		   p.rndv_reads, p.rndv_writes, p.rndv_pipelines,
		   places_sum(p.rndv_sender_late),
		   places_sum(p.rndv_receiver_late));
}

/* Prints what --balance=auto did, or why it could not. */
static void balance_print(void)
{
	struct core_node_pvars p = { 0 };
	double halts;

	vm_pvars_fold(&core_node_pvar_table, &p, &vm_node->pvars);
	halts = p.balance_halts ? (double)p.balance_halts : 1;
	if (node.tied && vm_node_hooks.untied)
		line_print("balance: forced, although %s", node.tied);
	if (!vm_node_hooks.untied)
		line_print("balance: ranks were not moved: %s", node.tied);
	else if (!vm_node->migrator)
		line_print(
			"balance: ranks were not moved: there is only one %s",
			node.ranks == 1 ? "rank" : "worker");
	else
		line_print("balance: %" PRIu64 " move%s of ranks in %" PRIu64
			   " of %" PRIu64
			   " rounds; on average expected to save "
			   "%.1f %% of a round's time, saved %.1f %%; %.1f %% "
			   "wasted in the last round",
			   p.balance_moves, p.balance_moves == 1 ? "" : "s",
			   p.balance_halts, p.balance_rounds,
			   (double)p.balance_expected / 10 / halts,
			   (double)p.balance_saved / 10 / halts,
			   (double)p.balance_waste / 10);
}

/* The placement that the run times ask for. */
static void placement_print(const char *path)
{
	uint64_t *ns = calloc((size_t)node.ranks, sizeof(*ns));
	double before, after;

	for (int i = 0; ns && i < node.ranks; i++)
		ns[i] = vm_clock_span_ns(report.ticks[i]);
	if (ns && placement_write(path, ns, &before, &after) == 1)
		line_print(
			"balance: placement written to %s: %.1f %% of the busiest "
			"worker's time was wasted; with it, %.1f %% would be",
			path, before, after);
	free(ns);
}

static void summary_print(void)
{
	uint64_t switches = 0, sleeps = 0;
	double seconds = (double)(vm_clock_ns() - report.begin_ns) / 1e9;

	vm_clock_ready();
	for (int i = 0; i < vm_sched.worker_count; i++) {
		struct sched_worker_pvars sum = { 0 };

		vm_pvars_fold(&sched_worker_pvar_table, &sum,
			      &vm_sched.workers[i].pvars);
		switches += sum.switches;
		sleeps += sum.sleeps;
	}
	line_print("%d rank%s on %d worker%s, %.3f s, %" PRIu64
		   " switches, %" PRIu64 " sleeps",
		   node.ranks, node.ranks == 1 ? "" : "s",
		   vm_sched.worker_count, vm_sched.worker_count == 1 ? "" : "s",
		   seconds, switches, sleeps);
	ranks_print(node.ranks);
	efficiency_print(seconds * 1e9);
	internode_print();
	rndv_print();
	moved_print();
}

void report_end(const struct vm_job *job)
{
	if (core_cvar.balance)
		balance_print();
	if (!report.ticks)
		return;
	if (job->summary) {
		block_begin();
		summary_print();
		block_end();
	}
	if (job->advise)
		advise_print(report.ticks, vm_clock_ns() - report.begin_ns);
	if (job->learn)
		placement_print(job->learn);
	free(report.ticks);
	report.ticks = NULL;
}
