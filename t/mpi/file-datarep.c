/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Representations of data in files: external32, and those of the program.
 */
#include "file.h"

#define N 300000 /* more than is converted at a time */

static MPI_File file;
static MPI_Status status;

static int counted(MPI_Datatype type)
{
	int count;

	MPI_Get_count(&status, type, &count);
	return count;
}

static int view(const char *datarep, MPI_Offset disp, MPI_Datatype etype,
		MPI_Datatype filetype)
{
	return MPI_File_set_view(file, disp, etype, filetype, datarep,
				 MPI_INFO_NULL);
}

/* The bytes of a file of each rank's own. */
static bool has_bytes(off_t offset, const char *bytes, size_t n)
{
	unsigned char got[64];

	view("native", 0, MPI_BYTE, MPI_BYTE);
	MPI_File_read_at(file, offset, got, (int)n, MPI_BYTE, &status);
	return counted(MPI_BYTE) == (int)n && !memcmp(got, bytes, n);
}

static void own_file(const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s-%d", file_at(name), rank);
	MPI_File_open(MPI_COMM_SELF, path, RW | MODE_DELETE, MPI_INFO_NULL,
		      &file);
}

static void external(void)
{
	int words[] = { 1, -2, 0x01020304 }, got[3] = { 0 };
	long longs[] = { 5, -6 }, long_got[2] = { 0 };
	MPI_Aint extent = 0;
	MPI_Offset position;

	own_file("external");
	all_class(view("external32", 4, MPI_INT, MPI_INT), MPI_SUCCESS,
		  "a view in external32");
	all_class(MPI_File_write(file, words, 3, MPI_INT, &status), MPI_SUCCESS,
		  "words are written");
	all_ok(counted(MPI_INT) == 3, "three");
	MPI_File_read_at(file, 0, got, 3, MPI_INT, &status);
	all_ok(counted(MPI_INT) == 3 && !memcmp(got, words, sizeof(got)),
	       "and read");
	all_ok(has_bytes(4, "\0\0\0\1\377\377\377\376\1\2\3\4", 12),
	       "the most significant byte comes first");
	view("external32", 0, MPI_LONG, MPI_LONG);
	MPI_File_get_type_extent(file, MPI_LONG, &extent);
	all_ok(extent == 4, "a long has four bytes there");
	MPI_File_write(file, longs, 2, MPI_LONG, &status);
	MPI_File_get_position(file, &position);
	all_ok(counted(MPI_LONG) == 2 && position == 2, "two longs");
	MPI_File_read_at(file, 1, long_got, 1, MPI_LONG, &status);
	all_ok(long_got[0] == -6, "the second");
	longs[0] = 1L << 40;
	all_class(MPI_File_write(file, longs, 1, MPI_LONG, &status),
		  MPI_ERR_CONVERSION, "one that does not fit");
	all_ok(has_bytes(0, "\0\0\0\5\377\377\377\372", 8),
	       "longs are four bytes apart");
	MPI_File_close(&file);
}

/* Displacements in units of extents are those of the file. */
static void derived(void)
{
	static long out[N], in[N];
	MPI_Datatype filetype, pair, types[] = { MPI_SHORT, MPI_LONG };
	int lengths[] = { 1, 1 }, bytes = -1;
	MPI_Aint places[] = { 0, 8 };
	struct {
		short a;
		long b;
	} mixed[2] = { { 1, 2 }, { 3, 4 } }, got[2];
	MPI_Request request;
	MPI_Offset size = 0;

	for (int i = 0; i < N; i++)
		out[i] = i - rank;
	own_file("derived");
	MPI_Type_vector(2, 1, 2, MPI_LONG, &filetype);
	MPI_Type_commit(&filetype);
	view("external32", 0, MPI_LONG, filetype);
	MPI_File_iwrite(file, out, N, MPI_LONG, &request);
	MPI_Wait(&request, &status);
	all_ok(counted(MPI_LONG) == N, "many longs, in pieces");
	MPI_File_read_at(file, 0, in, N, MPI_LONG, &status);
	all_ok(counted(MPI_LONG) == N && !memcmp(in, out, sizeof(in)),
	       "are read");
	MPI_File_get_size(file, &size);
	all_ok(size == 6 * N, "two of three places have one");
	view("external32", 0, MPI_LONG, MPI_LONG);
	MPI_File_read_at(file, 2, in, 2, MPI_LONG, &status);
	all_ok(in[0] == 1 - rank && in[1] == 2 - rank,
	       "the second and the third");
	MPI_File_read_at(file, 3 * N / 2 - 1, in, 5, MPI_LONG, &status);
	all_ok(counted(MPI_LONG) == 1, "a read ends at the end");
	MPI_Type_create_struct(2, lengths, places, types, &pair);
	MPI_Type_commit(&pair);
	view("external32", 0, MPI_BYTE, MPI_BYTE);
	MPI_File_write_at(file, 0, mixed, 2, pair, &status);
	MPI_Get_count(&status, pair, &bytes);
	MPI_File_read_at(file, 0, got, 2, pair, &status);
	all_ok(bytes == 2 && got[1].a == 3 && got[1].b == 4 && got[0].b == 2,
	       "structures too");
	all_ok(has_bytes(0, "\0\1\0\0\0\2\0\3\0\0\0\4", 12), "without padding");
	MPI_Type_free(&pair);
	MPI_Type_free(&filetype);
	MPI_File_close(&file);
}

