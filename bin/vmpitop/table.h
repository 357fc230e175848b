/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table that is sorted, scrolled and drawn.
 *
 * A screen fills it anew for each picture; what the user has chosen stays in a
 * listing.  The cursor stays at its row, by the row's id, wherever sorting puts
 * it.
 */
#ifndef VMPITOP_TABLE_H
#define VMPITOP_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"
#include "figure.h"

#define TABLE_COLUMNS_MAX 12

struct column {
	const char *title;
	int width;
	bool words; /* at the left, and sorted from A to Z */
	bool rises; /* numbers: the smallest first */
};

/* With FIGURE_TEXT the text counts, else the number.  Texts live as long as the
 * table. */
struct value {
	enum figure_kind kind;
	double number;
	const char *text;
};

struct row {
	uint64_t id;
	enum style style;
	struct value values[TABLE_COLUMNS_MAX];
};

struct table {
	struct column columns[TABLE_COLUMNS_MAX];
	int column_count;
	struct row *rows;
	int row_count, row_room;
};

/* The state of a table that stays between pictures. */
struct listing {
	int sort;	 /* a column */
	bool turned;	 /* the other way round than is usual for it */
	uint64_t chosen; /* the id of the row with the cursor */
	int cursor, top; /* as of the last picture */
	int page;	 /* rows of it */
};

/* An empty table of these columns, which are copied; it keeps its memory. */
void table_begin(struct table *table, const struct column *columns, int count);
void table_fini(struct table *table);

/* One more row, without values: until the next one is added; NULL: there is no
 * memory. */
struct row *table_add(struct table *table, uint64_t id);

static inline struct value value_none(void)
{
	return (struct value){ .kind = FIGURE_NONE };
}

static inline struct value value_of(enum figure_kind kind, double number)
{
	return (struct value){ .kind = kind, .number = number };
}

static inline struct value value_text(const char *text)
{
	return (struct value){ .kind = FIGURE_TEXT, .text = text };
}

/* By the column of the listing; then by id. */
void table_sort(struct table *table, const struct listing *listing);

/* Sorts it, moves the listing along, and draws titles and rows into box. */
void table_draw(struct canvas *canvas, struct box box, struct table *table,
		struct listing *listing);

/* Draws three lines, least, median and most, of the columns of numbers into box,
 * which are aligned with the table's. */
#define TABLE_SPREAD_ROWS 3
void table_spread(struct canvas *canvas, struct box box,
		  const struct table *table);

/* The row with the cursor, after table_draw(); NULL: there is none. */
const struct row *table_chosen(const struct table *table,
			       const struct listing *listing);

/* Moves the cursor by so many rows of the last picture. */
void listing_move(struct listing *listing, const struct table *table, int by);

/* The next or (-1) the previous column is the one to sort by. */
void listing_sort(struct listing *listing, const struct table *table, int by);

#endif
