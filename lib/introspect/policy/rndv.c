/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policy rndv: the protocol of long messages from each other process, by which
 * side of the pair is late.
 *
 * It cannot oscillate: a set changes once in CHANGE_TICKS at most, for all
 * processes together, and whatever was of no use is left alone for times that
 * double.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "introspect/policy/policies.h"
#include "introspect/policy/rates.h"
#include "introspect/policy/trial.h"
#include "vmpi.h"

/*
 * The side that reaches a message first probably waits for it in the library,
 * and can move the data; the late side goes on computing.  If the sender is
 * late, the receiver reads, which is what auto does anyway.  If the receiver is
 * late, the sender is asked to write (core_rndv_write_from), so that it is done
 * without the receiver.  If both are late in turn, pieces are tried
 * (core_rndv_pipeline_from).
 *
 * A guess is not enough: each change is a trial (trial.h), which the rate of long
 * messages of that process decides.  A change that gains too little is reverted
 * and left alone for a time that doubles; one that was worth it is taken at once
 * the next time.
 *
 * A protocol changes which side is late.  So a process goes back to auto not
 * for how late receives are with its protocol, but when this differs from what
 * it was at first: the application does something else.  Where with its
 * protocol receives are not late as they were with auto, that could happen
 * unseen: such a process tries auto for a moment, after times that double.
 * Where lateness changes again and again in a short time, the process stays
 * with auto for a time that doubles.
 */

#define PLACES 63 /* of processes in a set: core/remote/peer_stats.h */
#define WINDOW_TICKS 5
#define WINDOW_MESSAGES 8
#define WINDOW_TICKS_MAX 1000 /* then a window is forgotten */
#define CHANGE_TICKS 20
#define LEAVE_WINDOWS 2	 /* in a row in which lateness is another one */
#define LEAVE_PERCENT 40 /* that it differs by */
#define SHORT_TICKS 200	 /* after which a change is none of a swing */
#define AUTO_WINDOWS 2	 /* before a trial */
#define BAN_TICKS 256
#define CHECK_TICKS 200
#define BAN_TICKS_MAX (BAN_TICKS << 9)
#define CHECK_TICKS_MAX 100000
#define TRIAL_MESSAGES 4 /* of a slot say which side is late */
#define TRIALS_SEED 1000 /* beside those of other policies */
#define MILLISECOND_NS UINT64_C(1000000)
#define REASON_BYTES 120

enum way { WAY_AUTO, WAY_WRITE, WAY_PIECES, WAYS };

/* Percent of messages for which the receiver is late, with auto: in this range
 * a protocol is tried. */
static const struct {
	const char *variable, *name;
	unsigned from, to;
} ways[WAYS] = {
	[WAY_AUTO] = { NULL, "auto", 0, 100 },
	[WAY_WRITE] = { "core_rndv_write_from", "write", 75, 100 },
	[WAY_PIECES] = { "core_rndv_pipeline_from", "pieces", 35, 65 },
};

/* The knowledge about a protocol for a process. */
struct known {
	bool good;
	unsigned late; /* of receives by this way, in percent */
	uint64_t banned_until_ns, ban_ticks;
	uint64_t taken;	      /* when it was taken last */
	uint64_t check_ticks; /* after which auto is tried */
};

struct pair {
	uint64_t seen[2]; /* sender late, receiver late: up to the last tick */
	/* The window. */
	uint64_t messages, late, began_ns;
	struct vm_slope slope;
	unsigned windows;     /* by this way */
	unsigned late_before; /* in the last window */
	unsigned strange;
	enum way way; /* what it is to be */
	bool applied; /* the set says so */
	bool trying, begun;
	uint64_t ticks;			   /* in which its rate was known */
	uint64_t auto_messages, auto_late; /* of a slot without it */
	struct vm_trial trial;
	struct known known[WAYS];
};

struct rndv {
	int control[WAYS], protocol, gain, interval, counter[2];
	int64_t home[WAYS]; /* sets as others want them */
	int64_t set[WAYS];  /* what was decided on */
	uint64_t tick, changed[WAYS];
	uint64_t now_ns, tick_ns;
	int places; /* up to the last one from which something has come */
	struct pair pairs[PLACES];
	char reason[WAYS][REASON_BYTES];
};

