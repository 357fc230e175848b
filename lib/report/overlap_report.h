/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports of a job's measures of overlap: per rank, and all together with a
 * sentence of advice.  vmpi-overlap(7) describes both formats.
 */
#ifndef REPORT_OVERLAP_REPORT_H
#define REPORT_OVERLAP_REPORT_H

#include <stdio.h>

#include "introspect/measure/overlap_file.h"

struct vm_overlap_job {
	struct vm_overlap_file **files; /* of the processes; NULL: missing */
	int count;
	/* The name of a call by its number. */
	const char *(*call_name)(uint32_t call);
};

/*
 * Reads the files that the job's processes have left in dir, as many as the
 * first says.  0; -VMPI_ENOENT: there is none (not logged); or an error,
 * logged.  With `processes` > 0 so many are expected.
 */
int vm_overlap_job_read(struct vm_overlap_job *job, const char *dir,
			int processes);
void vm_overlap_job_fini(struct vm_overlap_job *job);

/* Writes the report of each rank, DIR/rank.N.txt and .json, and the merged one,
 * DIR/overlap.txt and .json.  0 or -VMPI_EIO, logged. */
int vm_overlap_job_write(const struct vm_overlap_job *job, const char *dir);

/* The merged table and the advice, each line after `prefix`. */
void vm_overlap_job_print(const struct vm_overlap_job *job, FILE *file,
			  const char *prefix);

/* The sentence about the worst row. */
void vm_overlap_advice(const struct vm_overlap_job *job, char *text,
		       size_t bytes);
#endif
