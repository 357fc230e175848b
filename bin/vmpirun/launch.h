/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting the node process, or printing how it would be started.
 *
 * The node process gets the job in its environment, the -x variables, standard
 * input (rank 0 reads it) and the directory -wdir.  It dies with vmpirun.
 */
#ifndef VMPIRUN_LAUNCH_H
#define VMPIRUN_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "options.h"

struct launch {
	struct options *options;
	char *node;    /* path of the node program */
	char *program; /* path of the program */

	/* After launch_start(). */
	pid_t pid;
	bool own_group; /* the node process leads a process group */
};

/*
 * Everything that can go wrong because of what the user typed: the node
 * program, the directories, the program, the settings.  Changes to -wdir and
 * sets the -x variables.  Result: 0, or -VMPI_E... after one line.
 */
int launch_check(struct launch *launch, struct options *options);

/* Prints the command as a shell takes it.  Result: 0 or -VMPI_EIO. */
int launch_print(const struct launch *launch);

/*
 * Starts the node process with the signal mask `signals`.
 * Result: 0, or -VMPI_E... after one line.
 */
int launch_start(struct launch *launch, const sigset_t *signals);

void launch_fini(struct launch *launch);

#endif
