/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policy pool: returns unused packet memory.
 *
 * It sets the variable at most once per check, and not again in that direction
 * for a time that doubles when that was wrong: so it cannot oscillate.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "introspect/policy/policies.h"
#include "introspect/policy/rates.h"
#include "vmpi.h"

/*
 * The unused part is the memory less the recent peak of use, for each size of
 * packets (fabric_pool_packets, fabric_pool_peak).  Where it is large twice in
 * a row, ports keep none of it (fabric_pool_keep), until they have to allocate
 * memory again: then it was needed after all, and it is left alone for a time
 * that doubles.  Ports that allocate and return memory all the time keep more
 * instead, as far as tune_memory allows.
 */

#define CLASSES 9
#define LOOK_NS \
	UINT64_C(1500000000) /* ports look over their memory each second */
#define LOOKS 2		     /* in a row that say the same */
#define UNUSED_PART 4	     /* a quarter is worth it */
#define CHURN 8		     /* slabs got between two looks */
#define KEEP_MOST 16
#define REST_LOOKS 2
#define REST_LOOKS_MAX 1000

/* How a change of one direction is held back. */
struct rest {
	uint64_t until, looks;
};

struct pool {
	int keep, packet, budget;		  /* control */
	int packets, peak, grows, shrinks, bytes; /* counters */
	int posted;
	uint64_t size[CLASSES]; /* bytes of a packet, about */
	uint64_t look, look_ns;
	uint64_t grown, shrunk; /* up to the last look */
	unsigned unused_looks, churn_looks, calm_looks;
	struct rest lower, raise;
	int64_t home;
};

static int pool_start(vmpi_tuner *tuner)
{
	struct pool *p = calloc(1, sizeof(*p));
	int64_t packet;

	if (!p)
		return -VMPI_ENOMEM;
	p->keep = tuner->control_find(tuner, "fabric_pool_keep");
	p->packet = tuner->control_find(tuner, "fabric_packet_bytes");
	p->budget = tuner->control_find(tuner, "tune_memory");
	p->packets = tuner->counter_find(tuner, "fabric_pool_packets");
	p->peak = tuner->counter_find(tuner, "fabric_pool_peak");
	p->grows = tuner->counter_find(tuner, "fabric_pool_grows");
	p->shrinks = tuner->counter_find(tuner, "fabric_pool_shrinks");
	p->bytes = tuner->counter_find(tuner, "fabric_pool_bytes");
	p->posted = tuner->counter_find(tuner, "fabric_posted");
	if ((p->keep | p->packet | p->budget | p->packets | p->peak | p->grows |
	     p->shrinks | p->bytes | p->posted) < 0 ||
	    tuner->control_read(tuner, p->keep, &p->home) ||
	    tuner->control_read(tuner, p->packet, &packet)) {
		free(p);
		return -VMPI_ENOENT;
	}
	p->size[0] = 256;
	p->size[1] = 2048;
	p->size[2] = (uint64_t)packet;
	for (int i = 3; i < CLASSES; i++)
		p->size[i] = UINT64_C(32768) << (i - 3);
	p->lower.looks = p->raise.looks = REST_LOOKS;
	tuner->state = p;
	return 0;
}

static void pool_end(vmpi_tuner *tuner)
{
	free(tuner->state);
	tuner->state = NULL;
}

/* The bytes that exist, and those not in use even at the peak. */
static uint64_t unused(vmpi_tuner *tuner, const struct pool *p, uint64_t *all)
{
	uint64_t packets[CLASSES] = { 0 }, peak[CLASSES] = { 0 };
	uint64_t idle = 0;

	*all = 0;
	if (tuner->total(tuner, p->packets, packets, CLASSES) ||
	    tuner->total(tuner, p->peak, peak, CLASSES))
		return 0;
	for (int i = 0; i < CLASSES; i++) {
		*all += packets[i] * p->size[i];
		if (packets[i] > peak[i])
			idle += (packets[i] - peak[i]) * p->size[i];
	}
	return idle;
}

