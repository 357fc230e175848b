/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A heap of rings.  Those of workers are in order by themselves, since each has
 * one writer; that of all other threads is sorted here, in memory that is a
 * copy of the file.
 */
#include "report/trace/lanes.h"

#include <stdlib.h>
#include <string.h>

/* Time. */

static int64_t time_of(const struct vm_trace_part *part, uint64_t ticks)
{
	return part->base + (int64_t)((double)(int64_t)(ticks - part->ticks) *
				      part->tick_ns);
}

/*
 * Processes of one host take the clock of the first one there: it is the same,
 * and its rate was measured slightly differently by each.  Hosts differ by
 * their times of day.
 */
static void clocks_set(struct vm_trace_lanes *lanes)
{
	const struct vm_trace_file *zero = NULL;

	for (int i = 0; i < lanes->processes; i++) {
		struct vm_trace_part *part = &lanes->parts[i];
		const struct vm_trace_file *file = part->trace.file;
		const struct vm_trace_file *of = file;
		int host = 0;

		if (!file)
			continue;
		zero = zero ? zero : file;
		for (int j = 0; j < i && of == file; j++) {
			const struct vm_trace_file *other =
				lanes->parts[j].trace.file;

			if (other && other->counter == file->counter &&
			    !strcmp(other->host, file->host)) {
				of = other;
				host = lanes->parts[j].host;
			}
		}
		part->host = of == file ? lanes->hosts++ : host;
		part->ticks = of->ticks;
		part->tick_ns = of->tick_ns;
		part->base = (int64_t)(of->real_ns - zero->real_ns);
	}
}

/* The heap: its first lane has the earliest record. */

static void heap_down(struct vm_trace_lanes *lanes, int at)
{
	struct vm_trace_lane **heap = lanes->heap;

	for (;;) {
		int least = at;

		for (int child = 2 * at + 1;
		     child <= 2 * at + 2 && child < lanes->alive; child++)
			if (heap[child]->ns < heap[least]->ns)
				least = child;
		if (least == at)
			return;
		struct vm_trace_lane *lane = heap[at];
		heap[at] = heap[least];
		heap[least] = lane;
		at = least;
	}
}

static const struct vm_trace_record *record_at(const struct vm_trace_lane *lane,
					       uint64_t i)
{
	return &lane->ring->records[i & lane->part->trace.mask];
}

static void lane_look(struct vm_trace_lane *lane)
{
	int64_t ns = time_of(lane->part, record_at(lane, lane->next)->ticks);

	/* Even for a damaged ring time does not run back. */
	if (ns > lane->ns)
		lane->ns = ns;
}

/* Sets the ring to its oldest record; returns whether there is one. */
static bool lane_rewind(struct vm_trace_lane *lane)
{
	uint64_t head =
		atomic_load_explicit(&lane->ring->head, memory_order_acquire);
	uint64_t room = lane->part->trace.mask + 1;

	lane->end = head;
	lane->next = head > room ? head - room : 0;
	lane->dropped = lane->next - lane->shift;
	if (lane->next == lane->end)
		return false;
	lane->ns = INT64_MIN;
	lane_look(lane);
	return true;
}

void vm_trace_lanes_rewind(struct vm_trace_lanes *lanes)
{
	lanes->alive = 0;
	for (int i = 0; i < lanes->count; i++)
		if (lane_rewind(&lanes->lanes[i]))
			lanes->heap[lanes->alive++] = &lanes->lanes[i];
	for (int i = lanes->alive / 2; i-- > 0;)
		heap_down(lanes, i);
	lanes->first = lanes->alive ? lanes->heap[0]->ns : 0;
}

const struct vm_trace_record *vm_trace_lanes_next(struct vm_trace_lanes *lanes,
						  struct vm_trace_lane **lane,
						  int64_t *ns)
{
	struct vm_trace_lane *first = lanes->heap[0];
	const struct vm_trace_record *record;

	if (!lanes->alive)
		return NULL;
	record = record_at(first, first->next);
	*lane = first;
	*ns = first->ns;
	if (++first->next == first->end)
		lanes->heap[0] = lanes->heap[--lanes->alive];
	else
		lane_look(first);
	heap_down(lanes, 0);
	return record;
}

