/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests press keys and read the page.
 */
#include "vmpitop/view.h"

#include "job.h"
#include "page.h"

static struct model model;
static struct view view;
static struct canvas canvas;

static void draw(void)
{
	view_draw(&view, &canvas, &model);
}

static void press(int key)
{
	view_key(&view, &model, key);
	draw();
}

static void type(const char *text)
{
	for (; *text; text++)
		press(*text);
}

static bool shown(const char *text)
{
	return page_has(&canvas, text);
}

static void zeros_check(void)
{
	int all = view.table.row_count;
	double now = model.variables[0].now;

	model.variables[0].now = 0;
	draw();
	is_int(view.table.row_count, all - 1, "what is 0 is not listed");
	press('z');
	is_int(view.table.row_count, all, "unless z asks for it");
	press('z');
	model.variables[0].now = now;
	draw();
}

static void screens_check(void)
{
	draw();
	ok(shown("heat, job 4711: 6 ranks, 2 nodes, 4 workers, up "
		 "0:01:02, 1.5/worker"),
	   "the first line says what the job is");
	ok(shown("210 messages/s   210 B/s   100 switches/s   6 run"),
	   "the second one what it does");
	ok(shown("host1"), "the overview has the nodes");
	ok(shown("messages per second"), "and a plot");
	press('w');
	ok(shown("worker"), "w shows workers");
	press('r');
	ok(shown("waits for"), "r shows ranks");
	press('4');
	ok(shown("steal/s"), "4 shows the fabric");
	press('\t');
	ok(shown("core_eager_limit"), "Tab goes on to the variables");
	ok(shown("100"), "with their change per second");
	is_int(view.listings[SCREEN_VARIABLES].cursor, 0,
	       "from the first one on");
	zeros_check();
	press('p');
	ok(shown("core_sends per second"), "the plot begins with the messages");
	press('h');
	ok(shown("invert the order"), "h is for help");
	press('x');
	press('f');
	press('h');
	ok(shown("steal/s: "), "also with what the columns are");
	press('x');
	press('p');
	press('h');
	press('x');
	ok(shown("core_sends per second"), "any key leaves it");
}

static void sort_check(void)
{
	press('r');
	press(KEY_OF_HOME);
	is_int(view.table.rows[0].id, 0, "ranks are sorted by number");
	for (int i = 0; i < 7; i++)
		press('>');
	is_int(view.table.rows[0].id, 5, "then by messages per second");
	press('i');
	is_int(view.table.rows[0].id, 0, "i inverts that");
	job_wait(&model, 4, 1);
	draw();
	ok(shown("wait"), "a rank that waits is seen to");
	press('n');
	is_int(view.table.row_count, 3, "n looks at one node");
	ok(shown("node 0:  60 messages/s"), "in the head, too");
	press('n');
	press('n');
	is_int(view.table.row_count, 6, "and after the last one at all");
}

static void map_check(void)
{
	press('r');
	ok(shown("busy: not known yet"),
	   "nothing is known before the first look");
	view_look(&view, &model);
	draw();
	ok(shown("busy: least 0.0% (rank 0), median 50.0%, most 100% (rank 5)"),
	   "then the least and the most busy rank are");
	ok(shown(" least              0.0%"), "there are the least values");
	ok(shown("median             50.0%"), "the medians");
	ok(shown("  most              100%"), "and the greatest ones");
	press('m');
	ok(shown("          5  100% |"), "m shows the map, of each rank");
	ok(shown("m list"), "the line of keys says how to go back");
	is_int(view.how, PLOT_BRAILLE, "the marks of plots stay");
	press('+');
	ok(shown("busy: not known yet"),
	   "samples of another length begin anew");
	press('-');
	press('m');
	ok(shown("waits for"), "m again shows the list");
}

static void node_check(void)
{
	press('o');
	press(KEY_OF_DOWN);
	press(KEY_OF_ENTER);
	is_int(view.node, 1, "Enter chooses the node under the cursor");
	press(KEY_OF_ENTER);
	is_int(view.node, -1, "and again all of them");
}

