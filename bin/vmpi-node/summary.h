/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpirun --summary: one table of the whole job.
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stdint.h>

/*
 * Collective among the processes of the job, when all ranks have ended:
 * ticks[i] is how long rank i of this process has run, begin_ns when its ranks
 * began.  Node 0 prints the table to standard error, at once; if a process is
 * gone, each prints what it knows of itself.
 */
void summary_print(const uint64_t *ticks, uint64_t begin_ns);

#endif
