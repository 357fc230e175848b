/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules for every policy: ranges, variables that may not be set, no
 * oscillation, and everything is reverted.
 */
#include "introspect/policy/policy.h"

#include <stdlib.h>

#include "world.h"

enum { LIMIT, FIXED, ALIKE, CHOICE, TEXT, FLAG };

static struct world world;
static struct vm_policies all;
static struct tune_node_pvars pvars;
static uint64_t now;

static void begin(void)
{
	struct vm_policy_vars vars;

	memset(&world, 0, sizeof(world));
	memset(&pvars, 0, sizeof(pvars));
	world_control(&world, "limit", 100, 10, 1000, "bytes",
		      VMPI_POLICY_ANYTIME);
	world_control(&world, "fixed", 5, 0, 10, "bytes", VMPI_POLICY_STARTUP);
	world_control(&world, "alike", 5, 0, 10, "bytes", VMPI_POLICY_ALIKE);
	world_control(&world, "choice", 1, 0, 2, "a|b|c", VMPI_POLICY_ANYTIME);
	world_control(&world, "text", 0, 0, 0, "name", VMPI_POLICY_ANYTIME);
	world.controls[TEXT].text = true;
	world_control(&world, "flag", 0, 0, 1, "flag", VMPI_POLICY_ANYTIME);
	world_counter(&world, "count", 1);
	world_counter(&world, "sizes", 4);
	vars = world_vars(&world);
	vm_policies_init(&all, &vars, &pvars);
	now = 1000;
}

/* A policy that does what the test orders. */
static int (*script)(vmpi_tuner *tuner);
static int starts, ticks, ends, event_seen, event_number;

static int puppet_start(vmpi_tuner *tuner)
{
	starts++;
	tuner->state = &world;
	return 0;
}

static int puppet_tick(vmpi_tuner *tuner, uint64_t now_ns)
{
	ticks++;
	return script ? script(tuner) : 0;
}

static int puppet_event(vmpi_tuner *tuner, enum vmpi_policy_event event,
			int number)
{
	event_seen = (int)event;
	event_number = number;
	return 0;
}

static void puppet_end(vmpi_tuner *tuner)
{
	ends += tuner->state == &world;
}

static const struct vmpi_policy puppet = { .abi = VMPI_POLICY_ABI,
					   .name = "puppet",
					   .description = "does as it is told",
					   .start = puppet_start,
					   .tick = puppet_tick,
					   .event = puppet_event,
					   .end = puppet_end };

static void tick(int (*what)(vmpi_tuner *tuner))
{
	script = what;
	vm_policies_tick(&all, now += 1000);
}

static void test_wrong(void)
{
	struct vmpi_policy policy = puppet;

	ok(!vm_policy_wrong(&policy), "a policy that is right");
	policy.abi++;
	is_string(vm_policy_wrong(&policy),
		  "it was built for another version of vmpi_policy.h",
		  "another version");
	policy = puppet;
	policy.name = NULL;
	is_string(vm_policy_wrong(&policy), "it has no name", "no name");
	policy.name = "a name that is longer than names can be";
	is_string(vm_policy_wrong(&policy), "its name is too long",
		  "a long name");
	policy.name = "a\nb";
	ok(vm_policy_wrong(&policy), "a name of two lines");
	policy = puppet;
	policy.description = NULL;
	is_string(vm_policy_wrong(&policy), "it has no description",
		  "no description");
	policy = puppet;
	policy.tick = NULL;
	is_string(vm_policy_wrong(&policy), "it has no tick()", "no tick");
	begin();
	is_int(vm_policies_add(&all, &policy, NULL, now), -VMPI_EINVAL,
	       "such a one is not taken");
	is_string(world.said, "puppet: it has no tick()", "and a line says so");
	is_int(vm_policies_add(&all, &puppet, NULL, now), 0, "a right one is");
	is_int(vm_policies_add(&all, &puppet, NULL, now), -VMPI_EINVAL, "once");
	is_string(world.said, "puppet: there is another one of this name",
		  "which is said too");
	vm_policies_fini(&all, now);
}

