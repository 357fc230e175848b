/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses to files of more than 2^31 bytes: to devices that take and give any
 * number of them.
 */
#include "file.h"
#include "large.h"

static char *far;
static MPI_File file;
static MPI_Status status;

static void moved(int rc, const char *what)
{
	MPI_Count count = -1;
	int small = -1;

	MPI_Get_count_c(&status, MPI_BYTE, &count);
	MPI_Get_count(&status, MPI_BYTE, &small);
	all_ok(rc == MPI_SUCCESS && count == FAR_COUNT &&
		       small == MPI_UNDEFINED,
	       "%s", what);
}

static void written(void)
{
	file = MPI_FILE_NULL;
	MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY,
		      MPI_INFO_NULL, &file);
	moved(MPI_File_write_c(file, far, FAR_COUNT, MPI_BYTE, &status),
	      "MPI_File_write_c");
	moved(MPI_File_write_all_c(file, far, FAR_COUNT, MPI_BYTE, &status),
	      "MPI_File_write_all_c");
	moved(MPI_File_write_at_c(file, 5, far, FAR_COUNT, MPI_BYTE, &status),
	      "MPI_File_write_at_c");
	moved(MPI_File_write_at_all_c(file, 5, far, FAR_COUNT, MPI_BYTE,
				      &status),
	      "MPI_File_write_at_all_c");
	MPI_File_close(&file);
}

static void were_read(void)
{
	file = MPI_FILE_NULL;
	MPI_File_open(MPI_COMM_SELF, "/dev/zero", MPI_MODE_RDONLY,
		      MPI_INFO_NULL, &file);
	far[FAR_COUNT - 1] = 1;
	moved(MPI_File_read_c(file, far, FAR_COUNT, MPI_BYTE, &status),
	      "MPI_File_read_c");
	all_ok(far[FAR_COUNT - 1] == 0, "its last byte");
	moved(MPI_File_read_all_c(file, far, FAR_COUNT, MPI_BYTE, &status),
	      "MPI_File_read_all_c");
	moved(MPI_File_read_at_c(file, 5, far, FAR_COUNT, MPI_BYTE, &status),
	      "MPI_File_read_at_c");
	moved(MPI_File_read_at_all_c(file, 5, far, FAR_COUNT, MPI_BYTE,
				     &status),
	      "MPI_File_read_at_all_c");
	MPI_File_close(&file);
}

/* Ends a request, or what was begun. */
static int waited(int rc, MPI_Request *request)
{
	return rc == MPI_SUCCESS ? MPI_Wait(request, &status) : rc;
}

#define ALL far, FAR_COUNT, MPI_BYTE

static void written_elsewhere(void)
{
	MPI_Request request;

	MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY,
		      MPI_INFO_NULL, &file);
	moved(MPI_File_write_shared_c(file, ALL, &status),
	      "MPI_File_write_shared_c");
	moved(MPI_File_write_ordered_c(file, ALL, &status),
	      "MPI_File_write_ordered_c");
	moved(waited(MPI_File_iwrite_c(file, ALL, &request), &request),
	      "MPI_File_iwrite_c");
	moved(waited(MPI_File_iwrite_all_c(file, ALL, &request), &request),
	      "MPI_File_iwrite_all_c");
	moved(waited(MPI_File_iwrite_at_c(file, 5, ALL, &request), &request),
	      "MPI_File_iwrite_at_c");
	moved(waited(MPI_File_iwrite_at_all_c(file, 5, ALL, &request),
		     &request),
	      "MPI_File_iwrite_at_all_c");
	moved(waited(MPI_File_iwrite_shared_c(file, ALL, &request), &request),
	      "MPI_File_iwrite_shared_c");
	MPI_File_write_all_begin_c(file, ALL);
	moved(MPI_File_write_all_end(file, far, &status),
	      "MPI_File_write_all_begin_c");
	MPI_File_write_at_all_begin_c(file, 5, ALL);
	moved(MPI_File_write_at_all_end(file, far, &status),
	      "MPI_File_write_at_all_begin_c");
	MPI_File_write_ordered_begin_c(file, ALL);
	moved(MPI_File_write_ordered_end(file, far, &status),
	      "MPI_File_write_ordered_begin_c");
	MPI_File_close(&file);
}

/* At the end of the file. */
static void nothing(int rc, const char *what)
{
	MPI_Count count = -1;

	MPI_Get_count_c(&status, MPI_BYTE, &count);
	all_ok(rc == MPI_SUCCESS && count == 0, "%s", what);
}

static void nothing_read(void)
{
	MPI_Request request;

	MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_RDONLY,
		      MPI_INFO_NULL, &file);
	nothing(MPI_File_read_shared_c(file, ALL, &status),
		"MPI_File_read_shared_c");
	nothing(MPI_File_read_ordered_c(file, ALL, &status),
		"MPI_File_read_ordered_c");
	nothing(waited(MPI_File_iread_c(file, ALL, &request), &request),
		"MPI_File_iread_c");
	nothing(waited(MPI_File_iread_all_c(file, ALL, &request), &request),
		"MPI_File_iread_all_c");
	nothing(waited(MPI_File_iread_at_c(file, 5, ALL, &request), &request),
		"MPI_File_iread_at_c");
	nothing(waited(MPI_File_iread_at_all_c(file, 5, ALL, &request),
		       &request),
		"MPI_File_iread_at_all_c");
	nothing(waited(MPI_File_iread_shared_c(file, ALL, &request), &request),
		"MPI_File_iread_shared_c");
	MPI_File_read_all_begin_c(file, ALL);
	nothing(MPI_File_read_all_end(file, far, &status),
		"MPI_File_read_all_begin_c");
	MPI_File_read_at_all_begin_c(file, 5, ALL);
	nothing(MPI_File_read_at_all_end(file, far, &status),
		"MPI_File_read_at_all_begin_c");
	MPI_File_read_ordered_begin_c(file, ALL);
	nothing(MPI_File_read_ordered_end(file, far, &status),
		"MPI_File_read_ordered_begin_c");
	MPI_File_close(&file);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	far = far_new();
	far_fill(far, 0);
	written();
	were_read();
	written_elsewhere();
	nothing_read();
	far_free(far);
	return mtap_end();
}