static int rndv_start(vmpi_tuner *tuner)
{
	struct rndv *r = calloc(1, sizeof(*r));
	int missing;

	if (!r)
		return -VMPI_ENOMEM;
	r->protocol = tuner->control_find(tuner, "core_rndv_protocol");
	r->gain = tuner->control_find(tuner, "tune_gain");
	r->interval = tuner->control_find(tuner, "tune_interval_ms");
	r->counter[0] = tuner->counter_find(tuner, "core_rndv_sender_late");
	r->counter[1] = tuner->counter_find(tuner, "core_rndv_receiver_late");
	missing = r->protocol | r->gain | r->interval | r->counter[0] |
		  r->counter[1];
	for (int way = WAY_WRITE; way < WAYS; way++) {
		r->control[way] =
			tuner->control_find(tuner, ways[way].variable);
		missing |= r->control[way];
		if (missing >= 0)
			tuner->control_read(tuner, r->control[way],
					    &r->home[way]);
		r->set[way] = r->home[way];
	}
	if (missing < 0) {
		free(r);
		return -VMPI_ENOENT;
	}
	for (int i = 0; i < PLACES; i++)
		r->pairs[i].applied = true;
	tuner->state = r;
	return 0;
}

static void rndv_end(vmpi_tuner *tuner)
{
	free(tuner->state);
	tuner->state = NULL;
}

static void window_open(struct pair *pair, uint64_t now_ns)
{
	pair->messages = pair->late = 0;
	pair->began_ns = now_ns;
	pair->slope = (struct vm_slope){ 0 };
}

static bool window_is_full(const struct pair *pair)
{
	return pair->slope.ticks >= WINDOW_TICKS &&
	       pair->messages >= WINDOW_MESSAGES &&
	       vm_slope_known(&pair->slope);
}

/* Changes the protocol of the pair; earlier measurements were made with the one
 * before. */
static void way_take(struct pair *pair, enum way way)
{
	pair->way = way;
	pair->applied = pair->trying = pair->begun = false;
	pair->windows = pair->strange = 0;
}

static unsigned percent(uint64_t part, uint64_t all)
{
	return all ? (unsigned)(part * 100 / all) : 0;
}

/* For how many percent of its messages the receiver was late. */
static unsigned window_late(const struct pair *pair)
{
	return percent(pair->late, pair->messages);
}

/* It is left alone for a time, each time twice as long. */
static void rest(const struct rndv *r, struct known *known)
{
	uint64_t ticks = known->ban_ticks;

	ticks = ticks == 0	      ? BAN_TICKS :
		ticks < BAN_TICKS_MAX ? ticks * 2 :
					BAN_TICKS_MAX;
	known->ban_ticks = ticks;
	known->banned_until_ns = vm_trial_later(r->now_ns, ticks * r->tick_ns);
}

/* Whether a way is for such lateness. */
static bool way_fits(enum way way, unsigned late)
{
	return late >= ways[way].from && late <= ways[way].to;
}

/* Judges a window of auto: is there a protocol that fits the lateness?  A trial
 * needs two of them, since one may be of two phases of the program. */
static void auto_judge(struct rndv *r, int place, unsigned late)
{
	struct pair *pair = &r->pairs[place];
	unsigned before = pair->late_before;
	bool soon = pair->windows < AUTO_WINDOWS;

	pair->late_before = late;
	for (int way = WAY_WRITE; way < WAYS; way++) {
		struct known *known = &pair->known[way];
		bool tries = !known->good;

		if (!way_fits((enum way)way, late) ||
		    r->now_ns < known->banned_until_ns ||
		    (tries && (soon || !way_fits((enum way)way, before))))
			continue;
		way_take(pair, (enum way)way);
		pair->trying = tries;
		known->taken = r->tick;
		snprintf(r->reason[way], REASON_BYTES,
			 "process %d: receives came late for %u %% of %" PRIu64
			 " long messages: %s",
			 place, late, pair->messages,
			 known->good ? "known to be worth it" : "a trial");
		return;
	}
}

