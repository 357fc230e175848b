/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reports of vmpirun's --report-bindings, --display-map, --summary and
 * --balance, to standard error, every line beginning with "vmpirun: ".
 */
#ifndef REPORT_H
#define REPORT_H

struct vm_job;
struct vm_rank;

/* Before the runtime starts: turns on what the summary needs. */
void report_prepare(const struct vm_job *job);

/* Prints the reports of the start, when the workers are there. */
void report_start(const struct vm_job *job);

/* The calling rank is about to end. */
void report_rank_end(const struct vm_rank *rank);

/* Prints the reports of the end, when all ranks have ended and before the
 * runtime stops. */
void report_end(const struct vm_job *job);

#endif
