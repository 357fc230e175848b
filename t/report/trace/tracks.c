/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings of made-up processes in one order of time: whose clock counts, which
 * files are missing, where a ring begins that has overflowed.
 */
#include "report/trace/tracks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

#define PROCESSES 4
#define RING 64 /* records */

static char path[64];

/* A process with one worker, whose tick 1000 is so many ns after others', and
 * which writes records; worker -1: another thread does. */
static void process_write(int process, int worker, const char *host,
			  double tick_ns, uint64_t real_ns,
			  const uint64_t *ticks, unsigned count)
{
	struct vm_trace_file head = { .process = process,
				      .processes = PROCESSES,
				      .ranks = 4 + process,
				      .workers = 1,
				      .tick_ns = tick_ns,
				      .ticks = 1000,
				      .real_ns = 1000000 + real_ns,
				      .counter = true };
	struct vm_trace trace = { 0 };

	snprintf(head.host, sizeof(head.host), "%s", host);
	if (vm_trace_new(&trace, path, &head,
			 RING * sizeof(struct vm_trace_record)))
		bail("no trace at %s", path);
	for (unsigned i = 0; i < count; i++) {
		const struct vm_trace_record record = {
			.ticks = ticks[i],
			.kind = VM_TRACE_HELP,
			.rank = (uint32_t)process,
			.id = i,
		};

		vm_trace_add(&trace, worker, &record);
	}
	vm_trace_close(&trace);
}

static void processes_remove(void)
{
	char part[96];

	for (int i = 0; i < PROCESSES; i++)
		if (vm_trace_path(part, sizeof(part), path, i))
			unlink(part);
}

/* The next record is of that process, its i-th, at that time. */
static void next_is(struct vm_trace_tracks *tracks, uint32_t process,
		    uint32_t i, int64_t want_ns, const char *name)
{
	const struct vm_trace_record *record;
	struct vm_trace_track *track;
	int64_t ns;

	record = vm_trace_tracks_next(tracks, &track, &ns);
	if (!ok(record && record->rank == process && record->id == i &&
			track->process == (int)process,
		"%s: record %u of process %u", name, i, process))
		return;
	is_int(ns, want_ns, "... its time");
}

/* Processes 0 and 2 are of one host; 1 has left nothing. */
static void hosts(void)
{
	static const uint64_t zero[] = { 1000, 2000 }, two[] = { 1500, 2500 },
			      three[] = { 1000, 1100 };
	struct vm_trace_tracks tracks;
	struct vm_trace_track *track;
	int64_t ns;

	process_write(0, 0, "a", 2, 0, zero, 2);
	process_write(2, 0, "a", 7, 90, two, 2);
	process_write(3, 0, "b", 10, 500, three, 2);
	is_int(vm_trace_tracks_open(&tracks, path, PROCESSES), 0,
	       "three processes of four have left records");
	is_int(tracks.missing, 1, "one is missing");
	is_int(tracks.hosts, 2, "they are of two hosts");
	ok(tracks.parts[0].host == 0 && tracks.parts[2].host == 0 &&
		   tracks.parts[3].host == 1,
	   "... and it is known who is of which");
	is_int(tracks.ranks, 7, "there are as many ranks as one says at most");
	is_int((intmax_t)tracks.records, 6, "all records are there");
	for (int again = 0; again < 2; again++) {
		const char *name = again ? "once more" : "in order";

		next_is(&tracks, 0, 0, 0, name);
		next_is(&tracks, 3, 0, 500, name);
		next_is(&tracks, 2, 0, 1000, name);
		next_is(&tracks, 3, 1, 1500, name);
		next_is(&tracks, 0, 1, 2000, name);
		next_is(&tracks, 2, 1, 3000, name);
		ok(!vm_trace_tracks_next(&tracks, &track, &ns),
		   "... and no more");
		vm_trace_tracks_rewind(&tracks);
	}
	vm_trace_tracks_close(&tracks);
	ok(!tracks.parts && !tracks.tracks, "then they are closed");
	processes_remove();
}

/* A ring that has overflowed begins later; time never runs back in it. */
static void rings(void)
{
	uint64_t ticks[RING + 10];
	struct vm_trace_tracks tracks;

	for (unsigned i = 0; i < RING + 10; i++)
		ticks[i] = 1000 + 10 * i;
	ticks[12] = 1;
	process_write(0, 0, "a", 1, 0, ticks, RING + 10);
	is_int(vm_trace_tracks_open(&tracks, path, 1), 0, "a ring overflows");
	is_int((intmax_t)tracks.records, RING, "what it can hold is there");
	is_int((intmax_t)tracks.dropped, 10, "the first ten are lost");
	is_int(tracks.horizon, 100, "... and it is known until when");
	is_int(tracks.first, 100, "... where it begins now");
	next_is(&tracks, 0, 10, 100, "the oldest comes first");
	next_is(&tracks, 0, 11, 110, "then the next one");
	next_is(&tracks, 0, 12, 110, "time does not run back");
	next_is(&tracks, 0, 13, 130, "then it goes on");
	vm_trace_tracks_close(&tracks);
	processes_remove();
}

/* Other threads share a ring, where records are nearly in order. */
static void others(void)
{
	uint64_t ticks[RING + 10];
	struct vm_trace_tracks tracks;

	for (unsigned i = 0; i < RING + 10; i++)
		ticks[i] = 1000 + 10 * (i ^ 1);
	process_write(0, -1, "a", 1, 0, ticks, RING + 10);
	is_int(vm_trace_tracks_open(&tracks, path, 1), 0,
	       "the ring of other threads overflows");
	is_int((intmax_t)tracks.records, RING, "what it can hold is there");
	is_int((intmax_t)tracks.dropped, 10, "... ten records are lost");
	is_int(tracks.tracks[1].worker, -1, "its track is of no worker");
	for (uint32_t i = 10; i < RING + 10; i++)
		next_is(&tracks, 0, i ^ 1, 10 * i, "sorted by time");
	vm_trace_tracks_close(&tracks);
	processes_remove();
}

static void nothing(void)
{
	struct vm_trace_tracks tracks;
	struct vm_trace_track *track;
	char name[8192];
	int64_t ns;

	is_int(vm_trace_tracks_open(&tracks, path, PROCESSES), -VMPI_ENOENT,
	       "no process has left anything");
	is_int(tracks.missing, PROCESSES, "... all are missing");
	vm_trace_tracks_close(&tracks);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	is_int(vm_trace_tracks_open(&tracks, name, 1), -VMPI_EINVAL,
	       "a name may be too long");
	vm_trace_tracks_close(&tracks);
	process_write(0, 0, "a", 1, 0, NULL, 0);
	is_int(vm_trace_tracks_open(&tracks, path, 1), 0,
	       "a process has begun no more than its file");
	ok(tracks.records == 0 && !vm_trace_tracks_next(&tracks, &track, &ns),
	   "... there is no record");
	vm_trace_tracks_close(&tracks);
	processes_remove();
}

int main(void)
{
	snprintf(path, sizeof(path), "/tmp/vmpi-tracks-%d", (int)getpid());
	hosts();
	rings();
	others();
	nothing();
	return done_testing();
}
