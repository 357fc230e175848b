/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective accesses: blocks that belong to the ranks by chance, with gaps, in
 * windows of several sizes; members without data, with errors, at the end of the
 * file.
 */
#include "file.h"

#define BLOCKS 600
#define MOST (256 * 1024)

static unsigned char out[MOST], in[MOST], whole[MOST];
static MPI_File file;
static MPI_Status status;
static int places[BLOCKS];

/* Whose a block is: a rank's, or nobody's. */
static int owner(int block, int seed)
{
	unsigned hash =
		(unsigned)(block + 1) * 2654435761u + (unsigned)seed * 40503u;

	hash ^= hash >> 15;
	return (int)(hash * 2246822519u >> 8) % (size + 1);
}

static unsigned char byte_at(int offset, int seed)
{
	return (unsigned char)(offset * 31 / 7 + seed * 3 + 1);
}

/* The blocks of this rank, as a filetype; how many there are. */
static int blocks_of(int bytes, int blocks, int seed, MPI_Datatype *type)
{
	MPI_Datatype one;
	int n = 0;

	for (int i = 0; i < blocks; i++)
		if (owner(i, seed) == rank)
			places[n++] = i;
	MPI_Type_contiguous(bytes, MPI_BYTE, &one);
	MPI_Type_create_indexed_block(n, 1, places, one, type);
	MPI_Type_commit(type);
	MPI_Type_free(&one);
	return n;
}

/* Fills the file with a byte. */
static void file_fill(int total, int byte)
{
	memset(whole, byte, (size_t)total);
	if (rank == 0)
		MPI_File_write_at(file, 0, whole, total, MPI_BYTE, &status);
	everybody();
}

static bool file_is(int bytes, int blocks, int seed, int other)
{
	int total = bytes * blocks;

	MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
	MPI_File_read_at(file, 0, whole, total, MPI_BYTE, &status);
	if (status_bytes(&status) != total)
		return false;
	for (int i = 0; i < total; i++)
		if (whole[i] !=
		    (owner(i / bytes, seed) < size ? byte_at(i, seed) : other))
			return false;
	return true;
}

static void chance(int bytes, int blocks, const char *buffer, int seed)
{
	MPI_Datatype filetype, memory;
	MPI_Info info;
	int n, total = bytes * blocks;
	bool held = true;

	MPI_Info_create(&info);
	MPI_Info_set(info, "cb_buffer_size", buffer);
	MPI_Info_set(info, "romio_cb_write", "enable");
	MPI_Info_set(info, "romio_cb_read", "enable");
	if (seed % 2)
		MPI_Info_set(info, "romio_ds_write", "enable");
	MPI_File_open(MPI_COMM_WORLD, file_at("chance"), RW | MODE_DELETE, info,
		      &file);
	MPI_Info_free(&info);
	file_fill(total, 0xee);
	n = blocks_of(bytes, blocks, seed, &filetype);
	for (int i = 0; i < n * bytes; i++)
		out[i] = byte_at(places[i / bytes] * bytes + i % bytes, seed);
	if (n)
		MPI_File_set_view(file, 0, MPI_BYTE, filetype, "native",
				  MPI_INFO_NULL);
	else
		MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native",
				  MPI_INFO_NULL);
	all_class(MPI_File_write_all(file, out, n * bytes, MPI_BYTE, &status),
		  MPI_SUCCESS, "%d blocks of %d bytes, buffer %s", blocks,
		  bytes, buffer);
	held = status_bytes(&status) == n * bytes;
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	memset(in, 0, sizeof(in));
	MPI_File_read_all(file, in, n * bytes, MPI_BYTE, &status);
	held = held && status_bytes(&status) == n * bytes &&
	       !memcmp(in, out, (size_t)(n * bytes));
	/* Every other byte of memory. */
	MPI_Type_create_resized(MPI_BYTE, 0, 2, &memory);
	MPI_Type_commit(&memory);
	memset(in, 0, sizeof(in));
	MPI_File_read_at_all(file, 0, in, n * bytes / 2, memory, &status);
	for (int i = 0; i < n * bytes / 2; i++)
		held = held && in[2 * i] == out[i] && !in[2 * i + 1];
	all_ok(held, "are all read");
	MPI_Type_free(&memory);
	MPI_Type_free(&filetype);
	all_ok(file_is(bytes, blocks, seed, 0xee), "and nothing else is "
						   "written");
	MPI_File_close(&file);
}

