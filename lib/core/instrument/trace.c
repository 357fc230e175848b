/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The start and the end of tracing, the scheduler and the calls.
 */
#include "core/instrument/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/instrument/intercept.h"
#include "core/rank/state.h"
#include "core/instrument/trace_own.h"
#include "base/nearest.h"
#include "introspect/vars/pvar.h"
#include "introspect/measure/vars.h"
#include "sched/clocks.h"

/* Levels are what counters in a trace are good for. */
static void counters_choose(struct vm_tracer *tracer,
			    struct vm_trace_file *head)
{
	for (int i = 0;
	     i < vm_pvar_count() && head->counters < VM_TRACE_COUNTERS_MAX;
	     i++) {
		struct vm_pvar_view view;
		char name[VM_NAME_MAX];

		if (!vm_pvar_info(i, &view, name) ||
		    view.row->class_ != VM_PVAR_LEVEL || view.row->words != 1 ||
		    view.row->of == VM_PVAR_CHAN)
			continue;
		tracer->pvar[head->counters] = i;
		tracer->last[head->counters] = UINT64_MAX;
		snprintf(head->names[head->counters], VM_TRACE_NAME_MAX, "%.*s",
			 VM_TRACE_NAME_MAX - 1, name);
		head->counters++;
	}
}

static int file_open(struct vm_tracer *tracer, const struct vm_node *node)
{
	struct vm_trace_file head = {
		.process = node->process,
		.processes = node->process_count,
		.ranks = node->rank_count,
		.workers = node->engine_count,
	};
	struct timespec now;

	vm_clock_ready();
	clock_gettime(CLOCK_REALTIME, &now);
	head.ticks = vm_clock_ticks();
	head.ns = vm_clock_ns();
	head.real_ns =
		(uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	head.tick_ns = vm_clock.tick_ns;
	head.counter = vm_clock.counter;
	if (gethostname(head.host, sizeof(head.host) - 1))
		memcpy(head.host, "?", 2);
	counters_choose(tracer, &head);
	tracer->counter_ticks =
		(uint64_t)((double)trace_cvar.counter_us * 1000 / head.tick_ns);
	return vm_trace_new(&tracer->trace, trace_cvar.file, &head,
			    (size_t)trace_cvar.bytes);
}

#define CALLS                                 \
	(UINT32_C(1) << VM_EVENT_call_enter | \
	 UINT32_C(1) << VM_EVENT_call_exit |  \
	 UINT32_C(1) << VM_EVENT_xfer_begin | \
	 UINT32_C(1) << VM_EVENT_xfer_end |   \
	 UINT32_C(1) << VM_EVENT_unexpected)

/* Installs the hooks that registered events need. */
static void wanted_changed(uint32_t wanted)
{
	const struct vm_tracer *tracer = vm_node->tracer;

	if (wanted & CALLS)
		vm_intercept_set(VM_INTERCEPT_EVENTS);
	else
		vm_intercept_clear(VM_INTERCEPT_EVENTS);
	vm_clocks_report(wanted & UINT32_C(1) << VM_EVENT_ult_switch ||
			 tracer->trace.file);
}

static int hear(struct vm_event_handle **handle, enum vm_event_id id,
		vm_event_fn fn)
{
	int rc = vm_event_register(handle, id, VM_EVENT_ALL);

	if (!rc)
		vm_event_callback(*handle, VM_SAFETY_THREAD_SAFE, fn, NULL);
	return rc;
}

void vm_trace_record(struct vm_trace_record *record)
{
	const struct vm_trace *trace = &vm_node->tracer->trace;

	if (!trace->file)
		return;
	record->ticks = vm_clock_ticks();
	vm_trace_add(trace, vm_self ? vm_self->worker->index : -1, record);
}

static void tune_hear(const struct vm_event *event,
		      struct vm_event_handle *handle,
		      enum vm_event_safety safety, void *arg)
{
	const struct vm_event_tune *tune = event->payload;
	struct vm_trace_record record = {
		.rank = (uint32_t)tune->rank,
		.kind = VM_TRACE_TUNE,
		.id = (uint32_t)tune->variable,
		.value = (uint64_t)tune->after,
	};

	(void)handle;
	(void)safety;
	(void)arg;
	vm_trace_record(&record);
}

static void pool_hear(const struct vm_event *event,
		      struct vm_event_handle *handle,
		      enum vm_event_safety safety, void *arg)
{
	const struct vm_event_pool_grow *pool = event->payload;
	struct vm_trace_record record = {
		.rank = VM_TRACE_NO_RANK,
		.kind = VM_TRACE_POOL,
		.detail = event->id == VM_EVENT_pool_grow,
		.peer = pool->owner,
		.id = (uint32_t)pool->pool,
		.value = pool->bytes,
	};

	(void)handle;
	(void)safety;
	(void)arg;
	vm_trace_record(&record);
}

static int others_hear(struct vm_tracer *tracer)
{
	int rc = hear(&tracer->heard[0], VM_EVENT_tune, tune_hear);

	if (!rc)
		rc = hear(&tracer->heard[1], VM_EVENT_pool_grow, pool_hear);
	if (!rc)
		rc = hear(&tracer->heard[2], VM_EVENT_pool_shrink, pool_hear);
	return rc;
}

/* Functions of vm_sched. */
static void sched_switch(struct vm_worker *worker, struct vm_ult *from,
			 struct vm_ult *to, enum vm_why why, uint64_t now);
static void sched_idle(struct vm_ult *self, bool idle, uint64_t now);

static const struct vm_sched_observer sched_observer = {
	.on_switch = sched_switch,
	.on_idle = sched_idle,
};

int vm_trace_start(struct vm_node *node)
{
	struct vm_tracer *tracer = calloc(1, sizeof(*tracer));
	int rc = 0;

	if (!tracer)
		return -VMPI_ENOMEM;
	node->tracer = tracer;
	vm_sched.observer = &sched_observer;
	vm_sources_workers(node->engine_count);
	if (trace_cvar.file[0])
		rc = file_open(tracer, node);
	if (rc)
		return rc;
	if (tracer->trace.file) {
		tracer->counters = (int)tracer->trace.file->counters;
		vm_intercept_set(VM_INTERCEPT_TRACE);
		rc = others_hear(tracer);
	}
	vm_events_on_change(wanted_changed);
	return rc;
}

void vm_trace_stop(struct vm_node *node)
{
	if (!node->tracer)
		return;
	vm_events_on_change(NULL);
	vm_intercept_clear(VM_INTERCEPT_TRACE | VM_INTERCEPT_EVENTS |
			   VM_INTERCEPT_CHAN_STATS);
	for (int i = 0; i < 3; i++)
		if (node->tracer->heard[i])
			vm_event_unregister(node->tracer->heard[i], NULL, NULL);
	vm_trace_close(&node->tracer->trace);
	free(node->tracer);
	node->tracer = NULL;
}

/* Whose main task it is; NULL: of none. */
static const struct vm_rank *main_of(const struct vm_ult *ult)
{
	const struct vm_rank *rank = ult->owner;

	return rank && vm_rank_main(rank) == ult ? rank : NULL;
}

static uint32_t rank_of(const struct vm_ult *ult)
{
	const struct vm_rank *rank = ult->owner;

	return rank ? (uint32_t)rank->index : VM_TRACE_NO_RANK;
}

/* The scheduler. */

/* Worker 0 samples for all: this is about levels, not about moments. */
static void counters_record(struct vm_tracer *tracer, uint64_t now)
{
	struct vm_trace_record record = { .ticks = now,
					  .rank = VM_TRACE_NO_RANK,
					  .kind = VM_TRACE_COUNTER };

	tracer->counters_next = now + tracer->counter_ticks;
	for (int i = 0; i < tracer->counters; i++) {
		uint64_t value;

		if (vm_pvar_total(&value, tracer->pvar[i]) ||
		    value == tracer->last[i])
			continue;
		tracer->last[i] = value;
		record.id = (uint32_t)i;
		record.value = value;
		vm_trace_add(&tracer->trace, 0, &record);
	}
}

static void counters_look(struct vm_tracer *tracer,
			  const struct vm_worker *worker, uint64_t now)
{
	if (worker->index == 0 && now >= tracer->counters_next)
		counters_record(tracer, now);
}

static void sched_switch(struct vm_worker *worker, struct vm_ult *from,
			 struct vm_ult *to, enum vm_why why, uint64_t now)
{
	struct vm_tracer *tracer = vm_node->tracer;
	struct vm_trace_record record = {
		.ticks = now,
		.rank = rank_of(to),
		.kind = VM_TRACE_SWITCH,
		.detail = (uint8_t)why,
		.peer = (int32_t)rank_of(from),
	};
	struct vm_event_ult_switch event = { .worker = worker->index,
					     .from = (int32_t)rank_of(from),
					     .to = (int32_t)rank_of(to),
					     .reason = (int32_t)why };
	struct vm_event_from place = { .rank = VM_EVENT_ALL,
				       .worker = worker->index,
				       .safety = VM_SAFETY_THREAD_SAFE,
				       .busy = &from->busy,
				       .ticks = now };

	if (tracer->trace.file) {
		record.extra = (main_of(to) ? VM_TRACE_TO_MAIN : 0) |
			       (main_of(from) ? VM_TRACE_FROM_MAIN : 0);
		vm_trace_add(&tracer->trace, worker->index, &record);
		counters_look(tracer, worker, now);
	}
	if (vm_event_wanted(VM_EVENT_ult_switch))
		vm_event_raise_ult_switch(&place, &event);
}

static void sched_idle(struct vm_ult *self, bool idle, uint64_t now)
{
	struct vm_tracer *tracer = vm_node->tracer;
	struct vm_trace_record record = {
		.ticks = now,
		.rank = rank_of(self),
		.kind = idle ? VM_TRACE_IDLE : VM_TRACE_BUSY,
		.extra = main_of(self) ? VM_TRACE_TO_MAIN : 0,
	};

	if (!tracer->trace.file)
		return;
	vm_trace_add(&tracer->trace, self->worker->index, &record);
	counters_look(tracer, self->worker, now);
}

/* Calls. */

static void call_record(const struct vm_rank *rank, enum vm_trace_kind kind,
			uint32_t call)
{
	struct vm_tracer *tracer = vm_node->tracer;
	struct vm_trace_record record = {
		.ticks = vm_clock_ticks(),
		.rank = rank ? (uint32_t)rank->index : VM_TRACE_NO_RANK,
		.kind = (uint8_t)kind,
		.extra = main_of(vm_self) ? VM_TRACE_TO_MAIN : 0,
		.id = call,
	};

	if (tracer->trace.file)
		vm_trace_add(&tracer->trace, vm_self->worker->index, &record);
}

void vm_trace_enter(struct vm_rank *rank, uint32_t call)
{
	/* A thread's waits are recorded once its time is taken. */
	if (VM_UNLIKELY(vm_self->worker->index < 0 &&
			!vm_timer_runs(&vm_self->timer)))
		vm_clocks_self(vm_self);
	call_record(rank, VM_TRACE_ENTER, call);
}

void vm_trace_exit(struct vm_rank *rank, uint32_t call)
{
	call_record(rank, VM_TRACE_EXIT, call);
}

/* A rank's main task may do anything in a public function; of its others
 * several may be there at a time. */
static struct vm_event_from call_place(const struct vm_rank *rank)
{
	return (struct vm_event_from){
		.rank = rank ? rank->index : VM_EVENT_ALL,
		.safety = main_of(vm_self) ? VM_SAFETY_NONE :
					     VM_SAFETY_THREAD_SAFE,
		.busy = &vm_self->busy,
	};
}

void vm_trace_event_enter(struct vm_rank *rank, uint32_t call)
{
	struct vm_event_from from = call_place(rank);
	struct vm_event_call_enter event = { .rank = rank ? rank->index : -1,
					     .call = (int32_t)call };

	if (vm_event_wanted(VM_EVENT_call_enter))
		vm_event_raise_call_enter(&from, &event);
}

void vm_trace_event_exit(struct vm_rank *rank, uint32_t call)
{
	struct vm_event_from from = call_place(rank);
	struct vm_event_call_exit event = { .rank = rank ? rank->index : -1,
					    .call = (int32_t)call };

	if (vm_event_wanted(VM_EVENT_call_exit))
		vm_event_raise_call_exit(&from, &event);
}

/* Moments. */

void vm_trace_help(int owner)
{
	int thief = vm_self->worker->index;
	struct vm_event_from from = vm_trace_place(VM_EVENT_ALL);
	struct vm_trace_record record = { .rank = VM_TRACE_NO_RANK,
					  .kind = VM_TRACE_HELP,
					  .peer = owner };
	struct vm_event_steal event = { .thief = thief, .owner = owner };

	from.worker = thief;
	vm_trace_record(&record);
	if (vm_event_wanted(VM_EVENT_steal) && thief >= 0)
		vm_event_raise_steal(&from, &event);
}

void vm_trace_packets(int port, int64_t bytes, uint64_t total)
{
	enum vm_event_id id = bytes > 0 ? VM_EVENT_pool_grow :
					  VM_EVENT_pool_shrink;
	struct vm_event_from from = vm_trace_place(VM_EVENT_ALL);
	struct vm_event_pool_grow event = {
		.bytes = (uint64_t)(bytes > 0 ? bytes : -bytes),
		.total = total,
		.owner = port,
	};

	if (vm_event_wanted(id))
		vm_event_raise(id, &from, &event);
}

VM_STATIC_ASSERT(sizeof(struct vm_event_pool_grow) ==
			 sizeof(struct vm_event_pool_shrink),
		 "both events of a pool have the same elements");

void vm_trace_moved(const struct vm_rank *rank, int from, int to)
{
	struct vm_event_from place = vm_trace_place(VM_EVENT_ALL);
	struct vm_trace_record record = { .rank = (uint32_t)rank->index,
					  .kind = VM_TRACE_MOVE,
					  .peer = from,
					  .id = (uint32_t)to };
	struct vm_event_rank_moved event = { .rank = rank->index,
					     .from = from,
					     .to = to };

	vm_trace_record(&record);
	if (vm_event_wanted(VM_EVENT_rank_moved))
		vm_event_raise_rank_moved(&place, &event);
}
