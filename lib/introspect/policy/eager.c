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

#include "introspect/policy/phase.h"
#include "introspect/policy/policies.h"
#include "introspect/policy/rates.h"
#include "introspect/policy/trial.h"
#include "introspect/vars/sizes.h"
#include "vmpi.h"

/*
 * Messages are counted by size (core_sizes_remote).  Where many are longer than
 * core_eager_limit, and ranks wait, a limit that takes in most of them is
 * tried (trial.h).  With too little gain in the rate of messages the limit goes
 * back, and is left alone for a time that doubles.  When no message needs the higher
 * limit any more it goes back.
 *
 * That holds for a phase of the program (phase.h), of which a few are remembered: a
 * limit that was worth it in one is taken at once when that phase comes again, and
 * left as soon as another one comes in which it was not.  A trial goes on with what
 * it knows already when its phase comes again.
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
#define PHASES 8
#define STRANGE_WINDOWS 2 /* in a row of another phase: it is one */
#define PACE_WINDOWS 8	  /* ... that is only faster or slower */
#define QUIET_WINDOWS 20  /* in which nobody needs a limit */
#define TOKENS 16
#define TOKEN_TICKS 50
#define BAN_TICKS 256 /* of a limit that was not worth it, at first */
#define BAN_TICKS_MAX (BAN_TICKS << 9)
#define CLEAR_LOSS -10 /* percent: left alone for so many times as long */
#define CLEAR_TIMES 8
#define CHECK_TICKS 3000 /* after which one that was is tried again, at first */
#define CHECK_TICKS_MAX (CHECK_TICKS << 6)
#define MEMORY_TICKS 100 /* between steps down for memory */
#define LIMIT_LEAST 1024 /* which memory may bring it to */
#define REASON_BYTES 120
#define MILLISECOND_NS UINT64_C(1000000)

enum verdict { UNKNOWN, GOOD, BAD };

struct window {
	struct vm_phase_count count;
	uint64_t looks, began_ns;
	struct vm_slope slope;
};

/* What the program does for a time, and what is known of a limit for it. */
struct phase {
	struct vm_phase is;
	unsigned bin; /* which that limit takes in */
	enum verdict verdict;
	uint64_t used;		       /* tick; 0: there is none */
	uint64_t until_ns, wait_ticks; /* the verdict holds so long */
	bool begun;		       /* the trial is */
	struct vm_trial trial;
};

