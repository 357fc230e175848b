/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows are sorted by qsort_r(), with the id as the last word, so that rows that
 * are equal do not dance.
 */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "spread.h"

void table_begin(struct table *table, const struct column *columns, int count)
{
	if (count)
		memcpy(table->columns, columns,
		       (size_t)count * sizeof(*columns));
	table->column_count = count;
	table->row_count = 0;
}

void table_fini(struct table *table)
{
	free(table->rows);
	*table = (struct table){ 0 };
}

struct row *table_add(struct table *table, uint64_t id)
{
	struct row *row;

	if (table->row_count == table->row_room) {
		int room = table->row_room ? 2 * table->row_room : 64;
		struct row *rows =
			realloc(table->rows, (size_t)room * sizeof(*rows));

		if (!rows)
			return NULL;
		table->rows = rows;
		table->row_room = room;
	}
	row = &table->rows[table->row_count++];
	memset(row, 0, sizeof(*row));
	row->id = id;
	return row;
}

struct order {
	int column;
	bool words;
	int sign; /* 1: the smallest first */
};

/* Compares two values for sorting; unknown ones are last in any case. */
static int value_compare(const struct value *a, const struct value *b,
			 const struct order *order)
{
	bool no_a = a->kind == FIGURE_NONE, no_b = b->kind == FIGURE_NONE;

	if (no_a || no_b)
		return no_a - no_b;
	if (order->words)
		return order->sign * strcmp(a->text, b->text);
	return order->sign *
	       ((a->number > b->number) - (a->number < b->number));
}

static int row_compare(const void *left, const void *right, void *arg)
{
	const struct row *a = left, *b = right;
	const struct order *order = arg;
	int rc = value_compare(&a->values[order->column],
			       &b->values[order->column], order);

	return rc ? rc : (a->id > b->id) - (a->id < b->id);
}

void table_sort(struct table *table, const struct listing *listing)
{
	const struct column *column = &table->columns[listing->sort];
	struct order order = { .column = listing->sort,
			       .words = column->words };

	order.sign = (column->words || column->rises) != listing->turned ? 1 :
									   -1;
	if (table->row_count)
		qsort_r(table->rows, (size_t)table->row_count,
			sizeof(*table->rows), row_compare, &order);
}

/* The cursor goes where its row is; if that is gone it stays where it was. */
static void listing_follow(struct listing *listing, const struct table *table,
			   int page)
{
	for (int i = 0; i < table->row_count; i++)
		if (table->rows[i].id == listing->chosen)
			listing->cursor = i;
	if (listing->cursor >= table->row_count)
		listing->cursor = table->row_count ? table->row_count - 1 : 0;
	listing->page = page > 0 ? page : 1;
	if (listing->top > listing->cursor)
		listing->top = listing->cursor;
	if (listing->top + listing->page <= listing->cursor)
		listing->top = listing->cursor - listing->page + 1;
	if (listing->top + listing->page > table->row_count)
		listing->top = table->row_count - listing->page;
	if (listing->top < 0)
		listing->top = 0;
	if (table->row_count)
		listing->chosen = table->rows[listing->cursor].id;
}

/* The last column of words gets what is left of the line. */
static int column_width(const struct table *table, int column, int left)
{
	const struct column *it = &table->columns[column];

	if (it->words && column == table->column_count - 1 && left > it->width)
		return left;
	return it->width;
}

static void titles_draw(struct canvas *canvas, struct box box,
			const struct table *table,
			const struct listing *listing)
{
	int col = box.col;

	for (int i = 0; i < box.cols; i++)
		canvas_mark(canvas, box.row, box.col + i, STYLE_HEAD, ' ');
	for (int i = 0; i < table->column_count; i++) {
		const struct column *column = &table->columns[i];
		int width = column_width(table, i, box.col + box.cols - col);
		char mark = listing->sort != i ? ' ' :
			    (column->words || column->rises) !=
					    listing->turned ?
						 '^' :
						 'v';

		canvas_put(canvas, box.row, col, STYLE_HEAD,
			   column->words ? "%-.*s%c" : "%*s%c",
			   column->words ? width - 1 : width - 2, column->title,
			   mark);
		col += width;
	}
}

