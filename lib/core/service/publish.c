/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The places are filled before they are told of, and a reader that still has
 * one after the end finds memory that is gone: whoever reads from a thread of
 * its own stops before vmpi_stop() does.
 */
#include "core/service/publish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "boot/boot.h"
#include "core/instrument/intercept.h"
#include "core/local/engine.h"
#include "core/runtime/node.h"
#include "core/rank/rank.h"
#include "fabric/fabric.h"
#include "fabric/vars.h"
#include "introspect/export/export.h"
#include "introspect/export/list.h"
#include "sched/vars.h"
#include "sched/worker.h"

static bool rank_here(unsigned i)
{
	return vm_node->ranks[i].engine != &vm_engine_away;
}

static void rank_refresh(unsigned i)
{
	vm_rank_refresh(&vm_node->ranks[i]);
}

static void time_refresh(unsigned i)
{
	vm_rank_time_refresh(&vm_node->ranks[i]);
}

/* The blocks of a table lie there, for readers inside and outside. */
static void tell(struct vm_ledger *ledger, const struct vm_pvar_table *table,
		 struct vm_pvar_place place)
{
	struct vm_ledger_row *row = &ledger->rows[ledger->count++];

	VM_ASSERT(ledger->count <= VM_LEDGER_TABLES);
	row->table = table;
	row->place = place;
	vm_pvars_place(table, &row->place);
}

static void fabric_tell(struct vm_ledger *ledger, struct vm_fabric *fabric)
{
	const char *first =
		(const char *)vm_port_pvars(vm_fabric_port(fabric, 0));
	struct vm_pvar_place ports = {
		.base = first,
		.count = vm_fabric_limits(fabric)->ports,
	};

	if (ports.count > 1)
		ports.stride = (size_t)((const char *)vm_port_pvars(
						vm_fabric_port(fabric, 1)) -
					first);
	tell(ledger, &fabric_port_pvar_table, ports);
	tell(ledger, &fabric_node_pvar_table,
	     (struct vm_pvar_place){
		     .base = (const char *)vm_fabric_pvars(fabric),
		     .count = 1,
	     });
}

/* Blocks inside the ranks, from their first one on. */
static struct vm_pvar_place ranks_place(const struct vm_node *node,
					const void *first)
{
	return (struct vm_pvar_place){
		.base = first,
		.stride = sizeof(struct vm_rank),
		.count = (unsigned)node->rank_count,
		.here = rank_here,
	};
}

static void ranks_tell(struct vm_ledger *ledger, const struct vm_node *node)
{
	struct vm_pvar_place counted = ranks_place(node, &node->ranks[0].pvars);
	struct vm_pvar_place matched =
		ranks_place(node, &node->ranks[0].match.pvars);
	struct vm_pvar_place timed =
		ranks_place(node, &node->ranks[0].time.pvars);

	counted.also = offsetof(struct vm_rank, thread_pvars) -
		       offsetof(struct vm_rank, pvars);
	counted.used = offsetof(struct vm_rank, threaded) -
		       offsetof(struct vm_rank, pvars);
	counted.refresh = rank_refresh;
	tell(ledger, &core_rank_pvar_table, counted);
	timed.refresh = time_refresh;
	tell(ledger, &core_time_pvar_table, timed);
	matched.also = offsetof(struct vm_rank, match_marks) -
		       offsetof(struct vm_rank, match.pvars);
	matched.used = offsetof(struct vm_rank, match_marked) -
		       offsetof(struct vm_rank, match.pvars);
	tell(ledger, &core_match_pvar_table, matched);
	tell(ledger, &overlap_rank_pvar_table,
	     ranks_place(node, &node->ranks[0].overlap_pvars));
}

#define PID_MAX 16

/* What the launcher calls the job, or else the number of this process. */
static const char *job_name(char pid[PID_MAX], const struct vm_boot *boot)
{
	snprintf(pid, PID_MAX, "%d", (int)getpid());
	return boot && boot->id[0] ? boot->id : pid;
}

void vm_ledger_path(char *path, size_t bytes, const struct vm_boot *boot)
{
	char pid[PID_MAX];

	vm_share_path(path, bytes, VM_SHARE_DIR, job_name(pid, boot),
		      boot ? (unsigned)boot->process : 0);
}

void vm_ledger_share(const struct vm_boot *boot)
{
	char pid[PID_MAX];
	const char *why = "";

	if (core_cvar.share == VM_SHARE_OFF)
		return;
	vm_share_clean(VM_SHARE_DIR, VM_SHARE_OLD_S);
	if (vm_share_open(VM_SHARE_DIR, job_name(pid, boot),
			  boot ? (unsigned)boot->process : 0, &why))
		vm_log(VM_INFO, "counters cannot be seen from outside: %s",
		       why);
}