static int see(vmpi_tuner *tuner)
{
	struct vmpi_policy_var var;
	uint64_t counts[5] = { 0 };
	int64_t value = 0;
	int faults = 0;

	faults += tuner->process != 0 || tuner->processes != 2;
	faults += tuner->ranks != 8 || tuner->ranks_here != 4;
	faults += strcmp(tuner->argument, "x=1") != 0;
	faults += tuner->control_count(tuner) != 6;
	faults += tuner->counter_count(tuner) != 2;
	faults += tuner->control_find(tuner, "choice") != CHOICE;
	faults += tuner->control_find(tuner, "nothing") != -VMPI_ENOENT;
	faults += tuner->control_find(tuner, NULL) != -VMPI_ENOENT;
	faults += tuner->counter_find(tuner, NULL) != -VMPI_ENOENT;
	faults += tuner->counter_find(tuner, "sizes") != 1;
	faults += tuner->control_info(tuner, LIMIT, &var) != 0;
	faults += strcmp(var.name, "limit") != 0 || var.max != 1000;
	faults += tuner->control_info(tuner, LIMIT, NULL) != -VMPI_EINVAL;
	faults += tuner->control_info(tuner, 99, &var) != -VMPI_ENOENT;
	faults += tuner->counter_info(tuner, 1, &var) != 0 || var.words != 4;
	faults += tuner->counter_info(tuner, 1, NULL) != -VMPI_EINVAL;
	faults += tuner->control_read(tuner, LIMIT, &value) != 0;
	faults += value != 100;
	faults += tuner->control_read(tuner, TEXT, &value) != -VMPI_EINVAL;
	faults += tuner->control_read(tuner, LIMIT, NULL) != -VMPI_EINVAL;
	faults += tuner->read(tuner, 0, 0, &counts[0], 1) != 0;
	faults += counts[0] != 7;
	faults += tuner->read(tuner, 0, 1, counts, 1) != -VMPI_ERANK;
	faults += tuner->read(tuner, 0, 0, counts, 2) != -VMPI_ENOENT;
	faults += tuner->read(tuner, 1, 0, NULL, 1) != -VMPI_EINVAL;
	faults += tuner->total(tuner, 1, counts, 4) != 0 || counts[3] != 9;
	faults += tuner->total(tuner, 1, counts, 5) != -VMPI_ENOENT;
	faults += tuner->total(tuner, 1, counts, 0) != -VMPI_EINVAL;
	faults += tuner->total(tuner, 9, counts, 1) != -VMPI_ENOENT;
	tuner->log(tuner, "hello");
	tuner->log(tuner, NULL);
	return faults;
}

static void test_see(void)
{
	begin();
	world_add(&world, "count", 0, 7);
	world_add(&world, "sizes", 3, 9);
	vm_policies_add(&all, &puppet, "x=1", now);
	tick(see);
	is_string(world.said, "puppet: hello",
		  "what a policy can see is right");
	is_int(pvars.running, 1, "it runs");
	vm_policies_fini(&all, now);
	is_int(pvars.running, 0, "until the end");
}

static int set(vmpi_tuner *tuner)
{
	int faults = 0;

	faults += tuner->write(tuner, LIMIT, 200, "why\nnot") != 0;
	faults += tuner->write(tuner, LIMIT, 200, "again") != 0;
	faults += tuner->write(tuner, FLAG, 1, "yes") != 0;
	faults += tuner->write(tuner, LIMIT, 5000, "much") !=
		  VMPI_POLICY_BOUNDED;
	faults += tuner->write(tuner, CHOICE, 7, "no") != -VMPI_EINVAL;
	faults += tuner->write(tuner, FIXED, 7, "no") != -VMPI_ESTATE;
	faults += tuner->write(tuner, ALIKE, 7, "no") != -VMPI_ENOTSUP;
	faults += tuner->write(tuner, TEXT, 7, "no") != -VMPI_EINVAL;
	faults += tuner->write(tuner, 77, 7, "no") != -VMPI_ENOENT;
	faults += tuner->write(tuner, -1, 7, "no") != -VMPI_ENOENT;
	faults += tuner->write(tuner, LIMIT, 7, NULL) != -VMPI_EINVAL;
	faults += tuner->write(tuner, LIMIT, 7, "") != -VMPI_EINVAL;
	faults += tuner->revert(tuner, CHOICE, "no") != -VMPI_ENOENT;
	return faults;
}

