/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes on other hosts by ssh: what is the process of a node to vmpirun, is
 * the near end of an ssh, whose far end starts the process.
 */
#ifndef VMPIRUN_SSH_H
#define VMPIRUN_SSH_H

#include "command.h"
#include "options.h"

/*
 * vmpirun starts each node as usual, as `vmpirun @ssh ...` with the command
 * behind it.  That one, the near end, starts the same vmpirun as `@ssh-far` over
 * ssh, hands it the command, the directory and the environment, and passes
 * standard input and output, signals, the PMI socket and the end of the process
 * on.  Nothing listens anywhere, and nothing secret is in a command line.  A
 * host that is this one needs no ssh.
 */
#define SSH_NEAR "@ssh"
#define SSH_FAR "@ssh-far"

/* Adds the near end of host to a command, whose own words come next. */
void ssh_words(struct command *words, const struct options *options,
	       const char *host);

/* What the ends do; argv begins behind their name.  Result: exit status. */
int ssh_near(int argc, char **argv);
int ssh_far(void);

#endif
