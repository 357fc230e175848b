/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bounds on overlap against the truth, in random schedules.
 *
 * A simulation with a clock of small whole numbers: workers run ranks, ranks
 * enter and leave calls, block outside of calls, move to other workers, open
 * and close sections, switch watching off and on; transfers have a true
 * interval inside what is stamped of them.  The reference writes down for each
 * unit of time who computes, and counts.  The truth must lie within the bounds
 * of every transfer; and all measures must equal what counting gives.
 *
 * OVERLAP_SCHEDULES in the environment: how many (default 20000).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "introspect/measure/overlap.h"
#include "tap.h"

#define UNITS 96
#define RANKS 5
#define WORKERS 3
#define XFERS 24
#define SECTIONS 7 /* of two names, two deep, and the whole */
#define START 1000 /* the clock does not begin at 0 */

enum doing { IN_CALL, RUNS, BLOCKED };

struct rank {
	struct vm_overlap overlap;
	enum doing doing;
	int worker, section, depth, outer[4];
	bool on;
	/* By counting: */
	uint64_t user[VM_OVERLAP_SECTIONS], call[VM_OVERLAP_SECTIONS];
	bool computes[UNITS], core_computes[UNITS];
	uint32_t call_of[UNITS + 1]; /* at that moment; 0: none */
	uint32_t calls;
	struct vm_overlap_row before;
};

struct xfer {
	struct vm_overlap_xfer mine;
	int rank, begin, end, bytes, section;
	uint64_t truth, core_truth;
	bool has_begin, has_end, was_on, used, over;
};

struct world {
	struct rank rank[RANKS];
	struct vm_overlap_core core[WORKERS];
	struct xfer xfer[XFERS];
	int running[WORKERS]; /* rank, or -1 */
	int ranks, workers, time;
	bool fold_each; /* compare every transfer by itself */
	unsigned mistakes;
	/* Of all ranks. */
	uint64_t truth, core_truth;
};

static uint64_t seed = 20240611;
static const struct vm_overlap_setup *setup;

static unsigned dice(unsigned sides)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % sides;
}

static struct vm_overlap_row sum_of(struct vm_overlap *overlap)
{
	struct vm_overlap_row sum = { 0 };

	vm_overlap_fold(overlap);
	for (int s = 0; s < SECTIONS; s++)
		for (int side = 0; side < VM_SIDES; side++)
			for (unsigned bin = 0; bin < setup->bins; bin++) {
				const struct vm_overlap_row *row =
					&overlap->rows[s][side][bin];
				struct vm_overlap_row one = *row;

				one.open = one.open_bytes = one.open_data = 0;
				vm_overlap_row_add(&sum, &one);
			}
	return sum;
}

static uint64_t now_of(const struct world *world)
{
	return START + (uint64_t)world->time;
}

/* Computes the definition literally, by counting units. */
static void expect(struct world *world, const struct xfer *xfer)
{
	struct rank *rank = &world->rank[xfer->rank];
	struct vm_overlap_row now = sum_of(&rank->overlap), *was;
	uint64_t x = (uint64_t)xfer->bytes, span, user = 0, core = 0;
	uint64_t min, max, core_min, core_max;

	was = &rank->before;
	min = now.min - was->min;
	max = now.max - was->max;
	core_min = now.core_min - was->core_min;
	core_max = now.core_max - was->core_max;
	world->mistakes += now.transfers - was->transfers != 1;
	world->mistakes += now.data - was->data != x;
	world->mistakes += now.bytes - was->bytes != x;
	world->mistakes += xfer->truth < min || xfer->truth > max;
	world->mistakes += xfer->core_truth < core_min ||
			   xfer->core_truth > core_max;
	if (!xfer->has_begin || !xfer->has_end || !xfer->was_on || !rank->on) {
		world->mistakes += min != 0 || max != x || core_min != 0 ||
				   core_max != x || now.half - was->half != 1;
		rank->before = now;
		return;
	}
	span = (uint64_t)(xfer->end - xfer->begin);
	for (int t = xfer->begin; t < xfer->end; t++) {
		user += rank->computes[t];
		core += rank->core_computes[t];
	}
	world->mistakes += core_max != (core < x ? core : x);
	world->mistakes += core_min !=
			   (span - core < x ? x - (span - core) : 0);
	if (rank->call_of[xfer->begin] &&
	    rank->call_of[xfer->begin] == rank->call_of[xfer->end])
		world->mistakes += min || max ||
				   now.same_call - was->same_call != 1;
	else
		world->mistakes +=
			max != (user < x ? user : x) ||
			min != (span - user < x ? x - (span - user) : 0);
	rank->before = now;
}

