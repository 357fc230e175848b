/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank may change the directory of the process: the path is absolute.
 */
#include "output_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "vmpi.h"

static int directory_take(struct output_files *files, const char *directory)
{
	char *here = directory[0] == '/' ? strdup("") : getcwd(NULL, 0);

	if (!here || asprintf(&files->directory, "%s%s%s", here,
			      *here ? "/" : "", directory) < 0) {
		vm_log(VM_ERROR, "%s: %s", directory, strerror(errno));
		free(here);
		return -VMPI_EIO;
	}
	free(here);
	return 0;
}

void output_files_path(const struct output_files *files, char path[PATH_MAX],
		       int rank, int stream)
{
	snprintf(path, PATH_MAX, "%s/rank.%0*d.%s", files->directory,
		 files->digits, rank, stream ? "err" : "out");
}

static int file_make(const struct output_files *files, int rank, int stream)
{
	char path[PATH_MAX];
	int fd;

	output_files_path(files, path, rank, stream);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (fd < 0) {
		vm_log(VM_ERROR, "%s: %s", path, strerror(errno));
		return -VMPI_EIO;
	}
	close(fd);
	return 0;
}

/* Leaves half of what is allowed to the program. */
static void limit_raise(struct output_files *files)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	files->open_max = limit.rlim_max > 131072 ? 65536 :
						    (int)(limit.rlim_max / 2);
}

/* All files exist from the start, and what an earlier job left in them does
 * not stay. */
int output_files_make(struct output_files *files, const char *directory,
		      int ranks)
{
	int rc = directory_take(files, directory);

	for (int rest = ranks - 1; rest || !files->digits; rest /= 10)
		files->digits++;
	if (!rc && mkdir(files->directory, 0777) && errno != EEXIST) {
		vm_log(VM_ERROR, "%s: %s", files->directory, strerror(errno));
		return -VMPI_EIO;
	}
	for (int rank = 0; !rc && rank < ranks; rank++) {
		rc = file_make(files, rank, 0);
		if (!rc)
			rc = file_make(files, rank, 1);
	}
	if (!rc)
		limit_raise(files);
	return rc;
}

int output_files_open(struct output_files *files, int rank, int stream,
		      bool *kept)
{
	char path[PATH_MAX];
	int fd;

	output_files_path(files, path, rank, stream);
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	*kept = fd >= 0 && files->open < files->open_max;
	files->open += *kept;
	return fd;
}
