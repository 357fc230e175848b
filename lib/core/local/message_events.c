/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages, and what else happens at a moment.
 */
#include "base/clock.h"
#include "core/rank/state.h"
#include "core/local/req.h"
#include "core/local/chan_stats.h"
#include "core/instrument/trace_own.h"
#include "sched/worker.h"

static void record_add(struct vm_trace_record *record)
{
	const struct vm_trace *trace = &vm_node->tracer->trace;

	if (!trace->file)
		return;
	record->ticks = vm_clock_ticks();
	vm_trace_add(trace, vm_self ? vm_self->worker->index : -1, record);
}

static struct vm_event_from place_of(int rank)
{
	return (struct vm_event_from){
		.rank = rank,
		.safety = VM_SAFETY_THREAD_SAFE,
		.busy = vm_self ? &vm_self->busy : NULL,
	};
}

/* Transfers. */

static void xfer_begin(const struct vm_event_xfer_begin *event)
{
	struct vm_event_from from = place_of(event->rank);

	if (vm_event_wanted(VM_EVENT_xfer_begin))
		vm_event_raise_xfer_begin(&from, event);
}

static void xfer_end(const struct vm_event_xfer_begin *event)
{
	struct vm_event_from from = place_of(event->rank);

	if (vm_event_wanted(VM_EVENT_xfer_end))
		vm_event_raise(VM_EVENT_xfer_end, &from, event);
}

VM_STATIC_ASSERT(sizeof(struct vm_event_xfer_begin) ==
			 sizeof(struct vm_event_xfer_end),
		 "both events of a transfer have the same elements");

/* One that is over at once needs a name only between its two events. */
static void xfer_both(struct vm_event_xfer_begin *event)
{
	event->id = (uint64_t)(uintptr_t)event;
	xfer_begin(event);
	xfer_end(event);
}

void vm_trace_send(const struct vm_rank *dest, const struct vm_env *env,
		   uint64_t bytes)
{
	struct vm_trace_record record = {
		.rank = (uint32_t)vm_rank_self()->index,
		.kind = VM_TRACE_SEND,
		.context = env->context,
		.tag = env->tag,
		.peer = dest->index,
		.id = (uint32_t)env->source,
		.value = bytes,
	};

	vm_chan_stats_sent(vm_rank_self(), env, bytes);
	record_add(&record);
}

void vm_trace_sends(const struct vm_rank *dest, const struct vm_env *env,
		    uint64_t bytes, enum vm_proto proto, struct vm_req *req)
{
	struct vm_event_xfer_begin event = {
		.bytes = bytes,
		.id = (uint64_t)(uintptr_t)req,
		.rank = vm_rank_self()->index,
		.peer = dest->index,
		.tag = env->tag,
		.proto = (int32_t)proto,
	};

	if (req) {
		req->told = true;
		xfer_begin(&event);
	} else {
		xfer_both(&event);
	}
}

void vm_trace_sent(struct vm_req *req)
{
	struct vm_event_xfer_begin event = {
		.bytes = req->status.bytes,
		.id = (uint64_t)(uintptr_t)req,
		.rank = vm_rank_self()->index,
		.peer = req->rank ? req->rank->index : -1,
		.tag = req->status.tag,
		.proto = -1,
	};

	req->told = false;
	xfer_end(&event);
}

/* A number for a request while it is under way. */
static uint32_t number_of(const struct vm_req *req)
{
	return (uint32_t)((uintptr_t)req >> 3);
}

