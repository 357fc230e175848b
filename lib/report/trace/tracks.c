/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A heap of rings.  Those of workers are in order by themselves, since each has
 * one writer; that of all other threads is sorted here, in memory that is a
 * copy of the file.
 */
#include "report/trace/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "base/whole.h"

/* Time. */

#define NS_MAX (INT64_C(1) << 60) /* 36 years */

static int64_t cut(int64_t ns)
{
	return ns > NS_MAX ? NS_MAX : ns < -NS_MAX ? -NS_MAX : ns;
}

int64_t vm_trace_ns(double ns)
{
	return cut(vm_whole_signed(ns));
}

static int64_t time_of(const struct vm_trace_part *part, uint64_t ticks)
{
	double ns = (double)(int64_t)(ticks - part->ticks) * part->tick_ns;

	return cut(part->base + vm_trace_ns(ns));
}

/*
 * Processes of one host take the clock of the first one there: it is the same,
 * and its rate was measured slightly differently by each.  Hosts differ by
 * their times of day.
 */
static void clocks_set(struct vm_trace_tracks *tracks)
{
	const struct vm_trace_file *zero = NULL;

	for (int i = 0; i < tracks->processes; i++) {
		struct vm_trace_part *part = &tracks->parts[i];
		const struct vm_trace_file *file = part->trace.file;
		const struct vm_trace_file *of = file;
		int host = 0;

		if (!file)
			continue;
		zero = zero ? zero : file;
		for (int j = 0; j < i && of == file; j++) {
			const struct vm_trace_file *other =
				tracks->parts[j].trace.file;

			if (other && other->counter == file->counter &&
			    !strcmp(other->host, file->host)) {
				of = other;
				host = tracks->parts[j].host;
			}
		}
		part->host = of == file ? tracks->hosts++ : host;
		part->ticks = of->ticks;
		part->tick_ns = of->tick_ns;
		part->base = cut((int64_t)(of->real_ns - zero->real_ns));
	}
}

/* The heap: its first track has the earliest record. */

static void heap_down(struct vm_trace_tracks *tracks, int at)
{
	struct vm_trace_track **heap = tracks->heap;

	for (;;) {
		int least = at;

		for (int child = 2 * at + 1;
		     child <= 2 * at + 2 && child < tracks->alive; child++)
			if (heap[child]->ns < heap[least]->ns)
				least = child;
		if (least == at)
			return;
		struct vm_trace_track *track = heap[at];
		heap[at] = heap[least];
		heap[least] = track;
		at = least;
	}
}

static const struct vm_trace_record *
record_at(const struct vm_trace_track *track, uint64_t i)
{
	return &track->ring->records[i & track->part->trace.mask];
}

static void track_look(struct vm_trace_track *track)
{
	int64_t ns = time_of(track->part, record_at(track, track->next)->ticks);

	/* Even for a damaged ring time does not run back. */
	if (ns > track->ns)
		track->ns = ns;
}

/* Sets the ring to its oldest record; returns whether there is one. */
static bool track_rewind(struct vm_trace_track *track)
{
	uint64_t head =
		atomic_load_explicit(&track->ring->head, memory_order_acquire);
	uint64_t room = track->part->trace.mask + 1;

	track->end = head;
	track->next = head > room ? head - room : 0;
	track->dropped = track->next - track->shift;
	if (track->next == track->end)
		return false;
	track->ns = INT64_MIN;
	track_look(track);
	return true;
}

void vm_trace_tracks_rewind(struct vm_trace_tracks *tracks)
{
	tracks->alive = 0;
	for (int i = 0; i < tracks->count; i++)
		if (track_rewind(&tracks->tracks[i]))
			tracks->heap[tracks->alive++] = &tracks->tracks[i];
	for (int i = tracks->alive / 2; i-- > 0;)
		heap_down(tracks, i);
	tracks->first = tracks->alive ? tracks->heap[0]->ns : 0;
}

const struct vm_trace_record *
vm_trace_tracks_next(struct vm_trace_tracks *tracks,
		     struct vm_trace_track **track, int64_t *ns)
{
	struct vm_trace_track *first = tracks->heap[0];
	const struct vm_trace_record *record;

