/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of files: a folder for them, and what is in them.
 */
#ifndef T_MPI_FILE_H
#define T_MPI_FILE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mtap.h"

#define RW (MPI_MODE_RDWR | MPI_MODE_CREATE)
#define MODE_DELETE MPI_MODE_DELETE_ON_CLOSE

static char file_folder[128];

/* Collective: makes the folder. */
static inline void files_begin(void)
{
	const char *temp = getenv("TMPDIR");

	if (rank == 0) {
		snprintf(file_folder, sizeof(file_folder), "%.90s/vmpi-XXXXXX",
			 temp ? temp : "/tmp");
		if (!mkdtemp(file_folder)) {
			perror(file_folder);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	}
	MPI_Bcast(file_folder, sizeof(file_folder), MPI_CHAR, 0,
		  MPI_COMM_WORLD);
}

/* Collective: removes it; it has to be empty. */
static inline void files_end(void)
{
	bool gone = true;

	everybody();
	if (rank == 0)
		gone = rmdir(file_folder) == 0;
	all_ok(gone, "no file is left");
}

/* Returns the path of a file there. */
static inline const char *file_at(const char *name)
{
	static _Thread_local char path[256];

	snprintf(path, sizeof(path), "%s/%s", file_folder, name);
	return path;
}

/* Collective: opens a file of all ranks. */
static inline MPI_File file_open(const char *name, int amode)
{
	MPI_File file = MPI_FILE_NULL;
	int rc = MPI_File_open(MPI_COMM_WORLD, file_at(name), amode,
			       MPI_INFO_NULL, &file);

	if (rc != MPI_SUCCESS) {
		fprintf(stderr, "# %s: error %d\n", name, rc);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return file;
}

/* Returns the byte that is at an offset of a file, -1 if there is none. */
static inline int file_byte(const char *name, off_t offset)
{
	unsigned char byte;
	int fd = open(file_at(name), O_RDONLY);
	ssize_t n = pread(fd, &byte, 1, offset);

	close(fd);
	return n == 1 ? byte : -1;
}

static inline off_t file_size(const char *name)
{
	struct stat status;

	return stat(file_at(name), &status) == 0 ? status.st_size : -1;
}

static inline int status_bytes(const MPI_Status *status)
{
	int count;

	MPI_Get_count(status, MPI_BYTE, &count);
	return count;
}

#endif
