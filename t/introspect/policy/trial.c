/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trials, of programs that are replayed: steady ones, such whose speed changes by
 * itself, that stand still now and then, that send in bursts; and of two processes
 * that wait for each other.
 */
#include "introspect/policy/trial.h"

#include "tap.h"

#define TICK_NS UINT64_C(10000000)
#define PROGRAMS 200

static uint64_t state;

/* From 0 to 1. */
static double chance(void)
{
	state = state * UINT64_C(6364136223846793005) +
		UINT64_C(1442695040888963407);
	return (double)(state >> 33) / 2147483648.0;
}

/* How a program's speed changes by itself: its part of the usual one, each tick. */
static double steady(unsigned tick)
{
	return 1;
}

static double unsteady(unsigned tick)
{
	static double now = 1;

	if (tick % 5 == 0)
		now = 0.85 + 0.3 * chance();
	return now;
}

/* Half a second or so at either speed. */
static double phases(unsigned tick)
{
	static double now = 1;

	if (chance() < 0.02)
		now = chance() < 0.5 ? 1 : 0.7;
	return now;
}

/* A tenth of the time it stands still, for 50 ms. */
static double stalls(unsigned tick)
{
	static bool still;

	if (tick % 5 == 0)
		still = chance() < 0.1;
	return still ? 0 : 0.97 + 0.06 * chance();
}

static double drift(unsigned tick)
{
	return 1 - 0.3 * (tick % 1000) / 1000;
}

/* One trial of a program that is quicker by so many percent with the setting, and
 * sends so many messages at once.  Ticks come late by up to a fifth.  The ticks
 * are added to *ticks. */
static enum vm_trial_end replay(double (*speed)(unsigned), double percent,
				unsigned burst, uint64_t *ticks)
{
	enum vm_trial_end end = VM_TRIAL_GOES_ON;
	uint64_t now = (uint64_t)(chance() * 1e12), seen = 0;
	double done = chance() * burst;
	struct vm_trial trial;

	vm_trial_begin(&trial, 7, TICK_NS, 10, now);
	for (unsigned tick = 0; end == VM_TRIAL_GOES_ON; tick++) {
		double factor = trial.on ? 1 + percent / 100 : 1;
		uint64_t sent;

		now += TICK_NS - TICK_NS / 10 +
		       (uint64_t)(chance() * (double)TICK_NS / 5);
		done += 13 * speed(tick) * factor;
		sent = (uint64_t)(done / burst) * burst;
		end = vm_trial_tick(&trial, now, sent - seen, 3);
		seen = sent;
		++*ticks;
	}
	return end;
}

/* How many programs of 200 keep the setting. */
static int keep(double (*speed)(unsigned), double percent, unsigned burst,
		unsigned *mean_ticks)
{
	uint64_t ticks = 0;
	int kept = 0;

	state = 1;
	for (int i = 0; i < PROGRAMS; i++)
		kept += replay(speed, percent, burst, &ticks) == VM_TRIAL_GAIN;
	*mean_ticks = (unsigned)(ticks / PROGRAMS);
	return kept;
}

static const struct {
	const char *name;
	double (*speed)(unsigned);
	unsigned burst;
	int none, some, large; /* of 200: at most, at least, at least */
} kinds[] = {
	{ "steady", steady, 1, 0, 200, 200 },
	{ "steady, in bursts", steady, 16, 10, 180, 200 },
	{ "unsteady", unsteady, 1, 12, 180, 200 },
	{ "unsteady, in bursts", unsteady, 16, 12, 160, 200 },
	{ "in phases", phases, 1, 6, 180, 190 },
	{ "with stalls", stalls, 1, 12, 100, 180 },
	{ "that become slower", drift, 1, 0, 190, 200 },
};

static void test_kinds(void)
{
	unsigned ticks;
	int kept;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		kept = keep(kinds[i].speed, 0, kinds[i].burst, &ticks);
		ok(kept <= kinds[i].none,
		   "of programs %s, what is no gain is kept by %d of %d, "
		   "after %u ticks",
		   kinds[i].name, kept, PROGRAMS, ticks);
		kept = keep(kinds[i].speed, -5, kinds[i].burst, &ticks);
		ok(kept <= kinds[i].none / 4,
		   "of programs %s, a loss of 5 %% by %d, after %u ticks",
		   kinds[i].name, kept, ticks);
		kept = keep(kinds[i].speed, 10, kinds[i].burst, &ticks);
		ok(kept >= kinds[i].some,
		   "of programs %s, a gain of 10 %% by %d, after %u ticks",
		   kinds[i].name, kept, ticks);
		kept = keep(kinds[i].speed, 66, kinds[i].burst, &ticks);
		ok(kept >= kinds[i].large,
		   "of programs %s, one of 66 %% by %d, after %u ticks",
		   kinds[i].name, kept, ticks);
	}
}

/* Two processes that wait for each other and gain 15 % if both have the setting;
 * the second one begins later.  Whether both keep it. */
static bool both_keep(const uint64_t seeds[2])
{
	enum vm_trial_end ends[2] = { VM_TRIAL_GOES_ON, VM_TRIAL_GOES_ON };
	uint64_t start = (uint64_t)(chance() * 1e12), sent = 0;
	struct vm_trial trials[2];
	bool on[2] = { false, false };
	double done = 0;

	vm_trial_begin(&trials[0], seeds[0], TICK_NS, 10, start);
	vm_trial_begin(&trials[1], seeds[1], TICK_NS, 10, start + 20 * TICK_NS);
	for (unsigned tick = 0; tick < 10000; tick++) {
		uint64_t before = sent;

		done += 100 * unsteady(tick) * (on[0] && on[1] ? 1.15 : 1);
		sent = (uint64_t)done;
		for (unsigned i = 0; i < 2; i++) {
			if (ends[i] != VM_TRIAL_GOES_ON || tick < i * 20)
				continue;
			ends[i] = vm_trial_tick(&trials[i],
						start + tick * TICK_NS + i,
						sent - before, 3);
			on[i] = ends[i] == VM_TRIAL_GOES_ON ?
					trials[i].on :
					ends[i] == VM_TRIAL_GAIN;
		}
	}
	return on[0] && on[1];
}

