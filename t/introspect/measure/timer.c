/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank time and core time against a reference that keeps a diary: for each core
 * and each unit of time, which task ran there and whether it was in a section.
 *
 * The cores' counts begin anywhere and never meet.  All orders of few events,
 * then many random ones; where sections do not nest, the listings of the paper,
 * word for word, must say the same.
 */
#include "introspect/measure/timer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define TASKS 4
#define CORES 3
#define NOWHERE (-1)

/* A task and a core as listings 2 and 3 have them. */
struct listed {
	uint64_t r, t, m;
	bool metered; /* M > 0; time may be 0 here */
};

struct world {
	uint64_t now;		/* of the diary */
	uint64_t offset[CORES]; /* of the cores' counts */
	int where[TASKS];	/* core or NOWHERE */
	int on[CORES];		/* task or NOWHERE */
	int depth[TASKS];
	uint64_t ran[TASKS]; /* the diary, added up */
	uint64_t metered[CORES];
	struct vm_timer timer[TASKS];
	struct vm_timer_core core[CORES];
	struct listed listed[TASKS];
	uint64_t listed_c[CORES];
};

static uint64_t now_of(const struct world *w, int core)
{
	return w->now + w->offset[core];
}

static void world_init(struct world *w)
{
	/* In the middle, before a sign changes, before all bits wrap. */
	static const uint64_t offsets[CORES] = { 1000, UINT64_MAX / 2 - 5,
						 UINT64_MAX - 5 };

	memset(w, 0, sizeof(*w));
	memcpy(w->offset, offsets, sizeof(offsets));
	for (int task = 0; task < TASKS; task++)
		w->where[task] = NOWHERE;
	for (int core = 0; core < CORES; core++)
		w->on[core] = NOWHERE;
}

/* Time passes; unit by unit, the reference takes no short cut. */
static void world_pass(struct world *w, unsigned units)
{
	for (; units > 0; units--) {
		for (int core = 0; core < CORES; core++) {
			int task = w->on[core];

			if (task == NOWHERE)
				continue;
			w->ran[task]++;
			w->metered[core] += w->depth[task] > 0;
		}
		w->now++;
	}
}

static void resume(struct world *w, int task, int core)
{
	uint64_t now = now_of(w, core);
	struct listed *p = &w->listed[task];

	vm_timer_resume(&w->timer[task], now);
	p->t = now;
	if (p->metered)
		p->m = now;
	w->where[task] = core;
	w->on[core] = task;
}

static void suspend(struct world *w, int task)
{
	int core = w->where[task];
	uint64_t now = now_of(w, core);
	struct listed *p = &w->listed[task];

	vm_timer_suspend(&w->timer[task], &w->core[core], now);
	p->r += now - p->t;
	if (p->metered)
		w->listed_c[core] += now - p->m;
	w->where[task] = NOWHERE;
	w->on[core] = NOWHERE;
}

static void enter(struct world *w, int task)
{
	uint64_t now = now_of(w, w->where[task]);

	vm_timer_enter(&w->timer[task], now);
	w->listed[task].m = now;
	w->listed[task].metered = true;
	w->depth[task]++;
}

/* Whether a section ended, as both say. */
static bool leave(struct world *w, int task)
{
	int core = w->where[task];
	uint64_t now = now_of(w, core);
	bool ends = w->depth[task] > 0;

	if (w->listed[task].metered)
		w->listed_c[core] += now - w->listed[task].m;
	w->listed[task].metered = false;
	w->depth[task] -= ends;
	return vm_timer_leave(&w->timer[task], &w->core[core], now) == ends;
}

/* Whether all clocks are what the diary says. */
static bool world_right(const struct world *w)
{
	for (int task = 0; task < TASKS; task++) {
		int core = w->where[task];
		uint64_t now = core == NOWHERE ? 77 : now_of(w, core);

		if (vm_timer_rank(&w->timer[task], now) != w->ran[task] ||
		    vm_timer_runs(&w->timer[task]) != (core != NOWHERE))
			return false;
	}
	for (int core = 0; core < CORES; core++) {
		int task = w->on[core];
		uint64_t sum = task == NOWHERE ?
				       w->core[core].sum :
				       vm_timer_of_core(&w->core[core],
							&w->timer[task],
							now_of(w, core));

		if (sum != w->metered[core])
			return false;
	}
	return true;
}

/* Whether the listings agree, where they are defined: C of cores on which no
 * task is in a section. */
