/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policy rndv, in jobs that are replayed: the processes that it lets write, the
 * changes it reverts, and that it never oscillates, whichever side is late.
 */
#include "introspect/policy/policies.h"

#include <stdlib.h>

#include "world.h"

#define TICK_NS UINT64_C(10000000)
#define BAN_MOST_TICKS 200000 /* twice the longest rest */

static struct world world;
static struct vm_policies all;
static struct tune_node_pvars pvars;
static uint64_t now;

static void begin(int64_t write_from)
{
	struct vm_policy_vars vars;

	memset(&world, 0, sizeof(world));
	memset(&pvars, 0, sizeof(pvars));
	world_control(&world, "core_rndv_protocol", 0, 0, 3, "auto|read",
		      VMPI_POLICY_ANYTIME);
	world_control(&world, "core_rndv_write_from", write_from, 0, INT64_MAX,
		      "set", VMPI_POLICY_ANYTIME);
	world_control(&world, "core_rndv_pipeline_from", 0, 0, INT64_MAX, "set",
		      VMPI_POLICY_ANYTIME);
	world_control(&world, "tune_gain", 3, 1, 100, "percent",
		      VMPI_POLICY_ANYTIME);
	world_control(&world, "tune_interval_ms", 10, 1, 60000, "ms",
		      VMPI_POLICY_ANYTIME);
	world_counter(&world, "core_rndv_sender_late", 63);
	world_counter(&world, "core_rndv_receiver_late", 63);
	vars = world_vars(&world);
	vm_policies_init(&all, &vars, &pvars);
	now = 1;
	if (vm_policies_add(&all, &vm_policy_rndv, NULL, now))
		bail("%s", world.said);
}

static int64_t writes(void)
{
	return *world_value(&world, "core_rndv_write_from");
}

static int64_t pieces(void)
{
	return *world_value(&world, "core_rndv_pipeline_from");
}

/* Process p sends 100 messages in a tick, more by so many percent where they
 * are written or come in pieces; the receiver is late for so many percent, or
 * for none where the way itself makes it early. */
struct sender {
	int place, late, write_gain, pieces_gain;
};

static bool early[63]; /* by place */

static void sender_tick(const struct sender *s)
{
	int count = 100, late = s->late;

	if (early[s->place] && (writes() | pieces()) >> s->place & 1)
		late = 0;
	if (writes() >> s->place & 1)
		count += s->write_gain;
	else if (pieces() >> s->place & 1)
		count += s->pieces_gain;
	world_add(&world, "core_rndv_receiver_late", (unsigned)s->place,
		  (uint64_t)(count * late / 100));
	world_add(&world, "core_rndv_sender_late", (unsigned)s->place,
		  (uint64_t)(count - count * late / 100));
}

static void run(int ticks, struct sender a, struct sender b)
{
	for (int i = 0; i < ticks; i++) {
		sender_tick(&a);
		sender_tick(&b);
		vm_policies_tick(&all, now += TICK_NS);
	}
}

static void end(void)
{
	vm_policies_fini(&all, now);
}

static void test_gain(void)
{
	struct sender late = { 1, 90, 30, 0 }, first = { 2, 0, 30, 30 };

	begin(0);
	run(200, late, first);
	is_int(writes(), 2, "who waits for a late receiver is asked to write");
	is_int(pieces(), 0, "and nobody to send pieces");
	is_int(pvars.decisions, 1, "by one decision");
	run(5000, late, first);
	is_int(pvars.decisions, 1, "which stays");
	late.late = 10;
	run(100, late, first);
	is_int(writes(), 0, "until the sender comes late");
	late.late = 90;
	run(40, late, first);
	is_int(writes(), 2, "what was worth it is taken at once next time");
	is_int(pvars.decisions, 3, "one decision each time");
	end();
	is_int(writes(), 0, "at the end it is what it was");
}

static void test_no_gain(void)
{
	struct sender none = { 1, 90, 0, 0 }, loss = { 2, 100, -40, 0 };

	begin(0);
	run(150, none, loss);
	is_int(writes(), 0, "without a gain it goes back");
	ok(strstr(world.last.reason, "no gain"), "with the reason: %s",
	   world.last.reason);
	run(20000, none, loss);
	ok(pvars.decisions <= 40, "it is tried ever more seldom: %d decisions",
	   (int)pvars.decisions);
	end();
}