static void trial_judge(vmpi_tuner *tuner, struct rndv *r, int place,
			enum vm_trial_end end)
{
	struct pair *pair = &r->pairs[place];
	struct known *known = &pair->known[pair->way];
	enum way way = pair->way;

	pair->trying = false;
	pair->windows = AUTO_WINDOWS;
	known->good = end == VM_TRIAL_GAIN;
	snprintf(r->reason[way], REASON_BYTES,
		 "process %d: %+.1f %% long messages/s by %s, of %u pairs of "
		 "slots: %s",
		 place, vm_trial_percent(&pair->trial), ways[way].name,
		 pair->trial.pairs, vm_trial_verdict(end));
	known->late = window_late(pair);
	known->check_ticks = CHECK_TICKS;
	if (known->good) {
		known->ban_ticks = 0;
		tuner->log(tuner, r->reason[way]);
		return;
	}
	rest(r, known);
	way_take(pair, WAY_AUTO);
}

/* Not as it was at first by this way; late is in percent. */
static bool is_strange(const struct pair *pair, unsigned late)
{
	unsigned before = pair->known[pair->way].late;

	return late > before + LEAVE_PERCENT || late + LEAVE_PERCENT < before;
}

/* Whether auto might not lead to it any more, as far as can be seen. */
static bool is_doubtful(const struct rndv *r, const struct pair *pair,
			unsigned late)
{
	const struct known *known = &pair->known[pair->way];

	return !way_fits(pair->way, late) &&
	       r->tick - known->taken >= known->check_ticks;
}

/* Tries auto for a moment; a protocol that is worth it is taken again at
 * once. */
static void way_check(struct rndv *r, int place, unsigned late)
{
	struct pair *pair = &r->pairs[place];
	struct known *known = &pair->known[pair->way];

	snprintf(
		r->reason[pair->way], REASON_BYTES,
		"process %d: receives come late for %u %%: to see whether they "
		"do by auto",
		place, late);
	if (known->check_ticks < CHECK_TICKS_MAX)
		known->check_ticks *= 2;
	way_take(pair, WAY_AUTO);
}

/* Leaves a protocol that had been kept. */
static void way_leave(struct rndv *r, int place, unsigned late)
{
	struct pair *pair = &r->pairs[place];
	struct known *known = &pair->known[pair->way];

	snprintf(r->reason[pair->way], REASON_BYTES,
		 "process %d: receives come late for %u %%, no more for %u %%",
		 place, late, known->late);
	if (r->tick - known->taken < SHORT_TICKS)
		rest(r, known);
	else
		known->ban_ticks = 0;
	known->check_ticks = CHECK_TICKS;
	way_take(pair, WAY_AUTO);
}

/* A window without a trial is full. */
static void window_judge(struct rndv *r, int place)
{
	struct pair *pair = &r->pairs[place];
	unsigned late = window_late(pair);
	enum way way = pair->way;
	bool soon = pair->windows < AUTO_WINDOWS;

	pair->windows++;
	if (way == WAY_AUTO) {
		pair->ticks = pair->slope.ticks;
		auto_judge(r, place, late);
		return;
	}
	/* Taken again: the first window may be of both ways. */
	if (soon) {
		pair->known[way].late = late;
		return;
	}
	pair->strange = is_strange(pair, late) ? pair->strange + 1 : 0;
	if (pair->strange >= LEAVE_WINDOWS)
		way_leave(r, place, late);
	else if (is_doubtful(r, pair, late))
		way_check(r, place, late);
}

/* Counts which side is late, while the way is taken.  In the slots of auto it says
 * whether the program still does what the way is for. */
static void trial_see(struct pair *pair, uint64_t messages, uint64_t late)
{
	if (!pair->trial.began_ns) {
		pair->auto_messages = pair->auto_late = 0;
		return;
	}
	if (pair->trial.on) {
		pair->messages += messages;
		pair->late += late;
		return;
	}
	pair->auto_messages += messages;
	pair->auto_late += late;
	if (pair->auto_messages >= TRIAL_MESSAGES &&
	    !way_fits(pair->way, percent(pair->auto_late, pair->auto_messages)))
		vm_trial_spoil(&pair->trial);
}

