/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Figures for people: a number in at most seven columns, with what it is.
 */
#ifndef VMPITOP_FIGURE_H
#define VMPITOP_FIGURE_H

#include <stddef.h>
#include <stdint.h>

enum figure_kind {
	FIGURE_NONE,	/* not known: "-" */
	FIGURE_COUNT,	/* 950, 12.3k, 4.56M */
	FIGURE_BYTES,	/* 950, 12.3K, 4.56M, by 1024 */
	FIGURE_PERCENT, /* 99.5% */
	FIGURE_NS,	/* 1.23us, 45.6ms, 7.89s, 1:02:03, 2d03h */
	FIGURE_NUMBER,	/* all digits */
	FIGURE_TEXT	/* no number */
};

#define FIGURE_MAX 32

/* number is not negative. */
void figure_text(char text[FIGURE_MAX], enum figure_kind kind, double number);

/* The kind of a variable with this unit ("bytes", "ns"). */
enum figure_kind figure_of_unit(const char *unit);

#endif
