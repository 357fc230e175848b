/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page: two lines about the job, what is wrong with it, a screen, and a
 * line for keys, prompts and messages.
 */
#include "screens.h"

#include <stdio.h>
#include <string.h>

#include "report/amount.h"

#define HEAD_ROWS 2

static const char *const screen_titles[] = {
#define SCREEN_TITLE(name, key, title) title,
	VIEW_SCREENS(SCREEN_TITLE)
#undef SCREEN_TITLE
};

static void title_draw(const struct page *page)
{
	const struct model *model = page->model;
	int workers = 0, here = 0;
	char up[FIGURE_MAX];
	double started = model->now_s;

	for (int i = 0; i < model->node_count; i++) {
		workers += model->nodes[i].workers;
		here += model->nodes[i].ranks;
		if (model->nodes[i].started < started)
			started = model->nodes[i].started;
	}
	figure_text(up, FIGURE_NS, (model->now_s - started) * 1e9);
	canvas_put(
		page->canvas, 0, 0, STYLE_BOLD,
		"vmpitop  %.20s, job %s: %d ranks%s, %d node%s, %d worker%s, "
		"up %s%s, %.3g/worker",
		model->program, model->job, model->ranks,
		here < model->ranks ? " (some elsewhere)" : "",
		model->node_count, model->node_count == 1 ? "" : "s", workers,
		workers == 1 ? "" : "s", up,
		page->view->paused ? "  PAUSED" : "",
		workers ? (double)here / workers : 0);
}

static int sum_put(const struct page *page, int col, enum figure figure,
		   const char *unit)
{
	char text[FIGURE_MAX], bytes[VM_AMOUNT_MAX];
	double sum;
	bool known = figure_sum(&sum, page->model, figure, page->view->node);

	if (known && figure_rows[figure].kind == FIGURE_BYTES)
		return canvas_put(page->canvas, 1, col, STYLE_PLAIN, "%s/s   ",
				  vm_amount_bytes(bytes, sum));

	figure_text(text, known ? figure_rows[figure].kind : FIGURE_NONE, sum);
	return canvas_put(page->canvas, 1, col, STYLE_PLAIN, "%s %s/s   ", text,
			  unit);
}

static void states_put(const struct page *page, int col)
{
	int counts[RANK_STATES] = { 0 };

	for (int i = 0; i < page->model->block_count[GROUP_RANK]; i++) {
		const struct block *rank = &page->model->blocks[GROUP_RANK][i];

		if (page_shows(page, rank->node))
			counts[rank->state]++;
	}
	for (int i = RANK_NEW; i < RANK_STATES; i++)
		if (counts[i])
			col = canvas_put(page->canvas, 1, col, STYLE_PLAIN,
					 "%d %s  ", counts[i],
					 rank_state_name((enum rank_state)i));
}

static void head_draw(const struct page *page)
{
	int col = 0;

	title_draw(page);
	if (page->view->node >= 0)
		col = canvas_put(page->canvas, 1, 0, STYLE_BOLD,
				 "node %d:  ", page->view->node);
	col = sum_put(page, col, FIGURE_RANK_messages, "messages");
	col = sum_put(page, col, FIGURE_RANK_bytes, "bytes");
	col = sum_put(page, col, FIGURE_WORKER_switches, "switches");
	states_put(page, col);
}

/* Draws the report of the job's end or hang; takes its lines from the box. */
static void diagnosis_draw(struct page *page)
{
	struct diagnosis diagnosis;
	int lines;

	diagnosis_find(&diagnosis, page->model, page->view->hang_s);
	lines = diagnosis.line_count;
	if (lines > page->box.rows / 2)
		lines = page->box.rows / 2;
	for (int i = 0; i < lines; i++) {
		canvas_put(page->canvas, page->box.row, 0,
			   diagnosis.kind == DIAGNOSIS_ENDED ? STYLE_WARN :
							       STYLE_BAD,
			   "%s", diagnosis.lines[i]);
		page->box.row++;
		page->box.rows--;
	}
}

#define HELP_LINES 5