static void test_both(void)
{
	static const uint64_t alike[2] = { 7, 7 }, differ[2] = { 7, 8 };
	int kept = 0, others = 0;

	state = 1;
	for (int i = 0; i < PROGRAMS; i++)
		kept += both_keep(alike);
	for (int i = 0; i < PROGRAMS; i++)
		others += both_keep(differ);
	ok(kept >= 150,
	   "two that gain only together find it without a message: %d of %d",
	   kept, PROGRAMS);
	ok(others < kept, "more often than if they tried in any order: %d",
	   others);
}

/* A trial, and what it counts, by so many messages in each tick. */
static enum vm_trial_end go(struct vm_trial *trial, uint64_t *now, int ticks,
			    uint64_t without, uint64_t with)
{
	enum vm_trial_end end = VM_TRIAL_GOES_ON;

	while (ticks-- > 0 && end == VM_TRIAL_GOES_ON)
		end = vm_trial_tick(trial, *now += TICK_NS,
				    trial->on ? with : without, 3);
	return end;
}

static void test_ends(void)
{
	uint64_t now = 1234567890123;
	struct vm_trial trial;

	vm_trial_begin(&trial, 1, TICK_NS, 10, now);
	ok(!trial.on, "a trial begins without the setting");
	is_int(go(&trial, &now, 1000, 100, 120), VM_TRIAL_GAIN,
	       "a gain is found");
	ok(vm_trial_percent(&trial) > 19 && vm_trial_percent(&trial) < 21,
	   "with its size: %.1f %%", vm_trial_percent(&trial));
	is_int(trial.pairs, 3, "a clear one after three pairs");
	vm_trial_begin(&trial, 1, TICK_NS, 10, now);
	is_int(go(&trial, &now, 1000, 100, 70), VM_TRIAL_NO_GAIN,
	       "a loss, too");
	is_int(trial.pairs, 2, "after two pairs");
	vm_trial_begin(&trial, 1, TICK_NS, 10, now);
	go(&trial, &now, 60, 100, 120);
	vm_trial_again(&trial);
	ok(!trial.on && !trial.pairs, "a trial that is disturbed begins again");
	is_int(go(&trial, &now, 1000, 100, 120), VM_TRIAL_GAIN, "and ends");
	vm_trial_begin(&trial, 1, TICK_NS, 10, now);
	is_int(go(&trial, &now, 1000, 0, 0), VM_TRIAL_SILENCE,
	       "one of which nothing is seen ends");
	vm_trial_begin(&trial, 1, TICK_NS, 10, now);
	now += 1000 * TICK_NS;
	is_int(go(&trial, &now, 1000, 100, 120), VM_TRIAL_GAIN,
	       "ticks that are missing count for nothing");
}

/* Pairs in which the program does something else. */
static void test_spoilt(void)
{
	uint64_t now = 1234567890123;
	enum vm_trial_end end = VM_TRIAL_GOES_ON;
	struct vm_trial trial;
	int ticks = 0;

	vm_trial_begin(&trial, 1, TICK_NS, 10, now);
	go(&trial, &now, 100, 100, 120);
	is_int(trial.pairs, 2, "a trial has two pairs");
	for (; ticks < 5 * 32; ticks++) {
		vm_trial_spoil(&trial);
		end = go(&trial, &now, 1, 100, 50);
	}
	is_int(end, VM_TRIAL_GOES_ON, "five pairs of something else pass by");
	is_int(trial.pairs, 2, "and do not count");
	now += 1000 * TICK_NS;
	vm_trial_resume(&trial, now);
	ok(!trial.on && trial.pairs == 2,
	   "one that was left goes on with what it knows");
	end = go(&trial, &now, 96, 100, 120);
	is_int(end, VM_TRIAL_GAIN, "and ends with it");
	vm_trial_begin(&trial, 1, TICK_NS, 10, now);
	for (end = VM_TRIAL_GOES_ON; end == VM_TRIAL_GOES_ON; ticks++) {
		vm_trial_spoil(&trial);
		end = go(&trial, &now, 1, 100, 50);
	}
	is_int(end, VM_TRIAL_SILENCE,
	       "a trial of nothing else ends, too, after %d ticks", ticks);
}

static void test_slots(void)
{
	struct vm_trial trial;

	vm_trial_begin(&trial, 1, TICK_NS, 14, 1);
	is_int(trial.slot_ns / TICK_NS, 16, "a slot has 16 ticks");
	vm_trial_begin(&trial, 1, TICK_NS, 15, 1);
	is_int(trial.slot_ns / TICK_NS, 32,
	       "twice as many where the rate is not known by then");
	vm_trial_begin(&trial, 1, TICK_NS, 10000, 1);
	is_int(trial.slot_ns / TICK_NS, 512, "and 512 at most");
	ok(vm_trial_later(1000, 256) >= 1000 + 128 &&
		   vm_trial_later(1000, 256) <= 1000 + 384 &&
		   vm_trial_later(1000, 256) % 256 == 0,
	   "what is left alone is tried again at a time that all know");
}

int main(void)
{
	test_slots();
	test_ends();
	test_spoilt();
	test_kinds();
	test_both();
	return done_testing();
}
