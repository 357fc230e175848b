/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strings of JSON, of whatever bytes.
 */
#include "report/json.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define NONE "\\ufffd"

static const struct {
	const char *text, *json, *why;
} cases[] = {
	{ "", "", "nothing" },
	{ "MPI_Send to 3", "MPI_Send to 3", "plain text stays" },
	{ "a\"b\\c/", "a\\\"b\\\\c/", "quotes and backslashes are escaped" },
	{ "\x01\t\n\r\x1f\x7f", "\\u0001\\u0009\\u000a\\u000d\\u001f\\u007f",
	  "control characters too" },
	{ "\x7e\xc2\x80\xdf\xbf", "\x7e\xc2\x80\xdf\xbf",
	  "characters of two bytes stay" },
	{ "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf",
	  "\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf", "of three" },
	{ "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
	  "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "of four" },
	{ "a\x80z\xbf", "a" NONE "z" NONE,
	  "a continuation of nothing is replaced" },
	{ "\xc3", NONE, "a beginning of two bytes at the end" },
	{ "\xe2\x82", NONE NONE, "two bytes of three" },
	{ "\xf0\x9f\x98", NONE NONE NONE, "three bytes of four" },
	{ "\xe2\x82\"", NONE NONE "\\\"",
	  "what follows a broken character is not lost" },
	{ "\xc3\xc3\xa4", NONE "\xc3\xa4", "nor a character that does" },
	{ "\xc0\x80\xc1\xbf", NONE NONE NONE NONE, "overlong, of two bytes" },
	{ "\xe0\x80\x80\xe0\x9f\xbf", NONE NONE NONE NONE NONE NONE,
	  "overlong, of three" },
	{ "\xf0\x80\x80\x80\xf0\x8f\xbf\xbf",
	  NONE NONE NONE NONE NONE NONE NONE NONE, "overlong, of four" },
	{ "\xed\xa0\x80", NONE NONE NONE, "the first half of a pair" },
	{ "\xed\xbf\xbf", NONE NONE NONE, "the second half of a pair" },
	{ "\xed\xa0\xbd\xed\xb8\x80", NONE NONE NONE NONE NONE NONE,
	  "both halves of a pair" },
	{ "\xf4\x90\x80\x80", NONE NONE NONE NONE, "beyond U+10FFFF" },
	{ "\xf5\x80\x80\x80\xff\xfe", NONE NONE NONE NONE NONE NONE,
	  "bytes that are in no character" },
};

static void test_cases(void)
{
	char escaped[200], wanted[200];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t bytes;
		char *text;
		FILE *out = open_memstream(&text, &bytes);

		is_string(vm_json_escape(escaped, sizeof(escaped),
					 cases[i].text),
			  cases[i].json, "%s", cases[i].why);
		vm_json_string(out, cases[i].text);
		fclose(out);
		snprintf(wanted, sizeof(wanted), "\"%s\"", cases[i].json);
		is_string(text, wanted, "... as a whole string");
		free(text);
	}
}

static void test_room(void)
{
	char escaped[8];

	is_string(vm_json_escape(escaped, 3, "ab"), "ab", "it fits exactly");
	is_string(vm_json_escape(escaped, 3, "abc"), "ab", "it is cut");
	is_string(vm_json_escape(escaped, 4, "ab\n"), "ab",
		  "an escape is left out whole");
	is_string(vm_json_escape(escaped, 3, "a\xc3\xa4"), "a",
		  "and so is a character");
	is_string(vm_json_escape(escaped, 4, "a\xc3\xa4"), "a\xc3\xa4",
		  "unless it fits");
	is_string(vm_json_escape(escaped, 1, "a"), "", "room for nothing");
}

/* All pairs of bytes: what comes out is that of the two, or of the character
 * that they are. */
static void test_pairs(void)
{
	unsigned wrong = 0;

	for (int a = 1; a < 256; a++)
		for (int b = 1; b < 256; b++) {
			char text[3] = { (char)a, (char)b, 0 }, escaped[16];
			bool two = a >= 0xc2 && a <= 0xdf && (b & 0xc0) == 0x80;

			vm_json_escape(escaped, sizeof(escaped), text);
			wrong += two != !strcmp(escaped, text) &&
				 (a > 0x7f || b > 0x7f);
		}
	is_int(wrong, 0, "of two bytes beyond ASCII only characters stay");
}

int main(void)
{
	test_cases();
	test_room();
	test_pairs();
	return done_testing();
}
