/* SPDX-License-Identifier: BSD-3-Clause */
/* How long the agent lets the ranks compute after it has found something. */
#include "core/remote/naps.h"

#include "tap.h"

#define LEAST 50000
#define MS 1000000

/* An agent on a network: events are due by the clock, or each so long after the
 * one before was handled. */
struct replay {
	struct vm_naps naps;
	uint64_t now, wakes, latest; /* how late an event was handled at most */
};

static void begin(struct replay *replay)
{
	*replay = (struct replay){ .now = 1000 * (uint64_t)MS };
	vm_naps_begin(&replay->naps, replay->now);
}

/* Sleeps until the event that is due, if none is yet. */
static void watch(struct replay *replay, uint64_t due)
{
	if (due > replay->now)
		replay->now = due;
	replay->wakes++;
}

static void nap(struct replay *replay)
{
	replay->now += vm_naps_ns(&replay->naps, LEAST, replay->now);
	replay->wakes++;
}

/* So many events come, one each `every` ns from `first` on. */
static void stream(struct replay *replay, uint64_t first, uint64_t every,
		   int count)
{
	uint64_t due = replay->now + first;
	int done = 0;

	replay->wakes = replay->latest = 0;
	while (done < count) {
		int found = 0;

		for (; done < count && due <= replay->now; due += every) {
			if (replay->now - due > replay->latest)
				replay->latest = replay->now - due;
			done++;
			found++;
		}
		vm_naps_found(&replay->naps, (uint64_t)found, replay->now);
		if (found)
			nap(replay);
		else
			watch(replay, due);
	}
}

/* So many events come, each `after` ns after the one before was handled. */
static void chain(struct replay *replay, uint64_t after, int count)
{
	uint64_t due = replay->now + after, from = replay->now;

	while (count) {
		bool found = due <= replay->now;

		vm_naps_found(&replay->naps, found, replay->now);
		if (found) {
			due = replay->now + after;
			count--;
			nap(replay);
		} else {
			watch(replay, due);
		}
	}
	replay->latest = replay->now - from;
}

static void rows(void)
{
	struct replay replay;

	begin(&replay);
	stream(&replay, 8 * MS, 160000, 100);
	ok(replay.wakes < 60, "events that come in a row are handled together");
	ok(replay.latest <= VM_NAPS_NS_MAX,
	   "none of them late by more than a nap");
	diag("%d wake-ups, at most %d us late", (int)replay.wakes,
	     (int)(replay.latest / 1000));
	begin(&replay);
	stream(&replay, 200000, 20000, 100);
	ok(replay.latest <= 100000,
	   "what comes faster than it naps does not wait longer");
}

static void alone(void)
{
	struct replay replay;

	begin(&replay);
	stream(&replay, 3 * MS, 3 * MS, 20);
	is_int((long long)replay.latest, 0,
	       "what comes alone is handled at once");
	begin(&replay);
	stream(&replay, 1000, 160000, 20);
	ok(replay.latest <= 20 * 160000 / VM_NAPS_PART,
	   "nothing is late by more than a part of the time on duty");
	diag("at most %d us late", (int)(replay.latest / 1000));
	/* Each takes 100 us, and the short nap is within these. */
	begin(&replay);
	replay.now += 8 * MS;
	chain(&replay, 100000, 1000);
	ok(replay.latest < 130 * MS,
	   "an answer that the next event waits for is not late again and again");
	diag("1000 answers in %d ms", (int)(replay.latest / MS));
	stream(&replay, 160000, 160000, 400);
	ok(replay.wakes < 250, "but that they come in a row is seen again");
	diag("%d wake-ups for 400", (int)replay.wakes);
}

int main(void)
{
	rows();
	alone();
	return done_testing();
}
