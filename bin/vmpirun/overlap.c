/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node processes write their measures into files that outlive them; this
 * reads them when all have ended, however they have.
 */
#include "overlap.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/instrument/overlap_events.h"
#include "report/cli.h"
#include "report/option.h"
#include "report/overlap_report.h"
#include "introspect/vars/cvar.h"
#include "core/instrument/intercept.h"

#define DIRECTORY "vmpi-overlap"

int overlap_take(struct options *options, const char *directory)
{
	char *path;
	int rc = vm_option_path(&path,
				"--overlap=", directory ? directory : DIRECTORY,
				"a directory");

	if (rc)
		return rc;
	free(options->overlap);
	options->overlap = path;
	rc = vm_job_set_add(&options->job, "overlap_measure", "1");
	return rc ? rc : vm_job_set_add(&options->job, "overlap_dir", path);
}

/* "rank.12.txt", "process.0.raw": a report's, of an earlier job. */
static bool is_ours(const char *name)
{
	static const char *const begins[] = { "rank.", "process." };
	static const char *const ends[] = { ".txt", ".json", ".raw" };
	const char *rest = NULL;

	for (int i = 0; i < 2; i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			rest = name + strlen(begins[i]);
	if (!rest || !isdigit((unsigned char)*rest))
		return false;
	rest += strspn(rest, "0123456789");
	for (int i = 0; i < 3; i++)
		if (!strcmp(rest, ends[i]))
			return true;
	return false;
}

/* Else a smaller job would leave ranks of a larger one in its report. */
static int older_remove(const char *directory)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;
	int rc = 0;

	if (!dir) {
		vm_cli_say("--overlap=%s: %s", directory, strerror(errno));
		return -VMPI_EIO;
	}
	while (!rc && (entry = readdir(dir)))
		if (is_ours(entry->d_name) &&
		    unlinkat(dirfd(dir), entry->d_name, 0)) {
			vm_cli_say("--overlap=%s: %s: %s", directory,
				   entry->d_name, strerror(errno));
			rc = -VMPI_EIO;
		}
	closedir(dir);
	return rc;
}

/* The table that the ranks will read, from the same sources as theirs. */
static int table_check(const struct options *options)
{
	struct vm_xfer_table table;
	char usual[PATH_MAX];
	const char *path;
	int rc = vm_vars_load(options->job.set);

	path = overlap_cvar.table;
	if (!rc && !path[0]) {
		rc = vm_xfer_usual(usual, sizeof(usual));
		path = usual;
		if (rc)
			vm_cli_say(
				"--overlap: there is no home directory; --set "
				"overlap_table=FILE must name the table of transfer times");
	}
	return rc ? rc : vm_xfer_load(&table, path);
}

int overlap_check(const struct options *options)
{
	int rc;

	if (!options->overlap)
		return 0;
	rc = table_check(options);
	if (rc || options->dry_run)
		return rc;
	if (mkdir(options->overlap, 0777) && errno != EEXIST) {
		vm_cli_say("--overlap=%s: %s", options->overlap,
			   strerror(errno));
		return -VMPI_EIO;
	}
	return older_remove(options->overlap);
}

int overlap_report(const struct options *options, int processes)
{
	struct vm_overlap_job job = { .call_name = vm_intercept_call_name };
	int rc;

	if (!options->overlap)
		return 0;
	rc = vm_overlap_job_read(&job, options->overlap, processes);
	if (!rc)
		rc = vm_overlap_job_write(&job, options->overlap);
	if (rc == -VMPI_ENOENT)
		vm_cli_say("--overlap: no process left measurements");
	if (!rc) {
		vm_overlap_job_print(&job, stderr, "vmpirun: ");
		vm_cli_say("the reports of the ranks are in %s",
			   options->overlap);
	}
	vm_overlap_job_fini(&job);
	return rc;
}