static int set_back(vmpi_tuner *tuner)
{
	return tuner->revert(tuner, LIMIT, "no gain");
}

static void test_set(void)
{
	const struct vm_policy_record *record;

	begin();
	vm_policies_add(&all, &puppet, NULL, now);
	tick(set);
	is_int(pvars.running, 1, "writes do and say what they should");
	is_int(*world_value(&world, "limit"), 1000,
	       "a value beyond the range is the end of it");
	is_int(pvars.decisions, 3, "what changes nothing is no decision");
	is_int(pvars.bounded, 1, "one was beyond");
	is_int(pvars.refused, 8, "eight were refused");
	is_int(world.wrong, 8, "each with a line");
	record = vm_policy_record(&all, 0);
	ok(record && record->number == LIMIT && record->old_value == 100 &&
		   record->new_value == 200 && !record->reverted &&
		   record->at_ns == now && !strcmp(record->policy, "puppet") &&
		   !strcmp(record->variable, "limit"),
	   "a decision is remembered");
	is_string(record ? record->reason : NULL, "why not",
		  "with its reason, in one line");
	ok(!vm_policy_record(&all, 3), "what was not decided is not");
	tick(set_back);
	is_int(*world_value(&world, "limit"), 100,
	       "what is taken back is what it was at first");
	is_int(pvars.reverted, 1, "which is counted");
	ok(world.last.reverted, "and told");
	vm_policies_fini(&all, now);
	is_int(*world_value(&world, "flag"), 0, "at the end all goes back");
	is_int(pvars.decisions, 4, "which is nobody's decision");
}

static int raise(vmpi_tuner *tuner)
{
	return tuner->write(tuner, LIMIT, 300, "up") < 0;
}

static int nothing(vmpi_tuner *tuner)
{
	return 0;
}

static void test_somebody(void)
{
	begin();
	vm_policies_add(&all, &puppet, NULL, now);
	tick(raise);
	event_seen = -1;
	tick(nothing);
	is_int(event_seen, -1, "nothing happens, nothing is told");
	*world_value(&world, "limit") = 150;
	tick(nothing);
	is_int(event_seen, VMPI_POLICY_CHANGED, "somebody else sets it");
	is_int(event_number, LIMIT, "that one");
	event_seen = -1;
	tick(nothing);
	is_int(event_seen, -1, "which is told once");
	tick(raise);
	is_int(*world_value(&world, "limit"), 300, "it may be set again");
	world_counter(&world, "more", 1);
	tick(nothing);
	is_int(event_seen, VMPI_POLICY_ADDED, "more variables are told of");
	vm_policies_fini(&all, now);
	is_int(event_seen, VMPI_POLICY_END, "and the end");
	is_int(*world_value(&world, "limit"), 150,
	       "at which the other one's value comes back");
}

static int fail(vmpi_tuner *tuner)
{
	tuner->write(tuner, LIMIT, 300, "up");
	return -VMPI_EIO;
}

static void test_failure(void)
{
	begin();
	ends = 0;
	vm_policies_add(&all, &puppet, NULL, now);
	tick(fail);
	is_string(world.said,
		  "puppet: disabled because it failed: input or output failed",
		  "a policy that fails is turned off");
	is_int(*world_value(&world, "limit"), 100, "what it has set goes back");
	is_int(ends, 1, "it ends");
	ticks = 0;
	tick(nothing);
	is_int(ticks, 0, "and is not called again");
	vm_policies_fini(&all, now);
	is_int(ends, 1, "nor ended again");
	is_int(pvars.failed, 1, "one has failed");
}

