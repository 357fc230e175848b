/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Three digits that count, and a suffix.
 */
#include "figure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* number with three digits; at 999.5 it would have four. */
static void digits(char text[FIGURE_MAX], double number, const char *suffix)
{
	int places = number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;

	snprintf(text, FIGURE_MAX, "%.*f%s", places, number, suffix);
}

static void scaled(char text[FIGURE_MAX], double number, double step,
		   const char *suffixes)
{
	char suffix[2] = "";

	while (number >= (step > 1000 ? 1023.5 : 999.5) && *suffixes) {
		number /= step;
		suffix[0] = *suffixes++;
	}
	if (!suffix[0] && number == floor(number))
		snprintf(text, FIGURE_MAX, "%.0f", number);
	else
		digits(text, number, suffix);
}

static void duration(char text[FIGURE_MAX], double ns)
{
	uint64_t seconds = ns < 0 ? 0 : (uint64_t)(ns / 1e9);

	if (ns < 999.5)
		snprintf(text, FIGURE_MAX, "%.0fns", ns);
	else if (ns < 999.5e3)
		digits(text, ns / 1e3, "us");
	else if (ns < 999.5e6)
		digits(text, ns / 1e6, "ms");
	else if (ns < 59.5e9)
		digits(text, ns / 1e9, "s");
	else if (seconds < 86400)
		snprintf(text, FIGURE_MAX, "%u:%02u:%02u",
			 (unsigned)(seconds / 3600),
			 (unsigned)(seconds / 60 % 60),
			 (unsigned)(seconds % 60));
	else
		snprintf(text, FIGURE_MAX, "%llud%02uh",
			 (unsigned long long)(seconds / 86400),
			 (unsigned)(seconds / 3600 % 24));
}

void figure_text(char text[FIGURE_MAX], enum figure_kind kind, double number)
{
	switch (kind) {
	case FIGURE_COUNT:
		scaled(text, number, 1000, "kMGTPE");
		break;
	case FIGURE_BYTES:
		scaled(text, number, 1024, "KMGTPE");
		break;
	case FIGURE_PERCENT:
		snprintf(text, FIGURE_MAX, "%.*f%%", number >= 99.95 ? 0 : 1,
			 number);
		break;
	case FIGURE_NS:
		duration(text, number);
		break;
	case FIGURE_NUMBER:
		snprintf(text, FIGURE_MAX, "%.0f", number);
		break;
	case FIGURE_NONE:
	case FIGURE_TEXT:
		snprintf(text, FIGURE_MAX, "-");
		break;
	}
}

enum figure_kind figure_of_unit(const char *unit)
{
	if (!strcmp(unit, "bytes"))
		return FIGURE_BYTES;
	return strcmp(unit, "ns") ? FIGURE_COUNT : FIGURE_NS;
}
