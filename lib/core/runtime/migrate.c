/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When ranks are moved, and the steps of the halt.
 *
 * Rounds end by the clock that each switch reads anyway: the worker that sees
 * that one is due takes the turn, adds up how long the ranks have run, and asks
 * for a halt if the policy wants to move ranks.
 */
#include "core/runtime/migrate.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/local/engine.h"
#include "core/instrument/overlap_events.h"
#include "core/instrument/trace.h"
#include "core/runtime/node.h"
#include "core/rank/vars.h"
#include "sched/clocks.h"

#define NOTHING (-1)	 /* count: no moves are to be made */
#define SHUFFLE_MOST 4	 /* ranks moved in one go by a test */
#define LOOK_EARLIEST 16 /* parts of a round after which to look again */

static struct vm_migrator *migrator(void)
{
	return vm_node->migrator;
}

static uint64_t round_ticks(void)
{
	return (uint64_t)((double)core_cvar.balance_round * 1e6 /
			  vm_clock.tick_ns);
}

static void due_set(uint64_t ticks)
{
	atomic_store_explicit(&migrator()->due, ticks, memory_order_relaxed);
}

/* Whether a rank can be moved; the lock is held. */
static bool rank_free(const struct vm_rank *rank)
{
	/* Its other tasks run on the worker where they were born. */
	return !rank->left && rank->ult &&
	       !atomic_load_explicit(&rank->tasks, memory_order_relaxed);
}

static uint64_t rank_ticks(const struct vm_rank *rank)
{
	return vm_clocks_of(rank->ult);
}

/* Reads how long each rank has run since the last round; returns the most of a
 * worker. */
static uint64_t loads_read(struct vm_migrator *m, uint64_t *sums)
{
	uint64_t most = 0;

	for (int w = 0; w < vm_node->engine_count; w++)
		sums[w] = 0;
	vm_lock_take(&m->lock);
	for (int i = 0; i < vm_node->rank_here; i++) {
		const struct vm_rank *rank = vm_node->own[i];
		struct vm_balance_load *load = &m->loads[i];

		load->worker = rank->engine->index;
		load->fixed = !m->open || !rank_free(rank);
		load->time = !m->open || rank->left || !rank->ult ?
				     0 :
				     rank_ticks(rank) - m->seen[i];
		sums[load->worker] += load->time;
		if (sums[load->worker] > most)
			most = sums[load->worker];
	}
	vm_lock_give(&m->lock);
	return most;
}

/* A new round begins: what has been seen counts no more. */
static void round_begin(struct vm_migrator *m, uint64_t now)
{
	for (int i = 0; i < vm_node->rank_here; i++)
		m->seen[i] += m->loads[i].time;
	due_set(now + round_ticks());
}

static void round_log(const struct vm_balance *b, int moves)
{
	uint64_t number = vm_node->pvars.balance_rounds;

	if (!core_cvar.balance_log)
		return;
	if (b->just_judged)
		vm_log(VM_WARN,
		       "balance: round %" PRIu64 ": the moves saved %.1f %%, "
		       "expected were %.1f %%",
		       number, b->got / 10.0, b->expected / 10.0);
	vm_log(VM_WARN, "balance: round %" PRIu64 ": %.1f %% wasted, %d moves",
	       number, b->waste / 10.0, moves);
	if (moves)
		vm_log(VM_WARN,
		       "balance: round %" PRIu64 ": expected to save %.1f %%",
		       number, b->expected / 10.0);
}

static void round_count(const struct vm_balance *b)
{
	struct core_node_pvars *pvars = &vm_node->pvars;

	vm_pvar_keep(pvars->balance_rounds, 1);
	__atomic_store_n(&pvars->balance_waste, b->waste, __ATOMIC_RELAXED);
	if (b->just_judged && b->got > 0)
		vm_pvar_add(pvars->balance_saved, (unsigned)b->got);
}

/* There are moves to make: all workers are to stand still. */
static void moves_ask(struct vm_migrator *m, int count, uint64_t now)
{
	vm_lock_take(&m->lock);
	m->count = count;
	m->done = NOTHING;
	vm_lock_give(&m->lock);
	m->asked_at = now;
	vm_halt_ask();
}

