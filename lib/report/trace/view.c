/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slices of workers and of ranks, and momentary events.
 *
 * The beginning of a trace may be lost: an end without a begin is left out, and
 * slices that are open when the records end, end there.
 */
#include "report/trace/view.h"

#include <stdlib.h>

/* The open slices of a rank, from the outside to the inside. */
struct vm_trace_of_rank {
	bool seen, lives, calls, waits;
	bool yields; /* it waits because it has yielded */
	uint32_t call;
};

/* The open slices of a worker. */
struct vm_trace_of_track {
	bool seen, runs, idle;
	uint32_t rank;
	bool main;
};

static struct vm_trace_of_track *track_state(const struct vm_trace_view *view,
					     const struct vm_trace_track *track)
{
	return &view->tracks[track - view->of->tracks];
}

static struct vm_trace_of_rank *rank_state(const struct vm_trace_view *view,
					   uint32_t rank)
{
	return rank < (uint32_t)view->of->ranks ? &view->ranks[rank] : NULL;
}

static int pid_of(const struct vm_trace_track *track)
{
	return VM_TRACE_PID_FIRST + track->process;
}

/* The thread of those that are no workers comes after these. */
static int tid_of(const struct vm_trace_track *track)
{
	return track->worker >= 0 ? track->worker :
				    track->part->trace.file->workers;
}

/* Names. */

static void tracks_name(struct vm_trace_view *view)
{
	struct vm_trace_out *out = view->out;

	out->format->track(out, VM_TRACE_PID_RANKS, VM_TRACE_OUT_PROCESS,
			   VM_TRACE_PID_RANKS, "ranks",
			   "The ranks of MPI_COMM_WORLD: what each did.");
	for (int i = 0; i < view->of->processes; i++) {
		const struct vm_trace_file *file =
			view->of->parts[i].trace.file;
		char name[VM_TRACE_NAME_MAX + 32];

		if (!file)
			continue;
		snprintf(name, sizeof(name), "node %d (%s)", i, file->host);
		out->format->track(out, VM_TRACE_PID_FIRST + i,
				   VM_TRACE_OUT_PROCESS, VM_TRACE_PID_FIRST + i,
				   name,
				   "A node process: what its workers ran.");
	}
}

static void track_name(struct vm_trace_view *view,
		       const struct vm_trace_track *track)
{
	struct vm_trace_of_track *state = track_state(view, track);
	int pid = pid_of(track), tid = tid_of(track);
	char name[64] = "other threads";

	if (state->seen)
		return;
	state->seen = true;
	if (track->worker >= 0)
		snprintf(name, sizeof(name), "worker %d", tid);
	view->out->format->track(view->out, pid, tid, tid, name,
				 track->worker >= 0 ?
					 "Which rank the worker ran, and when "
					 "it was idle." :
					 NULL);
}

static void rank_name(struct vm_trace_view *view, uint32_t rank)
{
	char name[64];

	snprintf(name, sizeof(name), "rank %u", rank);
	view->out->format->track(view->out, VM_TRACE_PID_RANKS, (int)rank,
				 (int)rank, name,
				 "Its life, in it its calls, in these its "
				 "waits.");
}

static void event_write(struct vm_trace_view *view,
			const struct vm_trace_event *event)
{
	view->out->format->event(view->out, event);
}

/* Ranks. */

static void rank_slice(struct vm_trace_view *view, enum vm_trace_phase phase,
		       uint32_t rank, const char *name, int64_t ns)
{
	event_write(view, &(struct vm_trace_event){ .phase = phase,
						    .pid = VM_TRACE_PID_RANKS,
						    .tid = (int)rank,
						    .name = name,
						    .ns = ns });
}

static void rank_end(struct vm_trace_view *view, uint32_t rank,
		     const char *name, bool *open, int64_t ns)
{
	if (*open)
		rank_slice(view, VM_TRACE_OUT_END, rank, name, ns);
	*open = false;
}

static const char *wait_name(const struct vm_trace_of_rank *state)
{
	return state->yields ? "yields" : "waits";
}

static void wait_end(struct vm_trace_view *view, uint32_t rank, int64_t ns)
{
	struct vm_trace_of_rank *state = &view->ranks[rank];

	rank_end(view, rank, wait_name(state), &state->waits, ns);
}

static void call_end(struct vm_trace_view *view, uint32_t rank, int64_t ns)
{
	struct vm_trace_of_rank *state = &view->ranks[rank];

	wait_end(view, rank, ns);
	rank_end(view, rank, view->call_name(state->call), &state->calls, ns);
}

static void life_end(struct vm_trace_view *view, uint32_t rank, int64_t ns)
{
	call_end(view, rank, ns);
	rank_end(view, rank, "rank", &view->ranks[rank].lives, ns);
}

