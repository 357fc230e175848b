/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data of files: views, offsets, file pointers, short reads, atomic mode.
 */
#include "file.h"

#define N 1000

static unsigned char out[64 * N], in[64 * N];

/* The byte that belongs at an offset of the file. */
static unsigned char byte_at(MPI_Offset offset)
{
	return (unsigned char)(offset * 7 / 3 + offset / 251 + 1);
}

static void pointers(void)
{
	MPI_File file;
	MPI_Offset position;
	MPI_Status status;
	int words[3] = { rank, rank + 1, rank + 2 }, got[3] = { 0 };
	char name[32];

	snprintf(name, sizeof(name), "pointers-%d", rank);
	MPI_File_open(MPI_COMM_SELF, file_at(name), RW | MODE_DELETE,
		      MPI_INFO_NULL, &file);
	MPI_File_write(file, words, 2, MPI_INT, &status);
	MPI_File_get_position(file, &position);
	all_ok(position == 8, "the file pointer moves on");
	MPI_File_write_at(file, 100, words, 3, MPI_INT, &status);
	MPI_File_get_position(file, &position);
	all_ok(position == 8, "an explicit offset leaves it alone");
	MPI_File_write(file, words + 2, 1, MPI_INT, &status);
	MPI_File_seek(file, -8, MPI_SEEK_CUR);
	MPI_File_read(file, got, 2, MPI_INT, &status);
	all_ok(got[0] == rank + 1 && got[1] == rank + 2 &&
		       status_bytes(&status) == 8,
	       "what was written is read");
	MPI_File_seek(file, -12, MPI_SEEK_END);
	MPI_File_get_position(file, &position);
	all_ok(position == 100, "the end is behind the last byte");
	MPI_File_read(file, got, 3, MPI_INT, &status);
	all_ok(!memcmp(got, words, sizeof(got)), "the last words are read");
	MPI_File_seek(file, -4, MPI_SEEK_END);
	got[0] = got[1] = -1;
	MPI_File_read(file, got, 3, MPI_INT, &status);
	all_ok(got[0] == rank + 2 && got[1] == -1 && status_bytes(&status) == 4,
	       "a read ends at the end of the file");
	MPI_File_read_at(file, 5000, got, 3, MPI_INT, &status);
	all_ok(status_bytes(&status) == 0, "behind the end there is nothing");
	MPI_File_read_at(file, 12, got, 0, MPI_INT, &status);
	all_ok(status_bytes(&status) == 0, "no elements are no bytes");
	MPI_File_read_at(file, 90, in, 4, MPI_BYTE, &status);
	all_ok(!in[0] && !in[3], "what was not written is zero");
	MPI_File_close(&file);
}

/* Blocks of `bytes` of each rank in turn: all ranks write, all read. */
static void interleaved(int bytes, int blocks)
{
	MPI_File file = file_open("interleaved", RW | MODE_DELETE);
	MPI_Datatype block, filetype;
	MPI_Status status;
	MPI_Offset first = (MPI_Offset)rank * bytes, end;
	bool held = true;
	int n = bytes * blocks;

	MPI_Type_vector(1, bytes, bytes, MPI_BYTE, &block);
	MPI_Type_create_resized(block, 0, (MPI_Aint)bytes * size, &filetype);
	MPI_Type_commit(&filetype);
	for (int i = 0; i < n; i++)
		out[i] =
			byte_at(first + (MPI_Offset)(i / bytes) * bytes * size +
				i % bytes);
	MPI_File_set_view(file, first, MPI_BYTE, filetype, "native",
			  MPI_INFO_NULL);
	all_class(MPI_File_write(file, out, n, MPI_BYTE, &status), MPI_SUCCESS,
		  "%d blocks of %d bytes are written", blocks, bytes);
	all_ok(status_bytes(&status) == n, "all of their bytes");
	everybody();
	memset(in, 0, sizeof(in));
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	MPI_File_read(file, in, n, MPI_BYTE, &status);
	all_ok(!memcmp(in, out, (size_t)n) && status_bytes(&status) == n,
	       "and read");
	if (n > 3) {
		MPI_File_read_at(file, 3, in, n - 3, MPI_BYTE, &status);
		all_ok(!memcmp(in, out + 3, (size_t)n - 3), "from a byte on");
	}
	MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
	MPI_File_get_size(file, &end);
	all_ok(end == (MPI_Offset)n * size, "the file has no byte more");
	for (MPI_Offset at = 0; at < end; at += n) {
		MPI_File_read_at(file, at, in, n, MPI_BYTE, &status);
		for (int i = 0; i < n; i++)
			held = held && in[i] == byte_at(at + i);
	}
	all_ok(held, "each is where it belongs");
	MPI_File_close(&file);
	MPI_Type_free(&block);
	MPI_Type_free(&filetype);
}

