/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Made of the counters that are kept anyway and the run times of ranks.  The
 * processes exchange boot's blobs, because ranks and fabric have ended; those of
 * one job are of one version, so a blob is the struct.
 */
#include "summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "boot/boot.h"
#include "core/local/engine.h"
#include "core/local/threads.h"
#include "core/rank/rank.h"
#include "core/rank/vars.h"
#include "core/runtime/node.h"
#include "efficiency.h"
#include "fabric/fabric.h"
#include "fabric/packet/vars.h"
#include "introspect/vars/pvar.h"
#include "node.h"
#include "report/amount.h"
#include "report/cli.h"
#include "sched/vars.h"
#include "sched/worker.h"

#define BLOB "summary"
#define RANK_LINES_MAX 64 /* of a larger job only least, most and all */
#define NODE_LINES_MAX 8  /* ... and of more nodes only their sum */

enum { RAN_NS, SENDS, SENT, RECEIVES, RECEIVED, MEETINGS, COUNTS };

struct counts {
	uint64_t of[COUNTS];
};

struct row {
	int rank, node;
	struct counts counts;
};

/* What happened between a process and the others. */
struct far {
	uint64_t reads, writes, pipelines, sender_late, receiver_late;
	struct fabric_port_pvars ports; /* of all of them */
	char collectives[256];		/* ", linear 305": by algorithm */
	char finders[256];		/* "worker 0 12 at port 0, ..." */
};

/* A process. */
struct part {
	uint32_t ranks, rows, workers, process;
	uint64_t elapsed_ns, switches, sleeps, coll_sends, coll_sent_bytes;
	struct counts all, least, most; /* of each count */
	struct far far;
	struct row row[RANK_LINES_MAX];
};

static struct counts counts_of(uint64_t ticks, const struct core_rank_pvars *p)
{
	return (struct counts){ {
		[RAN_NS] = vm_clock_span_ns(ticks),
		[SENDS] = p->sends,
		[SENT] = p->sent_bytes,
		[RECEIVES] = p->receives,
		[RECEIVED] = p->received_bytes,
		[MEETINGS] = p->meetings,
	} };
}

/* Adds part to *all, which has none yet if it is the first. */
static void counts_add(struct part *all, const struct part *part, bool first)
{
	for (int i = 0; i < COUNTS; i++) {
		all->all.of[i] += part->all.of[i];
		if (first || all->least.of[i] > part->least.of[i])
			all->least.of[i] = part->least.of[i];
		if (all->most.of[i] < part->most.of[i])
			all->most.of[i] = part->most.of[i];
	}
	all->coll_sends += part->coll_sends;
	all->coll_sent_bytes += part->coll_sent_bytes;
}

static void ranks_take(struct part *part, const uint64_t *ticks)
{
	for (int i = 0; i < node.ranks; i++) {
		struct core_rank_pvars p;
		struct counts counts;
		struct part one;

		vm_rank_counters(vm_node->own[i], &p);
		counts = counts_of(ticks[i], &p);
		one = (struct part){ .all = counts,
				     .least = counts,
				     .most = counts,
				     .coll_sends = p.coll_sends,
				     .coll_sent_bytes = p.coll_sent_bytes };
		counts_add(part, &one, i == 0);
		if (node.boot->ranks <= RANK_LINES_MAX)
			part->row[part->rows++] =
				(struct row){ node_number(i),
					      node.boot->process, counts };
	}
}

static void workers_take(struct part *part)
{
	for (int i = 0; i < vm_sched.worker_count; i++) {
		struct sched_worker_pvars sum = { 0 };

		vm_pvars_fold(&sched_worker_pvar_table, &sum,
			      &vm_sched.workers[i].pvars);
		part->switches += sum.switches;
		part->sleeps += sum.sleeps;
	}
}

/* The algorithms of collectives among processes, if there were any. */
static void collectives_take(struct far *far)
{
	static const char prefix[] = "coll_", suffix[] = "_internode";
	const struct vm_pvar_table *table = &core_node_pvar_table;
	unsigned word = 0;
	size_t used = 0;

	for (unsigned i = 0; i < table->count; i++) {
		uint64_t calls = vm_pvar_read(&vm_node->pvars, word);
		const char *field = table->rows[i].field;
		const char *end = strstr(field, suffix);

		word += table->rows[i].words;
		if (!calls || !end || used >= sizeof(far->collectives))
			continue;
		field += sizeof(prefix) - 1;
		used += (size_t)snprintf(far->collectives + used,
					 sizeof(far->collectives) - used,
					 ", %.*s %" PRIu64, (int)(end - field),
					 field, calls);
	}
}

