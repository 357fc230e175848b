/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The places are filled before they are registered, and a reader that still has
 * one after the end finds memory that is gone: a reader on a thread of its own
 * must stop before vmpi_stop() does.
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
#include "core/rank/state.h"
#include "core/rank/rank.h"
#include "core/local/threads.h"
#include "fabric/fabric.h"
#include "fabric/packet/vars.h"
#include "introspect/export/export.h"
#include "introspect/export/list.h"
#include "sched/vars.h"
#include "sched/worker.h"

static bool rank_here(unsigned i)
{
	return vm_rank_here(&vm_node->ranks[i]);
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
static void tell(struct vm_publish *publish, const struct vm_pvar_table *table,
		 struct vm_pvar_place place)
{
	struct vm_publish_row *row = &publish->rows[publish->count++];

	VM_ASSERT(publish->count <= VM_PUBLISH_TABLES);
	row->table = table;
	row->place = place;
	vm_pvars_place(table, &row->place);
}

static void fabric_tell(struct vm_publish *publish, struct vm_fabric *fabric)
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
	tell(publish, &fabric_port_pvar_table, ports);
	tell(publish, &fabric_node_pvar_table,
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

static void ranks_tell(struct vm_publish *publish, const struct vm_node *node)
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
	tell(publish, &core_rank_pvar_table, counted);
	timed.refresh = time_refresh;
	tell(publish, &core_time_pvar_table, timed);
	matched.also = offsetof(struct vm_rank, match_marks) -
		       offsetof(struct vm_rank, match.pvars);
	matched.used = offsetof(struct vm_rank, match_marked) -
		       offsetof(struct vm_rank, match.pvars);
	tell(publish, &core_match_pvar_table, matched);
	tell(publish, &overlap_rank_pvar_table,
	     ranks_place(node, &node->ranks[0].overlap_pvars));
}

#define PID_MAX 16

/* The launcher's name for the job, or else the pid of this process. */
static const char *job_name(char pid[PID_MAX], const struct vm_boot *boot)
{
	snprintf(pid, PID_MAX, "%d", (int)getpid());
	return boot && boot->id[0] ? boot->id : pid;
}

void vm_publish_path(char *path, size_t bytes, const struct vm_boot *boot)
{
	char pid[PID_MAX];

	vm_export_path(path, bytes, VM_EXPORT_DIR, job_name(pid, boot),
		       boot ? (unsigned)boot->process : 0);
}

void vm_publish_share(const struct vm_boot *boot)
{
	char pid[PID_MAX];
	const char *why = "";

	if (core_cvar.export == VM_EXPORT_OFF)
		return;
	vm_export_clean(VM_EXPORT_DIR, NULL, VM_EXPORT_OLD_S);
	if (vm_export_open(VM_EXPORT_DIR, job_name(pid, boot),
			   boot ? (unsigned)boot->process : 0, &why))
		vm_log(VM_INFO, "counters cannot be seen from outside: %s",
		       why);
	else if (core_cvar.export == VM_EXPORT_KEEP)
		vm_export_keep();
}

static void where_fill(struct vm_publish *publish, const struct vm_node *node)
{
	size_t count = (size_t)node->rank_count;

	if (node->process_count == 1 || !vm_export_is_open())
		return;
	publish->where = vm_export_alloc(count * sizeof(*publish->where), 64);
	for (size_t i = 0; publish->where && i < count; i++)
		publish->where[i] = node->ranks[i].to.process;
}

static void facts_publish(const struct vm_publish *publish,
			  const struct vm_node *node)
{
	struct vm_export_facts facts = {
		.node = (unsigned)node->process,
		.nodes = (unsigned)node->process_count,
		.ranks = (unsigned)node->rank_count,
		.ranks_here = (unsigned)node->rank_here,
		.workers = (unsigned)vm_sched.worker_count,
		.where = publish->where,
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
		.call_name = vm_intercept_call_name,
		.call_count = vm_intercept_call_count(),
		.table_count = publish->count,
	};

	for (unsigned i = 0; i < publish->count; i++)
		facts.tables[i] = (struct vm_export_table){
			publish->rows[i].table,
			&publish->rows[i].place,
		};
	if (vm_export_publish(&facts))
		vm_log(VM_INFO, "counters cannot be seen from outside: there "
				"is no room for them");
}

int vm_publish_open(struct vm_node *node)
{
	struct vm_publish *publish = calloc(1, sizeof(*publish));

	if (!publish)
		return -VMPI_ENOMEM;
	node->publish = publish;
	ranks_tell(publish, node);
	tell(publish, &sched_worker_pvar_table,
	     (struct vm_pvar_place){
		     .base = (const char *)&vm_sched.workers[0].pvars,
		     .stride = sizeof(struct vm_worker),
		     .count = (unsigned)vm_sched.worker_count,
	     });
	tell(publish, &core_node_pvar_table,
	     (struct vm_pvar_place){
		     .base = (const char *)&node->pvars,
		     .count = 1,
	     });
	tell(publish, &tune_node_pvar_table,
	     (struct vm_pvar_place){
		     .base = (const char *)&node->tune_pvars,
		     .count = 1,
	     });
	if (node->fabric)
		fabric_tell(publish, node->fabric);
	if (node->worker_pvars)
		tell(publish, &core_worker_pvar_table,
		     (struct vm_pvar_place){
			     .base = (const char *)node->worker_pvars,
			     .stride = sizeof(*node->worker_pvars),
			     .count = (unsigned)node->engine_count,
		     });
	where_fill(publish, node);
	facts_publish(publish, node);
	return 0;
}

static size_t block_bytes(const struct vm_pvar_table *table)
{
	size_t words = 0;

	for (unsigned i = 0; i < table->count; i++)
		words += table->rows[i].words;
	return words * sizeof(uint64_t);
}

/* Registers its copy, which does not change any more, for row i of the
 * table. */
static void keep(struct vm_publish *publish, unsigned i)
{
	struct vm_publish_row *row = &publish->rows[i];
	struct vm_pvar_place place = row->place;
	size_t bytes = block_bytes(row->table);
	char *copy = malloc(place.count * bytes);

	vm_pvars_place(row->table, NULL);
	if (!copy)
		return;
	for (unsigned b = 0; b < place.count; b++)
		memcpy(copy + b * bytes, place.base + b * place.stride, bytes);
	publish->kept[i] = copy;
	row->place.base = copy;
	row->place.stride = bytes;
	vm_pvars_place(row->table, &row->place);
}

void vm_publish_leave(void)
{
	struct vm_publish *publish = vm_node->publish;

	for (unsigned i = 0; i < publish->count; i++) {
		const struct vm_pvar_table *table = publish->rows[i].table;

		/* The tables whose blocks vm_remote_close() frees. */
		if (table == &fabric_port_pvar_table ||
		    table == &fabric_node_pvar_table ||
		    table == &core_worker_pvar_table)
			keep(publish, i);
	}
}

void vm_publish_close(void)
{
	struct vm_publish *publish = vm_node->publish;

	if (!publish)
		return;
	vm_node->publish = NULL;
	while (publish->count) {
		vm_pvars_place(publish->rows[--publish->count].table, NULL);
		free(publish->kept[publish->count]);
	}
	vm_export_free(publish->where);
	free(publish);
}
