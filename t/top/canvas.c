/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page cuts off and replaces, and prints what is left.
 */
#include "vmpitop/canvas.h"

#include "page.h"

static void page_is(const struct canvas *canvas, const char *want,
		    const char *name)
{
	char *text = page_text(canvas);

	is_string(text, want, "%s", name);
	free(text);
}

int main(void)
{
	struct canvas canvas;
	char text[5];
	int col;

	plan(11);
	is_int(canvas_init(&canvas, 3, 10), 0, "a page is made");
	page_is(&canvas, "", "an empty one prints nothing");
	col = canvas_put(&canvas, 0, 2, STYLE_BOLD, "%d of %s", 3, "many");
	is_int(col, 11, "the column behind a text counts what was cut off");
	page_is(&canvas, "  3 of man\n", "the text ends at the edge");
	canvas_put(&canvas, -1, 0, STYLE_PLAIN, "above");
	canvas_put(&canvas, 3, 0, STYLE_PLAIN, "below");
	canvas_put(&canvas, 2, -2, STYLE_PLAIN, "left");
	page_is(&canvas, "  3 of man\n\nft\n", "outside nothing is written");
	canvas_clear(&canvas);
	canvas_put(&canvas, 0, 0, STYLE_PLAIN, "a\033[2Jb\xff\n");
	page_is(&canvas, "a?[2Jb??\n",
		"a text from outside has no control over the terminal");
	canvas_mark(&canvas, 1, 0, STYLE_PLAIN, 0x28ff);
	canvas_mark(&canvas, 1, 1, STYLE_PLAIN, 0xb5);
	page_is(&canvas, "a?[2Jb??\n\u28ff\u00b5\n",
		"other characters are printed as UTF-8");
	canvas_paint(&canvas, 1, STYLE_CHOSEN);
	is_int(canvas.cells[10].character, 0x28ff, "paint keeps characters");
	is_int(canvas.cells[19].style, STYLE_CHOSEN, "... of the whole row");
	is_int(canvas_utf8(text, 0), 1, "a blank is one byte");
	canvas_fini(&canvas);
	is_int(canvas_init(&canvas, 0, -5), 0,
	       "a terminal without room gets a page of one cell");
	canvas_put(&canvas, 0, 0, STYLE_PLAIN, "x");
	canvas_fini(&canvas);
	return done_testing();
}