static bool listings_agree(const struct world *w)
{
	for (int task = 0; task < TASKS; task++) {
		int core = w->where[task];
		uint64_t r = w->listed[task].r;

		if (core != NOWHERE)
			r += now_of(w, core) - w->listed[task].t;
		if (r != w->ran[task])
			return false;
	}
	for (int core = 0; core < CORES; core++) {
		int task = w->on[core];

		if ((task == NOWHERE || !w->listed[task].metered) &&
		    w->listed_c[core] != w->core[core].sum)
			return false;
	}
	return true;
}

/*
 * All orders of `left` events of two tasks on two cores, between which 1, 2, 3
 * ... units pass, so that no two intervals are alike.
 */
static long tried, wrong;

static void all_orders(const struct world *before, int left, unsigned units)
{
	for (int event = 0; event < 10; event++) {
		int task = event % 2, core = event / 2 % 2;
		struct world w = *before;

		if (event < 4) {
			if (w.where[task] != NOWHERE || w.on[core] != NOWHERE)
				continue;
			resume(&w, task, core);
		} else if (w.where[task] == NOWHERE) {
			continue;
		} else if (event < 6) {
			suspend(&w, task);
		} else if (event < 8) {
			enter(&w, task);
		} else {
			wrong += !leave(&w, task);
		}
		wrong += !world_right(&w);
		world_pass(&w, units);
		wrong += !world_right(&w);
		tried++;
		if (left > 1)
			all_orders(&w, left - 1, units + 1);
	}
}

static uint64_t state;

static unsigned dice(unsigned sides)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % sides);
}

/* One random event; sections nest up to `depth_max`. */
static bool random_event(struct world *w, int depth_max)
{
	int task = (int)dice(TASKS), core = (int)dice(CORES);

	if (w->where[task] == NOWHERE) {
		if (w->on[core] == NOWHERE)
			resume(w, task, core);
		return true;
	}
	switch (dice(3)) {
	case 0:
		suspend(w, task);
		return true;
	case 1:
		if (w->depth[task] < depth_max)
			enter(w, task);
		return true;
	default:
		return leave(w, task);
	}
}

static void random_run(long events, int depth_max)
{
	struct world w;
	long bad = 0, unlisted = 0;

	world_init(&w);
	for (long i = 0; i < events; i++) {
		bad += !random_event(&w, depth_max);
		bad += !world_right(&w);
		world_pass(&w, dice(8) ? dice(4) : dice(200));
		bad += !world_right(&w);
		unlisted += depth_max == 1 && !listings_agree(&w);
	}
	is_int(bad, 0, "%ld random events, sections up to %d deep", events,
	       depth_max);
	if (depth_max == 1)
		is_int(unlisted, 0, "and the paper's listings agree");
}

/*
 * One thread runs and suspends a task without rest, another one peeks: R must
 * never fall and never be ahead of the count.
 */
static _Atomic uint64_t count;
static struct vm_timer shared;
static _Atomic bool done;

static uint64_t count_read(void)
{
	return atomic_load(&count);
}

static void *peeker(void *arg)
{
	uint64_t last = 0;
	long *bad = arg;

	while (!atomic_load(&done)) {
		uint64_t r = vm_timer_peek(&shared, count_read);

		*bad += r < last || r > atomic_load(&count);
		last = r;
	}
	return NULL;
}

static void peek_checks(void)
{
	struct vm_timer_core core = { 0 };
	pthread_t thread;
	long bad = 0;

	if (pthread_create(&thread, NULL, peeker, &bad))
		bail("no thread");
	for (int i = 0; i < 200000; i++) {
		uint64_t now = atomic_fetch_add(&count, 1) + 1;

		if (i % 2 == 0)
			vm_timer_resume(&shared, now);
		else
			vm_timer_suspend(&shared, &core, now);
	}
	atomic_store(&done, true);
	pthread_join(thread, NULL);
	is_int(bad, 0, "another thread never sees rank time fall");
	is_int((intmax_t)vm_timer_peek(&shared, count_read), 100000,
	       "and its end is right");
}

int main(void)
{
	const char *seed = getenv("SEED");
	struct world w;

	state = seed ? strtoull(seed, NULL, 0) : 0x9e3779b97f4a7c15u;
	diag("SEED=%#llx", (unsigned long long)state);
	world_init(&w);
	all_orders(&w, 8, 1);
	is_int(wrong, 0, "all %ld orders of up to 8 events", tried);
	random_run(1000000, 1);
	random_run(1000000, 5);
	peek_checks();
	return done_testing();
}
