/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The search for stuck ranks is that of report/live/states.h; here nothing has
 * moved for long enough.
 */
#include "diagnosis.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "report/live/states.h"

/* Most ranks of a circle that are named. */
#define CIRCLE_MAX 8

static void say(struct diagnosis *diagnosis, const char *format, ...)
	VM_PRINTF(2, 3);

#include <stdarg.h>

static void say(struct diagnosis *diagnosis, const char *format, ...)
{
	va_list args;

	if (diagnosis->line_count == DIAGNOSIS_LINES)
		return;
	va_start(args, format);
	vsnprintf(diagnosis->lines[diagnosis->line_count++],
		  sizeof(diagnosis->lines[0]), format, args);
	va_end(args);
}

static bool nodes_judge(struct diagnosis *diagnosis, const struct model *model)
{
	int ended = 0;

	for (int i = 0; i < model->node_count; i++) {
		const struct node *node = &model->nodes[i];

		if (node->life == LIFE_DIED) {
			diagnosis->kind = DIAGNOSIS_DIED;
			say(diagnosis,
			    "node %d (process %d on %s) died; this is its last state",
			    node->number, node->pid, node->host);
		}
		ended += node->life == LIFE_ENDED;
	}
	if (diagnosis->kind == DIAGNOSIS_FINE && model->node_count > 0 &&
	    ended == model->node_count) {
		diagnosis->kind = DIAGNOSIS_ENDED;
		say(diagnosis, "the job has ended");
	}
	return diagnosis->kind != DIAGNOSIS_FINE;
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
static unsigned circle_say(struct diagnosis *diagnosis, struct ranks *ranks)
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
	say(diagnosis, "circular wait: rank %s%s", text,
	    i > length ? "" : " ...");
	return ranks->circle[0];
}

static void hang_say(struct diagnosis *diagnosis, struct ranks *ranks,
		     double still_s)
{
	char since[FIGURE_MAX];
	unsigned rank;

	figure_text(since, FIGURE_NS, (double)(int64_t)still_s * 1e9);
	say(diagnosis,
	    "the job hangs: %d ranks wait, and nothing has moved for %s",
	    ranks->waiting, since);
	rank = circle_say(diagnosis, ranks);
	for (unsigned i = 0; i < ranks->count; i++) {
		const struct block *block = ranks->by_number[rank];

		if (block && block->state == RANK_WAITS)
			say(diagnosis, "rank %u waits: %s", rank, block->waits);
		rank = (rank + 1) % ranks->count;
	}
}

void diagnosis_find(struct diagnosis *diagnosis, const struct model *model,
		    double hang_s)
{
	struct ranks ranks;

	*diagnosis = (struct diagnosis){ .kind = DIAGNOSIS_FINE };
	if (nodes_judge(diagnosis, model) || model->still_s < hang_s)
		return;
	if (ranks_collect(&ranks, model))
		return;
	if (ranks.waiting && !ranks.others) {
		diagnosis->kind = DIAGNOSIS_HANGS;
		ranks.stuck = vm_states_judge(ranks.needs, ranks.doing,
					      ranks.known, ranks.count);
		hang_say(diagnosis, &ranks, model->still_s);
	}
	ranks_fini(&ranks);
}
