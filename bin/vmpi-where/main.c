/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi-where: says where in its program the process is that has started it
 * (core/runtime/where.h).  It asks on standard input, waits for the answer on
 * standard output, and then ends.  Without an answer it says an address.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/runtime/where.h"
#include "report/live/unwind.h"

int main(void)
{
	char text[VM_WHERE_MAX - 2];
	struct vm_where_ask ask;

	/* Nobody waits any more then. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (isatty(STDIN_FILENO) || fread(&ask, sizeof(ask), 1, stdin) != 1 ||
	    ask.version != VM_WHERE_VERSION || ask.bytes != sizeof(ask)) {
		fprintf(stderr, "vmpi-where: it is started by processes of "
				"vmpi that end for an error\n");
		return 2;
	}
	if (vm_unwind_where(&ask, text, sizeof(text)))
		return 1;
	return fputs(text, stdout) < 0 || fflush(stdout) ? 1 : 0;
}
