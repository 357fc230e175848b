/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policy eager: the limit up to which messages go to other processes without an
 * announcement.
 *
 * It cannot oscillate: a limit goes up only for a token, of which there are
 * TOKENS and one more every TOKEN_TICKS; each time up allows one way down.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "introspect/policy/policies.h"
#include "introspect/policy/rates.h"
#include "introspect/policy/trial.h"
#include "introspect/vars/sizes.h"
#include "vmpi.h"

/*
 * Messages are counted by size (core_sizes_remote).  Where many are longer than
 * core_eager_limit, and ranks wait, a limit that takes in most of them is
 * tried (trial.h).  With too little gain in the rate of messages the limit goes
 * back, and that size is left alone for a time that doubles.  A limit that was worth it once
 * is taken at once the next time.  When no message needs the higher limit any
 * more it goes back.
 *
 * Packet memory beyond tune_memory takes the limit down, step by step.
 *
 * Over sockets a limit is for core_eager_net times as long messages, where
 * processes share cores for core_eager_shared times: all limits here are the
 * lengths of messages, but for `home` and what is written.
 */

#define BINS VM_SIZE_BINS
#define WINDOW_TICKS 5	      /* a window is at least so long, */
#define WINDOW_MESSAGES 32    /* has so many messages, */
#define WINDOW_TICKS_MAX 1000 /* or is forgotten after that */
#define MANY 64		      /* one of so many messages is worth a look */
#define QUIET_WINDOWS 20      /* in which nobody needs a limit */
#define TOKENS 16
#define TOKEN_TICKS 50
#define BAN_TICKS 256 /* of a size that was not worth it, at first */
#define BAN_TICKS_MAX (BAN_TICKS << 9)
#define MEMORY_TICKS 100 /* between steps down for memory */
#define LIMIT_LEAST 1024 /* which memory may bring it to */
#define REASON_BYTES 120
#define MILLISECOND_NS UINT64_C(1000000)

enum verdict { UNKNOWN, GOOD, BAD };

struct window {
	uint64_t sizes[BINS]; /* messages */
	uint64_t messages, looks;
	uint64_t began_ns;
	struct vm_slope slope;
};

struct eager {
	/* Numbers of variables. */
	int limit, net, shared, budget, most, gain; /* control */
	int packet, interval;
	int sizes, far, near, pool, posted, polls, found; /* counters */
	int64_t times; /* as long messages as core_eager_limit says */
	uint64_t tick, tokens, token_tick;
	uint64_t seen[BINS], seen_looks; /* up to the last tick */
	struct window window;
	int64_t home; /* the value that it goes back to */
	/* A trial, while `trying`. */
	bool trying;
	unsigned bin;	/* what is tried */
	int64_t before; /* the limit until then */
	struct vm_trial trial;
	struct {
		enum verdict verdict;
		uint64_t until_ns, ban_ticks;
	} bins[BINS];
	unsigned quiet;	      /* windows in which home would have done */
	unsigned ample;	      /* ... with memory to spare, of a lowered limit */
	uint64_t memory_tick; /* of the last step down */
};

static int eager_start(vmpi_tuner *tuner)
{
	struct eager *e = calloc(1, sizeof(*e));

	if (!e)
		return -VMPI_ENOMEM;
	e->limit = tuner->control_find(tuner, "core_eager_limit");
	e->net = tuner->control_find(tuner, "core_eager_net");
	e->shared = tuner->control_find(tuner, "core_eager_shared");
	e->budget = tuner->control_find(tuner, "tune_memory");
	e->most = tuner->control_find(tuner, "tune_eager_max");
	e->gain = tuner->control_find(tuner, "tune_gain");
	e->packet = tuner->control_find(tuner, "fabric_packet_bytes");
	e->interval = tuner->control_find(tuner, "tune_interval_ms");
	e->sizes = tuner->counter_find(tuner, "core_sizes_remote");
	e->far = tuner->counter_find(tuner, "core_socket_peers");
	e->near = tuner->counter_find(tuner, "core_shared_peers");
	e->posted = tuner->counter_find(tuner, "fabric_posted");
	e->pool = tuner->counter_find(tuner, "fabric_pool_bytes");
	e->polls = tuner->counter_find(tuner, "fabric_polls");
	e->found = tuner->counter_find(tuner, "fabric_polls_found");
	e->tokens = TOKENS;
	e->times = 1;
	if ((e->limit | e->net | e->shared | e->budget | e->most | e->gain |
	     e->packet | e->interval | e->sizes | e->far | e->near | e->pool |
	     e->posted | e->polls | e->found) < 0 ||
	    tuner->control_read(tuner, e->limit, &e->home)) {
		free(e);
		return -VMPI_ENOENT;
	}
	tuner->state = e;
	return 0;
}