	if (!tracks->alive)
		return NULL;
	record = record_at(first, first->next);
	*track = first;
	*ns = first->ns;
	if (++first->next == first->end)
		tracks->heap[0] = tracks->heap[--tracks->alive];
	else
		track_look(first);
	heap_down(tracks, 0);
	return record;
}

/* Opening. */

static int by_time(const void *a, const void *b)
{
	const struct vm_trace_record *x = a, *y = b;

	return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

/* A ring of many writers is nearly in order. */
static void ring_sort(struct vm_trace_track *track)
{
	uint64_t head =
		atomic_load_explicit(&track->ring->head, memory_order_relaxed);
	uint64_t room = track->part->trace.mask + 1;

	qsort(track->ring->records, head < room ? head : room,
	      sizeof(struct vm_trace_record), by_time);
	/* Begins at its first place, where the oldest is now. */
	if (head > room) {
		track->shift = -head & (room - 1);
		atomic_store_explicit(&track->ring->head, head + track->shift,
				      memory_order_relaxed);
	}
}

static void tracks_add(struct vm_trace_tracks *tracks, int process)
{
	struct vm_trace_part *part = &tracks->parts[process];
	int workers = part->trace.file->workers;

	for (int i = 0; i <= workers; i++) {
		struct vm_trace_track *track = &tracks->tracks[tracks->count++];

		*track = (struct vm_trace_track){
			.part = part,
			.ring = vm_trace_ring(&part->trace, i),
			.process = process,
			.worker = i < workers ? i : -1,
		};
		if (i == workers)
			ring_sort(track);
		if (track_rewind(track)) {
			tracks->records += track->end - track->next;
			tracks->dropped += track->dropped;
			if (track->dropped && track->ns > tracks->horizon)
				tracks->horizon = track->ns;
		}
	}
}

static int parts_open(struct vm_trace_tracks *tracks, const char *path)
{
	int rc = 0, count = 0;

	for (int i = 0; i < tracks->processes && !rc; i++) {
		struct vm_trace_part *part = &tracks->parts[i];
		char name[4200];

		if (!vm_trace_path(name, sizeof(name), path, i))
			return -VMPI_EINVAL;
		rc = vm_trace_open(&part->trace, name);
		if (rc == -VMPI_ENOENT) {
			tracks->missing++;
			rc = 0;
			continue;
		}
		if (rc)
			break;
		count += part->trace.file->workers + 1;
		if (part->trace.file->ranks > tracks->ranks)
			tracks->ranks = part->trace.file->ranks;
	}
	return rc ? rc : count;
}

int vm_trace_tracks_open(struct vm_trace_tracks *tracks, const char *path,
			 int processes)
{
	int rc;

	*tracks = (struct vm_trace_tracks){ .processes = processes,
					    .horizon = INT64_MIN };
	tracks->parts = calloc((size_t)processes, sizeof(*tracks->parts));
	if (!tracks->parts)
		return -VMPI_ENOMEM;
	rc = parts_open(tracks, path);
	if (rc <= 0)
		return rc ? rc : -VMPI_ENOENT;
	tracks->tracks = calloc((size_t)rc, sizeof(*tracks->tracks));
	tracks->heap = calloc((size_t)rc, sizeof(struct vm_trace_track *));
	if (!tracks->tracks || !tracks->heap)
		return -VMPI_ENOMEM;
	clocks_set(tracks);
	for (int i = 0; i < processes; i++)
		if (tracks->parts[i].trace.file)
			tracks_add(tracks, i);
	vm_trace_tracks_rewind(tracks);
	return 0;
}

void vm_trace_tracks_close(struct vm_trace_tracks *tracks)
{
	for (int i = 0; tracks->parts && i < tracks->processes; i++)
		vm_trace_close(&tracks->parts[i].trace);
	free(tracks->parts);
	free(tracks->tracks);
	free(tracks->heap);
	*tracks = (struct vm_trace_tracks){ 0 };
}
