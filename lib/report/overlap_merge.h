/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measures of all ranks of a job, by section, side and size, and the worst
 * of them.
 */
#ifndef REPORT_OVERLAP_MERGE_H
#define REPORT_OVERLAP_MERGE_H

#include "report/overlap_report.h"

/* "16K", "more" for the bin without a limit. */
void vm_overlap_edge_text(char text[24], uint64_t edge);

/* Formats for the range of a bin: if there is only one bin; with formats of the
 * edges' texts, of the first bin, one between, and the last. */
struct vm_overlap_range {
	const char *all, *first, *middle, *last;
};

void vm_overlap_range_text(char text[64], const struct vm_overlap_setup *setup,
			   unsigned bin, const struct vm_overlap_range *words);

const char *vm_overlap_side_name(enum vm_side side);

/* The merged table as JSON. */
void vm_overlap_job_json(const struct vm_overlap_job *job, FILE *file);
#endif