/* Which workers found something at ports, and how often, unless each found all at
 * its own. */
static void finders_take(struct far *far, unsigned ports)
{
	bool others = false;
	size_t used = 0;

	for (unsigned port = 0; port < ports; port++) {
		for (int i = 0; i < vm_node->engine_count; i++) {
			uint64_t found =
				vm_pvar_read(&vm_node->worker_pvars[i], port);

			if (!found || used >= sizeof(far->finders))
				continue;
			used += (size_t)snprintf(far->finders + used,
						 sizeof(far->finders) - used,
						 "%sworker %d %" PRIu64
						 " at port %u",
						 used ? ", " : "", i, found,
						 port);
			others |= (unsigned)i != port;
		}
	}
	if (!others)
		far->finders[0] = '\0';
}

static uint64_t places_sum(const uint64_t *words)
{
	uint64_t sum = 0;

	for (int i = 0; i < VM_PEER_STATS_PLACES; i++)
		sum += words[i];
	return sum;
}

static void far_take(struct far *far)
{
	struct core_node_pvars p = { 0 };
	unsigned ports;

	collectives_take(far);
	vm_pvars_fold(&core_node_pvar_table, &p, &vm_node->pvars);
	far->reads = p.rndv_reads;
	far->writes = p.rndv_writes;
	far->pipelines = p.rndv_pipelines;
	far->sender_late = places_sum(p.rndv_sender_late);
	far->receiver_late = places_sum(p.rndv_receiver_late);
	if (!vm_node->fabric)
		return;
	ports = vm_fabric_limits(vm_node->fabric)->ports;
	for (unsigned i = 0; i < ports; i++)
		vm_pvars_fold(
			&fabric_port_pvar_table, &far->ports,
			vm_port_pvars(vm_fabric_port(vm_node->fabric, i)));
	finders_take(far, ports);
}

/* What this process knows of itself; NULL: no memory. */
static struct part *part_take(const uint64_t *ticks, uint64_t begin_ns)
{
	struct part *part = calloc(1, sizeof(*part));

	if (!part)
		return NULL;
	vm_clock_ready();
	part->ranks = (uint32_t)node.ranks;
	part->workers = (uint32_t)vm_sched.worker_count;
	part->process = (uint32_t)node.boot->process;
	part->elapsed_ns = vm_clock_ns() - begin_ns;
	workers_take(part);
	ranks_take(part, ticks);
	far_take(&part->far);
	return part;
}

static void parts_free(struct part **parts, int count)
{
	for (int i = 0; parts && i < count; i++)
		free(parts[i]);
	free(parts);
}

/* The part of process p; NULL: it cannot be had, which has been said. */
static struct part *part_get(int p)
{
	struct part *part = malloc(sizeof(*part));
	size_t bytes;
	int rc = part ? vm_boot_get(node.boot, part, &bytes, sizeof(*part), p,
				    BLOB) :
			-VMPI_ENOMEM;

	if (!rc && bytes == sizeof(*part))
		return part;
	if (!rc)
		vm_log(VM_ERROR,
		       "--summary: node %d runs another version of vmpi", p);
	free(part);
	return NULL;
}

/* On node 0, those of all processes; else NULL.  *alone: the others are gone. */
static struct part **
parts_gather(struct part *own, const struct efficiency *efficiency, bool *alone)
{
	struct vm_boot *boot = node.boot;
	struct part **parts;

	*alone = boot->processes > 1 &&
		 (vm_boot_put(boot, BLOB, own, sizeof(*own)) ||
		  (efficiency && efficiency_put(efficiency)) ||
		  vm_boot_fence(boot));
	if (*alone || boot->process)
		return NULL;
	parts = calloc((size_t)boot->processes, sizeof(struct part *));
	for (int p = 1; parts && p < boot->processes; p++) {
		parts[p] = part_get(p);
		if (!parts[p]) {
			parts_free(parts, p);
			*alone = true;
			return NULL;
		}
	}
	if (parts)
		parts[0] = own;
	return parts;
}

/* Adds what the other processes have had of their cores; none: not known. */
static void efficiencies_add(struct efficiency **all)
{
	int rc = 0;

	for (int p = 1; *all && p < node.boot->processes && !rc; p++)
		rc = efficiency_add(all, p);
	if (rc) {
		free(*all);
		*all = NULL;
	}
}

/* What is printed, and about whom. */
struct table {
	struct part **parts;
	int count;
	bool nodes;	/* the job has several */
	char whose[24]; /* "node 1: ": whose lines are printed */
	const struct efficiency *efficiency; /* NULL: not known */
	FILE *out;
};