static void plot_check(void)
{
	press('v');
	press(KEY_OF_END);
	press('/');
	type("S");
	ok(view.listings[SCREEN_VARIABLES].cursor == 0,
	   "the cursor goes to the top of what is found");
	type("ENDS");
	ok(shown("filter: SENDS"), "a filter is typed");
	is_int(view.table.row_count, 1, "and works as it is typed");
	press(KEY_OF_BACKSPACE);
	press(KEY_OF_ENTER);
	is_string(view.filter, "SEND", "Backspace takes a letter back");
	press(KEY_OF_ENTER);
	is_string(view.plotted, "core_sends", "Enter plots the variable");
	view_look(&view, &model);
	draw();
	ok(shown("core_sends per second: 100"), "its change per second first");
	press('l');
	ok(shown("core_sends: 700"), "l shows its value");
	press('m');
	is_int(view.how, PLOT_BLOCK, "m changes the marks");
	press('/');
	press(KEY_OF_ESCAPE);
	is_int(view.table.row_count, 3, "Escape removes the filter");
	press('/');
	type("nosuch");
	ok(shown("no variable has 'nosuch'"), "nothing found is said");
	press(KEY_OF_ESCAPE);
}

static void set_check(void)
{
	press('v');
	press(KEY_OF_HOME);
	press('s');
	ok(shown("vmpirun --control"),
	   "without --control s says how to get it");
	model.nodes[0].control = true;
	press('s');
	ok(shown("set: core_eager_limit="), "with it s asks for a value");
	type("64K");
	press(KEY_OF_ENTER);
	ok(view.set_wanted, "Enter has it set");
	is_string(view.set_name, "core_eager_limit", "by name");
	is_string(view.set_value, "64K", "to the value");
	is_int(view.set_rank, -1, "for the whole node");
	view.set_wanted = false;
	press(KEY_OF_END);
	press('s');
	ok(shown("can only be set before"), "not all can be set now");
	press('o');
	press('s');
	type("12:core_x=a=b");
	press(KEY_OF_ENTER);
	is_int(view.set_rank, 12, "RANK: sets it for one rank");
	is_string(view.set_value, "a=b", "a value may have =");
	view.set_wanted = false;
	press('s');
	type("=3");
	press(KEY_OF_ENTER);
	ok(!view.set_wanted && shown("NAME=VALUE"), "what is wrong is said");
	press('s');
	type("x=3");
	press(KEY_OF_ESCAPE);
	ok(!view.set_wanted, "Escape sets nothing");
}

/* Any keys, at any size: nothing is written outside, nothing crashes. */
static void random_check(void)
{
	unsigned seed = 5;

	for (int i = 0; i < 20000; i++) {
		int key = rand_r(&seed) % 4 ?
				  (int)(' ' + rand_r(&seed) % 95) :
				  (int)(KEY_OF_UP + rand_r(&seed) % 13);

		if (i % 100 == 0) {
			canvas_fini(&canvas);
			canvas_init(&canvas, 1 + (int)(rand_r(&seed) % 40),
				    1 + (int)(rand_r(&seed) % 120));
		}
		press(key);
		if (rand_r(&seed) % 3 == 0)
			view_look(&view, &model);
		view.quit = false;
	}
	ok(true, "random keys at random sizes do no harm");
}

int main(void)
{
	job_make(&model);
	view_init(&view, PLOT_BRAILLE);
	canvas_init(&canvas, 24, 80);
	screens_check();
	map_check();
	sort_check();
	node_check();
	plot_check();
	set_check();
	press(' ');
	ok(shown("PAUSED"), "space pauses");
	press('-');
	is_double(view.interval_s, 0.5, 1e-9, "- looks twice as often");
	press('q');
	ok(view.quit, "q quits");
	random_check();
	view_fini(&view);
	canvas_fini(&canvas);
	model_fini(&model);
	return done_testing();
}