void vm_trace_match(const struct vm_rank *rank, const struct vm_env *env,
		    uint64_t bytes, enum vm_proto proto,
		    const struct vm_req *later)
{
	struct vm_trace_record record = {
		.rank = (uint32_t)rank->index,
		.kind = VM_TRACE_MATCH,
		.detail = later ? VM_TRACE_LATER : VM_TRACE_DONE,
		.context = env->context,
		.tag = env->tag,
		.peer = env->source,
		.id = later ? number_of(later) : 0,
		.value = bytes,
	};
	struct vm_event_xfer_begin event = {
		.bytes = bytes,
		.id = (uint64_t)(uintptr_t)later,
		.rank = rank->index,
		.peer = env->source,
		.tag = env->tag,
		.side = 1,
		.proto = (int32_t)proto,
	};

	vm_chan_stats_received(rank, env, bytes);
	record_add(&record);
	if (later)
		xfer_begin(&event);
	else
		xfer_both(&event);
}

void vm_trace_received(const struct vm_req *req)
{
	struct vm_trace_record record = { .rank = (uint32_t)req->rank->index,
					  .kind = VM_TRACE_RECEIVED,
					  .id = number_of(req) };
	struct vm_event_xfer_begin event = {
		.bytes = req->status.bytes,
		.id = (uint64_t)(uintptr_t)req,
		.rank = req->rank->index,
		.peer = req->status.source,
		.tag = req->status.tag,
		.side = 1,
		.proto = VM_PROTO_RENDEZVOUS,
	};

	record_add(&record);
	xfer_end(&event);
}

void vm_trace_dropped(const struct vm_rank *rank, const struct vm_env *env,
		      uint64_t bytes)
{
	struct vm_trace_record record = { .rank = (uint32_t)rank->index,
					  .kind = VM_TRACE_MATCH,
					  .detail = VM_TRACE_DROPPED,
					  .context = env->context,
					  .tag = env->tag,
					  .peer = env->source,
					  .value = bytes };

	record_add(&record);
}

void vm_trace_unexpected(const struct vm_rank *rank, const struct vm_env *env,
			 uint64_t bytes, uint32_t queued)
{
	struct vm_event_from from = place_of(rank->index);
	struct vm_trace_record record = { .rank = (uint32_t)rank->index,
					  .kind = VM_TRACE_UNEXPECTED,
					  .context = env->context,
					  .tag = env->tag,
					  .peer = env->source,
					  .value = bytes };
	struct vm_event_unexpected event = { .bytes = bytes,
					     .rank = rank->index,
					     .source = env->source,
					     .tag = env->tag,
					     .queued = (int32_t)queued };

	record_add(&record);
	if (vm_event_wanted(VM_EVENT_unexpected))
		vm_event_raise_unexpected(&from, &event);
}

/* Moments. */

void vm_trace_help(int owner)
{
	int thief = vm_self->worker->index;
	struct vm_event_from from = place_of(VM_EVENT_ALL);
	struct vm_trace_record record = { .rank = VM_TRACE_NO_RANK,
					  .kind = VM_TRACE_HELP,
					  .peer = owner };
	struct vm_event_steal event = { .thief = thief, .owner = owner };

	from.worker = thief;
	record_add(&record);
	if (vm_event_wanted(VM_EVENT_steal) && thief >= 0)
		vm_event_raise_steal(&from, &event);
}

void vm_trace_packets(int port, int64_t bytes, uint64_t total)
{
	enum vm_event_id id = bytes > 0 ? VM_EVENT_pool_grow :
					  VM_EVENT_pool_shrink;
	struct vm_event_from from = place_of(VM_EVENT_ALL);
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
	struct vm_event_from place = place_of(VM_EVENT_ALL);
	struct vm_trace_record record = { .rank = (uint32_t)rank->index,
					  .kind = VM_TRACE_MOVE,
					  .peer = from,
					  .id = (uint32_t)to };
	struct vm_event_rank_moved event = { .rank = rank->index,
					     .from = from,
					     .to = to };

	record_add(&record);
	if (vm_event_wanted(VM_EVENT_rank_moved))
		vm_event_raise_rank_moved(&place, &event);
}

void vm_trace_tune(const struct vm_event *event, struct vm_event_handle *handle,
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
	record_add(&record);
}

void vm_trace_pool(const struct vm_event *event, struct vm_event_handle *handle,
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
	record_add(&record);
}