static const char *const screen_help[SCREENS][HELP_LINES] = {
	[SCREEN_OVERVIEW] = {
		"wkrs: workers; cpu: processor time, 100% is one core; msg/s, "
		"byte/s: sent",
		"by its ranks; switch/s: switches from rank to rank",
	},
	[SCREEN_WORKERS] = {
		"idle: no rank to run; switch/s: from rank to rank; hand/s: of "
		"these to a rank",
		"just woken; sleep/s: sleeps of the worker; wake/s: ranks woken "
		"from elsewhere;",
		"task/s: tasks begun",
	},
	[SCREEN_RANKS] = {
		"posted: receives that wait; unexp: messages that came before "
		"their receive;",
		"recv/s, msg/s: messages received, sent; byte/s: sent; waits "
		"for: in this call;",
		"busy: how much of the last 30 updates it ran, or was ready to; "
		"the map (m) shows",
		"that over time, of one rank or of some together in a row",
	},
	[SCREEN_FABRIC] = {
		"sent/s, recv/s, byte/s: packets and bytes in them; moved/s: "
		"bytes of long",
		"messages; steal/s: events handled by idle workers; kept: "
		"packets that wait for",
		"a receive; queue: that wait to be sent; nocr/s: sends that "
		"waited for a credit;",
		"pool: packet memory",
	},
	[SCREEN_VARIABLES] = {
		"setting: a control variable; counter, aggregate, timer: they "
		"grow; others are",
		"values of now; of several ranks their sum, of marks the most "
		"or least",
	},
};

static void help_draw(const struct page *page)
{
	static const char *const lines[] = {
		"o w r f v p   screens: overview, workers, ranks, fabric, "
		"variables, plot",
		"1 to 6, Tab   the same, by number or in turn",
		"arrows        move the cursor; also PgUp PgDn Home End",
		"< >           sort by the previous, next column",
		"i             invert the order",
		"n             show all nodes, or one after the other",
		"Enter         overview: show this node only; variables: "
		"plot this one",
		"/             only variables with this text in name, category "
		"or kind",
		"l             plot: value or change per second",
		"m             plot with braille, blocks or ASCII; ranks: map "
		"or list",
		"s             set a control variable (vmpirun --control): "
		"NAME=VALUE,",
		"              or RANK:NAME=VALUE for one rank",
		"z             variables: those that are 0, too",
		"space  + -    pause; update half as often, twice as often",
	};
	int row = page->box.row;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		canvas_put(page->canvas, row++, 2, STYLE_PLAIN, "%s", lines[i]);
	/* What the columns of the screen behind are. */
	for (int i = 0; i < HELP_LINES; i++)
		if (screen_help[page->view->screen][i])
			canvas_put(page->canvas, row++, 0, STYLE_BOLD, "%s",
				   screen_help[page->view->screen][i]);
}

static void foot_draw(const struct page *page)
{
	const struct view *view = page->view;
	int row = page->canvas->rows - 1, col = 0;

	if (view->prompt != PROMPT_NONE) {
		col = canvas_put(page->canvas, row, 0, STYLE_BOLD, "%s%s",
				 view->prompt == PROMPT_FILTER ? "filter: " :
								 "set: ",
				 view->typed);
		canvas_mark(page->canvas, row, col, STYLE_CHOSEN, ' ');
		return;
	}
	if (view->message[0]) {
		canvas_put(page->canvas, row, 0, view->message_style, "%s",
			   view->message);
		return;
	}
	for (int i = 0; i < SCREENS; i++)
		col = canvas_put(page->canvas, row, col,
				 view->screen == (enum screen)i ? STYLE_CHOSEN :
								  STYLE_HEAD,
				 " %d %s ", i + 1, screen_titles[i]);
	canvas_put(page->canvas, row, col, STYLE_DIM, "%s",
		   view->help			? "  any key: back" :
		   view->screen != SCREEN_RANKS ? "  h help  q quit" :
		   view->map			? "  m list  h help" :
						  "  m map  h help");
}

void view_draw(struct view *view, struct canvas *canvas,
	       const struct model *model)
{
	struct page page = { .view = view, .canvas = canvas, .model = model };

	canvas_clear(canvas);
	page.box = (struct box){ HEAD_ROWS, 0, canvas->rows - HEAD_ROWS - 1,
				 canvas->cols };
	head_draw(&page);
	diagnosis_draw(&page);
	if (view->help)
		help_draw(&page);
	else if (view->screen == SCREEN_OVERVIEW)
		screen_overview(&page);
	else if (view->screen == SCREEN_WORKERS)
		screen_blocks(&page, "worker", GROUP_WORKER);
	else if (view->screen == SCREEN_RANKS)
		screen_ranks(&page);
	else if (view->screen == SCREEN_FABRIC)
		screen_blocks(&page, "port", GROUP_PORT);
	else if (view->screen == SCREEN_VARIABLES)
		screen_variables(&page);
	else
		screen_plot(&page);
	if (!view->bare)
		foot_draw(&page);
}
