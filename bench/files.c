/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes and reads of one file, collective or each rank by itself: MB/s of all
 * ranks together.
 *
 *	files [--quick] [--alone] FILE
 *
 * A segment per rank, blocks of 1 KiB and of 64 bytes of the ranks in turn, and
 * parts of a three-dimensional array.  The file is written once before, so that
 * it is in memory; the median of several writes and reads is printed, and what
 * was read is checked.  Buffers begin a page: how fast the kernel copies depends
 * on where they lie, see README.md.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define TOTAL ((size_t)64 << 20)
#define SIDE 160 /* doubles, of the array */
#define TIMES 5

static int rank, size, times = TIMES, alone;
static const char *path;

/* One access of all ranks, from the first one's begin to the last one's end, since
 * those that share a core may come one after the other; MB/s. */
static double timed(MPI_File file, char *data, size_t bytes, int write)
{
	double time[2], whole[2];
	MPI_Status status;

	MPI_File_seek(file, 0, MPI_SEEK_SET);
	MPI_Barrier(MPI_COMM_WORLD);
	time[0] = -now_ns();
	if (alone && write)
		MPI_File_write(file, data, (int)bytes, MPI_BYTE, &status);
	else if (alone)
		MPI_File_read(file, data, (int)bytes, MPI_BYTE, &status);
	else if (write)
		MPI_File_write_all(file, data, (int)bytes, MPI_BYTE, &status);
	else
		MPI_File_read_all(file, data, (int)bytes, MPI_BYTE, &status);
	time[1] = now_ns();
	MPI_Allreduce(time, whole, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return (double)bytes * size * 1e3 / (whole[0] + whole[1]);
}

static void pattern(const char *name, MPI_Offset disp, MPI_Datatype filetype,
		    size_t bytes)
{
	char *data = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
	double writes[TIMES], reads[TIMES];
	MPI_File file;

	MPI_File_open(MPI_COMM_WORLD, path,
		      MPI_MODE_RDWR | MPI_MODE_CREATE |
			      MPI_MODE_DELETE_ON_CLOSE,
		      MPI_INFO_NULL, &file);
	MPI_File_set_view(file, disp, MPI_BYTE, filetype, "native",
			  MPI_INFO_NULL);
	memset(data, rank + 1, bytes);
	timed(file, data, bytes, 1);
	for (int i = 0; i < times; i++) {
		writes[i] = timed(file, data, bytes, 1);
		memset(data, 0, bytes);
		reads[i] = timed(file, data, bytes, 0);
		for (size_t b = 0; b < bytes; b++)
			if (data[b] != (char)(rank + 1)) {
				fprintf(stderr, "%s: wrong data\n", name);
				MPI_Abort(MPI_COMM_WORLD, 1);
			}
	}
	MPI_File_close(&file);
	if (rank == 0) {
		printf("%s %.0f %.0f\n", name, median_of(writes, times),
		       median_of(reads, times));
		fflush(stdout);
	}
	free(data);
}

static void blocks(const char *name, int bytes, size_t mine)
{
	MPI_Datatype block, filetype;

	MPI_Type_contiguous(bytes, MPI_BYTE, &block);
	MPI_Type_create_resized(block, 0, (MPI_Aint)bytes * size, &filetype);
	MPI_Type_commit(&filetype);
	pattern(name, (MPI_Offset)rank * bytes, filetype, mine);
	MPI_Type_free(&block);
	MPI_Type_free(&filetype);
}

static void array(void)
{
	int dims[3] = { 0 }, whole[3], part[3], start[3], at[3];
	MPI_Datatype filetype;

	MPI_Dims_create(size, 3, dims);
	at[0] = rank / (dims[1] * dims[2]);
	at[1] = rank / dims[2] % dims[1];
	at[2] = rank % dims[2];
	for (int i = 0; i < 3; i++) {
		part[i] = SIDE / dims[i];
		whole[i] = part[i] * dims[i];
		start[i] = at[i] * part[i];
	}
	MPI_Type_create_subarray(3, whole, part, start, MPI_ORDER_C, MPI_DOUBLE,
				 &filetype);
	MPI_Type_commit(&filetype);
	pattern("array", 0, filetype,
		(size_t)part[0] * (size_t)part[1] * (size_t)part[2] * 8);
	MPI_Type_free(&filetype);
}

int main(int argc, char **argv)
{
	size_t mine;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 1; i < argc - 1; i++) {
		if (!strcmp(argv[i], "--quick"))
			times = 3;
		if (!strcmp(argv[i], "--alone"))
			alone = 1;
	}
	path = argv[argc - 1];
	mine = TOTAL / (size_t)size & ~(size_t)1023;
	pattern("segments", (MPI_Offset)(mine * (size_t)rank), MPI_BYTE, mine);
	blocks("blocks-1024", 1024, mine);
	blocks("blocks-64", 64, mine / 8);
	array();
	MPI_Finalize();
	return 0;
}
