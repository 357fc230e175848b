/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns of a shared core: who polls on before it yields, and when no more.
 */
#include "sched/turn.h"

#include <pthread.h>

#include "sched/worker.h"
#include "tap.h"

enum { FEW = 8, MANY = 1000 };

static struct vm_worker worker;
static _Atomic uint32_t away;
static bool runs;
static int looks, asked;

static bool partner_runs(void)
{
	asked++;
	return runs;
}

static bool look(void *comes)
{
	looks++;
	return *(bool *)comes;
}

static bool poll_on(bool comes)
{
	looks = 0;
	return vm_turn_poll(&worker, look, &comes);
}

static void test_alone(void)
{
	ok(!poll_on(true) && !looks && !asked,
	   "where no core is shared nobody polls on");
	vm_turn_yield(&worker);
	vm_sched.away = &away;
	vm_sched.hooks.partner_runs = partner_runs;
}

static void test_partner(void)
{
	ok(!poll_on(true) && !looks, "nor while who has sent last has no turn");
	vm_turn_yield(&worker);
	asked = 0;
	poll_on(true);
	ok(!asked, "... which it asks every other turn");
	vm_turn_yield(&worker);
	runs = true;
	ok(poll_on(true) && looks == 1, "while that has one it does");
	vm_turn_yield(&worker);
	while (!poll_on(false) && !looks)
		vm_turn_yield(&worker);
	ok(looks > 0 && looks % FEW == 0, "... for a moment");
	vm_turn_yield(&worker);
}

/* The kernel may take the processor away in the middle of a turn. */
static void good_turn(void)
{
	for (int found = 0; found < FEW;) {
		found = poll_on(true) ? found + 1 : 0;
		if (!found || found == FEW)
			vm_turn_yield(&worker);
	}
}

static void test_good(void)
{
	int turns = 0;

	good_turn();
	runs = false;
	ok(poll_on(true),
	   "after a turn in which much came it does whoever has a turn");
	vm_turn_yield(&worker);
	for (poll_on(false); looks && turns < MANY; poll_on(false), turns++)
		vm_turn_yield(&worker);
	ok(turns > 0 && turns < FEW, "... for a few turns (%d)", turns);
}

static void test_vain(void)
{
	int turns = 0, tried = 0;

	runs = true;
	for (int i = 0; i < MANY; i++) {
		poll_on(false);
		tried += looks > 0;
		vm_turn_yield(&worker);
	}
	ok(tried > 0 && tried < MANY / 10,
	   "where nothing comes it does seldom (%d of %d turns)", tried, MANY);
	for (; !poll_on(true) && turns < MANY; turns++)
		vm_turn_yield(&worker);
	ok(turns < MANY / 10, "... but does again (after %d turns)", turns);
}

static void *sees_away(void *seen)
{
	while (!atomic_load(&away))
		;
	*(_Atomic bool *)seen = true;
	return NULL;
}

static void test_away(void)
{
	_Atomic bool seen = false;
	pthread_t other;

	ok(!away, "who has a turn does not say that it has yielded");
	if (pthread_create(&other, NULL, sees_away, (void *)&seen))
		bail("no thread");
	while (!seen)
		vm_turn_yield(&worker);
	pthread_join(other, NULL);
	ok(!away, "... as it does while it yields");
}

int main(void)
{
	plan(11);
	test_alone();
	test_partner();
	test_good();
	test_vain();
	test_away();
	return done_testing();
}
