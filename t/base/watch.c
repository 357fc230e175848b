/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Watched rings: who gets in, who is given up, and the bell.
 */
#include "base/watch.h"

#include "tap.h"

#define MOST 3
#define RINGS 5

static struct vm_watch watch;
static struct vm_watched rings[RINGS];
static _Atomic uint32_t told[RINGS], bell;

/* How many of the rings are watched, as they and their writers see it. */
static int listed(void)
{
	int count = 0;

	for (int i = 0; i < RINGS; i++) {
		count += rings[i].listed;
		if (rings[i].listed != told[i])
			bail("ring %d: its writer knows better", i);
	}
	return count;
}

static void test_bell(void)
{
	vm_watch_announce(&told[0], &bell);
	ok(vm_watch_rung(&watch), "a ring that is not watched rings");
	vm_watch_clear(&watch);
	ok(!vm_watch_rung(&watch), "until all are looked at");
	vm_watch_add(&watch, &rings[0]);
	vm_watch_announce(&told[0], &bell);
	ok(!vm_watch_rung(&watch), "one that is watched does not");
}

static void test_full(void)
{
	vm_watch_add(&watch, &rings[1]);
	vm_watch_add(&watch, &rings[2]);
	is_int(listed(), MOST, "as many as there is room for");
	ok(!vm_watch_rung(&watch), "none was given up");
	rings[0].active = rings[2].active = true;
	vm_watch_add(&watch, &rings[3]);
	ok(rings[3].listed && !rings[1].listed,
	   "one in which nothing was found makes room");
	is_int(listed(), MOST, "for one");
	ok(vm_watch_rung(&watch), "and is looked at once more");
	vm_watch_clear(&watch);
	for (int i = 0; i < RINGS; i++)
		rings[i].active = true;
	vm_watch_add(&watch, &rings[4]);
	ok(!rings[4].listed && !vm_watch_rung(&watch),
	   "something was found in all: they stay");
	vm_watch_add(&watch, &rings[4]);
	ok(rings[4].listed, "but not if nothing is found any more");
	is_int((int)vm_watch_count(&watch), MOST, "there are no more");
}

int main(void)
{
	plan(11);
	vm_watch_init(&watch, &bell);
	watch.most = MOST;
	for (int i = 0; i < RINGS; i++)
		rings[i].told = &told[i];
	test_bell();
	test_full();
	return done_testing();
}