/* Up and down as fast as it can. */
static int refused_at;

static int swing(vmpi_tuner *tuner)
{
	int rc = tuner->write(tuner, LIMIT, ticks % 2 ? 200 : 800, "so so");

	if (rc < 0 && !refused_at)
		refused_at = ticks;
	return 0;
}

static void test_swing(void)
{
	begin();
	ticks = refused_at = ends = 0;
	vm_policies_add(&all, &puppet, NULL, now);
	for (int i = 0; i < 1000; i++)
		tick(swing);
	is_int(refused_at, VM_POLICY_TURNS + 3,
	       "who sets a variable up and down is stopped");
	is_int(ticks, refused_at, "and turned off");
	is_int(pvars.decisions, refused_at - 1, "after so many decisions");
	is_int(*world_value(&world, "limit"), 100, "and all is as before");
	is_int(ends, 1, "it has ended");
	vm_policies_fini(&all, now);
}

static int found(vmpi_tuner *tuner)
{
	return tuner->write(tuner, LIMIT, 900, "it is quicker");
}

static int tries(vmpi_tuner *tuner)
{
	return tuner->trial_begin(tuner) || found(tuner);
}

static int takes_back(vmpi_tuner *tuner)
{
	return tuner->revert(tuner, LIMIT, "it was not");
}

/* The option with which the next run begins where this one ends. */
static void test_found(void)
{
	begin();
	vm_policies_add(&all, &puppet, NULL, now);
	tick(found);
	vm_policies_fini(&all, now);
	is_string(world.said,
		  "puppet: to begin with what this one ends with: --set "
		  "limit=900",
		  "at the end what a policy has found is said");
	begin();
	vm_policies_add(&all, &puppet, NULL, now);
	tick(found);
	tick(takes_back);
	vm_policies_fini(&all, now);
	is_string(world.said, "", "unless it was taken back");
	begin();
	vm_policies_add(&all, &puppet, NULL, now);
	tick(tries);
	vm_policies_fini(&all, now);
	is_string(world.said, "", "or is only tried");
}

/* A setting that follows the phases of a program may do so forever. */
static int phases(vmpi_tuner *tuner)
{
	if (ticks % 200 == 0)
		return tuner->write(tuner, LIMIT, 900, "a phase") < 0;
	if (ticks > 200 && ticks % 200 == 100)
		return tuner->revert(tuner, LIMIT, "its end") < 0;
	return 0;
}

static void test_phases(void)
{
	begin();
	ticks = 0;
	vm_policies_add(&all, &puppet, NULL, now);
	for (int i = 0; i < 100000; i++)
		tick(phases);
	is_int(pvars.failed, 0, "a policy may follow the phases of a program");
	is_int(pvars.decisions, 999, "up and back, each time");
	ok(!vm_policy_record(&all, 999 - VM_POLICY_RECORDS - 1) &&
		   vm_policy_record(&all, 999 - VM_POLICY_RECORDS) &&
		   vm_policy_record(&all, 998) && !vm_policy_record(&all, 999),
	   "the last decisions are remembered");
	vm_policies_fini(&all, now);
}

/* Anything at all; the world of the test bails out at a value it must not
 * get. */
static uint64_t seed;

static int anything(vmpi_tuner *tuner)
{
	for (uint64_t n = world_random(&seed) % 4; n > 0; n--) {
		int number = (int)(world_random(&seed) % 8) - 1;
		int64_t value = (int64_t)(world_random(&seed) % 2400) - 600;

		if (world_random(&seed) % 3)
			tuner->write(tuner, number, value,
				     world_random(&seed) % 16 ? "why" : "");
		else
			tuner->revert(tuner, number, "back");
	}
	return world_random(&seed) % 1000 ? 0 : -VMPI_EINVAL;
}

