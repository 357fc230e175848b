/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks of each process of a job: consecutive blocks, in the order of the
 * processes.  Pure arithmetic, used by vmpirun and by the processes.
 */
#ifndef BOOT_PLACE_H
#define BOOT_PLACE_H

/*
 * Fills first[processes + 1]: process p has the ranks first[p] to
 * first[p + 1] - 1, and first[processes] is `ranks`.  blocks is NULL for blocks
 * that differ by one at most, the larger ones first, or the size of each block,
 * as "6,2".  Result: 0, or -VMPI_EINVAL (not logged) when a process would have
 * no rank or blocks does not fit.
 */
int vm_place_fill(int *first, int processes, int ranks, const char *blocks);

/* The process that has the rank, of those in first. */
int vm_place_process(const int *first, int processes, int rank);

#endif