/* Opening. */

static int by_time(const void *a, const void *b)
{
	const struct vm_trace_record *x = a, *y = b;

	return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

/* A ring of many writers is nearly in order. */
static void ring_sort(struct vm_trace_lane *lane)
{
	uint64_t head =
		atomic_load_explicit(&lane->ring->head, memory_order_relaxed);
	uint64_t room = lane->part->trace.mask + 1;

	qsort(lane->ring->records, head < room ? head : room,
	      sizeof(struct vm_trace_record), by_time);
	/* Begins at its first place, where the oldest is now. */
	if (head > room) {
		lane->shift = -head & (room - 1);
		atomic_store_explicit(&lane->ring->head, head + lane->shift,
				      memory_order_relaxed);
	}
}

static void lanes_add(struct vm_trace_lanes *lanes, int process)
{
	struct vm_trace_part *part = &lanes->parts[process];
	int workers = part->trace.file->workers;

	for (int i = 0; i <= workers; i++) {
		struct vm_trace_lane *lane = &lanes->lanes[lanes->count++];

		*lane = (struct vm_trace_lane){
			.part = part,
			.ring = vm_trace_ring(&part->trace, i),
			.process = process,
			.worker = i < workers ? i : -1,
		};
		if (i == workers)
			ring_sort(lane);
		if (lane_rewind(lane)) {
			lanes->records += lane->end - lane->next;
			lanes->dropped += lane->dropped;
			if (lane->dropped && lane->ns > lanes->horizon)
				lanes->horizon = lane->ns;
		}
	}
}

static int parts_open(struct vm_trace_lanes *lanes, const char *path)
{
	int rc = 0, count = 0;

	for (int i = 0; i < lanes->processes && !rc; i++) {
		struct vm_trace_part *part = &lanes->parts[i];
		char name[4200];

		if (!vm_trace_path(name, sizeof(name), path, i))
			return -VMPI_EINVAL;
		rc = vm_trace_open(&part->trace, name);
		if (rc == -VMPI_ENOENT) {
			lanes->missing++;
			rc = 0;
			continue;
		}
		if (rc)
			break;
		count += part->trace.file->workers + 1;
		if (part->trace.file->ranks > lanes->ranks)
			lanes->ranks = part->trace.file->ranks;
	}
	return rc ? rc : count;
}

int vm_trace_lanes_open(struct vm_trace_lanes *lanes, const char *path,
			int processes)
{
	int rc;

	*lanes = (struct vm_trace_lanes){ .processes = processes,
					  .horizon = INT64_MIN };
	lanes->parts = calloc((size_t)processes, sizeof(*lanes->parts));
	if (!lanes->parts)
		return -VMPI_ENOMEM;
	rc = parts_open(lanes, path);
	if (rc <= 0)
		return rc ? rc : -VMPI_ENOENT;
	lanes->lanes = calloc((size_t)rc, sizeof(*lanes->lanes));
	lanes->heap = calloc((size_t)rc, sizeof(struct vm_trace_lane *));
	if (!lanes->lanes || !lanes->heap)
		return -VMPI_ENOMEM;
	clocks_set(lanes);
	for (int i = 0; i < processes; i++)
		if (lanes->parts[i].trace.file)
			lanes_add(lanes, i);
	vm_trace_lanes_rewind(lanes);
	return 0;
}

void vm_trace_lanes_close(struct vm_trace_lanes *lanes)
{
	for (int i = 0; lanes->parts && i < lanes->processes; i++)
		vm_trace_close(&lanes->parts[i].trace);
	free(lanes->parts);
	free(lanes->lanes);
	free(lanes->heap);
	*lanes = (struct vm_trace_lanes){ 0 };
}
