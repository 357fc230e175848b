/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The balancing policy: against the best of all placements in the small, and
 * against loads that stay, jump, change once and tremble in the large.
 */
#include "introspect/measure/balance.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define MOST 64

static uint64_t state = 1;

static unsigned below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

static uint64_t most_of(const struct vm_balance_load *loads, int ranks,
			int workers)
{
	uint64_t sums[MOST] = { 0 }, most = 0;

	for (int i = 0; i < ranks; i++)
		sums[loads[i].worker] += loads[i].time;
	for (int w = 0; w < workers; w++)
		most = sums[w] > most ? sums[w] : most;
	return most;
}

/* The least that any placement of few ranks needs. */
static uint64_t best_of(const struct vm_balance_load *loads, int ranks,
			int workers)
{
	struct vm_balance_load tried[MOST];
	uint64_t best = UINT64_MAX, ways = 1;

	memcpy(tried, loads, (size_t)ranks * sizeof(*tried));
	for (int i = 0; i < ranks; i++)
		ways *= (unsigned)workers;
	for (uint64_t way = 0; way < ways; way++) {
		uint64_t rest = way, most;

		for (int i = 0; i < ranks; i++, rest /= (unsigned)workers)
			if (!loads[i].fixed)
				tried[i].worker =
					(int)(rest % (unsigned)workers);
		most = most_of(tried, ranks, workers);
		best = most < best ? most : best;
	}
	return best;
}

/* One round; makes the moves.  How many there were, -1 when one was wrong. */
static int round_do(struct vm_balance *balance, struct vm_balance_load *loads)
{
	struct vm_balance_move moves[MOST];
	int count = vm_balance_round(balance, moves, loads);
	bool moved[MOST] = { false };

	for (int i = 0; i < count; i++) {
		int rank = moves[i].rank;

		if (rank < 0 || rank >= balance->ranks || moved[rank] ||
		    loads[rank].fixed || moves[i].worker < 0 ||
		    moves[i].worker >= balance->workers ||
		    moves[i].worker == loads[rank].worker)
			return -1;
		moved[rank] = true;
		loads[rank].worker = moves[i].worker;
	}
	return count;
}

/* Five ranks with times 0 to 3 on each of two workers, all of them. */
static void small_test(void)
{
	enum { RANKS = 5, WORKERS = 2, WAYS = 8 * 8 * 8 * 8 * 8 };
	int wrong = 0, worse = 0, late = 0, loose = 0;

	for (int way = 0; way < WAYS; way++) {
		struct vm_balance_load loads[RANKS];
		struct vm_balance balance;
		uint64_t before;
		int count = 0, rest = way;

		for (int i = 0; i < RANKS; i++, rest /= 8)
			loads[i] = (struct vm_balance_load){
				(uint64_t)(rest % 4) * 1000, rest / 4 % 2, false
			};
		before = most_of(loads, RANKS, WORKERS);
		vm_balance_init(&balance, RANKS, WORKERS, 10);
		for (int round = 0; round < 12; round++) {
			count = round_do(&balance, loads);
			wrong += count < 0;
		}
		late += count != 0;
		worse += most_of(loads, RANKS, WORKERS) > before;
		loose += most_of(loads, RANKS, WORKERS) * 3 >
			 best_of(loads, RANKS, WORKERS) * 4;
		vm_balance_fini(&balance);
	}
	is_int(wrong, 0, "moves name a rank once and a worker it is not on");
	is_int(worse, 0, "no loads get worse (all %d of five ranks)", WAYS);
	is_int(late, 0, "all come to rest");
	is_int(loose, 0, "within a third of the best there is");
}

/* Random loads that stay as they are; some ranks are fixed. */
static void steady_test(void)
{
	int wrong = 0, late = 0, sum_best = 0, sum = 0, again = 0;

	for (int way = 0; way < 300; way++) {
		int ranks = 2 + (int)below(6), workers = 2 + (int)below(2);
		struct vm_balance_load loads[MOST];
		struct vm_balance balance;
		int halts = 0, count = 0;

		for (int i = 0; i < ranks; i++)
			loads[i] = (struct vm_balance_load){
				below(1000), (int)below((unsigned)workers),
				below(8) == 0
			};
		vm_balance_init(&balance, ranks, workers, 10);
		for (int round = 0; round < 20; round++) {
			count = round_do(&balance, loads);
			wrong += count < 0;
			halts += count > 0;
		}
		late += count != 0;
		again += halts > 1;
		sum += (int)most_of(loads, ranks, workers);
		sum_best += (int)best_of(loads, ranks, workers);
		vm_balance_fini(&balance);
	}
	is_int(wrong, 0, "fixed ranks stay");
	is_int(late, 0, "loads that stay come to rest");
	ok(again < 15, "nearly always at the first try (%d of 300 not)", again);
	ok(sum * 100 < sum_best * 105,
	   "and on average within 5 %% of the best (%d of %d)", sum, sum_best);
}

