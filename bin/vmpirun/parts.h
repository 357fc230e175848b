/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The programs of a job, divided by ':' or on the lines of a -configfile: each
 * has ranks of its own, in processes of its own.
 */
#ifndef VMPIRUN_PARTS_H
#define VMPIRUN_PARTS_H

#include "command.h"

struct part {
	int ranks;		/* 0: not said */
	struct command exports; /* VAR=VALUE beside those of the job */
	char *wdir;		/* from the root; NULL: that of the job */
	char **words;		/* the program and its arguments, up to NULL */
	char *path;		/* of the program, once it is found */
};

/* All zeros at first. */
struct parts {
	struct part *list;
	int count;
	struct command file; /* the words of a -configfile, and where they */
	char **words;	     /* are divided */
};

/*
 * Divides words, up to NULL, at each ":", which become NULL; the first program
 * has `ranks` ranks, each other begins with options: -n, -x, -env, -envlist, -wdir.
 * 0; -VMPI_EINVAL after one line, -VMPI_ENOMEM.
 */
int parts_split(struct parts *parts, char **words, int ranks);

/* The same with the lines of a file, whose first program may have them, too. */
int parts_read(struct parts *parts, const char *path);

/* The ranks of all of them; 0: that of one program is not said. */
int parts_ranks(const struct parts *parts);

/* The number of the program of this rank. */
int parts_of(const struct parts *parts, int rank);

void parts_fini(struct parts *parts);

#endif
