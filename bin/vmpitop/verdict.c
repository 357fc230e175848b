/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who can never go on is asked where everybody asks it
 * (report/live/states.h); here nothing has moved for long enough.
 */
#include "verdict.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "report/live/states.h"

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

/* The ranks of the job by number. */
struct ranks {
	const struct block **by_number; /* NULL: not seen */
	struct vm_live_doing *doing;
	bool *known;
	struct vm_deadlock_rank *needs;
	unsigned *circle;
	unsigned count, stuck;
	int waiting, others; /* ... of those that have not ended */
};

static void ranks_fini(struct ranks *ranks)
{
	free(ranks->by_number);
	free(ranks->doing);
	free(ranks->known);
	free(ranks->needs);
	free(ranks->circle);
}

static int ranks_collect(struct ranks *ranks, const struct model *model)
{
	size_t room = (size_t)model->ranks + 1;

	*ranks = (struct ranks){ .count = (unsigned)model->ranks };
	ranks->by_number = calloc(room, sizeof(*ranks->by_number));
	ranks->doing = calloc(room, sizeof(*ranks->doing));
	ranks->known = calloc(room, sizeof(*ranks->known));
	ranks->needs = calloc(room, sizeof(*ranks->needs));
	ranks->circle = calloc(room, sizeof(*ranks->circle));
	if (!ranks->by_number || !ranks->doing || !ranks->known ||
	    !ranks->needs || !ranks->circle) {
		ranks_fini(ranks);
		return -1;
	}
	for (int i = 0; i < model->block_count[GROUP_RANK]; i++) {
		const struct block *rank = &model->blocks[GROUP_RANK][i];

		if (rank->index < model->ranks) {
			ranks->by_number[rank->index] = rank;
			ranks->doing[rank->index] = rank->doing;
			ranks->known[rank->index] = rank->state != RANK_UNKNOWN;
		}
		ranks->waiting += rank->state == RANK_WAITS;
		ranks->others += rank->state != RANK_WAITS &&
				 rank->state != RANK_DONE;
	}
	return 0;
}

/* The first rank to be named: of the circle, if there is one. */
static unsigned circle_say(struct verdict *verdict, struct ranks *ranks)
{
	unsigned ended, length = 0, i;
	char text[120];
	int used;

	if (ranks->stuck)
		length = vm_deadlock_circle(ranks->circle, &ended, ranks->needs,
					    ranks->count);
	if (!length)
		return 0;
	used = snprintf(text, sizeof(text), "%u", ranks->circle[0]);
	for (i = 1; i <= length && i <= CIRCLE_MAX; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used,
				 " for %u", ranks->circle[i % length]);
	say(verdict, "a circle: rank %s%s", text, i > length ? "" : " ...");
	return ranks->circle[0];
}

static void hang_say(struct verdict *verdict, struct ranks *ranks,
		     double still_s)
{
	char since[FIGURE_MAX];
	unsigned rank;

	figure_text(since, FIGURE_NS, (double)(int64_t)still_s * 1e9);
	say(verdict,
	    "the job hangs: %d ranks wait, and nothing has moved for %s",
	    ranks->waiting, since);
	rank = circle_say(verdict, ranks);
	for (unsigned i = 0; i < ranks->count; i++) {
		const struct block *block = ranks->by_number[rank];

		if (block && block->state == RANK_WAITS)
			say(verdict, "rank %u waits: %s", rank, block->waits);
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
		ranks.stuck = vm_states_judge(ranks.needs, ranks.doing,
					      ranks.known, ranks.count);
		hang_say(verdict, &ranks, model->still_s);
	}
	ranks_fini(&ranks);
}
