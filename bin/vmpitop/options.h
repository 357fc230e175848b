/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of vmpitop.
 */
#ifndef VMPITOP_OPTIONS_H
#define VMPITOP_OPTIONS_H

#include <stdbool.h>

#include "view.h"

struct options {
	const char *job;       /* NULL: the only one */
	const char *directory; /* of the files */
	bool list;
	int batch; /* pages to print; 0: on the terminal */
	double delay_s, hang_s;
	enum screen screen;
	bool map;
	const char *filter, *sort, *plot; /* or NULL */
	int node;			  /* -1: all */
	bool marks_given;
	enum plot_how marks;
};

/* --help and --version print and exit.  0, or -VMPI_E... after one line. */
int options_parse(struct options *options, int argc, char **argv);

#endif
