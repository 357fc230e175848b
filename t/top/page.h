/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The content of a canvas as text.
 */
#ifndef TOP_PAGE_H
#define TOP_PAGE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "vmpitop/canvas.h"

/* The caller frees it. */
static inline char *page_text(const struct canvas *canvas)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		bail("out of memory");
	canvas_print(canvas, out);
	fclose(out);
	return text;
}

/* Whether the text is on it. */
static inline bool page_has(const struct canvas *canvas, const char *text)
{
	char *page = page_text(canvas);
	bool has = strstr(page, text) != NULL;

	if (!has)
		diag("'%s' is not in:\n%s", text, page);
	free(page);
	return has;
}

#endif