static void test_pieces(void)
{
	struct sender mixed = { 62, 50, -10, 20 }, first = { 0, 10, 50, 50 };

	begin(0);
	run(300, mixed, first);
	is_int(pieces(), INT64_C(1) << 62,
	       "who is late in turn with the receiver sends pieces");
	is_int(writes(), 0, "and does not write");
	mixed.late = 5;
	run(100, mixed, first);
	is_int(pieces(), 0, "until that changes");
	end();
}

static void test_others(void)
{
	struct sender late = { 1, 90, 30, 0 }, first = { 2, 0, 0, 0 };

	begin(8);
	run(200, late, first);
	is_int(writes(), 8 + 2, "what the user has set stays");
	end();
	is_int(writes(), 8, "and is what remains");
	begin(0);
	*world_value(&world, "core_rndv_protocol") = 1;
	run(500, late, first);
	is_int(pvars.decisions, 0, "a protocol for all is respected");
	end();
	begin(0);
	run(200, late, first);
	*world_value(&world, "core_rndv_write_from") = 16;
	run(15, late, first);
	is_int(writes() & 16, 16, "what somebody sets meanwhile stays");
	run(400, late, first);
	is_int(writes(), 16 + 2, "and what is known is added again");
	end();
}

/* A way may change what it was chosen for. */
static void test_early(void)
{
	struct sender mixed = { 1, 50, 0, 100 };
	struct sender late = { 2, 100, 50, 0 };

	early[1] = early[2] = true;
	begin(0);
	run(300, mixed, late);
	ok(writes() == 4 && pieces() == 2,
	   "ways that make receives come in time are taken");
	run(20000, mixed, late);
	ok(pvars.decisions <= 34,
	   "and left ever more seldom, for a moment: %d decisions in 20000 "
	   "ticks",
	   (int)pvars.decisions);
	mixed.late = late.late = 0;
	run(20000, mixed, late);
	is_int(writes() + pieces(), 0, "until none is needed");
	early[1] = early[2] = false;
	end();
}

/* Phases that are shorter than a trial, of which write helps only those that it
 * is for. */
static void test_trial_phases(int ticks)
{
	struct sender phase = { 1, 100, 30, 0 }, none = { 2, 0, 0, 0 };
	bool kept = false;

	begin(0);
	world.said[0] = 0;
	for (int i = 0; i < 100 && !kept; i++) {
		phase.late = i % 2 ? 0 : 100;
		phase.write_gain = i % 2 ? -30 : 30;
		run(ticks, phase, none);
		kept = strstr(world.said, "kept") != NULL;
	}
	ok(kept, "what is of use in one of two phases of %d ticks is found: %s",
	   ticks, world.said);
	end();
}

/* Phases that are too short to be followed. */
static void test_short(void)
{
	struct sender late = { 1, 100, 30, 0 }, none = { 2, 0, 0, 0 };
	int before;

	begin(0);
	run(200, late, none);
	for (int i = 0; i < 400; i++) {
		late.late = i % 2 ? 100 : 0;
		run(50, late, none);
	}
	before = (int)pvars.decisions;
	ok(before < 40,
	   "short phases are followed ever more seldom: %d "
	   "decisions in 20000 ticks",
	   before);
	for (int i = 0; i < 10; i++) {
		late.late = i % 2 ? 0 : 100;
		run(BAN_MOST_TICKS, late, none);
	}
	ok(pvars.decisions - (unsigned)before >= 8, "long ones are followed");
	end();
}

/* Lateness, gains and rates at random. */
static void test_random(void)
{
	uint64_t state = 7;

	begin(0);
	for (int i = 0; i < 3000; i++) {
		struct sender a = { (int)(world_random(&state) % 63),
				    (int)(world_random(&state) % 101),
				    (int)(world_random(&state) % 100) - 50,
				    (int)(world_random(&state) % 100) - 50 };
		struct sender b = { (int)(world_random(&state) % 4),
				    (int)(world_random(&state) % 101),
				    (int)(world_random(&state) % 100) - 50,
				    (int)(world_random(&state) % 100) - 50 };

		run((int)(world_random(&state) % 30), a, b);
	}
	is_int(pvars.failed, 0,
	       "no behaviour makes it swing so that it is "
	       "turned off");
	ok(pvars.decisions < 3000 * 15 / 10,
	   "and it decides now and then only: %d times in 45000 ticks",
	   (int)pvars.decisions);
	is_int(world.wrong, 0, "nothing wrong is said of it");
	end();
	is_int(writes() + pieces(), 0, "all goes back");
}

int main(void)
{
	test_gain();
	test_no_gain();
	test_pieces();
	test_others();
	test_early();
	test_trial_phases(50);
	test_trial_phases(70);
	test_trial_phases(80);
	test_short();
	test_random();
	return done_testing();
}