void vm_trace_view_rank(struct vm_trace_view *view, uint32_t rank, int64_t ns)
{
	struct vm_trace_of_rank *state = rank_state(view, rank);

	view->end = ns;
	if (!state || state->lives)
		return;
	if (!state->seen)
		rank_name(view, rank);
	state->seen = state->lives = true;
	rank_slice(view, VM_TRACE_OUT_BEGIN, rank, "rank", ns);
}

static void wait_begin(struct vm_trace_view *view, uint32_t rank, bool yields,
		       int64_t ns)
{
	struct vm_trace_of_rank *state = rank_state(view, rank);

	if (!state)
		return;
	vm_trace_view_rank(view, rank, ns);
	wait_end(view, rank, ns);
	state->yields = yields;
	state->waits = true;
	rank_slice(view, VM_TRACE_OUT_BEGIN, rank, wait_name(state), ns);
}

static void rank_runs(struct vm_trace_view *view, uint32_t rank, int64_t ns)
{
	if (!rank_state(view, rank))
		return;
	vm_trace_view_rank(view, rank, ns);
	wait_end(view, rank, ns);
}

static void rank_calls(struct vm_trace_view *view,
		       const struct vm_trace_record *record, int64_t ns)
{
	struct vm_trace_of_rank *state = rank_state(view, record->rank);

	if (!state || !(record->extra & VM_TRACE_TO_MAIN))
		return;
	vm_trace_view_rank(view, record->rank, ns);
	call_end(view, record->rank, ns);
	state->calls = record->kind == VM_TRACE_ENTER;
	state->call = record->id;
	if (state->calls)
		rank_slice(view, VM_TRACE_OUT_BEGIN, record->rank,
			   view->call_name(state->call), ns);
}

/* Workers. */

static void slice_write(struct vm_trace_view *view, enum vm_trace_phase phase,
			const struct vm_trace_track *track, int64_t ns)
{
	const struct vm_trace_of_track *state = track_state(view, track);
	char name[64] = "idle";

	/* The worker itself, between two tasks. */
	if (!state->idle && state->rank == VM_TRACE_NO_RANK)
		return;
	if (!state->idle)
		snprintf(name, sizeof(name), "rank %u%s", state->rank,
			 state->main ? "" : ", a task of it");
	event_write(view, &(struct vm_trace_event){ .phase = phase,
						    .pid = pid_of(track),
						    .tid = tid_of(track),
						    .name = name,
						    .ns = ns });
}

static void slice_end(struct vm_trace_view *view,
		      const struct vm_trace_track *track, int64_t ns)
{
	struct vm_trace_of_track *state = track_state(view, track);

	if (state->runs)
		slice_write(view, VM_TRACE_OUT_END, track, ns);
	state->runs = false;
}

static void slice_begin(struct vm_trace_view *view,
			const struct vm_trace_track *track, uint32_t rank,
			bool main, bool idle, int64_t ns)
{
	struct vm_trace_of_track *state = track_state(view, track);

	track_name(view, track);
	*state = (struct vm_trace_of_track){ .seen = true,
					     .runs = true,
					     .idle = idle,
					     .rank = rank,
					     .main = main };
	slice_write(view, VM_TRACE_OUT_BEGIN, track, ns);
}

static void task_switch(struct vm_trace_view *view,
			const struct vm_trace_record *record,
			const struct vm_trace_track *track, int64_t ns)
{
	uint32_t from = (uint32_t)record->peer;

	slice_end(view, track, ns);
	slice_begin(view, track, record->rank, record->extra & VM_TRACE_TO_MAIN,
		    false, ns);
	if (record->extra & VM_TRACE_FROM_MAIN && rank_state(view, from)) {
		if (record->detail == VM_TRACE_ENDS)
			life_end(view, from, ns);
		else
			wait_begin(view, from,
				   record->detail == VM_TRACE_YIELDS, ns);
	}
	if (record->extra & VM_TRACE_TO_MAIN)
		rank_runs(view, record->rank, ns);
}

static void worker_idles(struct vm_trace_view *view,
			 const struct vm_trace_record *record,
			 const struct vm_trace_track *track, int64_t ns)
{
	bool main = record->extra & VM_TRACE_TO_MAIN;
	bool idle = record->kind == VM_TRACE_IDLE;

	if (track->worker >= 0) {
		slice_end(view, track, ns);
		slice_begin(view, track, record->rank, main, idle, ns);
	}
	if (main && idle)
		wait_begin(view, record->rank, false, ns);
	else if (main)
		rank_runs(view, record->rank, ns);
}

/* Moments. */

