/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slices of workers and of ranks, and momentary events.
 *
 * The beginning of a trace may be lost: an end without a begin is left out, and
 * slices that are open when the records end, end there.
 */
#include "report/trace/view.h"

#include <stdlib.h>

#include "report/json.h"

/* The open slices of a rank, from the outside to the inside. */
struct vm_trace_of_rank {
	bool seen, lives, calls, waits;
	bool yields; /* it waits because it has yielded */
};

/* The open slices of a worker. */
struct vm_trace_of_track {
	bool seen, runs, idle;
	uint32_t rank;
	bool main;
	int64_t since;
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

static void process_name(struct vm_trace_view *view, int pid, const char *kind,
			 int number, const char *host)
{
	struct vm_chrome_event event = { 'M', "process_name", pid, 0, 0 };
	char escaped[6 * VM_TRACE_NAME_MAX];

	if (host)
		vm_chrome_event(view->chrome, &event,
				",\"args\":{\"name\":\"%s %d (%s)\"}", kind,
				number,
				vm_json_escape(escaped, sizeof(escaped), host));
	else
		vm_chrome_event(view->chrome, &event,
				",\"args\":{\"name\":\"%s\"}", kind);
	event.name = "process_sort_index";
	vm_chrome_event(view->chrome, &event, ",\"args\":{\"sort_index\":%d}",
			pid);
}

static void thread_name(struct vm_trace_view *view, int pid, int tid,
			const char *kind, bool numbered)
{
	struct vm_chrome_event event = { 'M', "thread_name", pid, tid, 0 };

	if (numbered)
		vm_chrome_event(view->chrome, &event,
				",\"args\":{\"name\":\"%s %d\"}", kind, tid);
	else
		vm_chrome_event(view->chrome, &event,
				",\"args\":{\"name\":\"%s\"}", kind);
	event.name = "thread_sort_index";
	vm_chrome_event(view->chrome, &event, ",\"args\":{\"sort_index\":%d}",
			tid);
}

static void processes_name(struct vm_trace_view *view)
{
	process_name(view, VM_TRACE_PID_RANKS, "ranks", 0, NULL);
	for (int i = 0; i < view->of->processes; i++) {
		const struct vm_trace_file *file =
			view->of->parts[i].trace.file;

		if (file)
			process_name(view, VM_TRACE_PID_FIRST + i, "node", i,
				     file->host);
	}
}

static void track_name(struct vm_trace_view *view,
		       const struct vm_trace_track *track)
{
	struct vm_trace_of_track *state = track_state(view, track);

	if (state->seen)
		return;
	state->seen = true;
	thread_name(view, pid_of(track), tid_of(track),
		    track->worker >= 0 ? "worker" : "other threads",
		    track->worker >= 0);
}

/* Ranks. */

static void rank_begin(struct vm_trace_view *view, uint32_t rank,
		       const char *name, int64_t ns)
{
	struct vm_chrome_event event = { 'B', name, VM_TRACE_PID_RANKS,
					 (int)rank, ns };

	vm_chrome_event(view->chrome, &event, NULL);
}

static void rank_end(struct vm_trace_view *view, uint32_t rank,
		     const char *name, bool *open, int64_t ns)
{
	struct vm_chrome_event event = { 'E', name, VM_TRACE_PID_RANKS,
					 (int)rank, ns };

	if (*open)
		vm_chrome_event(view->chrome, &event, NULL);
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
	wait_end(view, rank, ns);
	rank_end(view, rank, "call", &view->ranks[rank].calls, ns);
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
		thread_name(view, VM_TRACE_PID_RANKS, (int)rank, "rank", true);
	state->seen = state->lives = true;
	rank_begin(view, rank, "rank", ns);
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
	rank_begin(view, rank, wait_name(state), ns);
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
	char escaped[128];

	if (!state || !(record->extra & VM_TRACE_TO_MAIN))
		return;
	vm_trace_view_rank(view, record->rank, ns);
	call_end(view, record->rank, ns);
	state->calls = record->kind == VM_TRACE_ENTER;
	if (state->calls)
		rank_begin(view, record->rank,
			   vm_json_escape(escaped, sizeof(escaped),
					  view->call_name(record->id)),
			   ns);
}

/* Workers. */

static void slice_end(struct vm_trace_view *view,
		      const struct vm_trace_track *track, int64_t ns)
{
	struct vm_trace_of_track *state = track_state(view, track);
	struct vm_chrome_event event = { 'X', NULL, pid_of(track),
					 tid_of(track), state->since };
	int64_t ns_long = ns - state->since;
	char name[64] = "idle";

	if (!state->runs)
		return;
	state->runs = false;
	/* The worker itself, between two tasks. */
	if (!state->idle && state->rank == VM_TRACE_NO_RANK)
		return;
	if (!state->idle)
		snprintf(name, sizeof(name), "rank %u%s", state->rank,
			 state->main ? "" : ", a task of it");
	event.name = name;
	vm_chrome_event(view->chrome, &event, ",\"dur\":%lld.%03d",
			(long long)(ns_long / 1000), (int)(ns_long % 1000));
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
					     .main = main,
					     .since = ns };
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
	struct vm_chrome_event event = { 'i', NULL, pid_of(track),
					 tid_of(track), ns };
	struct vm_chrome *chrome = view->chrome;

