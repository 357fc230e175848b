/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Figures are short and right.
 */
#include "vmpitop/figure.h"

#include "tap.h"

static const struct {
	enum figure_kind kind;
	double number;
	const char *text;
} rows[] = {
	{ FIGURE_NONE, 3, "-" },
	{ FIGURE_COUNT, 0, "0" },
	{ FIGURE_COUNT, 7, "7" },
	{ FIGURE_COUNT, 0.5, "0.50" },
	{ FIGURE_COUNT, 999, "999" },
	{ FIGURE_COUNT, 999.7, "1.00k" },
	{ FIGURE_COUNT, 12345, "12.3k" },
	{ FIGURE_COUNT, 99960, "100k" },
	{ FIGURE_COUNT, 4.56e6, "4.56M" },
	{ FIGURE_COUNT, 1.8e19, "18.0E" },
	{ FIGURE_BYTES, 1023, "1023" },
	{ FIGURE_BYTES, 1024, "1.00K" },
	{ FIGURE_BYTES, 1536 * 1024., "1.50M" },
	{ FIGURE_PERCENT, 0, "0.0%" },
	{ FIGURE_PERCENT, 99.5, "99.5%" },
	{ FIGURE_PERCENT, 100, "100%" },
	{ FIGURE_NS, 12, "12ns" },
	{ FIGURE_NS, 1234, "1.23us" },
	{ FIGURE_NS, 45.6e6, "45.6ms" },
	{ FIGURE_NS, 7.891e9, "7.89s" },
	{ FIGURE_NS, 60e9, "0:01:00" },
	{ FIGURE_NS, 3723e9, "1:02:03" },
	{ FIGURE_NS, 86400e9 * 2 + 3600e9 * 3, "2d03h" },
	{ FIGURE_NUMBER, 1234567, "1234567" },
};

#define ROWS (int)(sizeof(rows) / sizeof(rows[0]))

int main(void)
{
	char text[FIGURE_MAX];

	plan(ROWS + 3);
	for (int i = 0; i < ROWS; i++) {
		figure_text(text, rows[i].kind, rows[i].number);
		is_string(text, rows[i].text, "%g is %s", rows[i].number,
			  rows[i].text);
	}
	is_int(figure_of_unit("bytes"), FIGURE_BYTES, "bytes are bytes");
	is_int(figure_of_unit("ns"), FIGURE_NS, "nanoseconds are times");
	is_int(figure_of_unit("messages"), FIGURE_COUNT, "others are counts");
	return done_testing();
}
