/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From counters to what they mean.
 */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "table.h"

const struct figure_row figure_rows[FIGURES] = {
#define FIGURE_ROW(group_, name_, title_, width_, how_, kind_, one_, other_) \
	{ .group = GROUP_##group_,                                           \
	  .title = (title_),                                                 \
	  .width = (width_),                                                 \
	  .how = HOW_##how_,                                                 \
	  .kind = FIGURE_##kind_,                                            \
	  .names = { (one_), (other_) } },
	MODEL_FIGURES(FIGURE_ROW)
};

const char *rank_state_name(enum rank_state state)
{
	static const char *const names[RANK_STATES] = {
		"-", "new", "run", "wait", "sleep", "done"
	};

	return names[state];
}

int figure_first(enum group group)
{
	int first = 0;

	while (figure_rows[first].group != group)
		first++;
	return first;
}

int figure_count(enum group group)
{
	int count = 0;

	for (int i = 0; i < FIGURES; i++)
		count += figure_rows[i].group == group;
	return count;
}

void model_fini(struct model *model)
{
	free(model->nodes);
	free(model->variables);
	for (int i = 0; i < GROUPS; i++)
		free(model->blocks[i]);
	*model = (struct model){ 0 };
}

/* The growth of a counter; a new process may count from 0 again. */
static double growth(uint64_t now, uint64_t before)
{
	return now > before ? (double)(now - before) : 0;
}

struct value figure_value(const struct model *model, const struct block *block,
			  enum figure figure)
{
	const struct figure_row *row = &figure_rows[figure];
	int i = (int)figure - figure_first(row->group);
	double number;

	if (!(block->known & 1u << i))
		return value_none();
	if (row->how == HOW_NOW)
		return value_of(row->kind, (double)block->now[i]);
	if (!block->had || model->interval_s <= 0)
		return value_none();
	number = growth(block->now[i], block->before[i]) / model->interval_s;
	if (row->how == HOW_SHARE)
		number = number >= 1e9 ? 100 : number / 1e7;
	return value_of(row->kind, number);
}

bool figure_sum(double *sum, const struct model *model, enum figure figure,
		int node)
{
	enum group group = figure_rows[figure].group;
	bool known = false;

	*sum = 0;
	for (int i = 0; i < model->block_count[group]; i++) {
		const struct block *block = &model->blocks[group][i];
		struct value value;

		if (node >= 0 && block->node != node)
			continue;
		value = figure_value(model, block, figure);
		if (value.kind != FIGURE_NONE)
			*sum += value.number;
		known |= value.kind != FIGURE_NONE;
	}
	return known;
}

double variable_rate(const struct model *model, const struct variable *variable)
{
	if (!variable->had || model->interval_s <= 0 ||
	    variable->now < variable->before)
		return 0;
	return (variable->now - variable->before) / model->interval_s;
}

const struct node *model_node(const struct model *model, int number)
{
	for (int i = 0; i < model->node_count; i++)
		if (model->nodes[i].number == number)
			return &model->nodes[i];
	return NULL;
}

bool model_lives(const struct model *model)
{
	for (int i = 0; i < model->node_count; i++)
		if (model->nodes[i].life == LIFE_RUNS)
			return true;
	return false;
}

struct variable *model_variable(const struct model *model, const char *name)
{
	for (int i = 0; i < model->variable_count; i++)
		if (!strcmp(model->variables[i].name, name))
			return &model->variables[i];
	return NULL;
}
