/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node processes write their profiles into files that outlive them, in a
 * directory made for the job: where all hosts find it, if there are others.
 */
#include "profile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "core/instrument/intercept.h"
#include "core/instrument/profiler.h"
#include "core/rank/vars.h"
#include "introspect/vars/bulk.h"
#include "report/cli.h"
#include "report/option.h"
#include "report/profile_report.h"

int profile_take(struct options *options, const char *vars)
{
	options->profile = vars ? vars : "default";
	return vm_job_set_add(&options->job, "core_profile", options->profile);
}

int profile_json_take(struct options *options, const char *file)
{
	if (!file[0])
		return vm_option_refuse("--profile-json", NULL,
					"the name of a file is needed");
	options->profile_json = file;
	return check_not_program("--profile-json", file);
}

/* The file is made now, so that a mistake shows before the job has run. */
static int json_open(const char *path)
{
	FILE *file = fopen(path, "we");

	if (file && !fclose(file))
		return 0;
	vm_cli_say("--profile-json %s: %s", path, strerror(errno));
	return -VMPI_EIO;
}

#define DIRECTORY "vmpi-profile."
#define NEW_S 60 /* it may just be being made, without its lock yet */

/* Removes a directory whose vmpirun has died: its lock is free. */
static void dead_remove(int folder, const char *name)
{
	int fd = openat(folder, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct dirent *entry;
	struct stat about;
	DIR *files;

	if (fd < 0)
		return;
	files = !fstat(fd, &about) && about.st_uid == getuid() &&
				about.st_mtime + NEW_S < time(NULL) &&
				!flock(fd, LOCK_EX | LOCK_NB) ?
			fdopendir(fd) :
			NULL;
	if (!files) {
		close(fd);
		return;
	}
	/* Those "." and ".." stay. */
	while ((entry = readdir(files)))
		unlinkat(fd, entry->d_name, 0);
	unlinkat(folder, name, AT_REMOVEDIR);
	closedir(files);
}

/* Removes what killed vmpiruns have left where this one is to have its own. */
static void dead_clean(const char *path)
{
	const size_t begin = strlen(DIRECTORY);
	const struct dirent *entry;
	DIR *folder = opendir(path);

	while (folder && (entry = readdir(folder)))
		if (!strncmp(entry->d_name, DIRECTORY, begin) &&
		    strlen(entry->d_name) == begin + 6)
			dead_remove(dirfd(folder), entry->d_name);
	if (folder)
		closedir(folder);
}

/* The lock on the directory lasts as long as this process; without locks, as on
 * some networks, nobody removes it. */
static void directory_lock(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		flock(fd, LOCK_EX | LOCK_NB);
}

static int directory_make(struct options *options, bool others)
{
	const char *temporary = getenv("TMPDIR");
	char *here = NULL;
	int rc = 0;

	if (others)
		here = getcwd(NULL, 0);
	else
		here = strdup(temporary && temporary[0] == '/' ? temporary :
								 "/tmp");
	if (here)
		dead_clean(here);
	if (!here || asprintf(&options->profile_dir, "%s/" DIRECTORY "XXXXXX",
			      here) < 0) {
		options->profile_dir = NULL;
		rc = -VMPI_ENOMEM;
	} else if (!mkdtemp(options->profile_dir)) {
		rc = -VMPI_EIO;
	}
	if (rc) {
		vm_cli_say("--profile: %s: %s", here ? here : ".",
			   strerror(errno));
		free(options->profile_dir);
		options->profile_dir = NULL;
	}
	free(here);
	if (!rc)
		directory_lock(options->profile_dir);
	return rc ? rc :
		    vm_job_set_add(&options->job, "core_profile_dir",
				   options->profile_dir);
}

int profile_check(struct options *options, bool others)
{
	struct vm_bulk bulk;
	int rc;

	if (!options->profile && options->profile_json) {
		vm_cli_say("--profile-json needs --profile");
		return -VMPI_EINVAL;
	}
	if (!options->profile)
		return 0;
	vm_core_vars_add();
	rc = vm_profiler_vars(&bulk, options->profile, "--profile");
	if (rc)
		return rc;
	vm_bulk_fini(&bulk);
	if (options->dry_run)
		return 0;
	if (options->profile_json)
		rc = json_open(options->profile_json);
	return rc ? rc : directory_make(options, others);
}

static int json_write(const struct vm_profile_job *job, const char *path)
{
	FILE *file = fopen(path, "we");
	bool bad;

	if (file) {
		vm_profile_job_json(job, file);
		bad = ferror(file);
		if (!fclose(file) && !bad)
			return 0;
	}
	vm_cli_say("--profile-json %s: %s", path, strerror(errno));
	return -VMPI_EIO;
}

static void files_remove(const char *dir, int processes)
{
	char path[PATH_MAX];

	for (int p = 0; p < processes; p++)
		if (!vm_profile_file_path(path, sizeof(path), dir, p))
			unlink(path);
	if (rmdir(dir))
		vm_cli_say("--profile: %s: %s", dir, strerror(errno));
}

int profile_report(const struct options *options, int processes)
{
	struct vm_profile_job job = { .call_name = vm_intercept_call_name };
	int rc;

	if (!options->profile_dir)
		return 0;
	rc = vm_profile_job_read(&job, options->profile_dir, processes);
	if (rc == -VMPI_ENOENT)
		vm_cli_say("--profile: no process left a profile");
	if (!rc) {
		fputs("vmpirun: ", stderr);
		vm_profile_job_print(&job, stderr);
		if (options->profile_json)
			rc = json_write(&job, options->profile_json);
	}
	vm_profile_job_fini(&job);
	files_remove(options->profile_dir, processes);
	return rc;
}
