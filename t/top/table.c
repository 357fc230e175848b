/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables: order, cursor and scrolling, also against a model with random data.
 */
#include "vmpitop/table.h"

#include "page.h"

static const struct column columns[] = {
	{ .title = "name", .width = 8, .words = true },
	{ .title = "rank", .width = 6, .rises = true },
	{ .title = "load", .width = 8 },
};

static struct table table;
static struct listing listing;
static struct canvas canvas;

static void add(uint64_t id, const char *name, double rank, double load)
{
	struct row *row = table_add(&table, id);

	row->values[0] = value_text(name);
	row->values[1] = value_of(FIGURE_NUMBER, rank);
	row->values[2] = load < 0 ? value_none() : value_of(FIGURE_COUNT, load);
}

static void fill(int count)
{
	static const char *const names[] = { "beta", "alpha", "gamma" };

	table_begin(&table, columns, 3);
	for (int i = 0; i < count; i++)
		add((uint64_t)i, names[i % 3], i, i == 3 ? -1 : i * 7 % 10);
}

static void draw(int rows)
{
	canvas_clear(&canvas);
	table_draw(&canvas, (struct box){ 0, 0, rows, 30 }, &table, &listing);
}

static void order_is(const char *want, const char *name)
{
	char text[64] = "";
	size_t length = 0;

	for (int i = 0; i < table.row_count; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "%d", (int)table.rows[i].id);
	is_string(text, want, "%s", name);
}

static void order_check(void)
{
	fill(6); /* loads 0 7 4 - 8 5 */
	listing = (struct listing){ .sort = 1 };
	draw(10);
	order_is("012345", "ranks rise");
	listing.turned = true;
	draw(10);
	order_is("543210", "and fall when turned");
	listing = (struct listing){ .sort = 2 };
	draw(10);
	order_is("415203", "amounts fall, what is not known is last");
	listing.turned = true;
	draw(10);
	order_is("025143", "... turned too");
	listing = (struct listing){ .sort = 0 };
	draw(10);
	order_is("140325", "words go from A to Z, equal ones by id");
	ok(page_has(&canvas, "name^   rank    load"), "the titles say by what");
	ok(page_has(&canvas, "alpha       1       7"), "a row is drawn");
	listing_sort(&listing, &table, -1);
	is_int(listing.sort, 2, "before the first column is the last one");
	listing_sort(&listing, &table, 1);
	is_int(listing.sort, 0, "and behind that the first");
}

static void cursor_check(void)
{
	fill(6);
	listing = (struct listing){ .sort = 1 };
	draw(10);
	listing_move(&listing, &table, 4);
	is_int(table_chosen(&table, &listing)->id, 4, "the cursor moves");
	listing.sort = 2;
	fill(6);
	draw(10);
	is_int(listing.cursor, 0, "and stays at its row when that is first");
	is_int(table_chosen(&table, &listing)->id, 4, "... which is the same");
	is_int(canvas.cells[canvas.cols].style, STYLE_CHOSEN, "it is marked");
	fill(2);
	draw(10);
	is_int(table_chosen(&table, &listing)->id, 1,
	       "when its row is gone it is where that was");
	fill(0);
	draw(10);
	ok(!table_chosen(&table, &listing), "an empty table has no cursor");
	listing_move(&listing, &table, 1);
	is_int(listing.cursor, 0, "which does not move");
	listing.sort = 7;
	fill(3);
	draw(10);
	is_int(listing.sort, 0, "a column that is gone is not sorted by");
}

/* Wherever the cursor goes, it is on the page. */
static void scroll_check(void)
{
	unsigned seed = 11;
	bool seen = true, full = true;

	fill(100);
	listing = (struct listing){ .sort = 1 };
	for (int i = 0; i < 2000; i++) {
		int rows = 2 + rand_r(&seed) % 12;

		draw(rows);
		listing_move(&listing, &table, rand_r(&seed) % 61 - 30);
		fill(100 - rand_r(&seed) % 3);
		draw(rows);
		seen &= listing.cursor >= listing.top &&
			listing.cursor < listing.top + rows - 1;
		full &= listing.top >= 0 &&
			listing.top + rows - 1 <= table.row_count;
	}
	ok(seen, "the cursor is always on the page");
	ok(full, "and the page is full");
	draw(0);
	draw(1);
	ok(page_has(&canvas, "rank"), "a page of one row has the titles");
}

int main(void)
{
	plan(20);
	canvas_init(&canvas, 20, 30);
	order_check();
	cursor_check();
	scroll_check();
	table_fini(&table);
	canvas_fini(&canvas);
	return done_testing();
}