static void trial_tick(vmpi_tuner *tuner, struct rndv *r, int place,
		       uint64_t messages, uint64_t late)
{
	struct pair *pair = &r->pairs[place];
	enum vm_trial_end end;

	if (!pair->begun) {
		vm_trial_begin(&pair->trial, TRIALS_SEED + pair->way,
			       r->tick_ns, pair->ticks, r->now_ns);
		pair->begun = true;
		window_open(pair, r->now_ns);
	}
	end = vm_trial_tick(&pair->trial, r->now_ns, messages,
			    vm_tuner_control(tuner, r->gain));
	if (end == VM_TRIAL_GOES_ON)
		trial_see(pair, messages, late);
	else
		trial_judge(tuner, r, place, end);
}

static void pair_tick(vmpi_tuner *tuner, struct rndv *r, int place,
		      const uint64_t now[2])
{
	struct pair *pair = &r->pairs[place];
	uint64_t sender = now[0] - pair->seen[0];
	uint64_t receiver = now[1] - pair->seen[1];
	uint64_t now_ns = r->now_ns;

	pair->seen[0] = now[0];
	pair->seen[1] = now[1];
	/* These messages may still have been asked for by the protocol
	 * before. */
	if (!pair->applied || !pair->began_ns) {
		window_open(pair, now_ns);
		return;
	}
	if (pair->trying) {
		trial_tick(tuner, r, place, sender + receiver, receiver);
		return;
	}
	pair->messages += sender + receiver;
	pair->late += receiver;
	vm_slope_add(&pair->slope, now_ns - pair->began_ns, pair->messages);
	if (window_is_full(pair))
		window_judge(r, place);
	else if (pair->slope.ticks < WINDOW_TICKS_MAX)
		return;
	else if (pair->way != WAY_AUTO && !pair->messages)
		way_take(pair, WAY_AUTO); /* it sends no more */
	window_open(pair, now_ns);
}

/* The processes whose long messages are to come by a way. */
static int64_t set_of(const struct rndv *r, enum way way)
{
	int64_t set = r->home[way];

	for (int i = 0; i < r->places; i++)
		if (r->pairs[i].way == way)
			set |= INT64_C(1) << i;
	return set;
}

/* What it is at this moment: without those for which a trial has left it. */
static int64_t set_for_now(const struct rndv *r, enum way way)
{
	int64_t set = r->set[way];

	for (int i = 0; i < r->places; i++) {
		const struct pair *pair = &r->pairs[i];

		if (pair->way == way && pair->trying &&
		    !(pair->begun && pair->trial.on))
			set &= ~(INT64_C(1) << i) | r->home[way];
	}
	return set;
}

/* Gives the set of a way its members, if that is due. */
static int set_apply(vmpi_tuner *tuner, struct rndv *r, enum way way)
{
	int64_t set = set_of(r, way);

	if (set == r->set[way])
		return 0;
	if (r->changed[way] && r->tick - r->changed[way] < CHANGE_TICKS)
		return 1;
	r->changed[way] = r->tick;
	r->set[way] = set;
	if (!r->reason[way][0])
		snprintf(r->reason[way], REASON_BYTES,
			 "long messages have ended");
	if (set == r->home[way])
		return tuner->revert(tuner, r->control[way], r->reason[way]);
	return tuner->write(tuner, r->control[way], set, r->reason[way]);
}

static bool sets_are_due(const struct rndv *r)
{
	for (int way = WAY_WRITE; way < WAYS; way++)
		if (set_of(r, (enum way)way) != r->set[way])
			return true;
	return false;
}

static void trials_leave(struct rndv *r)
{
	for (int i = 0; i < r->places; i++)
		if (r->pairs[i].trying)
			way_take(&r->pairs[i], WAY_AUTO);
}

static bool somebody_tries(const struct rndv *r)
{
	for (int i = 0; i < r->places; i++)
		if (r->pairs[i].trying)
			return true;
	return false;
}