static void eager_end(vmpi_tuner *tuner)
{
	free(tuner->state);
	tuner->state = NULL;
}

static int64_t times_now(vmpi_tuner *tuner, const struct eager *e)
{
	if (vm_tuner_counter(tuner, e->far))
		return vm_tuner_control(tuner, e->net);
	return vm_tuner_counter(tuner, e->near) ?
		       vm_tuner_control(tuner, e->shared) :
		       1;
}

static int64_t limit_now(vmpi_tuner *tuner, const struct eager *e)
{
	return vm_tuner_control(tuner, e->limit) * e->times;
}

static int64_t home_now(const struct eager *e)
{
	return e->home * e->times;
}

/* What the variable is for messages of that length. */
static int64_t value_of(const struct eager *e, int64_t limit)
{
	return (limit + e->times - 1) / e->times;
}

/* A new window begins. */
static void window_open(struct eager *e, uint64_t now_ns)
{
	e->window = (struct window){ .began_ns = now_ns };
}

/* Adds the messages sent since the last tick, and returns their number. */
static uint64_t window_add(vmpi_tuner *tuner, struct eager *e, uint64_t now_ns)
{
	uint64_t before = e->window.messages;
	uint64_t looks = vm_tuner_counter(tuner, e->polls) -
			 vm_tuner_counter(tuner, e->found);
	uint64_t sizes[BINS] = { 0 };

	e->window.looks += looks - e->seen_looks;
	e->seen_looks = looks;
	if (tuner->total(tuner, e->sizes, sizes, BINS))
		return 0;
	for (unsigned i = 0; i < BINS; i++) {
		/* Ranks come and go with the runtime. */
		uint64_t new = sizes[i] > e->seen[i] ? sizes[i] - e->seen[i] :
						       0;

		e->window.sizes[i] += new;
		e->window.messages += new;
		e->seen[i] = sizes[i];
	}
	vm_slope_add(&e->window.slope, now_ns - e->window.began_ns,
		     e->window.messages);
	return e->window.messages - before;
}

static bool window_is_full(const struct eager *e)
{
	const struct window *window = &e->window;

	return window->slope.ticks >= WINDOW_TICKS &&
	       window->messages >= WINDOW_MESSAGES &&
	       (e->trying || vm_slope_known(&window->slope));
}

/* Messages of a window whose bin ends in (from, to]. */
static uint64_t between(const struct window *window, int64_t from, int64_t to)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < BINS; i++) {
		uint64_t bound = vm_size_bound(i);

		if (bound > (uint64_t)from && bound <= (uint64_t)to)
			count += window->sizes[i];
	}
	return count;
}

/* The bin up to which nearly all messages beyond the limit are; -1: few are. */
static int candidate(const struct window *window, int64_t limit, int64_t most)
{
	uint64_t all = between(window, limit, most), count = 0;

	if (all * MANY < window->messages || all == 0)
		return -1;
	for (unsigned i = 0; i < BINS; i++) {
		uint64_t bound = vm_size_bound(i);

		if (bound <= (uint64_t)limit)
			continue;
		count += window->sizes[i];
		if (count * 10 >= all * 9)
			return (int)i;
	}
	return -1;
}

/* Starts again: the window was one with another limit. */
static void limit_changed(struct eager *e, uint64_t now_ns)
{
	e->quiet = e->ample = 0;
	window_open(e, now_ns);
}

static int limit_set(vmpi_tuner *tuner, struct eager *e, int64_t limit,
		     const char *reason, uint64_t now_ns)
{
	int64_t value = value_of(e, limit);
	int rc = value == e->home ?
			 tuner->revert(tuner, e->limit, reason) :
			 tuner->write(tuner, e->limit, value, reason);

	if (!e->trying)
		tuner->trial_end(tuner);
	limit_changed(e, now_ns);
	return rc < 0 ? rc : 0;
}

static uint64_t tick_ns(vmpi_tuner *tuner, const struct eager *e)
{
	return (uint64_t)vm_tuner_control(tuner, e->interval) * MILLISECOND_NS;
}

