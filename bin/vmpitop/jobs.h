/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The jobs of this user on this host, by their files in /dev/shm.
 */
#ifndef VMPITOP_JOBS_H
#define VMPITOP_JOBS_H

#include <stdbool.h>
#include <stdio.h>

struct job {
	char id[64], program[64];
	int ranks, nodes, nodes_here;
	bool lives; /* one of its processes here */
	double started;
};

struct jobs {
	struct job *jobs;
	int count, living;
};

/* 0, or -VMPI_E... with *why.  Files that are none, or not whole yet, are
 * passed over. */
int jobs_find(struct jobs *jobs, const char *directory);
void jobs_fini(struct jobs *jobs);

/* A line for each. */
void jobs_print(const struct jobs *jobs, FILE *out);

/* The one to look at: the one called id, or, with NULL, the only one that
 * lives; NULL after a line to standard error. */
const struct job *jobs_choose(const struct jobs *jobs, const char *id);

/* Calls visit for each file of this user in directory, all jobs or (id) one, in
 * the order of their names.  Result: 0; the first that is not 0 of a visit;
 * -VMPI_EIO: the directory cannot be read. */
int jobs_files(const char *directory, const char *id,
	       int (*visit)(const char *path, void *arg), void *arg);

#endif
