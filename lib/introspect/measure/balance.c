/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plan: as long as it helps, one rank goes from the most to the least
 * loaded worker, or two change places.  The best single step is taken, and it
 * must be worth a rank's cold caches.
 */
#include "introspect/measure/balance.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define STEP_LEAST 5	 /* permille of the most that a step must save */
#define SWAPS_MOST 16384 /* pairs considered for one step */
#define WAIT_MOST 1024
#define SLACK 50 /* a plan that keeps neighbours may take a 50th more */

int vm_balance_init(struct vm_balance *balance, int ranks, int workers,
		    unsigned least)
{
	size_t n = (size_t)ranks;

	*balance = (struct vm_balance){ .ranks = ranks,
					.workers = workers,
					.least = least,
					.wait_next = 1 };
	balance->last = calloc(n, sizeof(*balance->last));
	balance->sums = calloc((size_t)workers, sizeof(*balance->sums));
	balance->plan = calloc(n, sizeof(*balance->plan));
	if (balance->last && balance->sums && balance->plan)
		return 0;
	vm_balance_fini(balance);
	return -VMPI_ENOMEM;
}

void vm_balance_fini(struct vm_balance *balance)
{
	free(balance->last);
	free(balance->sums);
	free(balance->plan);
	*balance = (struct vm_balance){ 0 };
}

/* Adds up the workers' times; finds the highest and the lowest. */
static void sums_make(const struct vm_balance *balance,
		      const struct vm_balance_load *loads, int *most,
		      int *least)
{
	uint64_t *sums = balance->sums;

	memset(sums, 0, (size_t)balance->workers * sizeof(*sums));
	for (int i = 0; i < balance->ranks; i++)
		sums[loads[i].worker] += loads[i].time;
	*most = *least = 0;
	for (int w = 1; w < balance->workers; w++) {
		if (sums[w] > sums[*most])
			*most = w;
		if (sums[w] < sums[*least])
			*least = w;
	}
}

/* a of b in permille. */
static unsigned share(uint64_t a, uint64_t b)
{
	return b ? (unsigned)((double)a * 1000 / (double)b + 0.5) : 0;
}

unsigned vm_balance_waste(const struct vm_balance *balance,
			  const struct vm_balance_load *loads)
{
	uint64_t sum = 0;
	int most, least;

	sums_make(balance, loads, &most, &least);
	for (int w = 0; w < balance->workers; w++)
		sum += balance->sums[w];
	return share(balance->sums[most] - sum / (unsigned)balance->workers,
		     balance->sums[most]);
}

/* A step: rank a goes from the one to the other, b (or nobody, -1) back. */
struct step {
	int a, b;
	uint64_t gain; /* reduction of the higher of the two times */
};

/* The gain when `time` more goes over than comes back, of a difference of
 * `gap`: the higher of the two sinks by it, or to what the lower rises to. */
static uint64_t step_gain(uint64_t gap, uint64_t time)
{
	if (time >= gap)
		return 0;
	return time <= gap / 2 ? time : gap - time;
}

static void step_offer(struct step *best, int a, int b, uint64_t gap,
		       uint64_t time)
{
	uint64_t gain = step_gain(gap, time);

	if (gain > best->gain)
		*best = (struct step){ a, b, gain };
}

/* Finds the best swap of rank a with one of the worker `to`. */
static void swaps_look(const struct vm_balance *balance, struct step *best,
		       int a, int to, uint64_t gap, unsigned *left)
{
	const struct vm_balance_load *plan = balance->plan;

	for (int b = 0; b < balance->ranks && *left; b++) {
		if (plan[b].worker != to || plan[b].fixed ||
		    plan[b].time >= plan[a].time)
			continue;
		--*left;
		step_offer(best, a, b, gap, plan[a].time - plan[b].time);
	}
}

static struct step step_best(const struct vm_balance *balance, int from, int to)
{
	const struct vm_balance_load *plan = balance->plan;
	uint64_t gap = balance->sums[from] - balance->sums[to];
	struct step best = { -1, -1, 0 };
	unsigned left = SWAPS_MOST;

