/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpirun --balance=learn: a placement for the next run, from the run times of
 * the ranks in this one.
 */
#ifndef PLACEMENT_H
#define PLACEMENT_H

#include <stdint.h>

/*
 * Collective among the processes of the job, when all ranks have ended: ns[i]
 * is how long rank i of this process has run.  Node 0 writes the file and fills
 * *before and *after: the share of time, in percent, that the busiest worker
 * had more than the mean, and would have.  Returns 1 if it did, 0 on other
 * nodes, or an error (logged).
 */
int placement_write(const char *path, const uint64_t *ns, double *before,
		    double *after);

#endif