/* Loads that tremble by some percent, on 32 ranks and two workers. */
static int trembling(int percent, int rounds, int *halts, int change_at)
{
	struct vm_balance_load loads[32];
	struct vm_balance balance;
	int last = 0;

	vm_balance_init(&balance, 32, 2, 50);
	for (int i = 0; i < 32; i++)
		loads[i] = (struct vm_balance_load){ 0, i / 16, false };
	*halts = 0;
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < 32; i++) {
			int rank = round < change_at ? i : 31 - i;
			unsigned time = 10000 + 70000 * (unsigned)rank / 31;

			loads[i].time =
				time - time / 100 * (unsigned)percent +
				below(time / 50 * (unsigned)percent + 1);
		}
		if (round_do(&balance, loads)) {
			++*halts;
			last = round;
		}
	}
	vm_balance_round(&balance, (struct vm_balance_move[32]){ { 0 } },
			 loads);
	ok(balance.waste < 50, "%d %%: %d.%d %% of the time is wasted", percent,
	   balance.waste / 10, balance.waste % 10);
	vm_balance_fini(&balance);
	return last;
}

static void trembling_test(void)
{
	int halts;

	is_int(trembling(0, 50, &halts, 50), 1,
	       "two rounds are enough to know");
	is_int(halts, 1, "and ranks move once");
	trembling(3, 500, &halts, 500);
	is_int(halts, 1, "small changes from round to round move nobody");
	trembling(20, 500, &halts, 500);
	ok(halts < 6, "larger ones few (%d times in 500 rounds)", halts);
	is_int(trembling(0, 50, &halts, 25), 26, "a change is answered soon");
	is_int(halts, 2, "once");
}

/* Loads that have nothing to do with those of the last round. */
static void random_test(void)
{
	struct vm_balance_load loads[16];
	struct vm_balance balance;
	int halts = 0, late = 0;

	vm_balance_init(&balance, 16, 2, 50);
	for (int i = 0; i < 16; i++)
		loads[i] = (struct vm_balance_load){ 0, i % 2, false };
	for (int round = 0; round < 10000; round++) {
		int count;

		for (int i = 0; i < 16; i++)
			loads[i].time = below(4) ? below(1000) : below(10000);
		count = round_do(&balance, loads);
		halts += count > 0;
		late += count > 0 && round >= 9000;
	}
	ok(halts < 100,
	   "who jumps about is left alone (%d moves in 10000 rounds)", halts);
	ok(late < 10, "more and more (%d in the last 1000)", late);
	vm_balance_fini(&balance);
}

static void nothing_test(void)
{
	struct vm_balance_load loads[4] = { { 0, 0, false } };
	struct vm_balance balance;
	int moves = 0;

	vm_balance_init(&balance, 4, 3, 1);
	for (int round = 0; round < 5; round++)
		moves += round_do(&balance, loads);
	is_int(moves, 0, "nothing to do is no reason to move");
	loads[0].time = 1000;
	for (int round = 0; round < 5; round++)
		moves += round_do(&balance, loads);
	is_int(moves, 0, "nor is one rank alone");
	vm_balance_fini(&balance);
}

static bool is_blocks(const int *worker, int ranks)
{
	for (int i = 1; i < ranks; i++)
		if (worker[i] != worker[i - 1] &&
		    worker[i] != worker[i - 1] + 1)
			return false;
	return worker[0] == 0;
}

static void place_test(void)
{
	int empty = 0, loose = 0, worker[MOST];
	uint64_t times[MOST];

	for (int i = 0; i < MOST; i++)
		times[i] = 1000;
	vm_balance_place(worker, times, 12, 4);
	ok(is_blocks(worker, 12) && worker[11] == 3 && worker[2] == 0,
	   "equal times are placed in blocks");
	for (int i = 0; i < 12; i++)
		times[i] += below(10);
	vm_balance_place(worker, times, 12, 4);
	ok(is_blocks(worker, 12), "nearly equal ones too");
	for (int i = 0; i < MOST; i++)
		times[i] = 0;
	vm_balance_place(worker, times, 12, 4);
	ok(is_blocks(worker, 12) && worker[11] == 3, "and no times at all");
	for (int way = 0; way < 2000; way++) {
		int ranks = 1 + (int)below(8), workers = 1 + (int)below(3);
		struct vm_balance_load loads[8];
		bool used[4] = { false };

		for (int i = 0; i < ranks; i++)
			times[i] = below(4) ? below(1000) + 1 : 1;
		if (vm_balance_place(worker, times, ranks, workers))
			bail("out of memory");
		for (int i = 0; i < ranks; i++) {
			loads[i] = (struct vm_balance_load){ times[i],
							     worker[i], false };
			used[worker[i]] = true;
		}
		for (int w = 0; w < workers && w < ranks; w++)
			empty += !used[w];
		loose += most_of(loads, ranks, workers) * 3 >
			 best_of(loads, ranks, workers) * 4 + 3;
	}
	is_int(empty, 0, "each worker gets a rank while there are enough");
	is_int(loose, 0, "and none more than 4/3 of what the best needs");
}

int main(void)
{
	small_test();
	steady_test();
	trembling_test();
	random_test();
	nothing_test();
	place_test();
	return done_testing();
}
