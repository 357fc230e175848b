/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding ranks that can never go on: cases by hand, and random ones against a
 * search that tries every order of events.
 */
#include "report/live/deadlock.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tap.h"

#define ONE(rank)                                   \
	{                                           \
		.need = VM_NEED_ONE, .peer = (rank) \
	}
#define ALL(which)                                        \
	{                                                 \
		.need = VM_NEED_ALL, .group = (which) + 1 \
	}
#define IN(which, rank)                                                   \
	{                                                                 \
		.need = VM_NEED_ONE, .peer = (rank), .group = (which) + 1 \
	}
#define ANY                         \
	{                           \
		.need = VM_NEED_ANY \
	}
#define RUNS                            \
	{                               \
		.need = VM_NEED_NOTHING \
	}
#define ENDED                           \
	{                               \
		.need = VM_NEED_MIRACLE \
	}

static void check(struct vm_deadlock_rank *ranks, unsigned count, unsigned want,
		  unsigned length, unsigned first, const char *name)
{
	unsigned circle[16], ended = 99, found;

	is_int(vm_deadlock_find(ranks, count), want, "%s", name);
	if (!want)
		return;
	found = vm_deadlock_circle(circle, &ended, ranks, count);
	is_int(found, length, "%s: its circle", name);
	is_int(found ? circle[0] : ended, first, "%s: whom it begins with",
	       name);
}

#define CHECK(want, length, first, name, ...)                                \
	do {                                                                 \
		struct vm_deadlock_rank ranks[] = { __VA_ARGS__ };           \
		check(ranks, sizeof(ranks) / sizeof(ranks[0]), want, length, \
		      first, name);                                          \
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
	CHECK(0, 0, 0, "all are there, and one waits for a message in it",
	      ALL(0), IN(0, 2), ALL(0));
	CHECK(3, 2, 1, "a message in an operation that one does not come to",
	      ALL(0), IN(0, 2), ONE(1));
}

/* Events in any order: each rank that can go on becomes one that runs. */
static unsigned stuck_slowly(const struct vm_deadlock_rank *ranks,
			     unsigned count)
{
	bool goes[8], some = true;
	unsigned stuck = 0;

	for (unsigned i = 0; i < count; i++)
		goes[i] = ranks[i].need == VM_NEED_NOTHING;
	while (some) {
		some = false;
		for (unsigned i = 0; i < count; i++) {
			bool now = ranks[i].need == VM_NEED_ALL;
			const struct vm_deadlock_rank *self = &ranks[i];

			if (goes[i])
				continue;
			for (unsigned n = 0; n < count; n++) {
				bool in = ranks[n].group == self->group;

				if (self->need == VM_NEED_ALL && !in &&
				    !goes[n])
					now = false;
				if (self->need == VM_NEED_ANY && n != i &&
				    goes[n])
					now = true;
				if (self->need == VM_NEED_ONE &&
				    n == self->peer && goes[n])
					now = true;
			}
			goes[i] = now;
			some |= now;
		}
	}
	for (unsigned i = 0; i < count; i++)
		stuck += !goes[i] && ranks[i].need != VM_NEED_MIRACLE;
	return stuck;
}

/* Those who wait for all are in an operation, others may be, in part of it. */
static unsigned group_draw(enum vm_need need)
{
	if (need == VM_NEED_ALL)
		return 1 + (unsigned)random() % 2;
	return need == VM_NEED_ONE ? (unsigned)random() % 3 : 0;
}

static void random_cases(unsigned seed)
{
	unsigned wrong = 0, endless = 0, bad = 0;

	srandom(seed);
	for (int round = 0; round < 20000; round++) {
		struct vm_deadlock_rank ranks[6] = { 0 };
		unsigned circle[6], ended = 99, length, stuck;

		for (int i = 0; i < 6; i++) {
			ranks[i].need = (enum vm_need)(random() % 5);
			ranks[i].peer = (unsigned)random() % 6;
			ranks[i].group = group_draw(ranks[i].need);
		}
		stuck = vm_deadlock_find(ranks, 6);
		wrong += stuck_slowly(ranks, 6) != stuck;
		if (!stuck)
			continue;
		length = vm_deadlock_circle(circle, &ended, ranks, 6);
		endless += length > 6;
		for (unsigned n = 0; n < length; n++)
			bad += !ranks[circle[n]].stuck || circle[n] < circle[0];
		bad += length == 0 &&
		       (ended > 5 || ranks[ended].need != VM_NEED_MIRACLE);
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
