/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names are vmpi.UID.JOB.NODE; a job has no dot in it.
 */
#include "introspect/export/list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "introspect/export/control.h"
#include "introspect/export/alive.h"

/* A number in digits, up to the end; false: it is none. */
static bool number_read(unsigned *number, const char *text)
{
	unsigned long value;

	if (!text[0] || strspn(text, "0123456789") != strlen(text) ||
	    strlen(text) > 9)
		return false;
	value = strtoul(text, NULL, 10);
	*number = (unsigned)value;
	return true;
}

static bool name_read(struct vm_export_entry *entry, const char *dir,
		      const char *name)
{
	char prefix[32];
	size_t length = (size_t)snprintf(prefix, sizeof(prefix), "vmpi.%u.",
					 (unsigned)getuid());
	const char *job = name + length, *dot;
	int n;

	if (strncmp(name, prefix, length) != 0)
		return false;
	dot = strchr(job, '.');
	if (!dot || dot == job || (size_t)(dot - job) >= sizeof(entry->job) ||
	    !number_read(&entry->node, dot + 1))
		return false;
	snprintf(entry->job, sizeof(entry->job), "%.*s", (int)(dot - job), job);
	n = snprintf(entry->path, sizeof(entry->path), "%s/%s", dir, name);
	return n > 0 && (size_t)n < sizeof(entry->path);
}

int vm_export_each(const char *dir,
		   int (*visit)(const struct vm_export_entry *entry, void *arg),
		   void *arg)
{
	DIR *stream = opendir(dir);
	struct vm_export_entry entry;
	struct dirent *file;
	int rc = 0;

	if (!stream)
		return 0;
	while (rc == 0 && (file = readdir(stream)))
		if (name_read(&entry, dir, file->d_name))
			rc = visit(&entry, arg);
	closedir(stream);
	return rc;
}

/* Whether a file that was found dead is to be removed.  The first time that is
 * noted, also for those who have it open. */
static bool is_old(int fd, uint64_t old_s)
{
	const off_t at = offsetof(struct vm_export_head, phase);
	uint32_t phase = VM_EXPORT_DEAD, found = VM_EXPORT_DEAD;
	struct timespec now;
	struct stat about;

	if (fstat(fd, &about))
		return true;
	if (old_s == 0 || vm_export_gone_fd(fd)) {
		(void)!pwrite(fd, &phase, sizeof(phase), at);
		return true;
	}
	if (pread(fd, &found, sizeof(found), at) != (ssize_t)sizeof(found))
		found = phase; /* too short for a phase: judged by its age */
	if (found != VM_EXPORT_DEAD) {
		/* That moves its time, too; if it cannot be, it stays. */
		(void)!pwrite(fd, &phase, sizeof(phase), at);
		return false;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec - about.st_mtim.tv_sec >= (time_t)old_s;
}

struct cleaning {
	const char *job; /* or NULL */
	uint64_t old_s;
	unsigned gone;
};

static int clean_visit(const struct vm_export_entry *entry, void *arg)
{
	char control[VM_EXPORT_PATH_MAX + sizeof(VM_CONTROL_SUFFIX)];
	struct cleaning *cleaning = arg;
	struct stat about;
	int fd;

	if (cleaning->job && strcmp(cleaning->job, entry->job) != 0)
		return 0;
	fd = open(entry->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return 0;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
	    about.st_uid == getuid() && !vm_export_alive_fd(fd) &&
	    ((cleaning->job && vm_export_unfinished_fd(fd)) ||
	     is_old(fd, cleaning->old_s))) {
		/* With its socket, if it had one. */
		vm_control_path(control, sizeof(control), entry->path);
		unlink(control);
		cleaning->gone += unlink(entry->path) == 0;
	}
	close(fd);
	return 0;
}

unsigned vm_export_clean(const char *dir, const char *job, uint64_t old_s)
{
	struct cleaning cleaning = { .job = job, .old_s = old_s };

	vm_export_each(dir, clean_visit, &cleaning);
	return cleaning.gone;
}
