/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys: one row each, and those of a prompt.
 */
#include "view.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_MIN 0.1
#define INTERVAL_MAX 60

void view_init(struct view *view, enum plot_how how)
{
	memset(view, 0, sizeof(*view));
	view->node = -1;
	view->interval_s = 1;
	view->hang_s = 5;
	view->how = how;
	/* Lists begin at their top. */
	for (int i = 0; i < SCREENS; i++)
		view->listings[i].chosen = UINT64_MAX;
	/* Until another one is chosen, what the overview plots, too. */
	snprintf(view->plotted, sizeof(view->plotted), "core_sends");
}

void view_fini(struct view *view)
{
	table_fini(&view->table);
	busy_fini(&view->busy);
}

void view_say(struct view *view, enum style style, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(view->message, sizeof(view->message), format, args);
	va_end(args);
	view->message_style = style;
}

bool view_lets(const struct view *view, const struct variable *variable)
{
	/* What nobody has asked for by name has to say something. */
	if (!view->zeros && !view->filter[0] && !variable->control &&
	    variable->now == 0)
		return false;
	return strcasestr(variable->name, view->filter) ||
	       strcasestr(variable->category, view->filter) ||
	       strcasestr(variable->kind, view->filter);
}

int view_look(struct view *view, const struct model *model)
{
	const struct variable *variable = model_variable(model, view->plotted);
	double sum;

	if (model->interval_s <= 0)
		return 0;
	figure_sum(&sum, model, FIGURE_RANK_messages, view->node);
	series_add(&view->messages, sum);
	if (variable) {
		series_add(&view->levels, variable->now);
		series_add(&view->rates, variable_rate(model, variable));
	}
	return busy_add(&view->busy, model);
}

static void series_restart(struct view *view)
{
	series_clear(&view->rates);
	series_clear(&view->levels);
}

static void plot_choose(struct view *view, const struct variable *variable)
{
	if (strcmp(view->plotted, variable->name) != 0)
		series_restart(view);
	snprintf(view->plotted, sizeof(view->plotted), "%s", variable->name);
	view->plot_level = !variable->counts;
	view->screen = SCREEN_PLOT;
}

static void node_choose(struct view *view, int number)
{
	if (view->node == number)
		return;
	view->node = number;
	series_restart(view);
	series_clear(&view->messages);
}

/* All nodes, then one after the other. */
static void node_step(struct view *view, const struct model *model)
{
	int i = 0;

	if (view->node < 0) {
		if (model->node_count)
			node_choose(view, model->nodes[0].number);
		return;
	}
	while (i < model->node_count && model->nodes[i].number != view->node)
		i++;
	node_choose(view, i + 1 < model->node_count ?
				  model->nodes[i + 1].number :
				  -1);
}

/* The variable under the cursor; NULL: none. */
static const struct variable *variable_chosen(const struct view *view,
					      const struct model *model)
{
	const struct row *row =
		table_chosen(&view->table, &view->listings[SCREEN_VARIABLES]);

	if (view->screen == SCREEN_PLOT)
		return model_variable(model, view->plotted);
	if (view->screen != SCREEN_VARIABLES || !row ||
	    row->id >= (uint64_t)model->variable_count)
		return NULL;
	return &model->variables[row->id];
}

static void enter(struct view *view, const struct model *model)
{
	const struct variable *variable = variable_chosen(view, model);
	const struct row *row =
		table_chosen(&view->table, &view->listings[view->screen]);

	if (view->screen == SCREEN_VARIABLES && variable)
		plot_choose(view, variable);
	else if (view->screen == SCREEN_OVERVIEW && row)
		node_choose(view,
			    view->node == (int)row->id ? -1 : (int)row->id);
}

static bool control_there(const struct view *view, const struct model *model)
{
	bool there = false;

	for (int i = 0; i < model->node_count; i++)
		if (view->node < 0 || model->nodes[i].number == view->node)
			there |= model->nodes[i].control;
	return there;
}

static void set_ask(struct view *view, const struct model *model)
{
	const struct variable *variable = variable_chosen(view, model);

	if (!control_there(view, model)) {
		view_say(
			view, STYLE_WARN,
			"this job does not accept settings: start it with vmpirun "
			"--control");
		return;
	}
	if (variable && variable->control && !variable->settable) {
		view_say(view, STYLE_WARN,
			 "%s can only be set before the job starts",
			 variable->name);
		return;
	}
	view->typed[0] = '\0';
	if (variable && variable->control)
		snprintf(view->typed, sizeof(view->typed),
			 "%s=", variable->name);
	view->prompt = PROMPT_SET;
}

/* "NAME=VALUE" or "RANK:NAME=VALUE". */
static void set_take(struct view *view)
{
	char *name = view->typed, *equals = strchr(name, '='), *colon;

	view->set_rank = -1;
	colon = equals ? memchr(name, ':', (size_t)(equals - name)) : NULL;
	if (colon && strspn(name, "0123456789") == (size_t)(colon - name) &&
	    colon > name && colon - name < 9) {
		view->set_rank = (int)strtol(name, NULL, 10);
		name = colon + 1;
	}
	if (!equals || equals == name ||
	    (size_t)(equals - name) >= sizeof(view->set_name)) {
		view_say(view, STYLE_BAD,
			 "NAME=VALUE or RANK:NAME=VALUE is needed");
		return;
	}
	*equals = '\0';
	memcpy(view->set_name, name, (size_t)(equals + 1 - name));
	snprintf(view->set_value, sizeof(view->set_value), "%s", equals + 1);
	view->set_wanted = true;
}