	for (int a = 0; a < balance->ranks; a++)
		if (plan[a].worker == from && !plan[a].fixed && plan[a].time)
			step_offer(&best, a, -1, gap, plan[a].time);
	/* Swaps move two: only where one rank alone comes far from the
	 * middle. */
	if (best.gain >= gap / 2 - gap / 8)
		return best;
	for (int a = 0; a < balance->ranks && left; a++)
		if (plan[a].worker == from && !plan[a].fixed && plan[a].time)
			swaps_look(balance, &best, a, to, gap, &left);
	return best;
}

/* Improves balance->plan; the time of the most loaded worker afterwards. */
static uint64_t plan_improve(struct vm_balance *balance)
{
	for (int i = 0; i < 2 * balance->ranks; i++) {
		struct step step;
		int from, to;

		sums_make(balance, balance->plan, &from, &to);
		step = step_best(balance, from, to);
		if (share(step.gain, balance->sums[from]) < STEP_LEAST)
			return balance->sums[from];
		balance->plan[step.a].worker = to;
		if (step.b >= 0)
			balance->plan[step.b].worker = from;
	}
	return UINT64_MAX; /* it does not settle: leave it */
}

/* The gain of the plan if the ranks took these times; 0 if it is a loss. */
static unsigned plan_gain(struct vm_balance *balance,
			  const struct vm_balance_load *loads,
			  const uint64_t *times)
{
	uint64_t before, after, *sums = balance->sums;
	int most, least;

	memset(sums, 0, (size_t)balance->workers * sizeof(*sums));
	for (int i = 0; i < balance->ranks; i++)
		sums[loads[i].worker] += times ? times[i] : loads[i].time;
	before = 0;
	for (int w = 0; w < balance->workers; w++)
		before = sums[w] > before ? sums[w] : before;
	for (int i = 0; i < balance->ranks; i++)
		balance->plan[i].time = times ? times[i] : loads[i].time;
	sums_make(balance, balance->plan, &most, &least);
	after = balance->sums[most];
	return after < before ? share(before - after, before) : 0;
}

/* Compares the round with the one that ended with moves. */
static void judge(struct vm_balance *balance)
{
	balance->just_judged = balance->judging;
	if (!balance->judging)
		return;
	balance->judging = false;
	balance->got = (int)balance->before - (int)balance->waste;
	if (2 * balance->got >= (int)balance->expected) {
		/* Slower than it grows: some succeed by chance. */
		balance->wait_next -= balance->wait_next / 8;
		return;
	}
	balance->wait = balance->wait_next;
	if (balance->wait_next < WAIT_MOST)
		balance->wait_next *= 2;
}

/* Plans for this round and the last together; the expected gain. */
static unsigned plan_make(struct vm_balance *balance,
			  const struct vm_balance_load *loads)
{
	unsigned now, then;

	for (int i = 0; i < balance->ranks; i++) {
		balance->plan[i] = loads[i];
		balance->plan[i].time += balance->last[i];
	}
	if (plan_improve(balance) == UINT64_MAX)
		return 0;
	then = plan_gain(balance, loads, balance->last);
	now = plan_gain(balance, loads, NULL);
	return now < then ? now : then;
}

static int moves_list(const struct vm_balance *balance,
		      struct vm_balance_move *moves,
		      const struct vm_balance_load *loads)
{
	int count = 0;

	for (int i = 0; i < balance->ranks; i++)
		if (balance->plan[i].worker != loads[i].worker)
			moves[count++] = (struct vm_balance_move){
				i, balance->plan[i].worker
			};
	return count;
}

int vm_balance_round(struct vm_balance *balance, struct vm_balance_move *moves,
		     const struct vm_balance_load *loads)
{
	bool has_last = balance->has_last;
	unsigned gain = 0;
	int count = 0;

	balance->waste = vm_balance_waste(balance, loads);
	judge(balance);
	if (balance->wait)
		balance->wait--;
	else if (has_last && balance->waste >= balance->least)
		gain = plan_make(balance, loads);
	if (gain && gain >= balance->least)
		count = moves_list(balance, moves, loads);
	if (count) {
		balance->judging = true;
		balance->before = balance->waste;
		balance->expected = gain;
	}
	/* After moves the rounds begin anew. */
	balance->has_last = !count;
	for (int i = 0; i < balance->ranks; i++)
		balance->last[i] = loads[i].time;
	return count;
}

