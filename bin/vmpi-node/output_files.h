/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of --output, two for each rank.
 *
 * As many as half of the limit on descriptors allows stay open once they are
 * written to; the others are opened for each write.
 */
#ifndef OUTPUT_FILES_H
#define OUTPUT_FILES_H

#include <limits.h>
#include <stdbool.h>

struct output_files {
	char *directory; /* NULL: there are none */
	int digits;	 /* of the largest rank's number */
	int open, open_max;
};

/* Makes the files of all ranks, empty.  0 or -VMPI_EIO (logged). */
int output_files_make(struct output_files *files, const char *directory,
		      int ranks);

void output_files_path(const struct output_files *files, char path[PATH_MAX],
		       int rank, int stream);

/* Opens one.  *kept: it is counted, and the caller's to keep.  -1 with errno. */
int output_files_open(struct output_files *files, int rank, int stream,
		      bool *kept);

#endif
