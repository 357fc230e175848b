/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of vmpirun: a row each, which is all there is to one: names, help
 * text and the function that takes it.  To add one: its row and its function in
 * options_table.c, its field in options.h.
 */
#ifndef VMPIRUN_OPTIONS_TABLE_H
#define VMPIRUN_OPTIONS_TABLE_H

#include "options.h"
#include "report/cli.h"

extern const struct vm_cli_row option_rows[];
extern const size_t option_row_count;
extern const struct vm_cli_words option_words[];

/* Parses the time limit of the job; mistakes are reported for `option`. */
int options_seconds_take(struct options *options, const char *option,
			 const char *text);

#endif