struct eager {
	/* Numbers of variables. */
	int limit, net, shared, budget, most, gain; /* control */
	int packet, interval;
	int sizes, received, far, near, pool, posted, polls, found;
	int64_t times; /* as long messages as core_eager_limit says */
	uint64_t tick, tokens, token_tick;
	uint64_t seen[BINS], seen_received,
		seen_looks; /* up to the last tick */
	struct window window;
	struct phase phases[PHASES], *phase; /* that it is in; NULL: none */
	unsigned strange;     /* windows in a row of none that is known */
	int64_t home;	      /* the value that it goes back to */
	bool trying;	      /* what is to be known of `phase` */
	bool was_on;	      /* at the last tick of a trial */
	uint64_t cut_after;   /* ticks of a window; 0: there was a full one */
	uint64_t known_ticks; /* in which the rate was, without a trial */
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
	e->received = tuner->counter_find(tuner, "core_receives");
	e->far = tuner->counter_find(tuner, "core_socket_peers");
	e->near = tuner->counter_find(tuner, "core_shared_peers");
	e->posted = tuner->counter_find(tuner, "fabric_posted");
	e->pool = tuner->counter_find(tuner, "fabric_pool_bytes");
	e->polls = tuner->counter_find(tuner, "fabric_polls");
	e->found = tuner->counter_find(tuner, "fabric_polls_found");
	e->tokens = TOKENS;
	e->times = 1;
	if ((e->limit | e->net | e->shared | e->budget | e->most | e->gain |
	     e->packet | e->interval | e->sizes | e->received | e->far |
	     e->near | e->pool | e->posted | e->polls | e->found) < 0 ||
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

static uint64_t tick_ns(vmpi_tuner *tuner, const struct eager *e)
{
	return (uint64_t)vm_tuner_control(tuner, e->interval) * MILLISECOND_NS;
}

static bool is_raised(vmpi_tuner *tuner, const struct eager *e)
{
	return vm_tuner_control(tuner, e->limit) > e->home;
}

/* A new window begins. */
static void window_open(struct eager *e, uint64_t now_ns)
{
	e->window = (struct window){ .began_ns = now_ns };
}

/* What was counted since the last tick. */
static void tick_count(vmpi_tuner *tuner, struct eager *e,
		       struct vm_phase_count *count)
{
	uint64_t received = vm_tuner_counter(tuner, e->received);
	uint64_t sizes[BINS] = { 0 };

	*count = (struct vm_phase_count){ .ns = tick_ns(tuner, e) };
	if (tuner->total(tuner, e->sizes, sizes, BINS))
		return;
	for (unsigned i = 0; i < BINS; i++) {
		/* Ranks come and go with the runtime. */
		if (sizes[i] > e->seen[i])
			count->sizes[i] = sizes[i] - e->seen[i];
		count->sent += count->sizes[i];
		e->seen[i] = sizes[i];
	}
	if (received > e->seen_received)
		count->received = received - e->seen_received;
	e->seen_received = received;
}

/* Adds what was counted since the last tick, and returns the messages sent. */
static uint64_t window_add(vmpi_tuner *tuner, struct eager *e, uint64_t now_ns)
{
	struct vm_phase_count tick, *count = &e->window.count;
	uint64_t looks = vm_tuner_counter(tuner, e->polls) -
			 vm_tuner_counter(tuner, e->found);

	e->window.looks += looks - e->seen_looks;
	e->seen_looks = looks;
	tick_count(tuner, e, &tick);
	if (e->window.slope.ticks >= e->cut_after &&
	    vm_phase_begins(count, &tick)) {
		/* After windows that grow: it may be so all the time. */
		e->cut_after = 2 * e->window.slope.ticks + WINDOW_TICKS;
		window_open(e, now_ns);
		return tick.sent;
	}
	vm_phase_add(count, &tick);
	count->ns = now_ns - e->window.began_ns;
	vm_slope_add(&e->window.slope, count->ns, count->sent);
	return tick.sent;
}

static bool window_is_full(const struct eager *e)
{
	const struct window *window = &e->window;

	if (window->slope.ticks < WINDOW_TICKS ||
	    window->count.sent < WINDOW_MESSAGES)
		return false;
	return e->trying ? window->slope.ticks >= e->known_ticks :
			   vm_slope_known(&window->slope);
}

/* Messages of a window whose bin ends in (from, to]. */
static uint64_t between(const struct window *window, int64_t from, int64_t to)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < BINS; i++) {
		uint64_t bound = vm_size_bound(i);

		if (bound > (uint64_t)from && bound <= (uint64_t)to)
			count += window->count.sizes[i];
	}
	return count;
}

