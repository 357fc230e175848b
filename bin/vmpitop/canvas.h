/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A page of characters that screens are drawn on.
 *
 * It knows no terminal: the same page goes to ncurses (terminal.h), to a file
 * with --batch, and to tests.  Whatever lies outside of it is cut off, and what
 * is no printable ASCII in a text becomes a question mark, since texts come
 * from other processes.
 */
#ifndef VMPITOP_CANVAS_H
#define VMPITOP_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/log.h" /* VM_PRINTF */

/* The style of a character; the terminal decides how it appears. */
enum style {
	STYLE_PLAIN,
	STYLE_BOLD,
	STYLE_DIM,
	STYLE_HEAD,   /* titles of columns, the bar at the bottom */
	STYLE_CHOSEN, /* where the cursor is */
	STYLE_GOOD,
	STYLE_WARN,
	STYLE_BAD,
	STYLES
};

struct cell {
	uint32_t character; /* Unicode; 0 is a blank */
	uint8_t style;
};

struct canvas {
	int rows, cols;
	struct cell *cells;
};

/* A part of it. */
struct box {
	int row, col, rows, cols;
};

/* 0 or -VMPI_ENOMEM.  Sizes below 1 count as 1. */
int canvas_init(struct canvas *canvas, int rows, int cols);
void canvas_fini(struct canvas *canvas);

/* Blanks everywhere. */
void canvas_clear(struct canvas *canvas);

/* Writes a text; the result is the column behind it, also of what was cut
 * off. */
int canvas_put(struct canvas *canvas, int row, int col, enum style style,
	       const char *format, ...) VM_PRINTF(5, 6);

/* One character. */
void canvas_mark(struct canvas *canvas, int row, int col, enum style style,
		 uint32_t character);

/* Gives a whole row a style, and its characters stay. */
void canvas_paint(struct canvas *canvas, int row, enum style style);

/* Writes the page as UTF-8, blanks at the ends of lines and empty lines at the
 * end aside. */
void canvas_print(const struct canvas *canvas, FILE *out);

/* A character as UTF-8 with its end; the result is its bytes. */
int canvas_utf8(char text[5], uint32_t character);

#endif
