/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each way to draw says how finely it divides a cell: braille has 2 by 4 dots,
 * blocks eight heights, ASCII two.
 */
#include "plot.h"

#include <math.h>
#include <string.h>

#include "report/amount.h"

#define AXIS_COLS 8 /* the figures at the left, and the line */
#define SAMPLES_FEW 8

const char *plot_how_name(enum plot_how how)
{
	static const char *const names[] = { "braille", "block", "ascii" };

	return names[how];
}

void series_clear(struct series *series)
{
	series->next = series->count = 0;
}

void series_add(struct series *series, double value)
{
	series->values[series->next] = value;
	series->next = (series->next + 1) % PLOT_SAMPLES;
	if (series->count < PLOT_SAMPLES)
		series->count++;
}

double series_at(const struct series *series, unsigned back)
{
	return series->values[(series->next + PLOT_SAMPLES - 1 - back) %
			      PLOT_SAMPLES];
}

double plot_ceiling(double value, enum figure_kind kind)
{
	static const double steps[] = { 1, 2, 5, 10 };
	double power = 1;

	if (kind == FIGURE_BYTES && value > 512)
		return 1024 * plot_ceiling(value / 1024, kind);
	while (value > power * 10)
		power *= 10;
	for (int i = 0; i < 4; i++)
		if (value <= steps[i] * power)
			return steps[i] * power;
	return power * 10;
}

/* The part of a cell, `parts` high, that is below height (0 to rows *
 * parts). */
static int part_of(double height, int cell, int parts)
{
	double rest = height - (double)cell * parts;

	return rest <= 0 ? 0 : rest >= parts ? parts : (int)ceil(rest);
}

static uint32_t block_of(int eighths)
{
	return eighths ? 0x2580 + (uint32_t)eighths : ' ';
}

static uint32_t ascii_of(int halves)
{
	static const char marks[] = " .#";

	return (uint32_t)marks[halves];
}

/* Dots from below: the bits of the left and the right column of a cell. */
static uint32_t braille_of(int left, int right)
{
	static const uint8_t lefts[] = { 0x00, 0x40, 0x44, 0x46, 0x47 };
	static const uint8_t rights[] = { 0x00, 0x80, 0xa0, 0xb0, 0xb8 };

	return left || right ? 0x2800u + lefts[left] + rights[right] : ' ';
}

struct drawing {
	struct canvas *canvas;
	struct box box; /* without the axis */
	const struct series *series;
	double top; /* the value at the upper end */
	int wide;   /* how many marks side by side show one sample */
};

/* A young series is drawn larger, so that there is something to see: samples
 * become narrower as they become more. */
static int wide_of(unsigned shown, unsigned count)
{
	int wide = 1;

	if (count < SAMPLES_FEW)
		count = SAMPLES_FEW;
	while (2 * (unsigned)wide * count <= shown)
		wide *= 2;
	return wide;
}

/* The height of a sample in parts of cells; none: not drawn. */
static double height_of(const struct drawing *drawing, int back, int parts)
{
	double value;

	back /= drawing->wide;
	if (back < 0 || (unsigned)back >= drawing->series->count)
		return 0;
	value = series_at(drawing->series, (unsigned)back);
	return value / drawing->top * drawing->box.rows * parts;
}

static void column_draw(const struct drawing *drawing, int col,
			enum plot_how how)
{
	const struct box *box = &drawing->box;
	int back = box->cols - 1 - col;

	for (int cell = 0; cell < box->rows; cell++) {
		uint32_t mark = ' ';

		if (how == PLOT_BRAILLE)
			mark = braille_of(
				part_of(height_of(drawing, 2 * back + 1, 4),
					cell, 4),
				part_of(height_of(drawing, 2 * back, 4), cell,
					4));
		else if (how == PLOT_BLOCK)
			mark = block_of(
				part_of(height_of(drawing, back, 8), cell, 8));
		else
			mark = ascii_of(
				part_of(height_of(drawing, back, 2), cell, 2));
		canvas_mark(drawing->canvas, box->row + box->rows - 1 - cell,
			    box->col + col, STYLE_GOOD, mark);
	}
}

static void axis_draw(const struct drawing *drawing, struct box box,
		      enum plot_how how, enum figure_kind kind, double seconds)
{
	uint32_t line = how == PLOT_ASCII ? '|' : 0x2502;
	char text[FIGURE_MAX], ago[VM_AMOUNT_MAX];

	for (int row = 0; row < drawing->box.rows; row++) {
		double value =
			drawing->top * (1 - (double)row / drawing->box.rows);

		if (row == 0 || row == drawing->box.rows / 2) {
			figure_text(text, kind, value);
			canvas_put(drawing->canvas, box.row + row, box.col,
				   STYLE_DIM, "%7.7s", text);
		}
		canvas_mark(drawing->canvas, box.row + row,
			    box.col + AXIS_COLS - 1, STYLE_DIM, line);
	}
	vm_amount_ns(ago, seconds * 1e9);
	canvas_put(drawing->canvas, box.row + box.rows - 1, box.col, STYLE_DIM,
		   "%7.7s", "0");
	canvas_put(drawing->canvas, box.row + box.rows - 1, box.col + AXIS_COLS,
		   STYLE_DIM, "%s ago", ago);
	canvas_put(drawing->canvas, box.row + box.rows - 1,
		   box.col + box.cols - 3, STYLE_DIM, "now");
}

void plot_draw(struct canvas *canvas, struct box box,
	       const struct series *series, enum plot_how how,
	       enum figure_kind kind, double interval_s)
{
	struct drawing drawing = { .canvas = canvas, .series = series };
	unsigned shown;
	double most = 0;

	drawing.box = (struct box){ box.row, box.col + AXIS_COLS, box.rows - 1,
				    box.cols - AXIS_COLS };
	if (drawing.box.rows < 1 || drawing.box.cols < 4)
		return;
	/* The figure at half the height is half of the other. */
	if (drawing.box.rows > 2 && drawing.box.rows % 2) {
		drawing.box.row++;
		drawing.box.rows--;
		box.row++;
		box.rows--;
	}
	shown = (unsigned)drawing.box.cols * (how == PLOT_BRAILLE ? 2 : 1);
	drawing.wide = wide_of(shown, series->count);
	shown /= (unsigned)drawing.wide;
	for (unsigned i = 0; i < shown && i < series->count; i++)
		most = fmax(most, series_at(series, i));
	drawing.top = plot_ceiling(most, kind);
	axis_draw(&drawing, box, how, kind, shown * interval_s);
	for (int col = 0; col < drawing.box.cols; col++)
		column_draw(&drawing, col, how);
}
