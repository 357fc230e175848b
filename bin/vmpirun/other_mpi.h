/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether processes that are ranks, or what they have started, have another MPI
 * in their memory.
 *
 * An interpreter's script may load it at any time, and each process would be a
 * job of its own then.  So as long as none has joined the job they are looked at,
 * often in the beginning and then at intervals that are a tenth of their age, at
 * most half a second, and take no more than a twentieth of a processor.
 */
#ifndef VMPIRUN_OTHER_MPI_H
#define VMPIRUN_OTHER_MPI_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct other_mpi {
	uint64_t begin_ns;
	uint64_t next_ns; /* when to look, or to be sure; UINT64_MAX: never */
	char path[PATH_MAX]; /* of the library; "": nothing was found */
	int number;	     /* of the process that has it */
};

/* Processes start now. */
void other_mpi_begin(struct other_mpi *other);

/* A process has joined: nothing is looked for any more, and what was found does
 * not count. */
void other_mpi_stop(struct other_mpi *other);

/*
 * When it is time, looks at those of count processes that have a number above 0.
 * Whether one of them had another MPI a second ago; this is true once.
 */
bool other_mpi_look(struct other_mpi *other, const pid_t *pids, int count);

/* Says, as the last word, that a process has it. */
void other_mpi_say(const char *process, const char *path);

#endif