/* That limit was not worth it: it is left alone for a while. */
static void ban(vmpi_tuner *tuner, struct eager *e, unsigned bin,
		uint64_t now_ns)
{
	uint64_t ticks = e->bins[bin].ban_ticks;

	ticks = ticks == 0	      ? BAN_TICKS :
		ticks < BAN_TICKS_MAX ? ticks * 2 :
					BAN_TICKS_MAX;
	e->bins[bin].verdict = BAD;
	e->bins[bin].ban_ticks = ticks;
	e->bins[bin].until_ns =
		vm_trial_later(now_ns, ticks * tick_ns(tuner, e));
}

/* A limit that promises something: taken if it is known, else tried. */
static int raise_to(vmpi_tuner *tuner, struct eager *e, unsigned bin,
		    int64_t limit, uint64_t now_ns)
{
	bool known = e->bins[bin].verdict == GOOD;
	int64_t target = (int64_t)vm_size_bound(bin);
	char reason[REASON_BYTES];

	if (e->bins[bin].verdict == BAD && now_ns < e->bins[bin].until_ns)
		return 0;
	if (!e->tokens || tuner->trial_begin(tuner))
		return 0;
	e->tokens--;
	snprintf(reason, sizeof(reason),
		 "%" PRIu64 " of %" PRIu64 " messages have %" PRId64
		 " to %" PRId64 " bytes; %s",
		 between(&e->window, limit, target), e->window.messages,
		 limit + 1, target, known ? "known to be worth it" : "a trial");
	e->bin = bin;
	e->before = limit;
	e->trying = !known;
	if (e->trying)
		vm_trial_begin(&e->trial, bin, tick_ns(tuner, e),
			       e->window.slope.ticks, now_ns);
	return limit_set(tuner, e, target, reason, now_ns);
}

/* The end of a trial, well or not. */
static int trial_end(vmpi_tuner *tuner, struct eager *e, enum vm_trial_end end,
		     uint64_t now_ns)
{
	char text[REASON_BYTES];

	e->trying = false;
	snprintf(text, sizeof(text),
		 "%+.1f %% messages/s with a limit of %" PRIu64
		 " bytes, of %u pairs of slots: %s",
		 vm_trial_percent(&e->trial), vm_size_bound(e->bin),
		 e->trial.pairs, vm_trial_verdict(end));
	if (end == VM_TRIAL_GAIN) {
		e->bins[e->bin].verdict = GOOD;
		e->bins[e->bin].ban_ticks = 0;
		tuner->trial_end(tuner);
		tuner->log(tuner, text);
		limit_changed(e, now_ns);
		return 0;
	}
	ban(tuner, e, e->bin, now_ns);
	return limit_set(tuner, e, e->before, text, now_ns);
}

/* A tick of a trial, in which so many messages were sent. */
static int trial_go_on(vmpi_tuner *tuner, struct eager *e, uint64_t messages,
		       uint64_t now_ns)
{
	int64_t target = (int64_t)vm_size_bound(e->bin);
	enum vm_trial_end end = vm_trial_tick(&e->trial, now_ns, messages,
					      vm_tuner_control(tuner, e->gain));

	if (end != VM_TRIAL_GOES_ON)
		return trial_end(tuner, e, end, now_ns);
	if (window_is_full(e)) {
		if (!between(&e->window, e->before, target)) {
			e->trying = false;
			return limit_set(tuner, e, e->before,
					 "the messages it was for have ended",
					 now_ns);
		}
		window_open(e, now_ns);
	}
	return tuner->alternate(tuner, e->limit,
				value_of(e, e->trial.on ? target : e->before));
}

/* A window without a trial. */
static int window_judge(vmpi_tuner *tuner, struct eager *e, uint64_t now_ns)
{
	int64_t limit = limit_now(tuner, e), home = home_now(e);
	int bin;

	if (limit > home) {
		e->quiet = between(&e->window, home, limit) * MANY <
					   e->window.messages ?
				   e->quiet + 1 :
				   0;
		if (e->quiet >= QUIET_WINDOWS && !tuner->trial_begin(tuner))
			return limit_set(tuner, e, home,
					 "no messages need it any more",
					 now_ns);
	}
	/* No rank waits, so none would gain. */
	if (limit < home || e->window.looks < e->window.messages)
		return 0;
	bin = candidate(&e->window, limit, vm_tuner_control(tuner, e->most));
	return bin < 0 ? 0 : raise_to(tuner, e, (unsigned)bin, limit, now_ns);
}

