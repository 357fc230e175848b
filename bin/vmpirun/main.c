/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpirun: start a program as N ranks.
 *
 * The ranks live in node processes (bin/vmpi-node), usually one per host.
 * vmpirun checks what was typed, starts them with the job in their environment
 * or lets an engine do it, and stands by: it lets them find each other, passes
 * signals on, keeps the time limit, and gives back the exit code.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/standard.h"
#include "core/image/file.h"
#include "report/live/control.h"
#include "introspect/export/list.h"
#include "launch.h"
#include "mpi/dynamic/notice.h"
#include "options.h"
#include "overlap.h"
#include "profile.h"
#include "report/cli.h"
#include "ssh.h"
#include "trace.h"
#include "monitor.h"
#include "vmpi.h"

/* Killed processes have left their files and sockets; those elsewhere are not
 * here. */
static void files_clean(const struct launch *launch)
{
	const struct options *options = launch->options;

	for (int i = 0; options->control && i < launch->plan.nodes; i++) {
		char share[VM_EXPORT_PATH_MAX], path[2 * VM_EXPORT_PATH_MAX];

		vm_export_path(share, sizeof(share), VM_EXPORT_DIR,
			       options->job.id, (unsigned)i);
		vm_control_path(path, sizeof(path), share);
		unlink(path);
	}
	vm_export_clean(VM_EXPORT_DIR, options->job.id, VM_EXPORT_OLD_S);
	vm_notices_clean();
	if (options->agent)
		vm_image_file_clean();
}

/* What else the shell is asked to do. */
static int streams_set(const struct options *options)
{
	if (options->no_input && !freopen("/dev/null", "r", stdin)) {
		vm_cli_say("--stdin none: /dev/null cannot be read: %s",
			   strerror(errno));
		return -VMPI_EINVAL;
	}
	if (options->merge && dup2(STDOUT_FILENO, STDERR_FILENO) < 0) {
		vm_cli_say("--merge-stderr-to-stdout: %s", strerror(errno));
		return -VMPI_EINVAL;
	}
	return 0;
}

static int run(struct launch *launch)
{
	const struct options *options = launch->options;
	struct monitor monitor;
	int code;

	if (options->dry_run)
		return launch_print(launch) ? EXIT_FAILURE : EXIT_SUCCESS;
	if (options->gdb)
		return launch_replace(launch) ? EXIT_FAILURE : EXIT_SUCCESS;
	monitor_init(&monitor, launch);
	if (launch_start(launch, &monitor.before)) {
		monitor_kill(&monitor);
		return EXIT_FAILURE;
	}
	code = monitor_run(&monitor);
	files_clean(launch);
	if (relay_stop(&launch->relay) && !code)
		code = EXIT_FAILURE;
	if (trace_write(options, launch->plan.nodes) && !code)
		code = EXIT_FAILURE;
	if (overlap_report(options, launch->plan.nodes) && !code)
		code = EXIT_FAILURE;
	if (profile_report(options, launch->plan.nodes) && !code)
		code = EXIT_FAILURE;
	return code;
}

int main(int argc, char **argv)
{
	struct options options;
	struct launch launch = { .last_word = -1,
				 .outlet = -1,
				 .hang.ends = { -1, -1 } };
	int code = VM_EXIT_MISTAKE;

	vm_standard_open();
	if (argc > 1 && !strcmp(argv[1], SSH_NEAR))
		return ssh_near(argc - 2, argv + 2);
	if (argc == 2 && !strcmp(argv[1], SSH_FAR))
		return ssh_far();
	monitor_bear();
	if (!options_parse(&options, argc, argv) && !streams_set(&options) &&
	    !launch_check(&launch, &options))
		code = run(&launch);
	launch_fini(&launch);
	options_fini(&options);
	return code;
}