static void call_note(struct world *world, struct rank *rank)
{
	rank->call_of[world->time] = rank->doing == IN_CALL ? rank->calls : 0;
}

static void enter(struct world *world, int r)
{
	struct rank *rank = &world->rank[r];

	vm_overlap_sum_off(&world->core[rank->worker].user, now_of(world));
	vm_overlap_enter(&rank->overlap, now_of(world), 7);
	rank->doing = IN_CALL;
	rank->calls++;
	world->running[rank->worker] = -1;
}

static void leave(struct world *world, int r)
{
	struct rank *rank = &world->rank[r];

	if (rank->doing == IN_CALL)
		vm_overlap_exit(&rank->overlap, now_of(world));
	vm_overlap_sum_on(&world->core[rank->worker].user, now_of(world));
	rank->doing = RUNS;
	world->running[rank->worker] = r;
}

static void block(struct world *world, int r)
{
	struct rank *rank = &world->rank[r];

	vm_overlap_sum_off(&world->core[rank->worker].user, now_of(world));
	rank->doing = BLOCKED;
	world->running[rank->worker] = -1;
}

/* It is suspended: in a call or elsewhere. */
static void move(struct world *world, int r)
{
	struct rank *rank = &world->rank[r];

	rank->worker = (int)dice((unsigned)world->workers);
	vm_overlap_move(&rank->overlap, &world->core[rank->worker],
			now_of(world));
}

/* In a call of its own, as in life. */
static void section_change(struct world *world, int r)
{
	static const char *const names[] = { "solve", "copy" };
	struct rank *rank = &world->rank[r];
	int which = (int)dice(2);

	if (rank->depth && dice(2)) {
		vm_overlap_section_end(&rank->overlap, now_of(world), NULL);
		rank->section = rank->outer[--rank->depth];
	} else if (rank->depth < 2) {
		vm_overlap_section_begin(&rank->overlap, now_of(world),
					 names[which]);
		rank->outer[rank->depth++] = rank->section;
		/* The module's numbering is by first use. */
		rank->section = (int)rank->overlap.section;
	}
}

static void rank_act(struct world *world, int r)
{
	struct rank *rank = &world->rank[r];
	bool free = world->running[rank->worker] < 0;

	if (rank->doing == RUNS) {
		switch (dice(12)) {
		case 0:
		case 1:
			enter(world, r);
			break;
		case 2:
			block(world, r);
			break;
		}
		return;
	}
	if (rank->doing == IN_CALL && dice(16) == 0)
		section_change(world, r);
	if (rank->doing == IN_CALL && dice(64) == 0) {
		rank->on = !rank->on;
		vm_overlap_switch(&rank->overlap, now_of(world), rank->on);
	}
	if (dice(24) == 0) {
		move(world, r);
		return;
	}
	if (free && dice(3) == 0) {
		leave(world, r);
		/* An empty stretch of computing now and then. */
		if (dice(16) == 0)
			enter(world, r);
	}
}

/* The truth: somewhere inside what is stamped. */
static void xfer_plan(struct world *world, struct xfer *xfer)
{
	*xfer = (struct xfer){ .rank = (int)dice((unsigned)world->ranks),
			       .begin = (int)dice(UNITS - 2),
			       .used = true };
	xfer->end = xfer->begin + 1 +
		    (int)dice((unsigned)(UNITS - 1 - xfer->begin));
	if (dice(2) && xfer->end > xfer->begin + 6)
		xfer->end = xfer->begin + 6; /* short ones */
	xfer->bytes = 1 + (int)dice((unsigned)(xfer->end - xfer->begin));
	xfer->has_begin = dice(6) != 0;
	xfer->has_end = !xfer->has_begin || dice(12) != 0;
}

static void xfer_begin(struct world *world, struct xfer *xfer)
{
	struct rank *rank = &world->rank[xfer->rank];

	xfer->was_on = rank->on;
	vm_overlap_begin(&rank->overlap, &xfer->mine, now_of(world),
			 VM_SIDE_SEND, VM_PATH_NODE, (uint64_t)xfer->bytes);
}

/* Between a and b, wherever it was, what of it was overlapped. */
static void xfer_truth(const struct rank *rank, struct xfer *xfer)
{
	int slack = xfer->end - xfer->begin - xfer->bytes;
	int from = xfer->begin + (int)dice((unsigned)slack + 1);

	for (int t = from; t < from + xfer->bytes; t++) {
		xfer->truth += rank->computes[t];
		xfer->core_truth += rank->core_computes[t];
	}
}

