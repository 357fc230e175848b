/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends and receives are paired by key and order, which does not depend on
 * clocks. A host is aligned with one that is aligned, beginning with the first.
 */
#include "report/trace/clock.h"

#include <stdlib.h>

#include "report/trace/pair.h"

#define HALVES 2
#define MESSAGES_LEAST 4 /* each way, in each half */

/* The messages of a half from one host to another. */
struct way {
	int64_t least;	    /* its duration by both clocks */
	int64_t sent, came; /* its times, by the one and the other */
	unsigned count;
};

/* The lead of a clock at the time t of another one: ns + rate * t. */
struct ahead {
	double ns, rate;
};

struct clocks {
	struct vm_trace_tracks *tracks;
	struct way *ways; /* [hosts * hosts][HALVES] */
	struct ahead *ahead;
	bool *set;
	struct vm_trace_table sends, matches;
};

static struct way *way_of(const struct clocks *clocks, int from, int to)
{
	return &clocks->ways[(from * clocks->tracks->hosts + to) * HALVES];
}

/* value is the host, ns the time of each. */
static void message(const struct clocks *clocks,
		    const struct vm_trace_half *send,
		    const struct vm_trace_half *match, int half)
{
	struct way *way = way_of(clocks, (int)send->value, (int)match->value);
	int64_t ns = match->ns - send->ns;

	way += half;
	if (!way->count || ns < way->least) {
		way->least = ns;
		way->sent = send->ns;
		way->came = match->ns;
	}
	way->count++;
}

static int record_take(struct clocks *clocks,
		       const struct vm_trace_record *record,
		       const struct vm_trace_track *track, int64_t ns, int half)
{
	struct vm_trace_key key = vm_trace_key_of(record);
	struct vm_trace_half other,
		one = { .ns = ns, .value = (uint64_t)track->part->host };
	bool send = record->kind == VM_TRACE_SEND;

	if (!vm_trace_take(send ? &clocks->matches : &clocks->sends, &key,
			   &other))
		return vm_trace_put(send ? &clocks->sends : &clocks->matches,
				    &key, &one);
	if (send)
		message(clocks, &one, &other, half);
	else
		message(clocks, &other, &one, half);
	return 0;
}

static int messages_take(struct clocks *clocks)
{
	struct vm_trace_tracks *tracks = clocks->tracks;
	const struct vm_trace_record *record;
	struct vm_trace_track *track;
	uint64_t i = 0;
	int64_t ns;
	int rc = 0;

	while (!rc && (record = vm_trace_tracks_next(tracks, &track, &ns))) {
		int half = ++i > tracks->records / 2;

		if (record->kind == VM_TRACE_SEND ||
		    record->kind == VM_TRACE_MATCH)
			rc = record_take(clocks, record, track, ns, half);
	}
	vm_trace_tracks_rewind(tracks);
	return rc;
}

static bool is_known(const struct way *there, const struct way *back)
{
	return there->count >= MESSAGES_LEAST && back->count >= MESSAGES_LEAST;
}

static double half_ahead(const struct way *there, const struct way *back)
{
	return (double)(there->least - back->least) / 2;
}

/* By the clock of the host that sent there. */
static double half_at(const struct way *there, const struct way *back)
{
	return (double)there->sent / 2 + (double)back->came / 2;
}

/* Finds the lead of `to` over `from`; false: too few messages. */
static bool ahead_find(struct ahead *ahead, const struct clocks *clocks,
		       int from, int to)
{
	const struct way *there = way_of(clocks, from, to);
	const struct way *back = way_of(clocks, to, from);
	double first, span;
	int half;

	for (half = 0; half < HALVES; half++)
		if (is_known(there + half, back + half))
			break;
	if (half == HALVES)
		return false;
	*ahead = (struct ahead){ half_ahead(there + half, back + half), 0 };
	if (half > 0 || !is_known(there + 1, back + 1))
		return true;
	first = half_at(there, back);
	span = half_at(there + 1, back + 1) - first;
	if (span <= 0)
		return true;
	ahead->rate = (half_ahead(there + 1, back + 1) - ahead->ns) / span;
	ahead->ns -= ahead->rate * first;
	return true;
}

/* The lead of a clock that is `more` ahead of one that is ahead. */
static struct ahead ahead_sum(const struct ahead *ahead,
			      const struct ahead *more)
{
	return (struct ahead){
		.ns = ahead->ns * (1 + more->rate) + more->ns,
		.rate = ahead->rate + more->rate + ahead->rate * more->rate,
	};
}

/* Aligns one host; false: none could be. */
static bool one_set(struct clocks *clocks)
{
	int hosts = clocks->tracks->hosts;

	for (int to = 0; to < hosts; to++)
		for (int from = 0; from < hosts && !clocks->set[to]; from++) {
			struct ahead more;

			if (!clocks->set[from] ||
			    !ahead_find(&more, clocks, from, to))
				continue;
			clocks->ahead[to] =
				ahead_sum(&clocks->ahead[from], &more);
			clocks->set[to] = true;
			return true;
		}
	return false;
}

static int hosts_set(struct clocks *clocks)
{
	struct vm_trace_tracks *tracks = clocks->tracks;
	int left = tracks->hosts - 1;

	clocks->set[0] = true;
	while (one_set(clocks))
		left--;
	for (int i = 0; i < tracks->processes; i++) {
		struct vm_trace_part *part = &tracks->parts[i];
		struct ahead *ahead = &clocks->ahead[part->host];

		part->base = vm_trace_ns(((double)part->base - ahead->ns) /
					 (1 + ahead->rate));
		part->tick_ns /= 1 + ahead->rate;
	}
	vm_trace_tracks_rewind(tracks);
	return left;
}

int vm_trace_clocks_align(struct vm_trace_tracks *tracks)
{
	size_t hosts = (size_t)tracks->hosts;
	struct clocks clocks = { .tracks = tracks };
	int rc = -VMPI_ENOMEM;

	clocks.ways = calloc(hosts * hosts * HALVES, sizeof(*clocks.ways));
	clocks.ahead = calloc(hosts, sizeof(*clocks.ahead));
	clocks.set = calloc(hosts, sizeof(*clocks.set));
	if (clocks.ways && clocks.ahead && clocks.set)
		rc = messages_take(&clocks);
	if (!rc)
		rc = hosts_set(&clocks);
	vm_trace_table_fini(&clocks.sends);
	vm_trace_table_fini(&clocks.matches);
	free(clocks.ways);
	free(clocks.ahead);
	free(clocks.set);
	return rc;
}
