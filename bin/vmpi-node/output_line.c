/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A short line is kept often and grows little.
 */
#include "output_line.h"

#include <stdlib.h>
#include <string.h>

void output_line_drop(struct output_line *line, size_t count)
{
	line->used -= count;
	if (line->used && count)
		memmove(line->text, line->text + count, line->used);
	line->due = 0;
	line->due_ns = 0;
}

void output_line_free(struct output_line *line)
{
	free(line->text);
	line->text = NULL;
	line->used = line->room = line->due = 0;
}

bool output_line_keep(struct output_line *line, const char *bytes, size_t count)
{
	if (line->used + count > line->room) {
		size_t more = line->room > 4096 ? line->room : 256;
		size_t room = (line->used + count + more - 1) / more * more;
		char *text = realloc(line->text, room);

		if (!text)
			return false;
		line->text = text;
		line->room = room;
	}
	if (count)
		memcpy(line->text + line->used, bytes, count);
	line->used += count;
	return true;
}
