/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Those that poll on and yield at the same times keep doing so: when one yields the
 * other soon finds nothing and yields too, and then a pair of others has both cores.
 * So who has had such a turn polls on at the begin of the next ones whether or not
 * the other one is there already.  Where several messages from processes of both
 * cores are awaited, as in a barrier, polling on only keeps the others waiting.
 */
#include "sched/turn.h"

#include "base/clock.h"
#include "base/lock.h"
#include "sched/worker.h"

#define POLL_NS 1000   /* without anything, at most: about a switch or two */
#define TURN_NS 20000  /* of a turn: the others wait */
#define LOOKS 8	       /* between two readings of the clock */
#define FOUND_ENOUGH 4 /* in a turn that was worth it */
#define GOOD_TURNS 4   /* after one, without another one */
#define SKIPS_MOST 64

bool vm_turn_poll(struct vm_worker *worker, bool (*look)(void *arg), void *arg)
{
	struct vm_turn *turn = &worker->turn;
	uint64_t since, now;

	if (!vm_sched.away || turn->skip)
		return false;
	if (!turn->good && !vm_sched.hooks.partner_runs()) {
		turn->asked = true;
		return false;
	}
	since = now = vm_clock_ns();
	if (!turn->since_ns)
		turn->since_ns = now;
	while (now - since < POLL_NS && now - turn->since_ns < TURN_NS) {
		for (int i = 0; i < LOOKS; i++) {
			if (look(arg)) {
				turn->found++;
				return true;
			}
			vm_cpu_relax();
		}
		if (!turn->good && !vm_sched.hooks.partner_runs())
			return false;
		now = vm_clock_ns();
	}
	return false;
}

static void turn_end(struct vm_turn *turn)
{
	if (turn->skip) {
		turn->skip--;
	} else if (turn->found >= FOUND_ENOUGH) {
		turn->good = GOOD_TURNS;
		turn->skips = 0;
	} else if (turn->good) {
		turn->good--;
	} else if (turn->since_ns) {
		if (turn->skips < SKIPS_MOST)
			turn->skips = turn->skips ? 2 * turn->skips : 1;
		turn->skip = turn->skips;
	} else if (turn->asked) {
		/* Each time takes a line from the other one's cache. */
		turn->skip = 1;
	}
	turn->asked = false;
	turn->found = 0;
	turn->since_ns = 0;
}

void vm_turn_yield(struct vm_worker *worker)
{
	_Atomic uint32_t *away = vm_sched.away;

	if (!away) {
		vm_cpu_yield();
		return;
	}
	turn_end(&worker->turn);
	atomic_store_explicit(away, 1, memory_order_relaxed);
	vm_cpu_yield();
	atomic_store_explicit(away, 0, memory_order_relaxed);
}