static int keep_set(vmpi_tuner *tuner, struct pool *p, int64_t keep,
		    const char *reason)
{
	int rc;

	/* Not while another policy measures: at a later look. */
	if (tuner->trial_begin(tuner))
		return 0;
	rc = keep == p->home ? tuner->revert(tuner, p->keep, reason) :
			       tuner->write(tuner, p->keep, keep, reason);
	tuner->trial_end(tuner);
	p->unused_looks = p->churn_looks = p->calm_looks = 0;
	return rc < 0 ? rc : 0;
}

/* That was wrong: not again for a while. */
static void rest_longer(struct pool *p, struct rest *rest)
{
	rest->looks *= 2;
	if (rest->looks > REST_LOOKS_MAX)
		rest->looks = REST_LOOKS_MAX;
	rest->until = p->look + rest->looks;
}

/* Handles ports that allocate memory: they keep too little. */
static int churn_see(vmpi_tuner *tuner, struct pool *p, int64_t keep,
		     uint64_t got)
{
	uint64_t ready = vm_tuner_counter(tuner, p->posted) * p->size[2];
	uint64_t bytes = vm_tuner_counter(tuner, p->bytes);
	char reason[120];
	int64_t budget = 0;

	snprintf(reason, sizeof(reason),
		 "memory was allocated %" PRIu64 " times since the last look",
		 got);
	if (keep < p->home) {
		rest_longer(p, &p->lower);
		return keep_set(tuner, p, p->home, reason);
	}
	tuner->control_read(tuner, p->budget, &budget);
	if (++p->churn_looks < LOOKS || p->look < p->raise.until ||
	    keep >= KEEP_MOST || bytes > ready + (uint64_t)budget)
		return 0;
	return keep_set(tuner, p, keep < 1 ? 1 : keep * 2, reason);
}

/* Handles ports that need no more memory: some may be too much. */
static int calm_see(vmpi_tuner *tuner, struct pool *p, int64_t keep)
{
	uint64_t all, idle = unused(tuner, p, &all);
	char reason[120];

	if (idle * UNUSED_PART < all || !idle)
		p->unused_looks = 0;
	else
		p->unused_looks++;
	if (p->unused_looks < LOOKS || !keep || p->look < p->lower.until)
		return 0;
	snprintf(reason, sizeof(reason),
		 "%" PRIu64 " of %" PRIu64 " bytes of packets were not used",
		 idle, all);
	if (keep > p->home) {
		rest_longer(p, &p->raise);
		return keep_set(tuner, p, p->home, reason);
	}
	return keep_set(tuner, p, 0, reason);
}

static int pool_tick(vmpi_tuner *tuner, uint64_t now_ns)
{
	struct pool *p = tuner->state;
	uint64_t grown, shrunk, got, given;
	int64_t keep = 0;

	if (p->look_ns && now_ns - p->look_ns < LOOK_NS)
		return 0;
	p->look_ns = now_ns;
	p->look++;
	grown = vm_tuner_counter(tuner, p->grows);
	shrunk = vm_tuner_counter(tuner, p->shrinks);
	got = grown > p->grown ? grown - p->grown : 0;
	given = shrunk > p->shrunk ? shrunk - p->shrunk : 0;
	p->grown = grown;
	p->shrunk = shrunk;
	tuner->control_read(tuner, p->keep, &keep);
	/* The first look sees what the start has got. */
	if (p->look == 1)
		return 0;
	/* More memory for more work is no reason: it must have been there
	 * before. */
	if (got >= CHURN && (keep < p->home || given >= CHURN))
		return churn_see(tuner, p, keep, got);
	p->churn_looks = 0;
	return calm_see(tuner, p, keep);
}

static int pool_event(vmpi_tuner *tuner, enum vmpi_policy_event event,
		      int number)
{
	struct pool *p = tuner->state;

	if (event == VMPI_POLICY_CHANGED && number == p->keep)
		tuner->control_read(tuner, p->keep, &p->home);
	return 0;
}

const struct vmpi_policy vm_policy_pool = {
	.abi = VMPI_POLICY_ABI,
	.name = "pool",
	.description =
		"sets fabric_pool_keep by how much packet memory is used",
	.start = pool_start,
	.tick = pool_tick,
	.event = pool_event,
	.end = pool_end,
};