/* Words of the program's: decimal numbers of eight digits. */
#define DIGITS 8

static int digits_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
	*extent = type == MPI_INT ? DIGITS : 1;
	return *(int *)extra == 42 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int digits_write(void *user, MPI_Datatype type, int count, void *to,
			MPI_Offset position, void *extra)
{
	char text[DIGITS + 1], *at = to;

	(void)type, (void)extra;
	for (int i = 0; i < count; i++, at += DIGITS) {
		int word = ((int *)user)[position + i];

		if (word < 0)
			return MPI_ERR_CONVERSION;
		snprintf(text, sizeof(text), "%08d", word % 100000000);
		memcpy(at, text, DIGITS);
	}
	return MPI_SUCCESS;
}

static int digits_read(void *user, MPI_Datatype type, int count, void *from,
		       MPI_Offset position, void *extra)
{
	char text[DIGITS + 1] = { 0 };

	(void)type, (void)extra;
	for (int i = 0; i < count; i++) {
		memcpy(text, (char *)from + i * DIGITS, DIGITS);
		((int *)user)[position + i] = atoi(text);
	}
	return MPI_SUCCESS;
}

static int digits_write_c(void *user, MPI_Datatype type, MPI_Count count,
			  void *to, MPI_Offset position, void *extra)
{
	return digits_write(user, type, (int)count, to, position, extra);
}

static int digits_read_c(void *user, MPI_Datatype type, MPI_Count count,
			 void *from, MPI_Offset position, void *extra)
{
	return digits_read(user, type, (int)count, from, position, extra);
}

static void digits(const char *name)
{
	static int out[N], in[N];

	for (int i = 0; i < N; i++)
		out[i] = rank + 7 * i;
	own_file(name);
	all_class(view(name, 0, MPI_INT, MPI_INT), MPI_SUCCESS, "a view in %s",
		  name);
	MPI_File_write_all(file, out, N, MPI_INT, &status);
	all_ok(counted(MPI_INT) == N, "words are written");
	MPI_File_read_at_all(file, 0, in, N, MPI_INT, &status);
	all_ok(counted(MPI_INT) == N && !memcmp(in, out, sizeof(in)),
	       "and read");
	out[0] = -1;
	all_class(MPI_File_write_at(file, 0, out, 1, MPI_INT, &status),
		  MPI_ERR_CONVERSION, "a function fails");
	MPI_File_seek(file, 1, MPI_SEEK_SET);
	out[0] = 123;
	MPI_File_write(file, out, 1, MPI_INT, &status);
	all_ok(has_bytes(8, "00000123", 8), "so they are in the file");
	MPI_File_close(&file);
}

static void registered(void)
{
	static int extra = 42;

	all_class(MPI_Register_datarep("digits", digits_read, digits_write,
				       digits_extent, &extra),
		  MPI_SUCCESS, "a representation is made");
	all_class(MPI_Register_datarep_c("digits_c", digits_read_c,
					 digits_write_c, digits_extent, &extra),
		  MPI_SUCCESS, "one for large counts");
	all_class(MPI_Register_datarep("plain", MPI_CONVERSION_FN_NULL,
				       MPI_CONVERSION_FN_NULL, digits_extent,
				       &extra),
		  MPI_SUCCESS, "one without functions");
	all_class(MPI_Register_datarep("digits", digits_read, digits_write,
				       digits_extent, &extra),
		  MPI_ERR_DUP_DATAREP, "the same name again");
	all_class(MPI_Register_datarep("native", digits_read, digits_write,
				       digits_extent, &extra),
		  MPI_ERR_DUP_DATAREP, "the name of another one");
	all_class(MPI_Register_datarep("x", digits_read, digits_write, NULL,
				       &extra),
		  MPI_ERR_ARG, "no function for extents");
	all_class(MPI_Register_datarep("", digits_read, digits_write,
				       digits_extent, &extra),
		  MPI_ERR_ARG, "no name");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	files_begin();
	external();
	derived();
	registered();
	digits("digits");
	digits("digits_c");
	files_end();
	return mtap_end();
}
