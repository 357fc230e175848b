/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A value over time, drawn with characters.
 *
 * The newest value stands at the right; one column (braille: half of one) is
 * one sample.  The axis begins at 0 and ends at a round number above the
 * greatest value that is shown.
 */
#ifndef VMPITOP_PLOT_H
#define VMPITOP_PLOT_H

#include "canvas.h"
#include "figure.h"

enum plot_how { PLOT_BRAILLE, PLOT_BLOCK, PLOT_ASCII, PLOT_HOWS };

/* "braille", "block", "ascii". */
const char *plot_how_name(enum plot_how how);

/* The last PLOT_SAMPLES values. */
#define PLOT_SAMPLES 1024
struct series {
	double values[PLOT_SAMPLES];
	unsigned next, count;
};

void series_clear(struct series *series);
void series_add(struct series *series, double value);
/* The value of `back` samples ago; 0 is the newest; back < series->count. */
double series_at(const struct series *series, unsigned back);

/* The smallest of 1, 2, 5, 10, 20, ... that is not below value, at least 1; of
 * bytes times 1024, 1024^2, ... */
double plot_ceiling(double value, enum figure_kind kind);

/* Draws it with its axis into box; interval_s is the time of one sample. */
void plot_draw(struct canvas *canvas, struct box box,
	       const struct series *series, enum plot_how how,
	       enum figure_kind kind, double interval_s);

#endif
