/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job that is made up: 2 nodes, 2 workers and 3 ranks each, some variables.
 */
#ifndef TOP_JOB_H
#define TOP_JOB_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vmpitop/model.h"

static inline void job_blocks(struct model *model, enum group group,
			      int per_node)
{
	int count = 2 * per_node, figures = figure_count(group);

	model->blocks[group] = calloc((size_t)count, sizeof(struct block));
	model->block_count[group] = count;
	for (int i = 0; i < count; i++) {
		struct block *block = &model->blocks[group][i];

		block->node = i / per_node;
		block->index = group == GROUP_RANK ? i : i % per_node;
		block->had = true;
		block->known = (1u << figures) - 1;
		/* Over two seconds: 10, 20, 30 ... a second. */
		for (int f = 0; f < figures; f++)
			block->now[f] = 1000 + 20 * (unsigned)(i + 1),
			block->before[f] = 1000;
	}
}

static inline void job_variable(struct variable *variable, const char *name,
				const char *kind, const char *unit)
{
	*variable = (struct variable){ .category = "p2p" };
	snprintf(variable->kind, sizeof(variable->kind), "%s", kind);
	snprintf(variable->name, sizeof(variable->name), "%s", name);
	snprintf(variable->unit, sizeof(variable->unit), "%s", unit);
	snprintf(variable->text, sizeof(variable->text), "What %s is", name);
}

static inline void job_variables(struct model *model)
{
	struct variable *all = calloc(3, sizeof(*all));

	job_variable(&all[0], "core_sends", "counter", "messages");
	all[0].counts = all[0].had = true;
	all[0].before = 500;
	all[0].now = 700;
	job_variable(&all[1], "core_eager_limit", "setting", "bytes");
	all[1].control = all[1].settable = true;
	strcpy(all[1].value, "8192");
	job_variable(&all[2], "sched_workers", "setting", "threads");
	all[2].control = true;
	strcpy(all[2].value, "0");
	model->variables = all;
	model->variable_count = 3;
}

static inline void job_make(struct model *model)
{
	*model = (struct model){
		.ranks = 6, .node_count = 2, .now_s = 1000, .interval_s = 2
	};
	strcpy(model->job, "4711");
	strcpy(model->program, "heat");
	model->nodes = calloc(2, sizeof(*model->nodes));
	for (int i = 0; i < 2; i++) {
		model->nodes[i] = (struct node){ .number = i,
						 .pid = 100 + i,
						 .ranks = 3,
						 .workers = 2,
						 .started = 938 };
		snprintf(model->nodes[i].host, 64, "host%d", i);
	}
	job_blocks(model, GROUP_WORKER, 2);
	job_blocks(model, GROUP_RANK, 3);
	job_blocks(model, GROUP_PORT, 2);
	/* Busy are 0%, 20%, ... 100%. */
	for (int i = 0; i < 6; i++) {
		struct block *rank = &model->blocks[GROUP_RANK][i];

		rank->state = RANK_RUNS;
		rank->looks = 5;
		rank->runs = (unsigned)i;
	}
	job_variables(model);
}

/* Rank waits for peer; -1: for any. */
static inline void job_wait(struct model *model, int rank, int peer)
{
	struct block *block = &model->blocks[GROUP_RANK][rank];

	block->state = RANK_WAITS;
	block->doing = (struct vm_live_doing){ .state = VM_EXPORT_RECEIVE,
					       .wait.peer = peer };
	snprintf(block->waits, sizeof(block->waits), "%d", peer);
}

#endif