static void line_begin(const struct table *table)
{
	fprintf(table->out, "%s: %s", vm_cli_program, table->whose);
}

static void counts_print(const struct table *table, const char *rank,
			 const char *whose, const struct counts *counts)
{
	char ran[VM_AMOUNT_MAX], sent[VM_AMOUNT_MAX], received[VM_AMOUNT_MAX];

	line_begin(table);
	fprintf(table->out, "%5s ", rank);
	if (table->nodes)
		fprintf(table->out, "%4s ", whose);
	fprintf(table->out,
		"%8s %9" PRIu64 " %8s %9" PRIu64 " %8s %11" PRIu64 "\n",
		vm_amount_ns(ran, (double)counts->of[RAN_NS]),
		counts->of[SENDS],
		vm_amount_bytes(sent, (double)counts->of[SENT]),
		counts->of[RECEIVES],
		vm_amount_bytes(received, (double)counts->of[RECEIVED]),
		counts->of[MEETINGS]);
}

static int rows_compare(const void *a, const void *b)
{
	return ((const struct row *)a)->rank - ((const struct row *)b)->rank;
}

static void rows_print(const struct table *table)
{
	struct row rows[RANK_LINES_MAX];
	struct part sum = { 0 };
	char text[VM_AMOUNT_MAX];
	size_t count = 0;

	line_begin(table);
	fprintf(table->out, "%5s %s%8s %9s %8s %9s %8s %11s\n", "rank",
		table->nodes ? "node " : "", "ran", "sends", "sent", "receives",
		"received", "collectives");
	for (int p = 0; p < table->count; p++) {
		const struct part *part = table->parts[p];

		for (uint32_t r = 0; r < part->rows && count < RANK_LINES_MAX;
		     r++)
			rows[count++] = part->row[r];
		counts_add(&sum, part, p == 0);
	}
	qsort(rows, count, sizeof(rows[0]), rows_compare);
	for (size_t r = 0; r < count; r++) {
		char rank[16], whose[16];

		snprintf(rank, sizeof(rank), "%d", rows[r].rank);
		snprintf(whose, sizeof(whose), "%d", rows[r].node);
		counts_print(table, rank, whose, &rows[r].counts);
	}
	if (!count) {
		counts_print(table, "least", "", &sum.least);
		counts_print(table, "most", "", &sum.most);
	}
	counts_print(table, "all", "", &sum.all);
	if (sum.coll_sends) {
		line_begin(table);
		fprintf(table->out,
			"inside collectives: %" PRIu64
			" messages between processes, of %s\n",
			sum.coll_sends,
			vm_amount_bytes(text, (double)sum.coll_sent_bytes));
	}
}

static void head_print(const struct table *table)
{
	uint64_t elapsed_ns = 0, switches = 0, sleeps = 0;
	uint32_t ranks = 0, workers = 0;
	char begin[64];

	for (int p = 0; p < table->count; p++) {
		const struct part *part = table->parts[p];

		ranks += part->ranks;
		workers += part->workers;
		switches += part->switches;
		sleeps += part->sleeps;
		if (elapsed_ns < part->elapsed_ns)
			elapsed_ns = part->elapsed_ns;
	}
	line_begin(table);
	fprintf(table->out, "%u rank%s on %u worker%s", ranks,
		ranks == 1 ? "" : "s", workers, workers == 1 ? "" : "s");
	if (table->count > 1)
		fprintf(table->out, " of %d nodes", table->count);
	else if (table->nodes)
		fprintf(table->out, " of node %u", table->parts[0]->process);
	fprintf(table->out,
		", %.3f s, %" PRIu64 " switches, %" PRIu64 " sleeps\n",
		(double)elapsed_ns / 1e9, switches, sleeps);
	rows_print(table);
	snprintf(begin, sizeof(begin), "%s: %s", vm_cli_program, table->whose);
	if (table->efficiency)
		efficiency_print(table->efficiency, begin, table->out);
}

/* ", 5 read" of what there was, else nothing. */
static void kind_print(const struct table *table, const char **before,
		       uint64_t count, const char *what)
{
	if (!count)
		return;
	fprintf(table->out, "%s%" PRIu64 " %s", *before, count, what);
	*before = ", ";
}