/* What lies between the bytes of a view stays as it is. */
static void holes(int bytes)
{
	MPI_File file = file_open("holes", RW | MODE_DELETE);
	MPI_Datatype filetype;
	MPI_Status status;
	MPI_Offset whole = (MPI_Offset)bytes * 3 * N;
	bool held = true;
	int n = bytes * N;

	memset(out, 0xee, sizeof(out));
	for (MPI_Offset at = 0; at < whole; at += n)
		if (rank == 0)
			MPI_File_write_at(file, at, out, n, MPI_BYTE, &status);
	everybody();
	MPI_Type_vector(N, bytes, 3 * bytes, MPI_BYTE, &filetype);
	MPI_Type_commit(&filetype);
	MPI_File_set_view(file, bytes, MPI_BYTE, filetype, "native",
			  MPI_INFO_NULL);
	memset(out, 0x11, (size_t)n);
	if (rank == 0)
		MPI_File_write(file, out, n, MPI_BYTE, &status);
	everybody();
	MPI_File_read_at(file, 0, in, n, MPI_BYTE, &status);
	all_ok(!memcmp(in, out, (size_t)n), "blocks of %d bytes are written",
	       bytes);
	MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
	for (MPI_Offset at = 0; at < whole; at += n) {
		MPI_File_read_at(file, at, in, n, MPI_BYTE, &status);
		for (int i = 0; i < n; i++)
			held = held &&
			       in[i] == ((at + i) / bytes % 3 == 1 ? 0x11 :
								     0xee);
	}
	all_ok(held, "and nothing between them");
	MPI_File_close(&file);
	MPI_Type_free(&filetype);
}

#define BESIDE 40
#define BLOCKS 400

/* Writes or reads every block of this rank, some at a time; the last rank, which
 * sees all of the file, one by one. */
static bool beside_move(MPI_File file, bool write, int period)
{
	bool last = rank == size - 1, held = true;
	int n = last ? 8 : 50 * BESIDE, step = last ? period : n;
	MPI_Offset at = last ? period - 8 : 0;
	MPI_Status status;

	for (int i = 0; i < BLOCKS / (last ? 1 : 50); i++, at += step) {
		if (write)
			MPI_File_write_at(file, at, out + i * n, n, MPI_BYTE,
					  &status);
		else
			MPI_File_read_at(file, at, in + i * n, n, MPI_BYTE,
					 &status);
		held = held && status_bytes(&status) == n;
	}
	return held;
}

/* All write close beside each other's bytes at once: those who write gaps back,
 * and one who does not. */
static void beside(void)
{
	MPI_File file = file_open("beside", RW | MODE_DELETE);
	int period = (size - 1) * BESIDE + 8, last = rank == size - 1;
	size_t mine = (size_t)BLOCKS * (last ? 8 : BESIDE);
	MPI_Datatype block, filetype;
	bool held = true;

	MPI_Type_contiguous(BESIDE, MPI_BYTE, &block);
	MPI_Type_create_resized(block, 0, period, &filetype);
	MPI_Type_commit(&filetype);
	MPI_File_set_view(file, last ? 0 : rank * BESIDE, MPI_BYTE,
			  last ? MPI_BYTE : filetype, "native", MPI_INFO_NULL);
	for (int round = 0; round < 20; round++) {
		memset(out, round * size + rank, mine);
		held = beside_move(file, true, period) && held;
		everybody();
		held = beside_move(file, false, period) && held;
		held = held && !memcmp(in, out, mine);
		everybody();
	}
	all_ok(held, "nobody's bytes are lost that lie between others'");
	MPI_File_close(&file);
	MPI_Type_free(&block);
	MPI_Type_free(&filetype);
}