/* Whether moves are still to be made; those that could not be made for a whole
 * round are given up. */
static bool moves_pend(struct vm_migrator *m, uint64_t now)
{
	bool pend, made;

	vm_lock_take(&m->lock);
	pend = m->count != NOTHING;
	made = pend || m->done != 0;
	if (pend && now - m->asked_at >= round_ticks()) {
		m->count = NOTHING;
		pend = made = false;
		vm_halt_cancel();
	}
	vm_lock_give(&m->lock);
	if (!made)
		vm_balance_undone(m->balance);
	return pend;
}

static void round_look(struct vm_migrator *m, uint64_t now)
{
	uint64_t whole = round_ticks(), most;
	int moves;

	if (moves_pend(m, now)) {
		due_set(now + whole / LOOK_EARLIEST);
		return;
	}
	most = loads_read(m, m->sums);
	if (most < whole) {
		uint64_t left = whole - most;

		due_set(now + (left > whole / LOOK_EARLIEST ?
				       left :
				       whole / LOOK_EARLIEST));
		return;
	}
	moves = vm_balance_round(m->balance, m->moves, m->loads);
	round_count(m->balance);
	round_log(m->balance, moves);
	round_begin(m, now);
	if (moves)
		moves_ask(m, moves, now);
}

/* A test wants ranks to move at random. */
static void shuffle(struct vm_migrator *m)
{
	int count = 0;

	if (++m->polls % (uint64_t)core_cvar.balance_shuffle ||
	    moves_pend(m, vm_clock_ticks()))
		return;
	while (count < SHUFFLE_MOST && count < vm_node->rank_here) {
		m->random = m->random * 6364136223846793005u + 1;
		m->moves[count++] = (struct vm_balance_move){
			(int)((m->random >> 33) % (unsigned)vm_node->rank_here),
			(int)((m->random >> 20) %
			      (unsigned)vm_node->engine_count),
		};
	}
	moves_ask(m, count, vm_clock_ticks());
}

static __attribute__((noinline)) void turn_take(struct vm_migrator *m,
						uint64_t now)
{
	if (atomic_exchange_explicit(&m->turn, true, memory_order_acquire))
		return;
	if (core_cvar.balance_shuffle)
		shuffle(m);
	else if (now >= atomic_load_explicit(&m->due, memory_order_relaxed))
		round_look(m, now);
	atomic_store_explicit(&m->turn, false, memory_order_release);
}

/* vm_sched.hooks.poll. */
static bool migrator_poll(struct vm_worker *worker)
{
	struct vm_migrator *m = migrator();
	uint64_t now = vm_clock_ticks();
	bool did = m->poll(worker);

	did |= vm_halt_look(worker);
	if (VM_UNLIKELY(now >=
			atomic_load_explicit(&m->due, memory_order_relaxed)) &&
	    worker->index >= 0)
		turn_take(m, now);
	return did;
}

/* In a halt, each worker: takes in what is in its rings.  Nobody sends. */
static void halt_prepare(struct vm_worker *worker)
{
	struct vm_thread_cache *cache = worker->cache;
	struct vm_engine *engine = cache->engine;

	vm_engine_lock(engine);
	for (int from = 0; from < vm_node->engine_count; from++)
		if (from != engine->index)
			vm_engine_drain(engine, from, INT_MAX);
	vm_engine_unlock(engine);
}

static void rank_move(struct vm_rank *rank, struct vm_engine *to)
{
	if (!rank_free(rank) || rank->engine == to)
		return;
	vm_trace_moved(rank, rank->engine->index, to->index);
	if (rank->via == rank->engine)
		rank->via = to;
	atomic_fetch_sub_explicit(&rank->engine->ranks, 1,
				  memory_order_relaxed);
	atomic_fetch_add_explicit(&to->ranks, 1, memory_order_relaxed);
	rank->engine = to;
	rank->ult->worker = to->worker;
	vm_overlap_events_moved(rank->ult);
	migrator()->done++;
}