static int initial_values(void)
{
	return *world_value(&world, "limit") == 100 &&
	       *world_value(&world, "fixed") == 5 &&
	       *world_value(&world, "alike") == 5 &&
	       *world_value(&world, "choice") == 1 &&
	       *world_value(&world, "flag") == 0;
}

static void test_anything(void)
{
	int rounds = 20000, restored = 0, ended = 0, off = 0;

	seed = 1;
	for (int i = 0; i < rounds; i++) {
		begin();
		ends = 0;
		vm_policies_add(&all, &puppet, NULL, now);
		for (int t = 0; t < 100; t++)
			tick(anything);
		off += pvars.failed > 0;
		vm_policies_fini(&all, now);
		restored += initial_values();
		ended += ends == 1 && pvars.running == 0;
	}
	is_int(restored, rounds,
	       "whatever policies do, at the end all is as before");
	is_int(ended, rounds, "each ends once");
	ok(off > 0 && off <= rounds, "%d of %d were turned off", off, rounds);
}

static int lapses; /* calls that did not do as they should */

/* A trial of a value, which is taken and left in turn. */
static int alternate(vmpi_tuner *tuner)
{
	lapses += tuner->alternate(tuner, LIMIT, 300) != -VMPI_ESTATE;
	lapses += tuner->trial_begin(tuner) != 0;
	lapses += tuner->alternate(tuner, CHOICE, 0) != -VMPI_ESTATE;
	lapses += tuner->write(tuner, LIMIT, 200, "a trial") != 0;
	for (int i = 0; i < 50; i++) {
		lapses += tuner->alternate(tuner, LIMIT, 100) != 0;
		lapses += world.controls[LIMIT].value != 100;
		lapses += tuner->alternate(tuner, LIMIT, 200) != 0;
		lapses += world.controls[LIMIT].value != 200;
	}
	return tuner->alternate(tuner, LIMIT, 150);
}

static int decide(vmpi_tuner *tuner)
{
	lapses += tuner->write(tuner, LIMIT, 200, "as it is") != 0;
	lapses += world.controls[LIMIT].value != 150;
	tuner->trial_end(tuner);
	lapses += world.controls[LIMIT].value != 200;
	return 0;
}

static int revert(vmpi_tuner *tuner)
{
	lapses += tuner->trial_begin(tuner) != 0;
	lapses += tuner->alternate(tuner, LIMIT, 100) != 0;
	lapses += tuner->revert(tuner, LIMIT, "no gain") != 0;
	tuner->trial_end(tuner);
	return 0;
}

static int leave_alone(vmpi_tuner *tuner)
{
	return tuner->alternate(tuner, LIMIT, 200);
}

static void test_alternate(void)
{
	begin();
	vm_policies_add(&all, &puppet, NULL, now);
	lapses = 0;
	event_seen = -1;
	tick(alternate);
	is_int(world.controls[LIMIT].value, 150,
	       "a trial leaves a value for a moment");
	is_int(pvars.decisions, 1, "which is no decision");
	tick(NULL);
	is_int(event_seen, -1, "nor the doing of somebody else");
	tick(decide);
	is_int(world.controls[LIMIT].value, 200,
	       "at the end it is what was decided");
	is_int(pvars.decisions, 1, "by that decision");
	tick(revert);
	is_int(world.controls[LIMIT].value, 100, "or is reverted");
	is_int(pvars.reverted, 1, "as a decision does it");
	is_int(world.last.old_value, 200, "from what was decided");
	tick(alternate);
	world.controls[LIMIT].value = 77;
	tick(leave_alone);
	is_int(world.controls[LIMIT].value, 77,
	       "what somebody else sets meanwhile stays");
	is_int(lapses, 0, "and each call says so");
	vm_policies_fini(&all, now);
	is_int(world.controls[LIMIT].value, 77, "beyond the end");
	is_int(pvars.failed, 0, "nobody is turned off");
	begin();
	vm_policies_add(&all, &puppet, NULL, now);
	tick(alternate);
	vm_policies_fini(&all, now);
	is_int(world.controls[LIMIT].value, 100,
	       "the end in the midst of a trial restores all");
}

