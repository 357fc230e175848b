/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs of this user on this host: the shared-memory files of their processes.
 */
#ifndef REPORT_LIVE_JOB_H
#define REPORT_LIVE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "introspect/export/list.h"
#include "report/live/file.h"

/* One job: its files by node. */
struct vm_live_job {
	char name[VM_EXPORT_JOB_MAX];
	struct vm_live_file **files;
	unsigned count;
};

struct vm_live_jobs {
	struct vm_live_job *list; /* by name */
	unsigned count;
	unsigned unreadable; /* files */
};

/* Called for a file that cannot be read. */
typedef void (*vm_live_refused)(const char *path, const char *why);

/* Finds the jobs; only: of this name, NULL: all; refused may be NULL.  A job
 * whose process has just begun is not included.  0, -VMPI_ENOMEM. */
int vm_live_jobs_find(struct vm_live_jobs *jobs, const char *dir,
		      const char *only, vm_live_refused refused);
void vm_live_jobs_free(struct vm_live_jobs *jobs);

/* "running", "stopped" (by a signal) or "dead" (killed); of several processes
 * the worst. */
const char *vm_live_job_state(const struct vm_live_job *job);

/* Whether any of its processes lives. */
bool vm_live_job_lives(const struct vm_live_job *job);

/* Seconds since the first of its processes started. */
double vm_live_job_age(const struct vm_live_job *job);

/* The head of its first process. */
const struct vm_export_head *vm_live_job_head(const struct vm_live_job *job);

/* The file that has the rank; NULL: none of this host's. */
const struct vm_live_file *vm_live_job_rank(const struct vm_live_job *job,
					    unsigned rank);

/* The state of one process, in the same words. */
const char *vm_live_file_state(const struct vm_live_file *file);

#endif
