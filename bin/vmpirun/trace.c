/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node processes write their records into files beside the one that was
 * asked for, which outlive them; this makes one text of them and removes them.
 */
#include "trace.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "core/instrument/intercept.h"
#include "introspect/measure/trace.h"
#include "report/cli.h"
#include "report/option.h"
#include "report/trace/merge.h"

int trace_take(struct options *options, const char *path)
{
	char *whole;
	int rc = check_not_program("--trace", path);

	if (!rc)
		rc = vm_option_path(&whole, "--trace", path, "a file");
	if (rc)
		return rc;
	free(options->trace);
	options->trace = whole;
	return vm_job_set_add(&options->job, "trace_file", whole);
}

static int part_remove(const char *path, int process)
{
	char part[PATH_MAX + 32];

	errno = ENAMETOOLONG;
	if (vm_trace_path(part, sizeof(part), path, process) &&
	    (!unlink(part) || errno == ENOENT))
		return 0;
	vm_cli_say("--trace %s: %s", path, strerror(errno));
	return -VMPI_EIO;
}

static int parts_remove(const char *path, int processes)
{
	char part[PATH_MAX + 32];
	int rc = 0;

	for (int i = 0; i < processes && !rc; i++)
		rc = part_remove(path, i);
	/* Of a larger job that was killed. */
	for (int i = processes;
	     vm_trace_path(part, sizeof(part), path, i) && !unlink(part); i++)
		;
	return rc;
}

int trace_check(const struct options *options, int processes)
{
	FILE *file;

	if (!options->trace || options->dry_run)
		return 0;
	file = fopen(options->trace, "we");
	if (!file || fclose(file)) {
		vm_cli_say("--trace %s: %s", options->trace, strerror(errno));
		return -VMPI_EIO;
	}
	return parts_remove(options->trace, processes);
}

static void summary_say(const struct vm_trace_summary *sum, const char *path)
{
	vm_cli_say("the trace of %llu records is in %s",
		   (unsigned long long)sum->records, path);
	if (sum->dropped)
		vm_cli_say("%llu older records were overwritten; --set "
			   "trace_bytes=SIZE gives each worker more room",
			   (unsigned long long)sum->dropped);
	if (sum->missing)
		vm_cli_say("%d of %d processes left no records where they were "
			   "looked for, %s.*.part",
			   sum->missing, sum->processes, path);
}

int trace_write(const struct options *options, int processes)
{
	struct vm_trace_summary summary;
	int rc;

	if (!options->trace)
		return 0;
	rc = vm_trace_merge(&summary, options->trace, processes,
			    vm_intercept_call_name);
	if (rc == -VMPI_ENOENT)
		vm_cli_say("--trace: no process left records");
	if (rc == -VMPI_ENOMEM)
		vm_cli_say("--trace %s: out of memory", options->trace);
	if (rc)
		return rc;
	summary_say(&summary, options->trace);
	return parts_remove(options->trace, processes);
}
