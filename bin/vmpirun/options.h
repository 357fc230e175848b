/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line of vmpirun.
 *
 * Which there are is in options_table.h.  Single-dash long names (-np, -wdir)
 * are the custom of MPI launchers, hence getopt_long_only() below argp.
 */
#ifndef VMPIRUN_OPTIONS_H
#define VMPIRUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "boot/job.h"
#include "hosts.h"
#include "map.h"
#include "parts.h"

/* Strings point into argv or the environment, except those of job and hosts. */
struct options {
	char taken[300];   /* which option has the last word as its value */
	struct vm_job job; /* ranks: 0 when -n is missing, until plan_make() */
	int nodes;	   /* --nodes, or 0 */
	int ppn;	   /* --ppn, or 0 */
	struct hosts hosts;
	struct map map;	      /* --map */
	bool balanced;	      /* --balance=auto or force */
	const char *launcher; /* NULL: auto */
	const char *agent;
	char *rsh_agent;	   /* the same, as Open MPI's variable */
	const char *launcher_exec; /* in place of ssh; NULL: ssh */
	char *ignored;		   /* options of other launchers; NULL: none */
	bool quiet;
	bool everything; /* other hosts get all variables */
	bool processes;	 /* --processes */
	bool verbose;
	char why[256];	     /* each rank is a process, if it is */
	bool control;	     /* --control */
	char *overlap;	     /* --overlap: a directory; NULL: none */
	const char *profile; /* --profile: names; NULL: none */
	const char *profile_json;
	char *profile_dir;	/* where the files are; NULL: no report */
	char *trace;		/* --trace: a file; NULL: none */
	char *plugins;		/* all --policy, with colons between; or NULL */
	char *wdir;		/* of all programs; NULL: stay here */
	const char *path;	/* --path: directories; NULL: none */
	struct command exports; /* of all programs */
	struct command own;	/* of the next one, until all are known */
	uint64_t timeout_ns;	/* 0: none */
	const char *timeout_text;
	bool no_input; /* --stdin none */
	bool merge;    /* --merge-stderr-to-stdout */
	bool dry_run;
	bool gdb;		/* --gdb */
	const char *configfile; /* programs are on its lines; NULL: none */
	char **program; /* the first program and its arguments, up to NULL */
	struct parts parts; /* all of them: at least one */
};

/*
 * Reads the command line, host files and MPIEXEC_TIMEOUT.  --help and
 * --version print and exit with status 0.  Result: 0, or -VMPI_EINVAL after
 * one line about the first mistake.
 */
int options_parse(struct options *options, int argc, char **argv);

void options_fini(struct options *options);

#endif
