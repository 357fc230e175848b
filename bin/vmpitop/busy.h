/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How busy each rank has been: samples over time.
 *
 * One sample per update says in which share of the readings since the update
 * before the rank ran, or was ready to.  Ranks that are not on this host, and
 * those whose process has ended, have none.
 */
#ifndef VMPITOP_BUSY_H
#define VMPITOP_BUSY_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"
#include "spread.h"

#define BUSY_SAMPLES 256 /* that are kept */
#define BUSY_WINDOW 30	 /* the last ones, of which a rank's share is */
#define BUSY_UNKNOWN 255

struct busy_rank {
	int node;		       /* -1: it has not been seen */
	uint8_t samples[BUSY_SAMPLES]; /* percent, or BUSY_UNKNOWN */
};

struct busy {
	struct busy_rank *ranks;
	double *shares; /* room for a number per rank */
	int rank_count;
	unsigned next, count; /* of the samples */
};

void busy_fini(struct busy *busy);

/* Forgets all samples. */
void busy_clear(struct busy *busy);

/* One more sample of each rank, unless the job has ended.  0, -VMPI_ENOMEM. */
int busy_add(struct busy *busy, const struct model *model);

/* The share of a rank over the last BUSY_WINDOW samples in percent; negative:
 * not known. */
double busy_of(const struct busy *busy, int rank);

/* Over the ranks of a node (-1: of all). */
struct busy_summary {
	struct spread spread;
	int least, most; /* the first ranks that are so */
};

/* false: nothing is known. */
bool busy_summarize(struct busy_summary *summary, const struct busy *busy,
		    int node);

/* Consecutive ranks of a node (-1: of all), in between may be others. */
struct busy_group {
	int node, first, last;
};

/* How many ranks each group has, so that they fit into so many lines; 0: there
 * is no rank. */
int busy_group_size(const struct busy *busy, int node, int lines);

/* The group of so many ranks, or of those that are left, from this one on;
 * false: there is none. */
bool busy_group_next(struct busy_group *group, const struct busy *busy,
		     int node, int from, int size);

/* The mean of its ranks, over the last BUSY_WINDOW samples, or of the sample of
 * `back` samples ago (0 is the newest); negative: not known. */
double busy_group_of(const struct busy *busy, const struct busy_group *group);
double busy_group_at(const struct busy *busy, const struct busy_group *group,
		     unsigned back);

#endif
