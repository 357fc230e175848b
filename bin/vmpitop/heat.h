/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A heat map: how busy ranks are (busy.h), over time.
 *
 * A row is a rank or, if there are more of them than lines, a group of
 * consecutive ranks, whose mean it shows.  A column is a sample; the newest
 * stands at the right.
 */
#ifndef VMPITOP_HEAT_H
#define VMPITOP_HEAT_H

#include "busy.h"
#include "canvas.h"

/* One of the ten marks " .:-=+*#%@", for 10% each; negative: a blank. */
char heat_mark(double share);

/* A line: the least, median and greatest share, and whose they are. */
void heat_summary(struct canvas *canvas, struct box box,
		  const struct busy *busy, int node);

/* Draws it with its axis into box; interval_s is the time of one sample. */
void heat_draw(struct canvas *canvas, struct box box, const struct busy *busy,
	       int node, double interval_s);

#endif
