/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each screen fills a table and has it drawn.
 */
#include "screens.h"

#include <stdio.h>
#include <string.h>

#include "heat.h"

/* The columns of a group's figures, behind those of the screen. */
static int figure_columns(struct column *columns, int count, enum group group)
{
	int first = figure_first(group);

	for (int i = 0; i < figure_count(group); i++) {
		const struct figure_row *row = &figure_rows[first + i];

		columns[count++] = (struct column){ .title = row->title,
						    .width = row->width };
	}
	return count;
}

static void figures_fill(const struct page *page, struct value *values,
			 const struct block *block, enum group group)
{
	int first = figure_first(group);

	for (int i = 0; i < figure_count(group); i++)
		values[i] = figure_value(page->model, block,
					 (enum figure)(first + i));
}

void screen_blocks(const struct page *page, const char *title, enum group group)
{
	struct column columns[TABLE_COLUMNS_MAX] = {
		{ .title = "node", .width = 6, .rises = true },
		{ .title = title,
		  .width = group == GROUP_PORT ? 6 : 8,
		  .rises = true },
	};
	struct table *table = &page->view->table;
	int count = figure_columns(columns, 2, group);

	table_begin(table, columns, count);
	for (int i = 0; i < page->model->block_count[group]; i++) {
		const struct block *block = &page->model->blocks[group][i];
		struct row *row;

		if (!page_shows(page, block->node))
			continue;
		row = table_add(table, (uint64_t)block->node << 32 |
					       (unsigned)block->index);
		if (!row)
			return;
		row->values[0] = value_of(FIGURE_NUMBER, block->node);
		row->values[1] = value_of(FIGURE_NUMBER, block->index);
		figures_fill(page, row->values + 2, block, group);
	}
	table_draw(page->canvas, page->box, table,
		   &page->view->listings[page->view->screen]);
	if (!table->row_count)
		canvas_put(page->canvas, page->box.row + 1, 0, STYLE_DIM,
			   "no %s: its ranks share the memory of one process",
			   title);
}

#define RANK_COLUMNS 4 /* before those of the figures */

/* Lines are short: MPI is what most calls are of. */
static const char *waits_short(const struct block *rank)
{
	static const char prefix[] = "MPI_";
	size_t length = sizeof(prefix) - 1;

	return rank->waits +
	       (strncmp(rank->waits, prefix, length) ? 0 : length);
}

static struct value busy_value(const struct page *page, int rank)
{
	double share = busy_of(&page->view->busy, rank);

	return share < 0 ? value_none() : value_of(FIGURE_PERCENT, share);
}

static int rank_columns(struct column columns[TABLE_COLUMNS_MAX])
{
	static const struct column first[] = {
		{ .title = "rank", .width = 7, .rises = true },
		{ .title = "node", .width = 6, .rises = true },
		{ .title = "state", .width = 6, .words = true },
		{ .title = "busy", .width = 6 },
	};
	int count;

	memcpy(columns, first, sizeof(first));
	count = figure_columns(columns, RANK_COLUMNS, GROUP_RANK);
	columns[count++] = (struct column){ .title = "waits for",
					    .width = 18,
					    .words = true };
	return count;
}

static void rank_list(struct page *page)
{
	struct column columns[TABLE_COLUMNS_MAX];
	struct table *table = &page->view->table;
	int count = rank_columns(columns);

	table_begin(table, columns, count);
	for (int i = 0; i < page->model->block_count[GROUP_RANK]; i++) {
		const struct block *rank = &page->model->blocks[GROUP_RANK][i];
		struct row *row;

		if (!page_shows(page, rank->node))
			continue;
		row = table_add(table, (unsigned)rank->index);
		if (!row)
			return;
		row->style = rank->state == RANK_RUNS ? STYLE_GOOD :
							STYLE_PLAIN;
		row->values[0] = value_of(FIGURE_NUMBER, rank->index);
		row->values[1] = value_of(FIGURE_NUMBER, rank->node);
		row->values[2] = value_text(rank_state_name(rank->state));
		row->values[3] = busy_value(page, rank->index);
		figures_fill(page, row->values + RANK_COLUMNS, rank,
			     GROUP_RANK);
		row->values[count - 1] = value_text(waits_short(rank));
	}
	if (page->box.rows >= 3 * TABLE_SPREAD_ROWS) {
		table_spread(page->canvas, page->box, table);
		page->box.row += TABLE_SPREAD_ROWS;
		page->box.rows -= TABLE_SPREAD_ROWS;
	}
	table_draw(page->canvas, page->box, table,
		   &page->view->listings[SCREEN_RANKS]);
}

void screen_ranks(struct page *page)
{
	const struct view *view = page->view;

	heat_summary(page->canvas, page->box, &view->busy, view->node);
	page->box.row++;
	page->box.rows--;
	if (!view->map) {
		rank_list(page);
		return;
	}
	/* Without a cursor, and nothing to sort. */
	table_begin(&page->view->table, NULL, 0);
	heat_draw(page->canvas, page->box, &view->busy, view->node,
		  view->interval_s);
}

/* In percent of one core. */
static struct value node_cpu(const struct page *page, const struct node *node)
{
	double used = node->cpu_s - node->cpu_before_s;

	if (node->cpu_s < 0 || node->cpu_before_s < 0 || used < 0 ||
	    page->model->interval_s <= 0)
		return value_none();
	return value_of(FIGURE_PERCENT, 100 * used / page->model->interval_s);
}

static struct value node_sum(const struct page *page, const struct node *node,
			     enum figure figure)
{
	double sum;

	if (!figure_sum(&sum, page->model, figure, node->number))
		return value_none();
	return value_of(figure_rows[figure].kind, sum);
}