/* How long messages came, and which side was late. */
static void rndv_print(const struct table *table, const struct far *far)
{
	const char *before = "long messages: ";

	if (far->reads + far->writes + far->pipelines == 0)
		return;
	line_begin(table);
	kind_print(table, &before, far->reads, "read");
	kind_print(table, &before, far->writes, "written");
	kind_print(table, &before, far->pipelines, "pipelined");
	before = "; ";
	kind_print(table, &before, far->sender_late,
		   "announced after their receive was posted");
	kind_print(table, &before, far->receiver_late,
		   far->sender_late ?
			   "before" :
			   "announced before their receive was posted");
	fputc('\n', table->out);
}

static void ports_print(const struct table *table, const struct far *far)
{
	const struct fabric_port_pvars *p = &far->ports;
	char text[VM_AMOUNT_MAX], most[VM_AMOUNT_MAX];

	if (p->sent || p->shm_moved_bytes) {
		line_begin(table);
		fprintf(table->out,
			"%" PRIu64 " of %" PRIu64
			" packets sent through shared memory",
			p->shm_sent, p->sent);
		if (p->shm_moved_bytes)
			fprintf(table->out, ", %s moved from memory to memory",
				vm_amount_bytes(text,
						(double)p->shm_moved_bytes));
		fputc('\n', table->out);
	}
	if (p->events_helped) {
		line_begin(table);
		fprintf(table->out,
			"%" PRIu64 " events at ports handled by their workers, "
			"%" PRIu64 " by idle ones, with %s in packets\n",
			p->events_own, p->events_helped,
			vm_amount_bytes(text, (double)p->bytes_helped));
	}
	if (p->pool_bytes_max) {
		line_begin(table);
		fprintf(table->out, "packet memory: %s, at most %s\n",
			vm_amount_bytes(text, (double)p->pool_bytes),
			vm_amount_bytes(most, (double)p->pool_bytes_max));
	}
}

static void far_print(const struct table *table, const struct far *far)
{
	if (far->collectives[0]) {
		line_begin(table);
		fprintf(table->out, "internode collectives: %s\n",
			far->collectives + 2);
	}
	rndv_print(table, far);
	ports_print(table, far);
	if (far->finders[0]) {
		line_begin(table);
		fprintf(table->out, "polls that found something: %s\n",
			far->finders);
	}
}

/* Of many nodes their sum; no maxima of each. */
static void far_sum_print(const struct table *table)
{
	struct far sum = { 0 };

	for (int p = 0; p < table->count; p++) {
		const struct far *far = &table->parts[p]->far;

		sum.reads += far->reads;
		sum.writes += far->writes;
		sum.pipelines += far->pipelines;
		sum.sender_late += far->sender_late;
		sum.receiver_late += far->receiver_late;
		vm_pvars_fold(&fabric_port_pvar_table, &sum.ports, &far->ports);
	}
	sum.ports.pool_bytes_max = 0;
	far_print(table, &sum);
}

static void nodes_print(struct table *table)
{
	if (table->count > NODE_LINES_MAX) {
		snprintf(table->whose, sizeof(table->whose), "all nodes: ");
		far_sum_print(table);
		return;
	}
	for (int p = 0; table->nodes && p < table->count; p++) {
		snprintf(table->whose, sizeof(table->whose),
			 "node %u: ", table->parts[p]->process);
		far_print(table, &table->parts[p]->far);
	}
}

static void table_print(struct table *table)
{
	char *text = NULL;
	size_t bytes = 0, done = 0;
	ssize_t n = 1;

	table->out = open_memstream(&text, &bytes);
	if (!table->out)
		return;
	head_print(table);
	nodes_print(table);
	fclose(table->out);
	/* At once, and past the ranks' streams. */
	while (done < bytes && n > 0) {
		n = write(STDERR_FILENO, text + done, bytes - done);
		done += n > 0 ? (size_t)n : 0;
	}
	free(text);
}

void summary_print(const uint64_t *ticks, uint64_t begin_ns)
{
	struct part *own = part_take(ticks, begin_ns), **parts;
	struct table table = { .nodes = node.boot->processes > 1 };
	/* A profile that is written to files is printed by vmpirun. */
	struct efficiency *efficiency =
		core_cvar.profile_dir[0] ? NULL : efficiency_take();
	bool alone;

	if (!own) {
		vm_log(VM_ERROR, "--summary: out of memory");
		free(efficiency);
		return;
	}
	parts = parts_gather(own, efficiency, &alone);
	if (parts)
		efficiencies_add(&efficiency);
	table.parts = parts ? parts : &own;
	table.count = parts ? node.boot->processes : 1;
	table.efficiency = efficiency;
	if (parts || alone)
		table_print(&table);
	if (parts)
		parts_free(parts, node.boot->processes);
	else
		free(own);
	free(efficiency);
}
