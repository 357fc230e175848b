/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of ranks, columns of samples.
 */
#include "heat.h"

#include <stdio.h>

#include "report/amount.h"

#define LABEL_COLS 19 /* the ranks, their share, and the line */
#define MARKS 10

/* From the least to the most busy. */
static const char marks[MARKS + 1] = " .:-=+*#%@";
static const enum style styles[MARKS] = {
	STYLE_DIM,  STYLE_BAD,	STYLE_BAD,  STYLE_BAD,	STYLE_WARN,
	STYLE_WARN, STYLE_WARN, STYLE_GOOD, STYLE_GOOD, STYLE_GOOD,
};

static int level_of(double share)
{
	int level = share < 0 ? 0 : (int)(share / (100.0 / MARKS));

	return level < MARKS ? level : MARKS - 1;
}

char heat_mark(double share)
{
	return marks[level_of(share)];
}

void heat_summary(struct canvas *canvas, struct box box,
		  const struct busy *busy, int node)
{
	char least[FIGURE_MAX], median[FIGURE_MAX], most[FIGURE_MAX];
	struct busy_summary summary;

	if (box.rows < 1)
		return;
	if (!busy_summarize(&summary, busy, node)) {
		canvas_put(canvas, box.row, box.col, STYLE_BOLD,
			   "busy: not known yet");
		return;
	}
	figure_text(least, FIGURE_PERCENT, summary.spread.least);
	figure_text(median, FIGURE_PERCENT, summary.spread.median);
	figure_text(most, FIGURE_PERCENT, summary.spread.most);
	canvas_put(canvas, box.row, box.col, STYLE_BOLD,
		   "busy: least %s (rank %d), median %s, most %s (rank %d)",
		   least, summary.least, median, most, summary.most);
}

static void group_draw(struct canvas *canvas, struct box line,
		       const struct busy *busy, const struct busy_group *group)
{
	double share = busy_group_of(busy, group);
	char ranks[32], text[FIGURE_MAX];

	snprintf(ranks, sizeof(ranks),
		 group->first == group->last ? "%d" : "%d-%d", group->first,
		 group->last);
	figure_text(text, share < 0 ? FIGURE_NONE : FIGURE_PERCENT, share);
	canvas_put(canvas, line.row, line.col, STYLE_PLAIN, "%11s %5s |", ranks,
		   text);
	for (int col = LABEL_COLS; col < line.cols; col++) {
		double at = busy_group_at(busy, group,
					  (unsigned)(line.cols - 1 - col));

		canvas_mark(canvas, line.row, line.col + col,
			    styles[level_of(at)], (uint32_t)heat_mark(at));
	}
}

static void axis_draw(struct canvas *canvas, struct box line, double seconds)
{
	char ago[VM_AMOUNT_MAX];

	vm_amount_ns(ago, seconds * 1e9);
	canvas_put(canvas, line.row, line.col, STYLE_DIM, "%11s %5s", "ranks",
		   "busy");
	if (line.cols - LABEL_COLS >= 16)
		canvas_put(canvas, line.row, line.col + LABEL_COLS, STYLE_DIM,
			   "%s ago", ago);
	if (line.cols - LABEL_COLS >= 44)
		canvas_put(canvas, line.row, line.col + LABEL_COLS + 13,
			   STYLE_DIM, "10%% each: '%s'", marks);
	canvas_put(canvas, line.row, line.col + line.cols - 3, STYLE_DIM,
		   "now");
}

void heat_draw(struct canvas *canvas, struct box box, const struct busy *busy,
	       int node, double interval_s)
{
	int lines = box.rows - 1, cols = box.cols - LABEL_COLS, from = 0;
	int size = busy_group_size(busy, node, lines);
	struct busy_group group;

	if (lines < 1 || cols < 4)
		return;
	for (int i = 0; i < lines; i++) {
		struct box line = { box.row + i, box.col, 1, box.cols };

		if (!busy_group_next(&group, busy, node, from, size)) {
			lines = i;
			break;
		}
		group_draw(canvas, line, busy, &group);
		from = group.last + 1;
	}
	axis_draw(canvas, (struct box){ box.row + lines, box.col, 1, box.cols },
		  (cols < BUSY_SAMPLES ? cols : BUSY_SAMPLES) * interval_s);
}
