/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs of this user on this host: the shared-memory files of their processes.
 */
#ifndef VMPISTAT_JOB_H
#define VMPISTAT_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "introspect/share_list.h"
#include "introspect/share_read.h"

/* One job: its files by node. */
struct job {
	char name[VM_SHARE_JOB_MAX];
	struct vm_share_file **files;
	unsigned count;
};

struct jobs {
	struct job *list; /* by name */
	unsigned count;
	unsigned unreadable; /* files */
};

/* Finds the jobs; only: of this name, NULL: all.  What cannot be read is said:
 * of one job why, of all how many.  One whose process has just begun is not
 * there yet.  0, -VMPI_ENOMEM (said). */
int jobs_find(struct jobs *jobs, const char *dir, const char *only);
void jobs_free(struct jobs *jobs);

/* "running", "stopped" (by a signal) or "dead" (killed); of several processes
 * the worst. */
const char *job_state(const struct job *job);

/* Whether any of its processes lives. */
bool job_lives(const struct job *job);

/* Seconds since the first of its processes started. */
double job_age(const struct job *job);

/* What its first process says of it. */
const struct vm_share_head *job_head(const struct job *job);

/* The file that has the rank; NULL: none of this host's. */
const struct vm_share_file *job_rank(const struct job *job, unsigned rank);

/* How one process does: the same words. */
const char *file_state(const struct vm_share_file *file);

/* "vmpistat: " and a line. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
