/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cells in one array, row after row.
 */
#include "canvas.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define PUT_MAX 1024 /* bytes of one text, more than a line has */

int canvas_init(struct canvas *canvas, int rows, int cols)
{
	canvas->rows = rows > 0 ? rows : 1;
	canvas->cols = cols > 0 ? cols : 1;
	canvas->cells = calloc((size_t)canvas->rows * (size_t)canvas->cols,
			       sizeof(*canvas->cells));
	return canvas->cells ? 0 : -VMPI_ENOMEM;
}

void canvas_fini(struct canvas *canvas)
{
	free(canvas->cells);
	*canvas = (struct canvas){ 0 };
}

void canvas_clear(struct canvas *canvas)
{
	memset(canvas->cells, 0,
	       (size_t)canvas->rows * (size_t)canvas->cols *
		       sizeof(*canvas->cells));
}

/* NULL: outside. */
static struct cell *cell_at(const struct canvas *canvas, int row, int col)
{
	if (row < 0 || col < 0 || row >= canvas->rows || col >= canvas->cols)
		return NULL;
	return &canvas->cells[(size_t)row * (size_t)canvas->cols + (size_t)col];
}

void canvas_mark(struct canvas *canvas, int row, int col, enum style style,
		 uint32_t character)
{
	struct cell *cell = cell_at(canvas, row, col);

	if (cell)
		*cell = (struct cell){ character, (uint8_t)style };
}

int canvas_put(struct canvas *canvas, int row, int col, enum style style,
	       const char *format, ...)
{
	char text[PUT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (const char *c = text; *c; c++)
		canvas_mark(canvas, row, col++, style,
			    *c < ' ' || *c > '~' ? '?' : (uint32_t)*c);
	return col;
}

void canvas_paint(struct canvas *canvas, int row, enum style style)
{
	for (int col = 0; col < canvas->cols; col++) {
		struct cell *cell = cell_at(canvas, row, col);

		if (cell)
			cell->style = (uint8_t)style;
	}
}

int canvas_utf8(char text[5], uint32_t character)
{
	unsigned char *byte = (unsigned char *)text;
	int bytes = 0;

	if (character < 0x80) {
		byte[bytes++] = (unsigned char)(character ? character : ' ');
	} else if (character < 0x800) {
		byte[bytes++] = (unsigned char)(0xc0 | character >> 6);
		byte[bytes++] = (unsigned char)(0x80 | (character & 0x3f));
	} else {
		byte[bytes++] = (unsigned char)(0xe0 | character >> 12);
		byte[bytes++] = (unsigned char)(0x80 | (character >> 6 & 0x3f));
		byte[bytes++] = (unsigned char)(0x80 | (character & 0x3f));
	}
	byte[bytes] = '\0';
	return bytes;
}

/* The columns of a row up to its last mark. */
static int row_length(const struct canvas *canvas, int row)
{
	int cols = canvas->cols;

	while (cols > 0) {
		uint32_t last = cell_at(canvas, row, cols - 1)->character;

		if (last && last != ' ')
			break;
		cols--;
	}
	return cols;
}

void canvas_print(const struct canvas *canvas, FILE *out)
{
	int rows = canvas->rows;
	char text[5];

	while (rows > 0 && !row_length(canvas, rows - 1))
		rows--;
	for (int row = 0; row < rows; row++) {
		int cols = row_length(canvas, row);

		for (int col = 0; col < cols; col++) {
			canvas_utf8(text, cell_at(canvas, row, col)->character);
			fputs(text, out);
		}
		fputc('\n', out);
	}
}