static void where_fill(struct vm_ledger *ledger, const struct vm_node *node)
{
	size_t count = (size_t)node->rank_count;

	if (node->process_count == 1 || !vm_share_is_open())
		return;
	ledger->where = vm_share_alloc(count * sizeof(*ledger->where), 64);
	for (size_t i = 0; ledger->where && i < count; i++)
		ledger->where[i] = node->ranks[i].to.process;
}

static int publish(const struct vm_ledger *ledger, const struct vm_node *node)
{
	struct vm_share_facts facts = {
		.node = (unsigned)node->process,
		.nodes = (unsigned)node->process_count,
		.ranks = (unsigned)node->rank_count,
		.ranks_here = (unsigned)node->rank_here,
		.workers = (unsigned)vm_sched.worker_count,
		.where = ledger->where,
		.waits = {
			.base = (const char *)&node->ranks[0].wait,
			.stride = sizeof(struct vm_rank),
			.count = (unsigned)node->rank_count,
		},
		.asleep = {
			.base = (const char *)&vm_sched.workers[0].sleeping,
			.stride = sizeof(struct vm_worker),
			.count = (unsigned)vm_sched.worker_count,
		},
		.call_name = vm_border_call_name,
		.call_count = vm_border_call_count(),
		.table_count = ledger->count,
	};

	for (unsigned i = 0; i < ledger->count; i++)
		facts.tables[i] = (struct vm_share_table){
			ledger->rows[i].table,
			&ledger->rows[i].place,
		};
	return vm_share_publish(&facts);
}

int vm_ledger_open(struct vm_node *node)
{
	struct vm_ledger *ledger = &node->ledger;

	ranks_tell(ledger, node);
	tell(ledger, &sched_worker_pvar_table,
	     (struct vm_pvar_place){
		     .base = (const char *)&vm_sched.workers[0].pvars,
		     .stride = sizeof(struct vm_worker),
		     .count = (unsigned)vm_sched.worker_count,
	     });
	tell(ledger, &core_node_pvar_table,
	     (struct vm_pvar_place){
		     .base = (const char *)&node->pvars,
		     .count = 1,
	     });
	tell(ledger, &tune_node_pvar_table,
	     (struct vm_pvar_place){
		     .base = (const char *)&node->tune_pvars,
		     .count = 1,
	     });
	if (node->fabric)
		fabric_tell(ledger, node->fabric);
	if (node->found)
		tell(ledger, &core_worker_pvar_table,
		     (struct vm_pvar_place){
			     .base = (const char *)node->found,
			     .stride = sizeof(*node->found),
			     .count = (unsigned)node->engine_count,
		     });
	where_fill(ledger, node);
	return publish(ledger, node);
}

static size_t block_bytes(const struct vm_pvar_table *table)
{
	size_t words = 0;

	for (unsigned i = 0; i < table->count; i++)
		words += table->rows[i].words;
	return words * sizeof(uint64_t);
}

/* Row i of the ledger is told of its copy, which does not change any more. */
static void keep(struct vm_ledger *ledger, unsigned i)
{
	struct vm_ledger_row *row = &ledger->rows[i];
	struct vm_pvar_place place = row->place;
	size_t bytes = block_bytes(row->table);
	char *copy = malloc(place.count * bytes);

	vm_pvars_place(row->table, NULL);
	if (!copy)
		return;
	for (unsigned b = 0; b < place.count; b++)
		memcpy(copy + b * bytes, place.base + b * place.stride, bytes);
	ledger->kept[i] = copy;
	row->place.base = copy;
	row->place.stride = bytes;
	vm_pvars_place(row->table, &row->place);
}

void vm_ledger_leave(void)
{
	struct vm_ledger *ledger = &vm_node->ledger;

	for (unsigned i = 0; i < ledger->count; i++) {
		const struct vm_pvar_table *table = ledger->rows[i].table;

		/* What vm_remote_close() frees. */
		if (table == &fabric_port_pvar_table ||
		    table == &fabric_node_pvar_table ||
		    table == &core_worker_pvar_table)
			keep(ledger, i);
	}
}

void vm_ledger_close(void)
{
	struct vm_ledger *ledger = &vm_node->ledger;

	while (ledger->count) {
		vm_pvars_place(ledger->rows[--ledger->count].table, NULL);
		free(ledger->kept[ledger->count]);
	}
	vm_share_free(ledger->where);
}
