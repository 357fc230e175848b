/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpistat's answer to who can never go on: cases by hand, and random ones
 * against a search that tries every order of events.
 */
#include "../../bin/vmpistat/stuck.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tap.h"

#define ONE(rank)                                \
	{                                        \
		.need = NEED_ONE, .peer = (rank) \
	}
#define ALL(which)                                 \
	{                                          \
		.need = NEED_ALL, .group = (which) \
	}
#define ANY                      \
	{                        \
		.need = NEED_ANY \
	}
#define RUNS                         \
	{                            \
		.need = NEED_NOTHING \
	}
#define ENDED                        \
	{                            \
		.need = NEED_MIRACLE \
	}

static void check(struct waiter *waiters, unsigned count, unsigned want,
		  unsigned length, unsigned first, const char *name)
{
	unsigned circle[16], ended = 99, from = 0, found;

	is_int(stuck_find(waiters, count), want, "%s", name);
	while (from < count && !waiters[from].stuck)
		from++;
	if (from == count)
		return;
	found = stuck_circle(circle, &ended, waiters, count, from);
	is_int(found, length, "%s: its circle", name);
	is_int(found ? circle[0] : ended, first, "%s: whom it begins with",
	       name);
}

#define CHECK(want, length, first, name, ...)                              \
	do {                                                               \
		struct waiter waiters[] = { __VA_ARGS__ };                 \
		check(waiters, sizeof(waiters) / sizeof(waiters[0]), want, \
		      length, first, name);                                \
	} while (0)

static void cases(void)
{
	CHECK(0, 0, 0, "nobody waits", RUNS, RUNS);
	CHECK(0, 0, 0, "a chain ends at one who runs", ONE(1), ONE(2), RUNS);
	CHECK(2, 2, 0, "two wait for each other", ONE(1), ONE(0), RUNS);
	CHECK(1, 1, 0, "one waits for itself", ONE(0), RUNS);
	CHECK(3, 2, 1, "a third one leads into a circle", ONE(2), ONE(2),
	      ONE(1));
	CHECK(2, 0, 2, "a chain ends at one that has ended", ONE(1), ONE(2),
	      ENDED);
	CHECK(0, 0, 0, "any of them may come", ANY, ONE(0), RUNS);
	CHECK(2, 2, 0, "nobody comes any more", ANY, ONE(0), ENDED);
	CHECK(0, 0, 0, "all are there", ALL(0), ALL(0));
	CHECK(3, 2, 0, "a barrier and one who waits for its member", ALL(0),
	      ONE(0), ALL(0));
	CHECK(2, 0, 2, "a barrier that one has left", ALL(0), ALL(0), ENDED);
	CHECK(2, 2, 0, "two different barriers", ALL(0), ALL(2));
}

/* Events in any order: each rank that can go on becomes one that runs. */
static unsigned stuck_slowly(const struct waiter *waiters, unsigned count)
{
	bool goes[8], some = true;
	unsigned stuck = 0;

	for (unsigned i = 0; i < count; i++)
		goes[i] = waiters[i].need == NEED_NOTHING;
	while (some) {
		some = false;
		for (unsigned i = 0; i < count; i++) {
			bool now = waiters[i].need == NEED_ALL;
			const struct waiter *self = &waiters[i];

			if (goes[i])
				continue;
			for (unsigned n = 0; n < count; n++) {
				bool in = waiters[n].need == NEED_ALL &&
					  self->need == NEED_ALL &&
					  waiters[n].group == self->group;

				if (self->need == NEED_ALL && !in && !goes[n])
					now = false;
				if (self->need == NEED_ANY && n != i && goes[n])
					now = true;
				if (self->need == NEED_ONE && n == self->peer &&
				    goes[n])
					now = true;
			}
			goes[i] = now;
			some |= now;
		}
	}
	for (unsigned i = 0; i < count; i++)
		stuck += !goes[i] && waiters[i].need != NEED_MIRACLE;
	return stuck;
}

static void random_cases(unsigned seed)
{
	unsigned wrong = 0, endless = 0, bad = 0;

	srandom(seed);
	for (int round = 0; round < 20000; round++) {
		struct waiter waiters[6] = { 0 };
		unsigned circle[6], ended = 99, length;

		for (int i = 0; i < 6; i++) {
			waiters[i].need = (enum need)(random() % 5);
			waiters[i].peer = (unsigned)random() % 6;
			waiters[i].group = (unsigned)random() % 2;
		}
		wrong += stuck_slowly(waiters, 6) != stuck_find(waiters, 6);
		for (unsigned i = 0; i < 6; i++) {
			if (!waiters[i].stuck)
				continue;
			length = stuck_circle(circle, &ended, waiters, 6, i);
			endless += length > 6;
			for (unsigned n = 0; n < length; n++)
				bad += !waiters[circle[n]].stuck ||
				       circle[n] < circle[0];
			bad += length == 0 &&
			       (ended > 5 ||
				waiters[ended].need != NEED_MIRACLE);
		}
	}
	is_int(wrong, 0, "random cases are as a slow search finds them");
	is_int(endless + bad, 0, "circles are of those who are stuck");
}

int main(int argc, char **argv)
{
	unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) :
				   (unsigned)time(NULL);

	diag("seed %u", seed);
	cases();
	random_cases(seed);
	return done_testing();
}
