/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plots: the scale, the marks of each kind, and what does not fit.
 */
#include "vmpitop/plot.h"

#include "page.h"

static const struct {
	double value;
	enum figure_kind kind;
	double want;
} ceilings[] = {
	{ 0, FIGURE_COUNT, 1 },	     { 0.4, FIGURE_COUNT, 1 },
	{ 1, FIGURE_COUNT, 1 },	     { 1.1, FIGURE_COUNT, 2 },
	{ 3, FIGURE_COUNT, 5 },	     { 7, FIGURE_COUNT, 10 },
	{ 10, FIGURE_COUNT, 10 },    { 11, FIGURE_COUNT, 20 },
	{ 2e6, FIGURE_COUNT, 2e6 },  { 512, FIGURE_BYTES, 1000 },
	{ 900, FIGURE_BYTES, 1024 }, { 3000, FIGURE_BYTES, 5120 },
};

#define CEILINGS (int)(sizeof(ceilings) / sizeof(ceilings[0]))

static struct series series;

static uint32_t mark_at(const struct canvas *canvas, int row, int col)
{
	return canvas->cells[row * canvas->cols + col].character;
}

/* A page of 5 rows and 12 columns: 4 by 4 cells for values, at column 8. */
static void draw(struct canvas *canvas, enum plot_how how)
{
	struct box box = { 0, 0, 5, 12 };

	canvas_clear(canvas);
	plot_draw(canvas, box, &series, how, FIGURE_COUNT, 1);
}

static void ring_check(void)
{
	series_clear(&series);
	for (int i = 0; i < PLOT_SAMPLES + 10; i++)
		series_add(&series, i);
	is_int(series.count, PLOT_SAMPLES, "a full series keeps its length");
	is_int((int)series_at(&series, 0), PLOT_SAMPLES + 9,
	       "the newest value is there");
	is_int((int)series_at(&series, PLOT_SAMPLES - 1), 10,
	       "and so is the oldest that is kept");
}

/* How many of 64 columns show something when there are so many samples. */
static int columns_of(int samples)
{
	struct canvas canvas;
	int columns = 0;

	canvas_init(&canvas, 5, 72);
	canvas_clear(&canvas);
	series_clear(&series);
	for (int i = 0; i < samples; i++)
		series_add(&series, 10);
	plot_draw(&canvas, (struct box){ 0, 0, 5, 72 }, &series, PLOT_BLOCK,
		  FIGURE_COUNT, 1);
	for (int col = 8; col < 72; col++)
		columns += mark_at(&canvas, 3, col) == 0x2588;
	canvas_fini(&canvas);
	return columns;
}

static void young_check(void)
{
	is_int(columns_of(1), 8, "a plot opens with its first sample");
	is_int(columns_of(8), 64, "of which eight fill it");
	is_int(columns_of(9), 36, "more are drawn half as wide");
	is_int(columns_of(33), 33, "until each has a column");
	is_int(columns_of(200), 64, "and the oldest are gone");
}

int main(void)
{
	struct canvas canvas;

	plan(CEILINGS + 22);
	for (int i = 0; i < CEILINGS; i++)
		is_double(plot_ceiling(ceilings[i].value, ceilings[i].kind),
			  ceilings[i].want, 1e-9, "%g goes up to %g",
			  ceilings[i].value, ceilings[i].want);
	ring_check();
	canvas_init(&canvas, 5, 12);
	series_clear(&series);
	series_add(&series, 10);
	series_add(&series, 5);
	draw(&canvas, PLOT_BLOCK);
	ok(page_has(&canvas, "10"), "the axis has the greatest value");
	is_int(mark_at(&canvas, 0, 10), 0x2588, "10 of 10 fills its column");
	is_int(mark_at(&canvas, 1, 11), ' ', "5 of 10 does not go higher");
	is_int(mark_at(&canvas, 2, 11), 0x2588, "... than half of it");
	is_int(mark_at(&canvas, 3, 9), ' ',
	       "before the first value is nothing");
	draw(&canvas, PLOT_ASCII);
	is_int(mark_at(&canvas, 0, 10), '#', "ASCII: a full cell");
	is_int(mark_at(&canvas, 0, 7), '|', "and an axis of ASCII");
	draw(&canvas, PLOT_BRAILLE);
	is_int(mark_at(&canvas, 0, 11), 0x2800 + 0x47,
	       "braille: two values in a cell, here the left one");
	is_int(mark_at(&canvas, 2, 11), 0x2800 + 0xff, "... and both");
	series_clear(&series);
	series_add(&series, 1.25);
	series_add(&series, 2);
	draw(&canvas, PLOT_BLOCK);
	is_int(mark_at(&canvas, 1, 10), 0x2584,
	       "5/8 of four cells: two, and half a cell");
	draw(&canvas, PLOT_ASCII);
	is_int(mark_at(&canvas, 1, 10), '.', "ASCII: half a cell");
	canvas_clear(&canvas);
	plot_draw(&canvas, (struct box){ 0, 0, 1, 12 }, &series, PLOT_BLOCK,
		  FIGURE_COUNT, 1);
	plot_draw(&canvas, (struct box){ 0, 0, 5, 9 }, &series, PLOT_BLOCK,
		  FIGURE_COUNT, 1);
	is_int(mark_at(&canvas, 0, 0), 0, "without room nothing is drawn");
	young_check();
	series_clear(&series);
	draw(&canvas, PLOT_BRAILLE);
	ok(page_has(&canvas, "now"), "without values there is an axis");
	is_string(plot_how_name(PLOT_BRAILLE), "braille", "ways have names");
	canvas_fini(&canvas);
	return done_testing();
}
