/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting the node processes, or the processes that are ranks, or the engine
 * that starts them, or printing how they would be started.
 *
 * A process gets the job in its environment, the -x variables and the
 * directory -wdir; node 0 also gets standard input, for rank 0.  Several on
 * this host find each other through a PMI-1 server in vmpirun.  They die with
 * vmpirun.
 */
#ifndef VMPIRUN_LAUNCH_H
#define VMPIRUN_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "boot/pmi_server.h"
#include "hang.h"
#include "options.h"
#include "plan.h"
#include "relay.h"

/* A process that vmpirun has started. */
struct child {
	pid_t pid;
	bool group; /* it leads a process group */
	bool ended;
	siginfo_t end; /* once it was seen, si_pid is set */
};

struct launch {
	struct options *options;
	struct plan plan;
	char *node; /* path of the node program; NULL: ranks are processes */
	/* For ranks that are processes, whose output passes through here. */
	bool label;
	char *output_dir;
	struct relay relay; /* with label or output_dir */

	/* After launch_start(). */
	int count; /* processes, or 1 for an engine */
	struct child *children;
	bool serves;   /* the server is there: several node processes */
	int last_word; /* by which one of them says why all end, or -1 */
	int outlet;    /* what they share of lines that have begun, or -1 */
	struct vm_pmi_server server;
	struct hang hang; /* what the processes say about deadlocks */
};

/*
 * Everything that can go wrong because of what the user typed: the number of
 * nodes, the node program, the directories, the program, the settings.  Changes
 * to -wdir and sets the -x variables.  Result: 0, or -VMPI_E... after one line.
 */
int launch_check(struct launch *launch, struct options *options);

/* Prints the command as a shell takes it, or, of several node processes, one
 * line each.  Result: 0 or -VMPI_E... after one line. */
int launch_print(const struct launch *launch);

/* Becomes the one process to start (--gdb); returns only on an error:
 * -VMPI_E... after one line. */
int launch_replace(const struct launch *launch);

/*
 * Starts the processes with the signal mask `signals`.  Result: 0, or
 * -VMPI_E... after one line; then those that were started are children.
 */
int launch_start(struct launch *launch, const sigset_t *signals);

void launch_fini(struct launch *launch);

#endif