/* Two more puppets, the first of which is called first: what each does with
 * trials at a tick, what it got, and what it was told. */
static struct player {
	enum { IDLE, ASKS, ENDS, SETS } order;
	int got, disturbed;
} players[2];

static int player_tick(vmpi_tuner *tuner, struct player *player)
{
	player->got = 1;
	if (player->order == ASKS)
		player->got = tuner->trial_begin(tuner);
	else if (player->order == ENDS)
		tuner->trial_end(tuner);
	else if (player->order == SETS)
		return tuner->write(tuner, FLAG, !world.controls[FLAG].value,
				    "a test");
	return 0;
}

static int player_event(struct player *player, enum vmpi_policy_event event,
			int number)
{
	if (event == VMPI_POLICY_DISTURBED)
		player->disturbed = number;
	return 0;
}

#define PLAYER(n)                                                             \
	static int tick_##n(vmpi_tuner *tuner, uint64_t now_ns)               \
	{                                                                     \
		return player_tick(tuner, &players[n]);                       \
	}                                                                     \
	static int event_##n(vmpi_tuner *tuner, enum vmpi_policy_event event, \
			     int number)                                      \
	{                                                                     \
		return player_event(&players[n], event, number);              \
	}                                                                     \
	static const struct vmpi_policy player_##n = {                        \
		.abi = VMPI_POLICY_ABI,                                       \
		.name = "player" #n,                                          \
		.description = "waits for its turn",                          \
		.tick = tick_##n,                                             \
		.event = event_##n                                            \
	}
PLAYER(0);
PLAYER(1);

/* A tick in which the players do this. */
static void play(int first, int second)
{
	for (int i = 0; i < 2; i++)
		players[i] = (struct player){ .order = i ? second : first,
					      .disturbed = -1 };
	tick(nothing);
}

static void test_trials(void)
{
	begin();
	vm_policies_add(&all, &player_0, NULL, now);
	vm_policies_add(&all, &player_1, NULL, now);
	play(ASKS, ASKS);
	is_int(players[0].got, 0, "the first to ask has the trial");
	is_int(players[1].got, -VMPI_ESTATE, "the second has to wait");
	play(ASKS, ASKS);
	is_int(players[0].got, 0, "who has it may ask again");
	play(ENDS, IDLE);
	play(ASKS, IDLE);
	is_int(players[0].got, 0, "the second does not want it any more");
	play(IDLE, ASKS);
	play(ENDS, IDLE);
	play(ASKS, ASKS);
	is_int(players[0].got, 0, "and has to ask again");
	play(ENDS, ASKS);
	is_int(players[1].got, 0, "it is free at once");
	play(ASKS, IDLE);
	is_int(players[0].got, -VMPI_ESTATE, "now the first has to wait");
	play(IDLE, ENDS);
	play(IDLE, ASKS);
	is_int(players[1].got, 0, "it does not ask when it could");
	play(ASKS, ENDS);
	play(IDLE, IDLE);
	play(IDLE, ASKS);
	play(ASKS, ENDS);
	play(ASKS, ASKS);
	is_int(players[0].got, 0, "who has waited goes first");
	is_int(players[1].got, -VMPI_ESTATE, "not who had the last one");
	play(SETS, IDLE);
	is_int(players[1].disturbed, FLAG, "others are told of decisions");
	is_int(players[0].disturbed, -1, "but not who takes them");
	all.runs[0]->broken = "the test says so";
	play(IDLE, IDLE);
	play(IDLE, ASKS);
	is_int(players[1].got, 0, "the trial of a policy that fails ends");
	vm_policies_fini(&all, now);
}

int main(void)
{
	test_wrong();
	test_see();
	test_set();
	test_somebody();
	test_failure();
	test_swing();
	test_phases();
	test_found();
	test_anything();
	test_trials();
	test_alternate();
	return done_testing();
}