static void xfer_end(struct world *world, struct xfer *xfer)
{
	struct rank *rank = &world->rank[xfer->rank];
	bool counts = rank->on || (xfer->has_begin && xfer->was_on);

	xfer_truth(rank, xfer);
	if (!xfer->has_end)
		return;
	if (xfer->has_begin)
		vm_overlap_end(&xfer->mine, now_of(world));
	else
		vm_overlap_half(&rank->overlap, VM_SIDE_SEND, VM_PATH_NODE,
				(uint64_t)xfer->bytes);
	xfer->over = counts;
	if (!counts)
		return;
	world->truth += xfer->truth;
	world->core_truth += xfer->core_truth;
	if (world->fold_each)
		expect(world, xfer);
}

static void count_unit(struct world *world)
{
	for (int r = 0; r < world->ranks; r++) {
		struct rank *rank = &world->rank[r];
		bool computes = rank->doing != IN_CALL;

		rank->computes[world->time] = computes;
		rank->core_computes[world->time] =
			world->running[rank->worker] >= 0;
		if (rank->on && computes)
			rank->user[rank->section]++;
		else if (rank->on)
			rank->call[rank->section]++;
	}
}

static void world_begin(struct world *world)
{
	memset(world, 0, sizeof(*world));
	world->ranks = 1 + (int)dice(RANKS);
	world->workers = 1 + (int)dice(WORKERS);
	world->fold_each = dice(2);
	for (int w = 0; w < world->workers; w++)
		world->running[w] = -1;
	for (int r = 0; r < world->ranks; r++) {
		struct rank *rank = &world->rank[r];

		rank->worker = r % world->workers;
		rank->on = dice(8) != 0;
		rank->calls = 1;
		vm_overlap_init(&rank->overlap, setup,
				&world->core[rank->worker], START, rank->on);
	}
	for (int i = 0; i < XFERS; i++)
		if (dice(2))
			xfer_plan(world, &world->xfer[i]);
}

static void world_run(struct world *world)
{
	for (world->time = 0; world->time < UNITS; world->time++) {
		for (int r = 0; r < world->ranks; r++) {
			rank_act(world, r);
			call_note(world, &world->rank[r]);
		}
		for (int i = 0; i < XFERS; i++) {
			struct xfer *xfer = &world->xfer[i];

			if (xfer->used && xfer->end == world->time)
				xfer_end(world, xfer);
			if (xfer->used && xfer->has_begin &&
			    xfer->begin == world->time)
				xfer_begin(world, xfer);
		}
		count_unit(world);
	}
}

/* Sections by counting, and those without an end. */
static void world_end(struct world *world)
{
	struct vm_overlap_row all = { 0 };
	uint64_t open = 0;

	for (int r = 0; r < world->ranks; r++) {
		struct rank *rank = &world->rank[r];
		struct vm_overlap *overlap = &rank->overlap;

		vm_overlap_switch(overlap, now_of(world), false);
		for (int s = 0; s < VM_OVERLAP_SECTIONS; s++)
			world->mistakes +=
				overlap->list[s].user != rank->user[s] ||
				overlap->list[s].call != rank->call[s];
		vm_overlap_fold(overlap);
		for (unsigned bin = 0; bin < setup->bins; bin++)
			for (int s = 0; s < SECTIONS; s++)
				vm_overlap_row_add(
					&all,
					&overlap->rows[s][VM_SIDE_SEND][bin]);
	}
	for (int i = 0; i < XFERS; i++) {
		struct xfer *xfer = &world->xfer[i];

		if (!xfer->used || xfer->has_end || !xfer->was_on)
			continue;
		open++;
		world->truth += xfer->truth;
		world->core_truth += xfer->core_truth;
	}
	world->mistakes += all.open != open;
	world->mistakes += world->truth < all.min || world->truth > all.max;
	world->mistakes += world->core_truth < all.core_min ||
			   world->core_truth > all.core_max;
}

int main(void)
{
	static struct vm_overlap_setup own = {
		.table = { .count = { [VM_PATH_NODE] = 2 },
			   .point = { [VM_PATH_NODE] = { { 1, 1 },
							 { 1024, 1024 } } } },
	};
	static struct world world;
	const char *text = getenv("OVERLAP_SCHEDULES");
	long schedules = text ? strtol(text, NULL, 10) : 20000;
	unsigned mistakes = 0;
	char why[128];

	setup = &own;
	if (vm_overlap_bins_parse(&own, "2,8,32", why, sizeof(why)))
		bail("%s", why);
	for (long i = 0; i < schedules && !mistakes; i++) {
		uint64_t from = seed;

		world_begin(&world);
		world_run(&world);
		world_end(&world);
		mistakes += world.mistakes;
		if (mistakes)
			diag("schedule %ld, seed %" PRIu64, i, from);
	}
	is_int(mistakes, 0,
	       "in %ld random schedules the truth is within the bounds, and all "
	       "measures are what counting gives",
	       schedules);
	return done_testing();
}
