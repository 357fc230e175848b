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
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "boot/boot.h"
#include "boot/job.h"
#include "core/engine.h"
#include "core/node.h"
#include "core/rank.h"
#include "core/vars.h"
#include "introspect/var.h"
#include "node.h"
#include "sched/topo.h"
#include "sched/vars.h"
#include "sched/worker.h"

#define RANK_LINES_MAX 64 /* of a larger job only the totals are shown */

static struct {
	uint64_t begin_ns;
	uint64_t *ticks; /* run time by rank; NULL: no summary */
} report;

/* One write per line, past the ranks' streams. */
static void line_print(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static void line_print(const char *format, ...)
{
	char text[512] = "vmpirun: ";
	size_t length = strlen(text);
	va_list args;
	int n;

	/* With several node processes each has a report. */
	if (node.boot->processes > 1)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "node %d: ", node.boot->process);
	va_start(args, format);
	n = vsnprintf(text + length, sizeof(text) - length - 1, format, args);
	va_end(args);
	if (n < 0)
		return;
	length += (size_t)n < sizeof(text) - length - 1 ?
			  (size_t)n :
			  sizeof(text) - length - 2;
	text[length++] = '\n';
	if (write(STDERR_FILENO, text, length) < 0)
		return; /* nowhere left to say it */
}

void report_prepare(const struct vm_job *job)
{
	if (!job->summary)
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
	vm_clock_init();
	report.begin_ns = vm_clock_ns();
	if (job->report_bindings)
		bindings_print();
	if (job->display_map)
		map_print();
}

void report_rank_end(const struct vm_rank *rank)
{
	const struct vm_ult *ult = rank->ult;

	if (report.ticks)
		report.ticks[rank->index - node.first] =
			ult->run_ticks + vm_clock_ticks() - ult->worker->since;
}

static void rank_print(int index)
{
	struct core_rank_pvars p;

	vm_rank_counters(&vm_node->ranks[node.first + index], &p);
	line_print("%8d %12.3f %12" PRIu64 " %14" PRIu64 " %12" PRIu64
		   " %14" PRIu64 " %10" PRIu64,
		   node.first + index,
		   (double)vm_clock_span_ns(report.ticks[index]) / 1e6, p.sends,
		   p.sent_bytes, p.receives, p.received_bytes, p.meetings);
}

static void ranks_print(int ranks)
{
	struct core_rank_pvars all = { 0 }, one;
	uint64_t ticks = 0;

	line_print("%8s %12s %12s %14s %12s %14s %10s", "rank", "run ms",
		   "sends", "bytes", "receives", "bytes", "meetings");
	for (int i = 0; i < ranks; i++) {
		if (ranks <= RANK_LINES_MAX)
			rank_print(i);
		vm_rank_counters(&vm_node->ranks[i], &one);
		vm_pvars_fold(&core_rank_pvar_table, &all, &one);
		ticks += report.ticks[i];
	}
	line_print("%8s %12.3f %12" PRIu64 " %14" PRIu64 " %12" PRIu64
		   " %14" PRIu64 " %10" PRIu64,
		   "all", (double)vm_clock_span_ns(ticks) / 1e6, all.sends,
		   all.sent_bytes, all.receives, all.received_bytes,
		   all.meetings);
}

void report_end(const struct vm_job *job)
{
	uint64_t switches = 0, sleeps = 0;
	double seconds = (double)(vm_clock_ns() - report.begin_ns) / 1e9;

	if (!report.ticks)
		return;
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
	free(report.ticks);
	report.ticks = NULL;
}
