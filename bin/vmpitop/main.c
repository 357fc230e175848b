/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpitop: watch a job while it runs, hangs, and after it died.
 *
 * It reads the shared-memory files of the job's processes, so that looking
 * costs the job nothing; only settings are sent, to the control sockets.  A
 * loop: look (feed.h), draw (view.h), wait for a key (terminal.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/standard.h"
#include "feed.h"
#include "jobs.h"
#include "options.h"
#include "report/cli.h"
#include "report/option.h"
#include "terminal.h"
#include "view.h"

#define BATCH_COLS 80
#define BATCH_ROWS 24

struct top {
	const struct options *options;
	struct feed *feed;
	struct model model;
	struct view view;
	struct canvas canvas;
	uint64_t next_ns; /* the next look */
};

static int look(struct top *top)
{
	int rc = feed_look(top->feed, &top->model, top->view.node);

	if (!rc)
		rc = view_look(&top->view, &top->model);
	top->next_ns = vm_clock_ns() + (uint64_t)(top->view.interval_s * 1e9);
	return rc;
}

/* The page has this size now. */
static int canvas_fit(struct top *top, int rows, int cols)
{
	if (top->canvas.rows == rows && top->canvas.cols == cols)
		return 0;
	canvas_fini(&top->canvas);
	return canvas_init(&top->canvas, rows, cols);
}

static void set_do(struct top *top)
{
	struct view *view = &top->view;
	char text[FEED_TEXT_MAX];
	int rc = feed_set(top->feed, text, view->set_name, view->set_value,
			  view->node, view->set_rank);

	view->set_wanted = false;
	view_say(view, rc ? STYLE_BAD : STYLE_GOOD, "%s", text);
	top->next_ns = 0;
}

static double wait_s(const struct top *top)
{
	uint64_t now = vm_clock_ns();

	if (top->view.paused)
		return 3600;
	return now < top->next_ns ? (double)(top->next_ns - now) / 1e9 : 0;
}

/* The states of ranks are read more often than all else: so many times an
 * update. */
#define SAMPLES 10

/* Waits for a key, or until there is something else to show. */
static int key_wait(struct top *top)
{
	double part = top->view.interval_s / SAMPLES;

	for (;;) {
		double left = wait_s(top);
		bool sampled = !top->view.paused && left > part;
		int key = term_key(sampled ? part : left), rows, cols;

		if (key != TERM_NONE || !sampled)
			return key;
		term_size(&rows, &cols);
		if (rows != top->canvas.rows || cols != top->canvas.cols)
			return key;
		feed_sample(top->feed, &top->model);
	}
}

/* Changes per second are there when it has been looked twice. */
#define FIRST_NS 200000000

static int terminal_run(struct top *top)
{
	int rc = 0, rows, cols;

	if (top->next_ns > vm_clock_ns() + FIRST_NS)
		top->next_ns = vm_clock_ns() + FIRST_NS;
	while (!rc && !top->view.quit) {
		int key;

		if (!top->view.paused && vm_clock_ns() >= top->next_ns)
			rc = look(top);
		term_size(&rows, &cols);
		if (!rc)
			rc = canvas_fit(top, rows, cols);
		if (rc)
			break;
		view_draw(&top->view, &top->canvas, &top->model);
		term_show(&top->canvas);
		key = key_wait(top);
		if (key == TERM_GONE)
			break;
		if (key != TERM_NONE)
			view_key(&top->view, &top->model, key);
		if (top->view.set_wanted)
			set_do(top);
	}
	return rc;
}

static int number_of(const char *name, int other)
{
	const char *text = getenv(name);
	int number;

	return text && vm_option_digits(&number, &text) && number > 0 &&
			       number < 100000 ?
		       number :
		       other;
}

/* What is above and below the rows of a list: head, diagnosis, the summary of
 * ranks, titles, and the line of keys. */
#define BESIDE_ROWS (2 + DIAGNOSIS_LINES + 1 + TABLE_SPREAD_ROWS + 1 + 1)

/* As long as what there is to show. */
static int batch_rows(const struct top *top)
{
	const struct model *model = &top->model;
	int most = BATCH_ROWS;

	if (top->view.map && top->view.screen == SCREEN_RANKS)
		return number_of("LINES", most);
	if (top->view.screen == SCREEN_VARIABLES)
		most = model->variable_count + BESIDE_ROWS;
	for (int group = 0; group < GROUPS; group++)
		if (top->view.screen != SCREEN_OVERVIEW &&
		    top->view.screen != SCREEN_PLOT &&
		    top->view.screen != SCREEN_VARIABLES &&
		    model->block_count[group] + BESIDE_ROWS > most)
			most = model->block_count[group] + BESIDE_ROWS;
	return number_of("LINES", most);
}

static void pause_s(double seconds)
{
	struct timespec time = { .tv_sec = (time_t)seconds };

	time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
	nanosleep(&time, NULL);
}

/* Until the next look. */
static void interval_pass(struct top *top)
{
	for (int i = 0; i < SAMPLES; i++) {
		if (i)
			feed_sample(top->feed, &top->model);
		pause_s(top->view.interval_s / SAMPLES);
	}
}

/* Changes per second take two readings; of a job that is over one is all. */
static int batch_run(struct top *top)
{
	int rc = 0;

	for (int i = 0; i < top->options->batch && !rc; i++) {
		if (model_lives(&top->model)) {
			interval_pass(top);
			rc = look(top);
		}
		if (!rc)
			rc = canvas_fit(top, batch_rows(top),
					number_of("COLUMNS", BATCH_COLS));
		if (rc)
			break;
		view_draw(&top->view, &top->canvas, &top->model);
		if (i)
			putchar('\n');
		canvas_print(&top->canvas, stdout);
		if (fflush(stdout)) {
			vm_cli_say("standard output: %s", strerror(errno));
			return -VMPI_EIO;
		}
	}
	return rc;
}

static void sort_refuse(const struct table *table, const char *name)
{
	char list[400] = "";
	size_t length = 0;

	for (int i = 0; i < table->column_count && length < sizeof(list); i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length,
					   "%s %s", i ? "," : "",
					   table->columns[i].title);
	vm_option_refuse("--sort", name, "this screen's columns are%s", list);
}

/* --sort: the column of the first screen whose title begins so. */
static int sort_take(struct top *top, const char *name)
{
	struct listing *listing = &top->view.listings[top->view.screen];
	const struct table *table = &top->view.table;
	bool turned = name[0] == '-';

	name += turned;
	for (int i = 0; i < table->column_count; i++) {
		if (strncmp(table->columns[i].title, name, strlen(name)) != 0)
			continue;
		listing->sort = i;
		listing->turned = turned;
		return 0;
	}
	sort_refuse(table, name);
	return VM_EXIT_MISTAKE;
}

static int plot_take(struct top *top, const char *name)
{
	const struct variable *variable = model_variable(&top->model, name);

	if (!variable) {
		vm_option_refuse("--plot", name,
				 "the job has no such variable; vmpitop "
				 "--batch 1 --screen variables lists them");
		return VM_EXIT_MISTAKE;
	}
	snprintf(top->view.plotted, sizeof(top->view.plotted), "%s", name);
	top->view.plot_level = !variable->counts;
	return 0;
}

/* Applies the options about screens; the first reading has been taken. */
static int options_take(struct top *top)
{
	const struct options *options = top->options;

	if (options->node >= 0 && !model_node(&top->model, options->node)) {
		vm_cli_say("--node %d: it is not on this host", options->node);
		return VM_EXIT_MISTAKE;
	}
	if (options->plot && plot_take(top, options->plot))
		return VM_EXIT_MISTAKE;
	if (!options->sort)
		return 0;
	if (canvas_fit(top, BATCH_ROWS, BATCH_COLS))
		return EXIT_FAILURE;
	view_draw(&top->view, &top->canvas, &top->model);
	return sort_take(top, options->sort);
}

static int top_run(struct top *top, const char *job)
{
	const struct options *options = top->options;
	char why[256];
	int rc = feed_open(&top->feed, options->directory, job), status;

	view_init(&top->view,
		  options->marks_given ? options->marks : term_plot_how());
	top->view.interval_s = options->delay_s;
	top->view.hang_s = options->hang_s;
	top->view.screen = options->screen;
	top->view.node = options->node;
	top->view.bare = options->batch > 0;
	if (options->filter)
		snprintf(top->view.filter, sizeof(top->view.filter), "%s",
			 options->filter);
	if (!rc)
		rc = look(top);
	status = rc ? 0 : options_take(top);
	/* The list is what --sort is about. */
	top->view.map = options->map;
	if (!rc && !status && options->batch) {
		rc = batch_run(top);
	} else if (!rc && !status && term_open(why, sizeof(why))) {
		vm_cli_say("%s", why);
		status = VM_EXIT_MISTAKE;
	} else if (!rc && !status) {
		rc = terminal_run(top);
		term_close();
	}
	if (rc)
		vm_cli_say("%s", rc == -VMPI_ENOENT ? "the job is gone" :
						      vmpi_strerror(rc));
	return rc ? EXIT_FAILURE : status;
}

#define LOOK_S 0.2

/* Who sits before a terminal and has no job yet is about to start one. */
static int jobs_find(struct vm_live_jobs *jobs, const struct options *options)
{
	bool waits = !options->job && !options->list && !options->batch &&
		     isatty(STDOUT_FILENO);
	bool said = false;
	int rc;

	while (!(rc = vm_live_jobs_find(jobs, options->directory, NULL,
					NULL)) &&
	       waits && !jobs_living(jobs)) {
		if (!said)
			vm_cli_say("waiting for a job of yours to begin on "
				   "this host");
		said = true;
		vm_live_jobs_free(jobs);
		pause_s(LOOK_S);
	}
	return rc;
}

int main(int argc, char **argv)
{
	struct options options;
	struct top top = { .options = &options };
	const struct vm_live_job *job;
	struct vm_live_jobs jobs;
	int rc, status;

	vm_standard_open();
	if (options_parse(&options, argc, argv))
		return VM_EXIT_MISTAKE;
	rc = jobs_find(&jobs, &options);
	if (rc) {
		vm_cli_say("%.200s: %s", options.directory, vmpi_strerror(rc));
		return EXIT_FAILURE;
	}
	if (options.list) {
		jobs_print(&jobs, stdout);
		vm_live_jobs_free(&jobs);
		return vm_cli_end(EXIT_SUCCESS);
	}
	job = jobs_choose(&jobs, options.job);
	status = job ? top_run(&top, job->name) : VM_EXIT_MISTAKE;
	vm_live_jobs_free(&jobs);
	feed_close(top.feed);
	view_fini(&top.view);
	canvas_fini(&top.canvas);
	model_fini(&top.model);
	return status;
}