/* Unless a thread of a rank may be on its way to a mailbox just now. */
static void moves_make(struct vm_migrator *m)
{
	vm_lock_take(&vm_node->threads.lock);
	if (m->open && !vm_node->threads.acting)
		for (int i = 0; i < m->count; i++)
			rank_move(vm_node->own[m->moves[i].rank],
				  &vm_node->engines[m->moves[i].worker]);
	vm_lock_give(&vm_node->threads.lock);
}

/* In a halt, for all workers. */
static void halt_act(void)
{
	struct vm_migrator *m = migrator();
	uint64_t now = vm_clock_ticks();

	vm_lock_take(&m->lock);
	m->done = 0;
	moves_make(m);
	m->count = NOTHING;
	for (int i = 0; i < vm_node->rank_here; i++)
		if (m->open && !vm_node->own[i]->left)
			m->seen[i] = rank_ticks(vm_node->own[i]);
	if (m->done) {
		vm_pvar_add(vm_node->pvars.balance_moves, (unsigned)m->done);
		vm_pvar_add(vm_node->pvars.balance_halts, 1);
		if (!core_cvar.balance_shuffle)
			vm_pvar_add(vm_node->pvars.balance_expected,
				    m->balance->expected);
	}
	vm_lock_give(&m->lock);
	vm_halt_rehome();
	if (!core_cvar.balance_shuffle)
		due_set(now + round_ticks());
}

/* Whether ranks may move and a setting wants them to. */
static bool wanted(const struct vm_node *node)
{
	return core_cvar.balance && vm_node_hooks.untied &&
	       node->engine_count > 1 && node->rank_here > 1;
}

int vm_migrator_init(struct vm_node *node)
{
	size_t ranks = (size_t)node->rank_here;
	struct vm_migrator *m;

	if (!wanted(node))
		return 0;
	m = aligned_alloc(VM_CACHELINE, sizeof(*m));
	if (!m)
		return -VMPI_ENOMEM;
	*m = (struct vm_migrator){ .poll = vm_sched.hooks.poll,
				   .count = NOTHING,
				   .done = NOTHING,
				   .random = 1 };
	vm_lock_init(&m->lock);
	node->migrator = m;
	m->moves = calloc(ranks, sizeof(*m->moves));
	m->loads = calloc(ranks, sizeof(*m->loads));
	m->seen = calloc(ranks, sizeof(*m->seen));
	m->sums = calloc((size_t)node->engine_count, sizeof(*m->sums));
	m->balance = calloc(1, sizeof(*m->balance));
	if (!m->moves || !m->loads || !m->seen || !m->sums || !m->balance ||
	    vm_balance_init(m->balance, node->rank_here, node->engine_count,
			    (unsigned)core_cvar.balance_gain * 10))
		return -VMPI_ENOMEM;
	vm_clock_ready(); /* for the length of a round */
	vm_clocks_start();
	vm_sched.halt.prepare = halt_prepare;
	vm_sched.halt.act = halt_act;
	vm_sched.hooks.poll = migrator_poll;
	if (!core_cvar.balance_shuffle)
		due_set(vm_clock_ticks() + round_ticks());
	return 0;
}

void vm_migrator_fini(struct vm_node *node)
{
	struct vm_migrator *m = node->migrator;

	if (!m)
		return;
	if (m->balance)
		vm_balance_fini(m->balance);
	free(m->balance);
	free(m->moves);
	free(m->loads);
	free(m->seen);
	free(m->sums);
	free(m);
	node->migrator = NULL;
}

void vm_migrator_open(bool open)
{
	struct vm_migrator *m = migrator();

	if (!m)
		return;
	vm_lock_take(&m->lock);
	m->open = open;
	for (int i = 0; i < vm_node->rank_here; i++)
		m->seen[i] = 0;
	vm_lock_give(&m->lock);
}

void vm_migrator_leave(struct vm_rank *rank)
{
	struct vm_migrator *m = migrator();

	if (!m)
		return;
	vm_lock_take(&m->lock);
	rank->left = true;
	vm_lock_give(&m->lock);
}
