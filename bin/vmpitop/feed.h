/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fills the model from the shared-memory files of a job's processes.
 */
#ifndef VMPITOP_FEED_H
#define VMPITOP_FEED_H

#include "model.h"

struct feed;

/* 0, -VMPI_ENOMEM. */
int feed_open(struct feed **feed, const char *directory, const char *job);
void feed_close(struct feed *feed);

/*
 * Looks at the job; of variables the sum over one node (-1: over all).  New
 * processes of the job are taken in, and those that are gone stay, as they were
 * last.  0; -VMPI_ENOENT: there is no process; -VMPI_ENOMEM.
 */
int feed_look(struct feed *feed, struct model *model, int node);

/* Between two looks: reads the states of the ranks, and counts (struct block:
 * next_looks). */
void feed_sample(struct feed *feed, struct model *model);

/*
 * Sets a variable in all processes of a node (-1: in all that are here), or in
 * the one that has the rank (-1: not of a rank).  0; -VMPI_E... of the first
 * that refused; text says what came of it.
 */
#define FEED_TEXT_MAX 256
int feed_set(struct feed *feed, char text[FEED_TEXT_MAX], const char *name,
	     const char *value, int node, int rank);

#endif
