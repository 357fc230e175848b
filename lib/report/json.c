/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strings of JSON, a character at a time.
 */
#include "report/json.h"

#include <string.h>

/* Bytes of the UTF-8 character at text, or 0: it is none. */
static size_t utf8_bytes(const unsigned char *text)
{
	size_t bytes = text[0] < 0x80			 ? 1 :
		       text[0] >= 0xc2 && text[0] < 0xe0 ? 2 :
		       text[0] >= 0xe0 && text[0] < 0xf0 ? 3 :
		       text[0] >= 0xf0 && text[0] < 0xf5 ? 4 :
							   0;

	for (size_t i = 1; i < bytes; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, beyond the last character. */
	if ((text[0] == 0xe0 && text[1] < 0xa0) ||
	    (text[0] == 0xed && text[1] > 0x9f) ||
	    (text[0] == 0xf0 && text[1] < 0x90) ||
	    (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return bytes;
}

#define PIECE_MAX 7 /* of one character, with an end */

/* One character, escaped; how many bytes of text it was. */
static size_t piece_make(char piece[PIECE_MAX], const unsigned char *text)
{
	size_t bytes = utf8_bytes(text);

	if (text[0] == '"' || text[0] == '\\')
		snprintf(piece, PIECE_MAX, "\\%c", text[0]);
	else if (text[0] < 0x20 || text[0] == 0x7f)
		snprintf(piece, PIECE_MAX, "\\u%04x", text[0]);
	else if (bytes)
		snprintf(piece, PIECE_MAX, "%.*s", (int)bytes,
			 (const char *)text);
	else
		snprintf(piece, PIECE_MAX, "\\ufffd");
	return bytes ? bytes : 1;
}

const char *vm_json_escape(char *escaped, size_t bytes, const char *text)
{
	const unsigned char *from = (const unsigned char *)text;
	char piece[PIECE_MAX];
	size_t used = 0;

	while (*from) {
		from += piece_make(piece, from);
		if (used + strlen(piece) >= bytes)
			break;
		memcpy(escaped + used, piece, strlen(piece));
		used += strlen(piece);
	}
	escaped[used] = '\0';
	return escaped;
}

void vm_json_string(FILE *out, const char *text)
{
	const unsigned char *from = (const unsigned char *)text;
	char piece[PIECE_MAX];

	fputc('"', out);
	while (*from) {
		from += piece_make(piece, from);
		fputs(piece, out);
	}
	fputc('"', out);
}