void vm_balance_undone(struct vm_balance *balance)
{
	balance->judging = false;
}

/* Whether blocks of neighbours fit into so much time each; fills worker. */
static bool blocks_fit(int *worker, const uint64_t *times, int ranks,
		       int workers, uint64_t most)
{
	uint64_t sum = 0;
	int w = 0;

	for (int i = 0; i < ranks; i++) {
		uint64_t time = times[i] ? times[i] : 1;
		int left = ranks - i, behind = workers - 1 - w;

		/* No worker stays without a rank while there are enough. */
		if (sum && w < workers - 1 &&
		    (sum + time > most || left <= behind)) {
			w++;
			sum = 0;
		}
		sum += time;
		if (sum > most)
			return false;
		worker[i] = w;
	}
	return true;
}

/* Makes the blocks whose most loaded worker has the least time, which is
 * returned. */
static uint64_t blocks_place(int *worker, const uint64_t *times, int ranks,
			     int workers)
{
	uint64_t low = 0, high = 0;

	for (int i = 0; i < ranks; i++)
		high += times[i] ? times[i] : 1;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (blocks_fit(worker, times, ranks, workers, middle))
			high = middle;
		else
			low = middle + 1;
	}
	blocks_fit(worker, times, ranks, workers, high);
	return high;
}

struct ranked {
	uint64_t time;
	int rank;
};

static int longer_first(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return a->rank < b->rank ? -1 : 1;
}

/* Longest first, each to the least loaded worker; returns the time of the most
 * loaded one. */
static uint64_t longest_place(int *worker, struct ranked *order, uint64_t *sums,
			      int ranks, int workers)
{
	uint64_t most = 0;

	qsort(order, (size_t)ranks, sizeof(*order), longer_first);
	for (int i = 0; i < ranks; i++) {
		int least = 0;

		for (int w = 1; w < workers; w++)
			if (sums[w] < sums[least])
				least = w;
		worker[order[i].rank] = least;
		sums[least] += order[i].time ? order[i].time : 1;
		if (sums[least] > most)
			most = sums[least];
	}
	return most;
}

/* Improves blocks step by step, so that most ranks stay with their neighbours;
 * returns the time of the most loaded worker. */
static uint64_t blocks_improve(int *worker, const uint64_t *times, int ranks,
			       int workers)
{
	struct vm_balance balance;
	uint64_t most;

	if (vm_balance_init(&balance, ranks, workers, 0))
		return UINT64_MAX;
	for (int i = 0; i < ranks; i++)
		balance.plan[i] =
			(struct vm_balance_load){ times[i] ? times[i] : 1,
						  worker[i], false };
	most = plan_improve(&balance);
	for (int i = 0; i < ranks; i++)
		worker[i] = balance.plan[i].worker;
	vm_balance_fini(&balance);
	return most;
}

int vm_balance_place(int *worker, const uint64_t *times, int ranks, int workers)
{
	struct ranked *order = calloc((size_t)ranks, sizeof(*order));
	uint64_t *sums = calloc((size_t)workers, sizeof(*sums));
	uint64_t enough;
	int rc = order && sums ? 0 : -VMPI_ENOMEM;

	for (int i = 0; !rc && i < ranks; i++)
		order[i] = (struct ranked){ times[i], i };
	if (rc)
		goto free;
	enough = longest_place(worker, order, sums, ranks, workers);
	enough += enough / SLACK;
	if (blocks_place(worker, times, ranks, workers) <= enough ||
	    blocks_improve(worker, times, ranks, workers) <= enough)
		goto free;
	/* The order is still there, the sums are not. */
	memset(sums, 0, (size_t)workers * sizeof(*sums));
	longest_place(worker, order, sums, ranks, workers);
free:
	free(order);
	free(sums);
	return rc;
}
