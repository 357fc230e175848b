/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hosts and the numbers of ranks that a batch system has given to the job in
 * whose script we run: Slurm, PBS, LSF.
 */
#ifndef VMPIRUN_BATCH_H
#define VMPIRUN_BATCH_H

#include "options.h"

/* The nodes of the Slurm job, or 0: there is none, or we are one of the tasks
 * that srun has started. */
int batch_slurm_nodes(void);

/*
 * Takes hosts and ranks where the command line names none.  0, or -VMPI_E...
 * after one line.
 */
int batch_take(struct options *options);

/* Adds the hosts of a list of Slurm, as n[1-2,05],m3, with the slots of one of
 * its lists of numbers, as 2(x2),1.  0 or -VMPI_E... after one line. */
int batch_slurm_hosts(struct hosts *hosts, const char *names,
		      const char *numbers);

#endif