/* Both sides in pieces, of different lengths. */
static void both_sides(void)
{
	MPI_File file;
	MPI_Datatype memory, filetype, odd;
	MPI_Status status;
	int lengths[] = { 3, 1, 5 }, places[] = { 0, 4, 9 };
	bool held = true;
	char name[32];

	snprintf(name, sizeof(name), "both-%d", rank);
	MPI_File_open(MPI_COMM_SELF, file_at(name), RW | MODE_DELETE,
		      MPI_INFO_NULL, &file);
	MPI_Type_indexed(3, lengths, places, MPI_INT, &odd);
	MPI_Type_create_resized(odd, 0, 80, &filetype);
	MPI_Type_vector(6, 3, 4, MPI_INT, &memory);
	MPI_Type_commit(&filetype);
	MPI_Type_commit(&memory);
	for (int i = 0; i < 16 * N; i++)
		((int *)out)[i] = i;
	MPI_File_set_view(file, 16, MPI_INT, filetype, "native", MPI_INFO_NULL);
	MPI_File_write_at(file, 2, out, 40, memory, &status);
	all_ok(status_bytes(&status) == 40 * 72, "720 words are written");
	memset(in, 0xff, sizeof(in));
	MPI_File_read_at(file, 2, in, 40, memory, &status);
	for (int i = 0, k = 0; i < 40; i++)
		for (int j = 0; j < 23; j++, k++)
			held = held && ((int *)in)[k] == (j % 4 < 3 ? k : -1);
	all_ok(held, "and read, and no other memory is changed");
	MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	MPI_File_read_at(file, 0, in, 34, MPI_INT, &status);
	/* The view: words 4..6, 8, 13..17, 24..26, 28, ... */
	all_ok(((int *)in)[6] == 0 && ((int *)in)[8] == 1 &&
		       ((int *)in)[13] == 2 && ((int *)in)[14] == 4 &&
		       ((int *)in)[17] == 8 && ((int *)in)[24] == 9 &&
		       ((int *)in)[7] == 0 && ((int *)in)[20] == 0,
	       "the words are where the view says");
	MPI_Type_free(&odd);
	MPI_Type_free(&memory);
	MPI_Type_free(&filetype);
	MPI_File_close(&file);
}

static void subarrays(void)
{
	MPI_File file = file_open("subarray", RW | MODE_DELETE);
	int whole[] = { 6, 4 * size, 10 }, part[] = { 6, 4, 10 };
	int start[] = { 0, 4 * rank, 0 };
	MPI_Datatype filetype;
	MPI_Status status;
	bool held = true;

	MPI_Type_create_subarray(3, whole, part, start, MPI_ORDER_C, MPI_INT,
				 &filetype);
	MPI_Type_commit(&filetype);
	for (int i = 0; i < 240; i++)
		((int *)out)[i] = rank * 1000 + i;
	MPI_File_set_view(file, 0, MPI_INT, filetype, "native", MPI_INFO_NULL);
	MPI_File_write_at_all(file, 0, out, 240, MPI_INT, &status);
	all_ok(status_bytes(&status) == 960, "parts of an array are written");
	everybody();
	MPI_File_read_at_all(file, 0, in, 240, MPI_INT, &status);
	all_ok(!memcmp(in, out, 960), "and read");
	MPI_File_write_all(file, out, 240, MPI_INT, &status);
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	memset(in, 0, 960);
	MPI_File_read_all(file, in, 240, MPI_INT, &status);
	all_ok(!memcmp(in, out, 960), "also at the file pointer");
	MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	for (int z = 0; z < 6; z++)
		for (int y = 0; y < 4 * size; y++) {
			int row[10];

			MPI_File_read_at(file, (z * 4 * size + y) * 10, row, 10,
					 MPI_INT, &status);
			for (int x = 0; x < 10; x++)
				held = held && row[x] == y / 4 * 1000 + z * 40 +
								 y % 4 * 10 + x;
		}
	all_ok(held, "each is where it belongs in the array");
	MPI_Type_free(&filetype);
	MPI_File_close(&file);
}

