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

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	far = far_new();
	far_fill(far, 0);
	written();
	were_read();
	far_free(far);
	return mtap_end();
}