	track_name(view, track);
	switch (record->kind) {
	case VM_TRACE_HELP:
		event.name = "helps";
		vm_chrome_event(chrome, &event,
				",\"s\":\"t\",\"args\":{\"worker\":%d}",
				record->peer);
		break;
	case VM_TRACE_MOVE:
		event.name = "rank moved";
		vm_chrome_event(
			chrome, &event,
			",\"s\":\"p\",\"args\":{\"rank\":%d,\"from\":%d,"
			"\"to\":%d}",
			(int)record->rank, record->peer, (int)record->id);
		break;
	case VM_TRACE_POOL:
		event.name = record->detail ? "pool grows" : "pool shrinks";
		vm_chrome_event(
			chrome, &event,
			",\"s\":\"t\",\"args\":{\"pool\":%u,\"owner\":%d,"
			"\"bytes\":%llu}",
			record->id, record->peer,
			(unsigned long long)record->value);
		break;
	case VM_TRACE_TUNE:
		event.name = "policy";
		vm_chrome_event(chrome, &event,
				",\"s\":\"p\",\"args\":{\"variable\":%u,"
				"\"rank\":%d,\"value\":%lld}",
				record->id, (int)record->rank,
				(long long)record->value);
		break;
	}
}

static void unexpected(struct vm_trace_view *view,
		       const struct vm_trace_record *record, int64_t ns)
{
	struct vm_chrome_event event = { 'i', "unexpected", VM_TRACE_PID_RANKS,
					 (int)record->rank, ns };

	if (!rank_state(view, record->rank))
		return;
	vm_trace_view_rank(view, record->rank, ns);
	vm_chrome_event(view->chrome, &event,
			",\"s\":\"t\",\"args\":{\"source\":%d,\"tag\":%d,"
			"\"bytes\":%llu}",
			record->peer, record->tag,
			(unsigned long long)record->value);
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
	char escaped[6 * VM_TRACE_NAME_MAX];
	struct vm_chrome_event event = { 'C', escaped, pid_of(track), 0, ns };

	if (record->id >= file->counters || !counter_shown(view, record, track))
		return;
	vm_json_escape(escaped, sizeof(escaped), file->names[record->id]);
	vm_chrome_event(view->chrome, &event, ",\"args\":{\"value\":%llu}",
			(unsigned long long)record->value);
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

int vm_trace_view_init(struct vm_trace_view *view, struct vm_chrome *chrome,
		       const struct vm_trace_tracks *tracks,
		       const char *(*call_name)(uint32_t call))
{
	*view = (struct vm_trace_view){ .chrome = chrome,
					.call_name = call_name,
					.of = tracks,
					.end = tracks->first };
	view->ranks = calloc((size_t)tracks->ranks, sizeof(*view->ranks));
	view->tracks = calloc((size_t)tracks->count, sizeof(*view->tracks));
	view->counters =
		calloc((size_t)tracks->processes, sizeof(*view->counters));
	if (!view->ranks || !view->tracks || !view->counters)
		return -VMPI_ENOMEM;
	processes_name(view);
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