/* Those for which a way is tried have it or not. */
static int sets_alternate(vmpi_tuner *tuner, const struct rndv *r)
{
	int rc = 0;

	for (int way = WAY_WRITE; way < WAYS && !rc; way++)
		if (set_for_now(r, (enum way)way) !=
		    vm_tuner_control(tuner, r->control[way]))
			rc = tuner->alternate(tuner, r->control[way],
					      set_for_now(r, (enum way)way));
	return rc;
}

/* The processes that have a new way get it, all trials at once; not while
 * another policy has one. */
static int sets_apply(vmpi_tuner *tuner, struct rndv *r)
{
	int write, pieces;

	if (sets_are_due(r) && tuner->trial_begin(tuner))
		return 0;
	write = set_apply(tuner, r, WAY_WRITE);
	pieces = set_apply(tuner, r, WAY_PIECES);
	if (write < 0 || pieces < 0)
		return write < 0 ? write : pieces;
	for (int i = 0; i < r->places && !write && !pieces; i++)
		r->pairs[i].applied = true;
	if (somebody_tries(r))
		return sets_alternate(tuner, r);
	if (!write && !pieces)
		tuner->trial_end(tuner);
	return 0;
}

static int rndv_tick(vmpi_tuner *tuner, uint64_t now_ns)
{
	uint64_t sender[PLACES] = { 0 }, receiver[PLACES] = { 0 };
	struct rndv *r = tuner->state;

	r->tick++;
	r->now_ns = now_ns;
	r->tick_ns =
		(uint64_t)vm_tuner_control(tuner, r->interval) * MILLISECOND_NS;
	/* The user has chosen one for all. */
	if (vm_tuner_control(tuner, r->protocol)) {
		trials_leave(r);
		tuner->trial_end(tuner);
		return 0;
	}
	if (tuner->total(tuner, r->counter[0], sender, PLACES) ||
	    tuner->total(tuner, r->counter[1], receiver, PLACES))
		return 0;
	for (int i = 0; i < PLACES; i++) {
		uint64_t now[2] = { sender[i], receiver[i] };

		/* Processes that send nothing; most of 63 places never have. */
		if (now[0] + now[1] && i >= r->places)
			r->places = i + 1;
		if (i >= r->places)
			continue;
		/* Counters that begin anew. */
		if (now[0] < r->pairs[i].seen[0] ||
		    now[1] < r->pairs[i].seen[1])
			memset(r->pairs[i].seen, 0, sizeof(r->pairs[i].seen));
		if (now[0] + now[1])
			pair_tick(tuner, r, i, now);
	}
	return sets_apply(tuner, r);
}

/* What was measured before does not count; trials that have not begun do not
 * begin. */
static void disturbed(struct rndv *r)
{
	for (int i = 0; i < r->places; i++) {
		struct pair *pair = &r->pairs[i];

		if (pair->trying && !pair->applied)
			way_take(pair, WAY_AUTO);
		if (pair->trying && pair->begun)
			vm_trial_again(&pair->trial);
		pair->windows = 0;
	}
}

/* A set was set by something else: its members stay, ours start again. */
static int rndv_event(vmpi_tuner *tuner, enum vmpi_policy_event event,
		      int number)
{
	struct rndv *r = tuner->state;

	if (event == VMPI_POLICY_DISTURBED)
		disturbed(r);
	for (int way = WAY_WRITE; event == VMPI_POLICY_CHANGED && way < WAYS;
	     way++) {
		if (number != r->control[way])
			continue;
		r->home[way] = r->set[way] = vm_tuner_control(tuner, number);
		for (int i = 0; i < r->places; i++)
			if (r->pairs[i].way == (enum way)way)
				way_take(&r->pairs[i], WAY_AUTO);
	}
	return 0;
}

const struct vmpi_policy vm_policy_rndv = {
	.abi = VMPI_POLICY_ABI,
	.name = "rndv",
	.description =
		"chooses the rendezvous protocol for each sending "
		"process, by whether its sends or our receives come late",
	.start = rndv_start,
	.tick = rndv_tick,
	.event = rndv_event,
	.end = rndv_end,
};