/* Reads that go beyond the end: each rank gets what there is. */
static void at_end(void)
{
	const int bytes = 100, blocks = 10;
	MPI_Datatype block, filetype;
	MPI_Offset end = (MPI_Offset)bytes * blocks * size / 2 + 30;
	int want = 0;

	file = file_open("end", RW | MODE_DELETE);
	MPI_File_set_size(file, end);
	MPI_Type_contiguous(bytes, MPI_BYTE, &block);
	MPI_Type_create_resized(block, 0, (MPI_Aint)bytes * size, &filetype);
	MPI_Type_commit(&filetype);
	MPI_File_set_view(file, (MPI_Offset)rank * bytes, MPI_BYTE, filetype,
			  "native", MPI_INFO_NULL);
	for (int i = 0; i < bytes * blocks; i++)
		want += (MPI_Offset)(i / bytes * size + rank) * bytes +
				i % bytes <
			end;
	memset(in, 7, sizeof(in));
	MPI_File_read_all(file, in, bytes * blocks, MPI_BYTE, &status);
	all_ok(status_bytes(&status) == want, "reads end at the end");
	all_ok((!want || !in[want - 1]) &&
		       (want == bytes * blocks || in[want] == 7),
	       "and leave the rest of memory alone");
	MPI_Type_free(&block);
	MPI_Type_free(&filetype);
	MPI_File_close(&file);
}

/* One without an offset, the others with one, in two halves. */
static void some_split(bool last, int word)
{
	int got = -1;

	if (last)
		MPI_File_write_all_begin(file, NULL, 0, MPI_BYTE);
	else
		MPI_File_write_at_all_begin(file, rank * 4, &word, 1, MPI_INT);
	if (last)
		MPI_File_write_all_end(file, NULL, &status);
	else
		MPI_File_write_at_all_end(file, &word, &status);
	all_ok(status_bytes(&status) == (last ? 0 : 4),
	       "with both halves they write together, too");
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	if (last)
		MPI_File_read_at_all_begin(file, 0, &got, 1, MPI_INT);
	else
		MPI_File_read_all_begin(file, &got, 1, MPI_INT);
	if (last)
		MPI_File_read_at_all_end(file, &got, &status);
	else
		MPI_File_read_all_end(file, &got, &status);
	all_ok(size == 1 || got == 200, "and read");
}

static void some_started(bool last, int word)
{
	MPI_Request request;
	int got = -1;

	if (last)
		MPI_File_iwrite_all(file, NULL, 0, MPI_BYTE, &request);
	else
		MPI_File_iwrite_at_all(file, rank * 4, &word, 1, MPI_INT,
				       &request);
	MPI_Wait(&request, &status);
	all_ok(status_bytes(&status) == (last ? 0 : 4),
	       "and what is only started");
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	if (last)
		MPI_File_iread_at_all(file, 0, &got, 1, MPI_INT, &request);
	else
		MPI_File_iread_all(file, &got, 1, MPI_INT, &request);
	MPI_Wait(&request, &status);
	all_ok(size == 1 || got == 300, "when reading, too");
}

/* One has nothing, one has wrong arguments. */
static void some(void)
{
	int word = rank, got = -1, last = rank == size - 1;

	file = file_open("some", RW | MODE_DELETE);
	MPI_File_write_at_all(file, rank * 4, &word, rank != 0, MPI_INT,
			      &status);
	all_ok(status_bytes(&status) == (rank ? 4 : 0),
	       "a member without data takes part");
	MPI_File_read_at_all(file, rank * 4, &got, 1, MPI_INT, &status);
	all_ok(size == 1 || got == (rank ? rank : 0), "the others' are there");
	/* PnetCDF does this after an error. */
	word += 100;
	if (last)
		MPI_File_write_all(file, NULL, 0, MPI_BYTE, &status);
	else
		MPI_File_write_at_all(file, rank * 4, &word, 1, MPI_INT,
				      &status);
	all_ok(status_bytes(&status) == (last ? 0 : 4),
	       "with an offset and without one they write together");
	got = -1;
	if (last)
		MPI_File_read_at_all(file, 0, &got, 1, MPI_INT, &status);
	else
		MPI_File_read_all(file, &got, 1, MPI_INT, &status);
	all_ok(size == 1 || got == 100, "and read");
	some_split(last, word + 100);
	some_started(last, word + 200);
	all_class(MPI_File_write_at_all(file, rank * 4, &word, last ? -1 : 1,
					MPI_INT, &status),
		  last ? MPI_ERR_COUNT : MPI_SUCCESS,
		  "one with wrong arguments holds nobody up");
	MPI_File_close(&file);
	if (MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY,
			  MPI_INFO_NULL, &file) != MPI_SUCCESS)
		return;
	all_class(MPI_File_write_at_all(file, rank * 4, &word, 1, MPI_INT,
					&status),
		  MPI_ERR_NO_SPACE, "without space all fail");
	all_ok(status_bytes(&status) == 0, "and nothing is written");
	MPI_File_close(&file);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	files_begin();
	chance(1, 500, "4096", 1);
	chance(1, 500, "4096", 2);
	chance(7, BLOCKS, "4096", 3);
	chance(8, BLOCKS, "100000", 4);
	chance(100, BLOCKS, "5000", 5);
	chance(400, BLOCKS, "1048576", 6);
	chance(5000, 50, "8192", 7);
	at_end();
	some();
	files_end();
	return mtap_end();
}
