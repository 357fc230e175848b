/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks wait for one other at most, so whoever follows whom they wait for comes
 * to an end or goes round in a circle.
 */
#include "verdict.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"

/* Most ranks of a circle that are named. */
#define CIRCLE_MAX 8

static void say(struct verdict *verdict, const char *format, ...)
	VM_PRINTF(2, 3);

#include <stdarg.h>

static void say(struct verdict *verdict, const char *format, ...)
{
	va_list args;

	if (verdict->line_count == VERDICT_LINES)
		return;
	va_start(args, format);
	vsnprintf(verdict->lines[verdict->line_count++],
		  sizeof(verdict->lines[0]), format, args);
	va_end(args);
}

static bool nodes_judge(struct verdict *verdict, const struct model *model)
{
	int ended = 0;

	for (int i = 0; i < model->node_count; i++) {
		const struct node *node = &model->nodes[i];

		if (node->life == LIFE_DIED) {
			verdict->kind = VERDICT_DIED;
			say(verdict,
			    "node %d (process %d on %s) died; this is what it "
			    "left",
			    node->number, node->pid, node->host);
		}
		ended += node->life == LIFE_ENDED;
	}
	if (verdict->kind == VERDICT_FINE && model->node_count > 0 &&
	    ended == model->node_count) {
		verdict->kind = VERDICT_ENDED;
		say(verdict, "the job has ended");
	}
	return verdict->kind != VERDICT_FINE;
}

struct ranks {
	const struct block **by_number; /* NULL: not seen */
	int count;
	int waiting, others; /* ... of those that have not ended */
};

static int ranks_collect(struct ranks *ranks, const struct model *model)
{
	*ranks = (struct ranks){ .count = model->ranks };
	ranks->by_number =
		calloc((size_t)ranks->count + 1, sizeof(*ranks->by_number));
	if (!ranks->by_number)
		return -1;
	for (int i = 0; i < model->block_count[GROUP_RANK]; i++) {
		const struct block *rank = &model->blocks[GROUP_RANK][i];

		if (rank->index < ranks->count)
			ranks->by_number[rank->index] = rank;
		ranks->waiting += rank->state == RANK_WAITS;
		ranks->others += rank->state != RANK_WAITS &&
				 rank->state != RANK_DONE;
	}
	return 0;
}

/* Whom rank waits for; -1: nobody in particular. */
static int follow(const struct ranks *ranks, int rank)
{
	const struct block *block = rank >= 0 && rank < ranks->count ?
					    ranks->by_number[rank] :
					    NULL;

	return block && block->state == RANK_WAITS ? block->peer : -1;
}

/* A rank of a circle, or -1: there is none.  color: 0 not seen yet. */
static int circle_find(const struct ranks *ranks)
{
	int *color = calloc((size_t)ranks->count + 1, sizeof(*color));
	int found = -1;

	for (int i = 0; color && i < ranks->count && found < 0; i++) {
		int rank = i;

		while (rank >= 0 && rank < ranks->count && !color[rank]) {
			color[rank] = i + 1;
			rank = follow(ranks, rank);
		}
		if (rank >= 0 && rank < ranks->count && color[rank] == i + 1)
			found = rank;
	}
	free(color);
	return found;
}

static void circle_say(struct verdict *verdict, const struct ranks *ranks,
		       int first)
{
	char text[120];
	int length = snprintf(text, sizeof(text), "%d", first);
	int rank = first;

	for (int i = 0; i < CIRCLE_MAX; i++) {
		rank = follow(ranks, rank);
		length += snprintf(text + length, sizeof(text) - (size_t)length,
				   " for %d", rank);
		if (rank == first)
			break;
	}
	say(verdict, "a circle: rank %s%s", text, rank == first ? "" : " ...");
}

static void hang_say(struct verdict *verdict, const struct ranks *ranks,
		     double still_s)
{
	char since[FIGURE_MAX];
	int circle = circle_find(ranks), rank = circle < 0 ? 0 : circle;

	figure_text(since, FIGURE_NS, (double)(int64_t)still_s * 1e9);
	say(verdict,
	    "the job hangs: %d ranks wait, and nothing has moved for %s",
	    ranks->waiting, since);
	if (circle >= 0)
		circle_say(verdict, ranks, circle);
	for (int i = 0; i < ranks->count; i++) {
		const struct block *block = ranks->by_number[rank];

		if (block && block->state == RANK_WAITS)
			say(verdict, "rank %d waits: %s", rank, block->waits);
		rank = (rank + 1) % ranks->count;
	}
}

void verdict_find(struct verdict *verdict, const struct model *model,
		  double hang_s)
{
	struct ranks ranks;

	*verdict = (struct verdict){ .kind = VERDICT_FINE };
	if (nodes_judge(verdict, model) || model->still_s < hang_s)
		return;
	if (ranks_collect(&ranks, model))
		return;
	if (ranks.waiting && !ranks.others) {
		verdict->kind = VERDICT_HANGS;
		hang_say(verdict, &ranks, model->still_s);
	}
	free(ranks.by_number);
}