static void moment(struct vm_trace_view *view,
		   const struct vm_trace_record *record,
		   const struct vm_trace_track *track, int64_t ns)
{
	struct vm_trace_event event = { .phase = VM_TRACE_OUT_MOMENT,
					.pid = pid_of(track),
					.tid = tid_of(track),
					.ns = ns };

	track_name(view, track);
	switch (record->kind) {
	case VM_TRACE_HELP:
		event.name = "helps";
		event.args[0] =
			(struct vm_trace_arg){ "worker", record->peer, NULL };
		break;
	case VM_TRACE_MOVE:
		event.name = "rank moved";
		event.of_process = true;
		event.args[0] = (struct vm_trace_arg){ "rank",
						       (int32_t)record->rank,
						       NULL };
		event.args[1] =
			(struct vm_trace_arg){ "from", record->peer, NULL };
		event.args[2] = (struct vm_trace_arg){ "to",
						       (int32_t)record->id,
						       NULL };
		break;
	case VM_TRACE_POOL:
		event.name = record->detail ? "pool grows" : "pool shrinks";
		event.args[0] =
			(struct vm_trace_arg){ "pool", record->id, NULL };
		event.args[1] =
			(struct vm_trace_arg){ "owner", record->peer, NULL };
		event.args[2] = (struct vm_trace_arg){ "bytes",
						       (int64_t)record->value,
						       NULL };
		break;
	case VM_TRACE_TUNE:
		event.name = "policy";
		event.of_process = true;
		event.args[0] =
			(struct vm_trace_arg){ "variable", record->id, NULL };
		event.args[1] = (struct vm_trace_arg){ "rank",
						       (int32_t)record->rank,
						       NULL };
		event.args[2] = (struct vm_trace_arg){ "value",
						       (int64_t)record->value,
						       NULL };
		break;
	default:
		return;
	}
	event_write(view, &event);
}

static void unexpected(struct vm_trace_view *view,
		       const struct vm_trace_record *record, int64_t ns)
{
	if (!rank_state(view, record->rank))
		return;
	vm_trace_view_rank(view, record->rank, ns);
	event_write(view, &(struct vm_trace_event){
				  .phase = VM_TRACE_OUT_MOMENT,
				  .pid = VM_TRACE_PID_RANKS,
				  .tid = (int)record->rank,
				  .name = "unexpected",
				  .ns = ns,
				  .args = { { "source", record->peer, NULL },
					    { "tag", record->tag, NULL },
					    { "bytes", (int64_t)record->value,
					      NULL } } });
}

/* A counter that is always 0 needs no line of its own. */
static bool counter_shown(const struct vm_trace_view *view,
			  const struct vm_trace_record *record,
			  const struct vm_trace_track *track)
{
	uint64_t *seen = &view->counters[track->process];
	uint64_t bit = UINT64_C(1) << record->id;

	if (record->value)
		*seen |= bit;
	return *seen & bit;
}

static void counter(struct vm_trace_view *view,
		    const struct vm_trace_record *record,
		    const struct vm_trace_track *track, int64_t ns)
{
	const struct vm_trace_file *file = track->part->trace.file;

	if (record->id >= file->counters || !counter_shown(view, record, track))
		return;
	event_write(view, &(struct vm_trace_event){
				  .phase = VM_TRACE_OUT_COUNTER,
				  .pid = pid_of(track),
				  .name = file->names[record->id],
				  .ns = ns,
				  .counter = (int)record->id,
				  .value = (int64_t)record->value });
}

void vm_trace_view_record(struct vm_trace_view *view,
			  const struct vm_trace_record *record,
			  const struct vm_trace_track *track, int64_t ns)
{
	view->end = ns;
	switch (record->kind) {
	case VM_TRACE_SWITCH:
		task_switch(view, record, track, ns);
		break;
	case VM_TRACE_IDLE:
	case VM_TRACE_BUSY:
		worker_idles(view, record, track, ns);
		break;
	case VM_TRACE_ENTER:
	case VM_TRACE_EXIT:
		rank_calls(view, record, ns);
		break;
	case VM_TRACE_UNEXPECTED:
		unexpected(view, record, ns);
		break;
	case VM_TRACE_COUNTER:
		counter(view, record, track, ns);
		break;
	default:
		moment(view, record, track, ns);
	}
}

int vm_trace_view_init(struct vm_trace_view *view, struct vm_trace_out *out,
		       const struct vm_trace_tracks *tracks,
		       const char *(*call_name)(uint32_t call))
{
	*view = (struct vm_trace_view){ .out = out,
					.call_name = call_name,
					.of = tracks,
					.end = tracks->first };
	view->ranks = calloc((size_t)tracks->ranks, sizeof(*view->ranks));
	view->tracks = calloc((size_t)tracks->count, sizeof(*view->tracks));
	view->counters =
		calloc((size_t)tracks->processes, sizeof(*view->counters));
	if (!view->ranks || !view->tracks || !view->counters)
		return -VMPI_ENOMEM;
	tracks_name(view);
	return 0;
}

void vm_trace_view_fini(struct vm_trace_view *view)
{
	for (int i = 0; view->tracks && i < view->of->count; i++)
		slice_end(view, &view->of->tracks[i], view->end);
	for (int i = 0; view->ranks && i < view->of->ranks; i++)
		if (view->ranks[i].lives)
			life_end(view, (uint32_t)i, view->end);
	free(view->ranks);
	free(view->tracks);
	free(view->counters);
}