static void row_draw(struct canvas *canvas, struct box box,
		     const struct table *table, const struct row *row)
{
	char text[FIGURE_MAX];
	int col = box.col;

	for (int i = 0; i < table->column_count; i++) {
		const struct value *value = &row->values[i];
		int width = column_width(table, i, box.col + box.cols - col);

		figure_text(text, value->kind, value->number);
		if (table->columns[i].words)
			canvas_put(canvas, box.row, col, row->style, "%-*.*s",
				   width - 1, width - 1,
				   value->kind == FIGURE_TEXT ? value->text :
								text);
		else
			canvas_put(canvas, box.row, col, row->style, "%*s",
				   width - 1,
				   value->kind == FIGURE_TEXT ? value->text :
								text);
		col += width;
	}
}

/* The kind of the numbers of a column that are known, which go to numbers;
 * *count of them. */
static enum figure_kind column_numbers(double *numbers, int *count,
				       const struct table *table, int column)
{
	enum figure_kind kind = FIGURE_NONE;

	*count = 0;
	for (int i = 0; i < table->row_count; i++) {
		const struct value *value = &table->rows[i].values[column];

		if (value->kind == FIGURE_NONE)
			continue;
		kind = value->kind;
		numbers[(*count)++] = value->number;
	}
	return kind;
}

void table_spread(struct canvas *canvas, struct box box,
		  const struct table *table)
{
	struct row rows[TABLE_SPREAD_ROWS] = {
		{ .style = STYLE_DIM, .values[0] = value_text("least") },
		{ .style = STYLE_DIM, .values[0] = value_text("median") },
		{ .style = STYLE_DIM, .values[0] = value_text("most") },
	};
	double *numbers = calloc((size_t)table->row_count + 1, sizeof(double));

	for (int i = 1; i < table->column_count && numbers; i++) {
		enum figure_kind kind;
		struct spread spread;
		int count;

		for (int k = 0; k < TABLE_SPREAD_ROWS; k++)
			rows[k].values[i] = value_text("");
		if (table->columns[i].words || table->columns[i].rises)
			continue;
		kind = column_numbers(numbers, &count, table, i);
		spread = count ? spread_of(numbers, count) :
				 (struct spread){ 0 };
		rows[0].values[i] = value_of(kind, spread.least);
		rows[1].values[i] = value_of(kind, spread.median);
		rows[2].values[i] = value_of(kind, spread.most);
	}
	free(numbers);
	for (int k = 0; k < TABLE_SPREAD_ROWS && k < box.rows; k++) {
		struct box line = { box.row + k, box.col, 1, box.cols };

		row_draw(canvas, line, table, &rows[k]);
	}
}

void table_draw(struct canvas *canvas, struct box box, struct table *table,
		struct listing *listing)
{
	if (listing->sort >= table->column_count)
		listing->sort = 0;
	table_sort(table, listing);
	listing_follow(listing, table, box.rows - 1);
	if (box.rows < 1)
		return;
	titles_draw(canvas, box, table, listing);
	for (int i = 0; i < box.rows - 1; i++) {
		int index = listing->top + i;
		struct box line = { box.row + 1 + i, box.col, 1, box.cols };

		if (index >= table->row_count)
			break;
		row_draw(canvas, line, table, &table->rows[index]);
		if (index == listing->cursor)
			canvas_paint(canvas, line.row, STYLE_CHOSEN);
	}
}

const struct row *table_chosen(const struct table *table,
			       const struct listing *listing)
{
	if (listing->cursor >= table->row_count)
		return NULL;
	return &table->rows[listing->cursor];
}

void listing_move(struct listing *listing, const struct table *table, int by)
{
	int64_t to = (int64_t)listing->cursor + by;

	if (!table->row_count)
		return;
	if (to < 0)
		to = 0;
	if (to >= table->row_count)
		to = table->row_count - 1;
	listing->cursor = (int)to;
	listing->chosen = table->rows[to].id;
}

void listing_sort(struct listing *listing, const struct table *table, int by)
{
	if (!table->column_count)
		return;
	listing->sort = (listing->sort + table->column_count + by) %
			table->column_count;
	listing->turned = false;
}