static void view_calls(void)
{
	MPI_File file = file_open("view", RW | MODE_DELETE);
	MPI_Datatype filetype, e, f;
	MPI_Offset disp, byte, position;
	MPI_Aint extent;
	MPI_Count extent_c;
	char datarep[MPI_MAX_DATAREP_STRING];
	int combiner, ni, na, nt;

	MPI_File_get_view(file, &disp, &e, &f, datarep);
	all_ok(disp == 0 && e == MPI_BYTE && f == MPI_BYTE &&
		       !strcmp(datarep, "native"),
	       "a file begins with a view of bytes");
	MPI_Type_vector(4, 2, 5, MPI_INT, &filetype);
	MPI_Type_commit(&filetype);
	MPI_File_set_view(file, 100, MPI_INT, filetype, "internal",
			  MPI_INFO_NULL);
	MPI_Type_free(&filetype);
	MPI_File_get_view(file, &disp, &e, &f, datarep);
	MPI_Type_get_envelope(f, &ni, &na, &nt, &combiner);
	all_ok(disp == 100 && e == MPI_INT && combiner == MPI_COMBINER_VECTOR &&
		       !strcmp(datarep, "internal"),
	       "the view is found again");
	MPI_Type_free(&f);
	MPI_File_get_byte_offset(file, 0, &byte);
	all_ok(byte == 100, "its first byte");
	MPI_File_get_byte_offset(file, 3, &byte);
	all_ok(byte == 100 + 5 * 4 + 4, "its fourth word");
	MPI_File_get_byte_offset(file, 8, &byte);
	all_ok(byte == 100 + 17 * 4, "the first word of the second filetype");
	MPI_File_set_size(file, 100 + 20 + 5);
	MPI_File_seek(file, 0, MPI_SEEK_END);
	MPI_File_get_position(file, &position);
	all_ok(position == 4, "the end is behind a word that is cut off");
	MPI_File_get_type_extent(file, MPI_DOUBLE, &extent);
	MPI_File_get_type_extent_c(file, MPI_INT, &extent_c);
	all_ok(extent == 8 && extent_c == 4, "extents in the file");
	MPI_File_close(&file);
}

/* Overlapping writes of all ranks: each reader sees one of them. */
static void atomic(void)
{
	MPI_File file = file_open("atomic", RW | MODE_DELETE);
	MPI_Datatype filetype;
	MPI_Status status;
	bool held = true;
	int flag = -1;

	MPI_File_get_atomicity(file, &flag);
	all_ok(flag == 0, "atomic mode is off at first");
	MPI_File_set_atomicity(file, 1);
	MPI_File_get_atomicity(file, &flag);
	all_ok(flag == 1, "it is on");
	MPI_Type_vector(64, 1, 3, MPI_INT, &filetype);
	MPI_Type_commit(&filetype);
	MPI_File_set_view(file, 0, MPI_INT, filetype, "native", MPI_INFO_NULL);
	for (int i = 0; i < 50; i++) {
		for (int j = 0; j < 64; j++)
			((int *)out)[j] = rank;
		MPI_File_write_at(file, 0, out, 64, MPI_INT, &status);
		MPI_File_read_at(file, 0, in, 64, MPI_INT, &status);
		for (int j = 1; j < 64; j++)
			held = held && ((int *)in)[j] == ((int *)in)[0];
	}
	all_ok(held, "writes and reads are whole");
	MPI_Type_free(&filetype);
	MPI_File_close(&file);
}

static void large(void)
{
	const MPI_Offset far = ((MPI_Offset)1 << 40) + 3;
	MPI_File file = file_open("large", RW | MODE_DELETE);
	MPI_Offset bytes;
	MPI_Status status;
	MPI_Count count;
	char c = 0;

	if (rank == size - 1) {
		c = 'x';
		MPI_File_write_at_c(file, far, &c, 1, MPI_CHAR, &status);
	}
	everybody();
	MPI_File_get_size(file, &bytes);
	all_ok(bytes == far + 1, "a file of a tebibyte, mostly holes");
	MPI_File_read_at_c(file, far, &c, 5, MPI_CHAR, &status);
	MPI_Get_count_c(&status, MPI_CHAR, &count);
	all_ok(c == 'x' && count == 1, "its last byte");
	MPI_File_close(&file);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	files_begin();
	pointers();
	interleaved(1, 400);
	interleaved(8, 1000);
	interleaved(1000, 60);
	interleaved(64000, 1);
	holes(1);
	holes(8);
	holes(20);
	beside();
	both_sides();
	subarrays();
	view_calls();
	atomic();
	large();
	files_end();
	return mtap_end();
}