/* The cursor begins at the top of what is found. */
static void filter_take(struct view *view, const char *text)
{
	struct listing *listing = &view->listings[SCREEN_VARIABLES];

	if (!strcmp(view->filter, text))
		return;
	snprintf(view->filter, sizeof(view->filter), "%s", text);
	listing->chosen = UINT64_MAX;
	listing->cursor = listing->top = 0;
}

static void prompt_key(struct view *view, int key)
{
	size_t length = strlen(view->typed);
	enum prompt prompt = view->prompt;

	if (key == KEY_OF_BACKSPACE && length)
		view->typed[length - 1] = '\0';
	else if (key >= ' ' && key <= '~' && length + 1 < VIEW_TEXT_MAX) {
		view->typed[length] = (char)key;
		view->typed[length + 1] = '\0';
	}
	if (key == KEY_OF_ENTER || key == KEY_OF_ESCAPE)
		view->prompt = PROMPT_NONE;
	if (prompt == PROMPT_FILTER)
		filter_take(view, key == KEY_OF_ESCAPE ? "" : view->typed);
	else if (key == KEY_OF_ENTER && view->typed[0])
		set_take(view);
}

static void interval_change(struct view *view, double factor)
{
	view->interval_s *= factor;
	if (view->interval_s < INTERVAL_MIN)
		view->interval_s = INTERVAL_MIN;
	if (view->interval_s > INTERVAL_MAX)
		view->interval_s = INTERVAL_MAX;
	/* Samples of another length do not belong into one plot. */
	series_restart(view);
	series_clear(&view->messages);
	busy_clear(&view->busy);
	view_say(view, STYLE_BOLD, "every %.3g s", view->interval_s);
}

static bool screen_key(struct view *view, int key)
{
	static const char keys[] = {
#define SCREEN_KEY(name, letter, title) letter,
		VIEW_SCREENS(SCREEN_KEY)
#undef SCREEN_KEY
	};

	for (int i = 0; i < SCREENS; i++) {
		if (key != keys[i] && key != '1' + i)
			continue;
		view->screen = (enum screen)i;
		return true;
	}
	if (key != '\t')
		return false;
	view->screen = (enum screen)((view->screen + 1) % SCREENS);
	return true;
}

static bool cursor_key(struct view *view, int key)
{
	struct listing *listing = &view->listings[view->screen];
	const struct table *table = &view->table;

	switch (key) {
	case KEY_OF_UP:
		listing_move(listing, table, -1);
		return true;
	case KEY_OF_DOWN:
		listing_move(listing, table, 1);
		return true;
	case KEY_OF_PAGE_UP:
		listing_move(listing, table, -listing->page);
		return true;
	case KEY_OF_PAGE_DOWN:
		listing_move(listing, table, listing->page);
		return true;
	case KEY_OF_HOME:
		listing_move(listing, table, -table->row_count);
		return true;
	case KEY_OF_END:
		listing_move(listing, table, table->row_count);
		return true;
	case '<':
	case KEY_OF_LEFT:
		listing_sort(listing, table, -1);
		return true;
	case '>':
	case KEY_OF_RIGHT:
		listing_sort(listing, table, 1);
		return true;
	case 'i':
		listing->turned = !listing->turned;
		return true;
	default:
		return false;
	}
}

static void other_key(struct view *view, const struct model *model, int key)
{
	switch (key) {
	case 'q':
	case KEY_OF_QUIT:
		view->quit = true;
		break;
	case 'h':
	case '?':
	case KEY_OF_HELP:
		view->help = true;
		break;
	case ' ':
		view->paused = !view->paused;
		break;
	case 'n':
		node_step(view, model);
		break;
	case '/':
		view->screen = SCREEN_VARIABLES;
		memcpy(view->typed, view->filter, sizeof(view->typed));
		view->prompt = PROMPT_FILTER;
		break;
	case 's':
		set_ask(view, model);
		break;
	case 'z':
		view->zeros = !view->zeros;
		break;
	case 'l':
		view->plot_level = !view->plot_level;
		break;
	case 'm':
		if (view->screen == SCREEN_RANKS)
			view->map = !view->map;
		else
			view->how =
				(enum plot_how)((view->how + 1) % PLOT_HOWS);
		break;
	case '+':
		interval_change(view, 2);
		break;
	case '-':
		interval_change(view, 0.5);
		break;
	case KEY_OF_ENTER:
		enter(view, model);
		break;
	default:
		break;
	}
}

void view_key(struct view *view, const struct model *model, int key)
{
	view->message[0] = '\0';
	if (view->prompt != PROMPT_NONE)
		prompt_key(view, key);
	else if (view->help)
		view->help = key == KEY_OF_HELP;
	else if (!screen_key(view, key) && !cursor_key(view, key))
		other_key(view, model, key);
}
