/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run time of each rank has to be asked for (sched_rank_time) and noted when
 * a rank ends, because its task is gone afterwards.
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
#include "introspect/vars/cvar.h"
#include "placement.h"
#include "node.h"
#include "report/cli.h"
#include "sched/clocks.h"
#include "sched/topo.h"
#include "sched/vars.h"
#include "sched/worker.h"
#include "summary.h"

static struct {
	uint64_t begin_ns;
	uint64_t *ticks; /* run time by rank; NULL: not requested */
} report;

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

void report_end(const struct vm_job *job)
{
	if (core_cvar.balance)
		balance_print();
	if (!report.ticks)
		return;
	if (job->summary)
		summary_print(report.ticks, report.begin_ns);
	if (job->advise)
		advise_print(report.ticks, vm_clock_ns() - report.begin_ns);
	if (job->learn)
		placement_print(job->learn);
	free(report.ticks);
	report.ticks = NULL;
}
