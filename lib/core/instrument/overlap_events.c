/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Setup of the observed ranks, and the events of calls.
 */
#include "core/instrument/overlap_events.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "core/instrument/intercept.h"
#include "core/rank/state.h"
#include "sched/worker.h"
#include "introspect/measure/overlap_file.h"

/* Hangs in the node while overlap is measured. */
struct vm_overlap_events {
	struct vm_overlap_core *cores; /* of the workers */
	struct vm_overlap_file *file;
	uint64_t show_ticks;
};

/* The core that a task runs on; NULL: an OS thread that is no rank's main
 * one. */
static struct vm_overlap_core *core_find(const struct vm_ult *ult)
{
	if (ult->worker->index >= 0)
		return &vm_node->overlap_events->cores[ult->worker->index];
	return ult->overlap ? &ult->overlap->own : NULL;
}

/* As core_find(), where the task itself runs: its rank's record has it. */
static inline struct vm_overlap_core *core_of(const struct vm_ult *ult)
{
	if (VM_LIKELY(ult->overlap != NULL))
		return atomic_load_explicit(&ult->overlap->core,
					    memory_order_relaxed);
	return core_find(ult);
}

static inline void core_stop(const struct vm_ult *ult, uint64_t now)
{
	struct vm_overlap_core *core = core_of(ult);

	if (core)
		vm_overlap_sum_off(&core->user, now);
}

static inline void core_go(const struct vm_ult *ult, uint64_t now)
{
	struct vm_overlap_core *core = core_of(ult);

	if (core)
		vm_overlap_sum_on(&core->user, now);
}

#define SHOW_NS 1000000 /* what was measured is shown that often, at most */

/* Shows its measures to readers of the rank's variables, who may be in other
 * processes. */
static __attribute__((noinline)) void show(struct vm_rank *rank, uint64_t now)
{
	struct overlap_rank_pvars pvars;
	const uint64_t *from = (const uint64_t *)&pvars;
	uint64_t *to = (uint64_t *)&rank->overlap_pvars;

	rank->overlap->shown = now;
	vm_overlap_events_counters(rank, &pvars);
	for (size_t i = 0; i < sizeof(pvars) / sizeof(*to); i++)
		vm_pvar_set(to[i], from[i]);
}

static void call_end(struct vm_ult *self)
{
	uint64_t now = vm_clock_ticks();
	struct vm_overlap *overlap = self->overlap;

	if (overlap) {
		vm_overlap_exit(overlap, now);
		if (VM_UNLIKELY(now - overlap->shown >
				vm_node->overlap_events->show_ticks))
			show(self->owner, now);
	}
	core_go(self, now);
}

void vm_overlap_events_enter(struct vm_rank *rank, uint32_t call)
{
	struct vm_ult *self = vm_self;
	uint64_t now = vm_clock_ticks();

	core_stop(self, now);
	if (self->overlap)
		vm_overlap_enter(self->overlap, now, call);
	(void)rank;
}

void vm_overlap_events_exit(struct vm_rank *rank, uint32_t call)
{
	call_end(vm_self);
	(void)rank;
	(void)call;
}

void vm_overlap_events_body_begin(void)
{
	if (vm_overlap_events_on())
		call_end(vm_self);
}

void vm_overlap_events_body_end(void)
{
	struct vm_ult *self = vm_self;
	uint64_t now;

	if (!vm_overlap_events_on())
		return;
	now = vm_clock_ticks();
	core_stop(self, now);
	if (self->overlap && self->view == VM_VIEW_COMPUTES)
		vm_overlap_enter(self->overlap, now, 0);
	if (self->overlap)
		show(self->owner, now);
}

void vm_overlap_events_block_begin(void)
{
	if (vm_overlap_events_on() && vm_self->view == VM_VIEW_COMPUTES)
		core_stop(vm_self, vm_clock_ticks());
}

void vm_overlap_events_block_end(void)
{
	if (vm_overlap_events_on() && vm_self->view == VM_VIEW_COMPUTES)
		core_go(vm_self, vm_clock_ticks());
}

void vm_overlap_events_rank(struct vm_rank *rank, int worker)
{
	struct vm_overlap_events *account = vm_node->overlap_events;

	if (!account)
		return;
	rank->overlap = &account->file->rank[rank->local];
	rank->overlap->rank = rank->index;
	rank->overlap->worker = worker;
	vm_overlap_init(rank->overlap, &account->file->setup,
			worker < 0 ? NULL : &account->cores[worker],
			vm_clock_ticks(), overlap_cvar.begin_on);
}

void vm_overlap_events_task(struct vm_rank *rank, struct vm_ult *task)
{
	if (!rank->overlap)
		return;
	task->overlap = rank->overlap;
	vm_overlap_start(rank->overlap, vm_clock_ticks());
}

void vm_overlap_events_moved(struct vm_ult *task)
{
	if (vm_overlap_events_on() && task->overlap)
		vm_overlap_move(task->overlap, core_find(task),
				vm_clock_ticks());
}