/* The bin up to which nearly all messages beyond the limit are; -1: few are. */
static int candidate(const struct window *window, int64_t limit, int64_t most)
{
	uint64_t all = between(window, limit, most), count = 0;

	if (all * MANY < window->count.sent || all == 0)
		return -1;
	for (unsigned i = 0; i < BINS; i++) {
		uint64_t bound = vm_size_bound(i);

		if (bound <= (uint64_t)limit)
			continue;
		count += window->count.sizes[i];
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

/* What is known of a limit for a phase holds for a time that doubles while it is
 * the same. */
static void know(vmpi_tuner *tuner, struct eager *e, enum verdict verdict,
		 uint64_t now_ns)
{
	uint64_t first = verdict == GOOD ? CHECK_TICKS : BAN_TICKS;
	uint64_t most = verdict == GOOD ? CHECK_TICKS_MAX : BAN_TICKS_MAX;
	struct phase *phase = e->phase;
	uint64_t ticks = phase->wait_ticks;

	/* A clear loss will hardly be a gain soon. */
	if (verdict == BAD && phase->trial.pairs &&
	    vm_trial_percent(&phase->trial) < CLEAR_LOSS)
		first *= CLEAR_TIMES;
	ticks = phase->verdict != verdict ? first :
		ticks < most		  ? ticks * 2 :
					    most;
	phase->verdict = verdict;
	phase->wait_ticks = ticks;
	phase->until_ns = vm_trial_later(now_ns, ticks * tick_ns(tuner, e));
}

/* The phase that a window is of, with messages up to a bin; NULL: none that is
 * known. */
static struct phase *phase_find(struct eager *e, unsigned bin, bool on)
{
	struct phase *nearest = NULL;
	double least = 1;

	for (struct phase *p = e->phases; p < e->phases + PHASES; p++) {
		double distance;

		if (!p->used || p->bin != bin)
			continue;
		distance = vm_phase_distance(&p->is, &e->window.count, on);
		if (distance < least) {
			least = distance;
			nearest = p;
		}
	}
	return nearest;
}

/* A new one, in the place of the one that was not seen for longest. */
static struct phase *phase_new(struct eager *e, unsigned bin, bool on)
{
	struct phase *phase = e->phases;

	for (struct phase *p = phase; p < e->phases + PHASES; p++)
		if (p->used < phase->used)
			phase = p;
	*phase = (struct phase){ .bin = bin };
	vm_phase_set(&phase->is, &e->window.count, on);
	return phase;
}

/* The limit for a phase: taken if it is known, else tried. */
static int raise_to(vmpi_tuner *tuner, struct eager *e, bool known,
		    uint64_t now_ns)
{
	int64_t target = (int64_t)vm_size_bound(e->phase->bin);
	int64_t home = home_now(e);
	char reason[REASON_BYTES];

	if (!e->tokens || tuner->trial_begin(tuner))
		return 0;
	e->tokens--;
	snprintf(reason, sizeof(reason),
		 "%" PRIu64 " of %" PRIu64 " messages have %" PRId64
		 " to %" PRId64 " bytes; %s",
		 between(&e->window, home, target), e->window.count.sent,
		 home + 1, target, known ? "known to be worth it" : "a trial");
	e->trying = !known;
	e->known_ticks = e->window.slope.ticks;
	if (e->trying && e->phase->begun)
		vm_trial_resume(&e->phase->trial, now_ns);
	else if (e->trying)
		vm_trial_begin(&e->phase->trial, e->phase->bin,
			       tick_ns(tuner, e), e->known_ticks, now_ns);
	e->phase->begun |= e->trying;
	e->was_on = false;
	return limit_set(tuner, e, target, reason, now_ns);
}

/* The end of a trial, well or not. */
static int trial_end(vmpi_tuner *tuner, struct eager *e, enum vm_trial_end end,
		     uint64_t now_ns)
{
	struct phase *phase = e->phase;
	bool kept = end == VM_TRIAL_GAIN ||
		    (phase->verdict == GOOD && end != VM_TRIAL_NO_GAIN);
	char text[REASON_BYTES];

	snprintf(text, sizeof(text),
		 "%+.1f %% messages/s with a limit of %" PRIu64
		 " bytes, of %u pairs of slots: %s",
		 vm_trial_percent(&phase->trial), vm_size_bound(phase->bin),
		 phase->trial.pairs, vm_trial_verdict(end));
	e->trying = false;
	/* Of a phase that has ended it goes on when that comes again. */
	phase->begun = end == VM_TRIAL_SILENCE;
	know(tuner, e, kept ? GOOD : BAD, now_ns);
	if (!kept)
		return limit_set(tuner, e, home_now(e), text, now_ns);
	tuner->trial_end(tuner);
	tuner->log(tuner, text);
	limit_changed(e, now_ns);
	return 0;
}

/* The program does something else: the trial waits until it comes again. */
static int trial_leave(vmpi_tuner *tuner, struct eager *e, uint64_t now_ns)
{
	e->trying = false;
	e->phase = NULL;
	return limit_set(tuner, e, home_now(e),
			 "the messages it was for have ended", now_ns);
}

/* A full window of a trial, without or with the limit: is it still that phase?  One
 * that is only much faster or slower may be a busy machine's: its pair of slots says
 * nothing, but the trial goes on. */
static bool trial_sees(struct eager *e)
{
	int64_t target = (int64_t)vm_size_bound(e->phase->bin);
	const struct vm_phase_count *count = &e->window.count;
	struct vm_phase *is = &e->phase->is;
	bool alike = between(&e->window, home_now(e), target) &&
		     vm_phase_alike(is, count);

	if (!alike || vm_phase_distance(is, count, e->was_on) > 1)
		vm_trial_spoil(&e->phase->trial);
	if (!alike)
		return ++e->strange < STRANGE_WINDOWS;
	vm_phase_follow(is, count, e->was_on);
	e->strange = 0;
	return true;
}

/* A tick of a trial, in which so many messages were sent. */
static int trial_go_on(vmpi_tuner *tuner, struct eager *e, uint64_t messages,
		       uint64_t now_ns)
{
	struct vm_trial *trial = &e->phase->trial;
	int64_t target = (int64_t)vm_size_bound(e->phase->bin);
	enum vm_trial_end end;

	e->phase->used = e->tick;
	if (window_is_full(e)) {
		e->cut_after = 0;
		if (!trial_sees(e))
			return trial_leave(tuner, e, now_ns);
		window_open(e, now_ns);
	}
	end = vm_trial_tick(trial, now_ns, messages,
			    vm_tuner_control(tuner, e->gain));
	if (end != VM_TRIAL_GOES_ON)
		return trial_end(tuner, e, end, now_ns);
	if (trial->on != e->was_on)
		window_open(e, now_ns);
	e->was_on = trial->on;
	return tuner->alternate(tuner, e->limit,
				value_of(e, trial->on ? target : home_now(e)));
}

/* What is known of the phase that it is in, or a trial. */
static int phase_take(vmpi_tuner *tuner, struct eager *e, uint64_t now_ns)
{
	const struct phase *phase = e->phase;
	int64_t limit = limit_now(tuner, e);
	bool holds = phase->verdict != UNKNOWN && now_ns < phase->until_ns;
	bool raised = is_raised(tuner, e);

	if (phase->verdict == GOOD &&
	    limit != (int64_t)vm_size_bound(phase->bin))
		return raise_to(tuner, e, true, now_ns);
	if (holds && phase->verdict == BAD && raised &&
	    !tuner->trial_begin(tuner))
		return limit_set(
			tuner, e, home_now(e),
			"known not to be worth it for what is sent now",
			now_ns);
	/* No rank waits, so none would gain. */
	if (holds || (!raised && e->window.looks < e->window.count.sent))
		return 0;
	return raise_to(tuner, e, false, now_ns);
}

/* How many windows in a row show that the program is in another phase: in one that
 * is known, or (NULL) a new one. */
static unsigned windows_of(const struct eager *e, const struct phase *phase,
			   unsigned bin)
{
	if (e->phase->bin == bin &&
	    vm_phase_alike(&e->phase->is, &e->window.count))
		return PACE_WINDOWS;
	return phase ? 1 : STRANGE_WINDOWS;
}

/* A window without a trial. */
static int window_judge(vmpi_tuner *tuner, struct eager *e, uint64_t now_ns)
{
	int64_t limit = limit_now(tuner, e), home = home_now(e);
	bool raised = is_raised(tuner, e);
	struct phase *phase;
	int bin;

	e->cut_after = 0;
	if (limit > home) {
		e->quiet = between(&e->window, home, limit) * MANY <
					   e->window.count.sent ?
				   e->quiet + 1 :
				   0;
		if (e->quiet >= QUIET_WINDOWS && !tuner->trial_begin(tuner))
			return limit_set(tuner, e, home,
					 "no messages need it any more",
					 now_ns);
	}
	bin = candidate(&e->window, home, vm_tuner_control(tuner, e->most));
	if (limit < home || bin < 0)
		return 0;
	phase = phase_find(e, (unsigned)bin, raised);
	if (e->phase && phase != e->phase &&
	    ++e->strange < windows_of(e, phase, (unsigned)bin))
		return 0;
	e->strange = 0;
	e->phase = phase ? phase : phase_new(e, (unsigned)bin, raised);
	e->phase->used = e->tick;
	vm_phase_follow(&e->phase->is, &e->window.count, raised);
	return phase_take(tuner, e, now_ns);
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
		know(tuner, e, BAD, now_ns);
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
		vm_trial_again(&e->phase->trial);
	if (event != VMPI_POLICY_CHANGED || number != e->limit)
		return 0;
	tuner->trial_end(tuner);
	e->home = vm_tuner_control(tuner, e->limit);
	memset(e->phases, 0, sizeof(e->phases));
	e->phase = NULL;
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