/* Memory of packets, but for those that are ready for what arrives: how many
 * they are depends on the number of processes only. */
static uint64_t memory(vmpi_tuner *tuner, const struct eager *e)
{
	uint64_t all = vm_tuner_counter(tuner, e->pool);
	uint64_t ready = vm_tuner_counter(tuner, e->posted) *
			 (uint64_t)vm_tuner_control(tuner, e->packet);

	return all > ready ? all - ready : 0;
}

/* Too much packet memory brings the limit down, plenty of it back.  1: nothing
 * else matters now. */
static int memory_see(vmpi_tuner *tuner, struct eager *e, uint64_t now_ns)
{
	uint64_t bytes = memory(tuner, e);
	uint64_t budget = (uint64_t)vm_tuner_control(tuner, e->budget);
	int64_t limit = limit_now(tuner, e), home = home_now(e), target;
	char reason[REASON_BYTES];

	if (bytes <= budget) {
		e->ample = bytes < budget / 2 ? e->ample + 1 : 0;
		if (limit >= home || e->ample < MEMORY_TICKS || !e->tokens ||
		    tuner->trial_begin(tuner))
			return 0;
		e->tokens--;
		return limit_set(tuner, e, home, "there is memory again", now_ns) ?:
			       1;
	}
	e->ample = 0;
	if (e->trying)
		ban(tuner, e, e->bin, now_ns);
	e->trying = false;
	tuner->trial_end(tuner);
	limit = limit_now(tuner, e);
	if (limit <= LIMIT_LEAST ||
	    (e->memory_tick && e->tick - e->memory_tick < MEMORY_TICKS))
		return 1;
	target = limit > home ? home : limit / 2;
	e->memory_tick = e->tick;
	snprintf(reason, sizeof(reason),
		 "packets take %" PRIu64 " bytes, tune_memory is %" PRIu64,
		 bytes, budget);
	if (target < LIMIT_LEAST)
		target = LIMIT_LEAST;
	return limit_set(tuner, e, target, reason, now_ns) ?: 1;
}

/* So few messages in so long a time: older measurements mean nothing any
 * more. */
static int silence(vmpi_tuner *tuner, struct eager *e, uint64_t now_ns)
{
	if (vm_tuner_control(tuner, e->limit) <= e->home)
		return 0;
	return limit_set(tuner, e, home_now(e), "hardly any messages are sent",
			 now_ns);
}

static int eager_tick(vmpi_tuner *tuner, uint64_t now_ns)
{
	struct eager *e = tuner->state;
	uint64_t messages;
	int rc;

	e->tick++;
	e->times = times_now(tuner, e);
	if (e->tokens < TOKENS && e->tick - e->token_tick >= TOKEN_TICKS) {
		e->tokens++;
		e->token_tick = e->tick;
	}
	if (!e->window.began_ns)
		window_open(e, now_ns);
	messages = window_add(tuner, e, now_ns);
	rc = memory_see(tuner, e, now_ns);
	if (rc)
		return rc < 0 ? rc : 0;
	if (e->trying)
		return trial_go_on(tuner, e, messages, now_ns);
	if (window_is_full(e))
		rc = window_judge(tuner, e, now_ns);
	else if (e->window.slope.ticks < WINDOW_TICKS_MAX)
		return 0;
	else
		rc = silence(tuner, e, now_ns);
	window_open(e, now_ns);
	return rc;
}

/* A user or another policy has set the limit: it goes back to that later; or
 * another one has set something else. */
static int eager_event(vmpi_tuner *tuner, enum vmpi_policy_event event,
		       int number)
{
	struct eager *e = tuner->state;

	if (event == VMPI_POLICY_DISTURBED && e->trying)
		vm_trial_again(&e->trial);
	if (event != VMPI_POLICY_CHANGED || number != e->limit)
		return 0;
	tuner->trial_end(tuner);
	e->home = vm_tuner_control(tuner, e->limit);
	e->trying = false;
	e->quiet = e->ample = 0;
	tuner->log(tuner, "somebody else has set core_eager_limit: from there "
			  "on");
	return 0;
}

const struct vmpi_policy vm_policy_eager = {
	.abi = VMPI_POLICY_ABI,
	.name = "eager",
	.description = "sets core_eager_limit by the sizes and the rate of "
		       "messages to other processes and by packet memory",
	.start = eager_start,
	.tick = eager_tick,
	.event = eager_event,
	.end = eager_end,
};