/* The table, in ticks, and the bins. */
static int setup_make(struct vm_overlap_setup *setup, bool fabric)
{
	char usual[PATH_MAX], why[256];
	const char *path = overlap_cvar.table;
	int rc = 0;

	if (vm_overlap_bins_parse(setup, overlap_cvar.bins, why, sizeof(why))) {
		vm_log(VM_ERROR, "overlap_bins: %s", why);
		return -VMPI_EINVAL;
	}
	if (!path[0]) {
		rc = vm_xfer_usual(usual, sizeof(usual));
		path = usual;
	}
	if (rc) {
		vm_log(VM_ERROR, "there is no home directory; "
				 "overlap_table must name the table of "
				 "transfer times");
		return rc;
	}
	rc = vm_xfer_load(&setup->table, path);
	if (!rc && fabric && !setup->table.count[VM_PATH_FABRIC]) {
		vm_log(VM_ERROR,
		       "%s: no lines for the path fabric, which this job of "
		       "several processes needs; vmpi_info --calibrate writes "
		       "them",
		       path);
		return -VMPI_EINVAL;
	}
	vm_xfer_scale(&setup->table, 1 / vm_clock.tick_ns);
	return rc;
}

int vm_overlap_events_start(struct vm_node *node)
{
	struct vm_overlap_file head = {
		.process = node->process,
		.processes = node->process_count,
		.rank_first = node->rank_first,
		.rank_count = node->rank_here,
		.ranks = node->rank_count,
		.workers = node->engine_count,
	};
	size_t bytes =
		(size_t)node->engine_count * sizeof(struct vm_overlap_core);
	int rc;

	if (!overlap_cvar.measure)
		return 0;
	vm_clock_ready(); /* for the table, and for readers of the measures */
	head.tick_ns = vm_clock.tick_ns;
	head.begin = vm_clock_ticks();
	rc = setup_make(&head.setup, node->fabric != NULL);
	if (rc)
		return rc;
	node->overlap_events = calloc(1, sizeof(*node->overlap_events));
	if (!node->overlap_events)
		return -VMPI_ENOMEM;
	node->overlap_events->show_ticks =
		(uint64_t)(SHOW_NS / vm_clock.tick_ns);
	node->overlap_events->cores = aligned_alloc(VM_CACHELINE, bytes);
	if (!node->overlap_events->cores)
		return -VMPI_ENOMEM;
	memset(node->overlap_events->cores, 0, bytes);
	rc = vm_overlap_file_new(&node->overlap_events->file, overlap_cvar.dir,
				 &head);
	if (!rc)
		vm_intercept_set(VM_INTERCEPT_OVERLAP);
	return rc;
}

void vm_overlap_events_stop(struct vm_node *node)
{
	if (!node->overlap_events)
		return;
	vm_intercept_clear(VM_INTERCEPT_OVERLAP);
	vm_overlap_file_free(node->overlap_events->file);
	free(node->overlap_events->cores);
	free(node->overlap_events);
	node->overlap_events = NULL;
}

static uint64_t to_ns(uint64_t ticks)
{
	return vm_clock_span_ns(ticks);
}

/* Adds a bin of a side of a section to what is shown of the bin. */
static void bin_add(struct overlap_rank_pvars *pvars, unsigned bin,
		    const struct vm_overlap_row *row)
{
	pvars->bin_transfers[bin] += row->transfers;
	pvars->bin_data_ns[bin] += row->data;
	pvars->bin_min_ns[bin] += row->min;
	pvars->bin_max_ns[bin] += row->max;
}

static void bins_to_ns(struct overlap_rank_pvars *pvars)
{
	for (unsigned bin = 0; bin < VM_OVERLAP_BINS; bin++) {
		pvars->bin_data_ns[bin] = to_ns(pvars->bin_data_ns[bin]);
		pvars->bin_min_ns[bin] = to_ns(pvars->bin_min_ns[bin]);
		pvars->bin_max_ns[bin] = to_ns(pvars->bin_max_ns[bin]);
	}
}

/* Adds a section. */
static void section_add(struct overlap_rank_pvars *pvars,
			struct vm_overlap_row *all,
			const struct vm_overlap *overlap, unsigned section)
{
	const struct vm_overlap_row *row;

	pvars->user_ns += overlap->list[section].user;
	pvars->call_ns += overlap->list[section].call;
	for (int side = 0; side < VM_SIDES; side++)
		for (unsigned bin = 0; bin < overlap->setup->bins; bin++) {
			row = &overlap->rows[section][side][bin];
			vm_overlap_row_add(all, row);
			bin_add(pvars, bin, row);
		}
}

void vm_overlap_events_counters(struct vm_rank *rank,
				struct overlap_rank_pvars *pvars)
{
	struct vm_overlap *overlap = rank->overlap;
	struct vm_overlap_row all = { 0 };

	*pvars = (struct overlap_rank_pvars){ 0 };
	if (!overlap)
		return;
	vm_overlap_fold(overlap);
	for (unsigned s = 0; s < overlap->sections; s++)
		section_add(pvars, &all, overlap, s);
	pvars->transfers = all.transfers;
	pvars->data_ns = to_ns(all.data);
	pvars->min_ns = to_ns(all.min);
	pvars->max_ns = to_ns(all.max);
	pvars->core_min_ns = to_ns(all.core_min);
	pvars->core_max_ns = to_ns(all.core_max);
	pvars->user_ns = to_ns(pvars->user_ns);
	pvars->call_ns = to_ns(pvars->call_ns);
	bins_to_ns(pvars);
}