static void nodes_draw(const struct page *page, struct box box)
{
	static const char *const lives[] = { "runs", "ended", "died" };
	static const struct column columns[] = {
		{ .title = "node", .width = 6, .rises = true },
		{ .title = "pid", .width = 9, .rises = true },
		{ .title = "ranks", .width = 7 },
		{ .title = "wkrs", .width = 6 },
		{ .title = "cpu", .width = 7 },
		{ .title = "msg/s", .width = 8 },
		{ .title = "byte/s", .width = 8 },
		{ .title = "switch/s", .width = 10 },
		{ .title = "state", .width = 7, .words = true },
		{ .title = "host", .width = 12, .words = true },
	};
	struct table *table = &page->view->table;

	table_begin(table, columns, sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < page->model->node_count; i++) {
		const struct node *node = &page->model->nodes[i];
		struct row *row = table_add(table, (unsigned)node->number);

		if (!row)
			return;
		row->style = node->life == LIFE_DIED	    ? STYLE_BAD :
			     page_shows(page, node->number) ? STYLE_PLAIN :
							      STYLE_DIM;
		row->values[0] = value_of(FIGURE_NUMBER, node->number);
		row->values[1] = value_of(FIGURE_NUMBER, node->pid);
		row->values[2] = value_of(FIGURE_NUMBER, node->ranks);
		row->values[3] = value_of(FIGURE_NUMBER, node->workers);
		row->values[4] = node_cpu(page, node);
		row->values[5] = node_sum(page, node, FIGURE_RANK_messages);
		row->values[6] = node_sum(page, node, FIGURE_RANK_bytes);
		row->values[7] = node_sum(page, node, FIGURE_WORKER_switches);
		row->values[8] = value_text(lives[node->life]);
		row->values[9] = value_text(node->host);
	}
	table_draw(page->canvas, box, table,
		   &page->view->listings[SCREEN_OVERVIEW]);
}

void screen_overview(const struct page *page)
{
	struct box nodes = page->box, plot = page->box;

	nodes.rows = page->model->node_count + 1;
	if (nodes.rows > page->box.rows / 2)
		nodes.rows = page->box.rows / 2;
	if (nodes.rows < 2)
		nodes.rows = page->box.rows;
	nodes_draw(page, nodes);
	plot.row += nodes.rows + 2;
	plot.rows -= nodes.rows + 2;
	if (plot.rows < 3)
		return;
	canvas_put(page->canvas, plot.row - 1, 0, STYLE_BOLD,
		   "messages per second");
	plot_draw(page->canvas, plot, &page->view->messages, page->view->how,
		  FIGURE_COUNT, page->view->interval_s);
}

void screen_variables(struct page *page)
{
	static const struct column columns[] = {
		{ .title = "variable", .width = 31, .words = true },
		{ .title = "kind", .width = 11, .words = true },
		{ .title = "value", .width = 13 },
		{ .title = "per s", .width = 9 },
		{ .title = "unit", .width = 15, .words = true },
	};
	struct table *table = &page->view->table;
	const struct model *model = page->model;
	const struct row *chosen;

	table_begin(table, columns, sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < model->variable_count; i++) {
		const struct variable *variable = &model->variables[i];
		struct row *row;

		if (!view_lets(page->view, variable))
			continue;
		row = table_add(table, (unsigned)i);
		if (!row)
			return;
		row->style = variable->control ? STYLE_BOLD : STYLE_PLAIN;
		row->values[0] = value_text(variable->name);
		row->values[1] = value_text(variable->kind);
		row->values[2] =
			variable->value[0] ?
				value_text(variable->value) :
				value_of(figure_of_unit(variable->unit),
					 variable->now);
		row->values[3] =
			variable->counts && variable->had ?
				value_of(figure_of_unit(variable->unit),
					 variable_rate(model, variable)) :
				value_none();
		/* The unit of words is their list. */
		row->values[4] = value_text(
			strchr(variable->unit, '|') ? "" : variable->unit);
	}
	if (!page->view->bare)
		page->box.rows--;
	table_draw(page->canvas, page->box, table,
		   &page->view->listings[SCREEN_VARIABLES]);
	chosen = table_chosen(table, &page->view->listings[SCREEN_VARIABLES]);
	if (chosen && !page->view->bare)
		canvas_put(page->canvas, page->box.row + page->box.rows, 0,
			   STYLE_DIM, "%s", model->variables[chosen->id].text);
	if (!chosen)
		canvas_put(page->canvas, page->box.row + 1, 0, STYLE_WARN,
			   "no variable has '%s' in its name, category or kind",
			   page->view->filter);
}

void screen_plot(struct page *page)
{
	const struct view *view = page->view;
	const struct variable *variable =
		model_variable(page->model, view->plotted);
	const struct series *series = view->plot_level ? &view->levels :
							 &view->rates;
	enum figure_kind kind;
	char now[FIGURE_MAX] = "-";

	table_begin(&page->view->table, NULL, 0);
	if (!variable) {
		canvas_put(page->canvas, page->box.row, 0, STYLE_WARN,
			   "choose a variable: v, then Enter");
		return;
	}
	kind = figure_of_unit(variable->unit);
	if (series->count)
		figure_text(now, kind, series_at(series, 0));
	canvas_put(page->canvas, page->box.row, 0, STYLE_BOLD,
		   "%s%s: %s   (%s; l: %s)", variable->name,
		   view->plot_level ? "" : " per second", now, variable->unit,
		   view->plot_level ? "its change" : "its value");
	canvas_put(page->canvas, page->box.row + 1, 0, STYLE_DIM, "%s",
		   variable->text);
	page->box.row += 2;
	page->box.rows -= 2;
	plot_draw(page->canvas, page->box, series, view->how, kind,
		  view->interval_s);
}
