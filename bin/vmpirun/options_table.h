/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of vmpirun: a row each, which is all there is to one: names, help
 * text and the function that takes it.  To add one: its row and its function in
 * options_table.c, its field in options.h.
 */
#ifndef VMPIRUN_OPTIONS_TABLE_H
#define VMPIRUN_OPTIONS_TABLE_H

#include <argp.h>
#include <stddef.h>

#include "options.h"

/* Result: 0, or -VMPI_E... after one line. */
typedef int (*option_take_fn)(struct options *options, const char *text);

struct option_row {
	const char *name; /* long name */
	int letter;	  /* short name, or 0 */
	const char *value;
	int flags; /* of argp; an OPTION_ALIAS is taken as the row before */
	const char *doc;
	int group;
	option_take_fn take;
};

#define OPTION_ROWS_MAX 96
extern const struct option_row option_rows[];
extern const size_t option_row_count;

/* How long the job may take; `option` is what mistakes are about. */
int options_seconds_take(struct options *options, const char *option,
			 const char *text);

/* Prints the help and exits; in options.c. */
int options_help_take(struct options *options, const char *text);

#endif
