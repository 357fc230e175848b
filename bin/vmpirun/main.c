/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpirun: start a program as N ranks.
 *
 * All ranks live in one node process (bin/vmpi-node).  vmpirun checks what was
 * typed, starts that process with the job in its environment, and stands by:
 * it passes signals on, keeps the time limit, and gives back the exit code.
 */
#include <stdlib.h>

#include "launch.h"
#include "options.h"
#include "say.h"
#include "watch.h"

static int run(struct launch *launch)
{
	const struct options *options = launch->options;
	struct watch watch;

	if (options->dry_run)
		return launch_print(launch) ? EXIT_FAILURE : EXIT_SUCCESS;
	watch_init(&watch);
	if (launch_start(launch, &watch.before))
		return EXIT_FAILURE;
	return watch_node(&watch, launch->pid, launch->own_group,
			  options->timeout_ns, options->timeout_text);
}

int main(int argc, char **argv)
{
	struct options options;
	struct launch launch = { 0 };
	int code = EXIT_MISTAKE;

	if (!options_parse(&options, argc, argv) &&
	    !launch_check(&launch, &options))
		code = run(&launch);
	launch_fini(&launch);
	options_fini(&options);
	return code;
}
