/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrong uses of files, and what the system refuses: each has its class, and none
 * hangs.
 */
#include "file.h"

#include <signal.h>
#include <sys/resource.h>

static MPI_File file;
static int words[1024];
static MPI_Status status;

static int open_as(const char *path, int amode)
{
	MPI_File other = file;
	int rc = MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL,
			       &other);

	if (rc == MPI_SUCCESS)
		MPI_File_close(&other);
	return rc;
}

static void opened(void)
{
	static const int wrong[] = {
		0,
		MPI_MODE_RDONLY | MPI_MODE_RDWR,
		MPI_MODE_WRONLY | MPI_MODE_RDWR,
		MPI_MODE_RDONLY | MPI_MODE_CREATE,
		MPI_MODE_RDONLY | MPI_MODE_EXCL,
		MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL,
		MPI_MODE_RDWR | (1 << 30),
	};
	MPI_File other;
	char path[300];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		all_class(open_as(file_at("file"), wrong[i]), MPI_ERR_AMODE,
			  "mode %#x", (unsigned)wrong[i]);
	all_class(open_as(file_at("none"), MPI_MODE_RDONLY),
		  MPI_ERR_NO_SUCH_FILE, "a file that is not there");
	all_class(open_as(file_at("file"), RW | MPI_MODE_EXCL),
		  MPI_ERR_FILE_EXISTS, "a file that is there");
	all_class(open_as(file_folder, MPI_MODE_RDONLY), MPI_ERR_BAD_FILE,
		  "a folder, to be read");
	all_class(open_as(file_folder, MPI_MODE_RDWR), MPI_ERR_BAD_FILE,
		  "a folder, to be written");
	snprintf(path, sizeof(path), "%s/file/below", file_folder);
	all_class(open_as(path, RW), MPI_ERR_BAD_FILE, "a file in a file");
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	all_class(open_as(path, RW), MPI_ERR_BAD_FILE, "a name too long");
	all_class(open_as("", RW), MPI_ERR_BAD_FILE, "no name");
	if (access("/proc/version", W_OK) != 0)
		all_class(open_as("/proc/version", MPI_MODE_RDWR),
			  MPI_ERR_ACCESS, "a file that cannot be written");
	all_class(MPI_File_open(MPI_COMM_NULL, "x", RW, MPI_INFO_NULL, &other),
		  MPI_ERR_COMM, "no communicator");
	all_class(MPI_File_delete(file_at("none"), MPI_INFO_NULL),
		  MPI_ERR_NO_SUCH_FILE, "what is not there is deleted");
}

/* All hear of what only one does wrong. */
static void one_fails(void)
{
	MPI_File other = MPI_FILE_NULL;
	int last = rank == size - 1;

	all_class(open_as(file_at("file"),
			  last ? MPI_MODE_RDONLY | MPI_MODE_RDWR :
				 MPI_MODE_RDWR),
		  MPI_ERR_AMODE, "one rank gives a wrong mode");
	if (size > 1)
		all_class(open_as(file_at("file"),
				  last ? MPI_MODE_RDONLY : MPI_MODE_RDWR),
			  MPI_ERR_NOT_SAME, "one rank gives another mode");
	all_class(MPI_File_open(MPI_COMM_WORLD, last ? NULL : file_at("file"),
				MPI_MODE_RDWR, MPI_INFO_NULL, &other),
		  MPI_ERR_ARG, "one rank has no name");
	all_ok(other == MPI_FILE_NULL, "nobody has the file");
	all_class(MPI_File_set_size(file, last ? -1 : 100), MPI_ERR_ARG,
		  "one rank gives a wrong size");
	if (size > 1)
		all_class(MPI_File_set_size(file, last ? 100 : 200),
			  MPI_ERR_NOT_SAME, "one rank gives another size");
	all_class(MPI_File_set_view(file, last ? -5 : 0, MPI_BYTE, MPI_BYTE,
				    "native", MPI_INFO_NULL),
		  MPI_ERR_DISP, "one rank gives a wrong displacement");
	if (size > 1)
		all_class(MPI_File_set_view(file, 0, last ? MPI_INT : MPI_BYTE,
					    last ? MPI_INT : MPI_BYTE, "native",
					    MPI_INFO_NULL),
			  MPI_ERR_NOT_SAME, "one rank gives another etype");
}

static int view(MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
		const char *datarep)
{
	return MPI_File_set_view(file, disp, etype, filetype, datarep,
				 MPI_INFO_NULL);
}

static void views(void)
{
	int lengths[] = { 1, 1 }, back[] = { 4, 0 }, below[] = { -1, 3 };
	int over[] = { 0, 0 };
	MPI_Datatype type, not_committed;

	all_class(view(MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, "native"),
		  MPI_ERR_DISP, "the current displacement");
	all_class(view(0, MPI_DATATYPE_NULL, MPI_BYTE, "native"), MPI_ERR_TYPE,
		  "no etype");
	all_class(view(0, MPI_INT, MPI_SHORT, "native"), MPI_ERR_TYPE,
		  "half an etype");
	all_class(view(0, MPI_BYTE, MPI_BYTE, "martian"),
		  MPI_ERR_UNSUPPORTED_DATAREP, "an unknown representation");
	all_class(view(0, MPI_BYTE, MPI_BYTE, NULL), MPI_ERR_ARG, "none");
	MPI_Type_contiguous(2, MPI_INT, &not_committed);
	all_class(view(0, MPI_INT, not_committed, "native"), MPI_ERR_TYPE,
		  "a type that is not committed");
	MPI_Type_free(&not_committed);
	MPI_Type_indexed(2, lengths, back, MPI_INT, &type);
	MPI_Type_commit(&type);
	all_class(view(0, MPI_INT, type, "native"), MPI_ERR_IO,
		  "a type that goes back");
	MPI_Type_free(&type);
	MPI_Type_indexed(2, lengths, below, MPI_INT, &type);
	MPI_Type_commit(&type);
	all_class(view(0, MPI_INT, type, "native"), MPI_ERR_IO,
		  "a type with a negative displacement");
	MPI_Type_free(&type);
	MPI_Type_indexed(2, lengths, over, MPI_INT, &type);
	MPI_Type_commit(&type);
	all_class(view(0, MPI_INT, type, "native"), MPI_ERR_IO,
		  "a type with overlaps, to be written");
	MPI_Type_free(&type);
	view(0, MPI_INT, MPI_INT, "native");
	all_class(MPI_File_write_at(file, 0, words, 3, MPI_SHORT, &status),
		  MPI_ERR_TYPE, "one and a half etypes are written");
	view(0, MPI_BYTE, MPI_BYTE, "native");
}

static void arguments(void)
{
	MPI_File none = MPI_FILE_NULL;
	MPI_Offset offset;

	all_class(MPI_File_write(none, words, 1, MPI_INT, &status),
		  MPI_ERR_FILE, "no file");
	all_class(MPI_File_close(&none), MPI_ERR_FILE, "nothing is closed");
	all_class(MPI_File_close(NULL), MPI_ERR_ARG, "not even a handle");
	all_class(MPI_File_write(file, words, -1, MPI_INT, &status),
		  MPI_ERR_COUNT, "a negative count");
	all_class(MPI_File_write(file, words, 1, MPI_DATATYPE_NULL, &status),
		  MPI_ERR_TYPE, "no type");
	all_class(MPI_File_write(file, NULL, 1, MPI_INT, &status),
		  MPI_ERR_BUFFER, "no buffer");
	all_class(MPI_File_write_at(file, -1, words, 1, MPI_INT, &status),
		  MPI_ERR_ARG, "a negative offset");
	all_class(MPI_File_write_at(file, INT64_MAX - 1, words, 1, MPI_INT,
				    &status),
		  MPI_ERR_ARG, "an offset too large");
	all_class(MPI_File_seek(file, 0, 17), MPI_ERR_ARG,
		  "a seek from nowhere");
	all_class(MPI_File_seek(file, INT64_MIN, MPI_SEEK_END), MPI_ERR_ARG,
		  "a seek to nowhere");
	all_class(MPI_File_get_byte_offset(file, -1, &offset), MPI_ERR_ARG,
		  "where no byte is");
	all_class(MPI_File_get_size(file, NULL), MPI_ERR_ARG, "no result");
}

static void ways(void)
{
	MPI_File other;

	other = file_open("file", MPI_MODE_RDONLY);
	all_class(MPI_File_write(other, words, 1, MPI_INT, &status),
		  MPI_ERR_READ_ONLY, "what is only read is written");
	all_class(MPI_File_set_size(other, 0), MPI_ERR_READ_ONLY, "or cut");
	all_class(MPI_File_preallocate(other, 0), MPI_ERR_READ_ONLY,
		  "or made longer");
	MPI_File_close(&other);
	other = file_open("file", MPI_MODE_WRONLY);
	all_class(MPI_File_read(other, words, 1, MPI_INT, &status),
		  MPI_ERR_ACCESS, "what is only written is read");
	MPI_File_close(&other);
	other = file_open("file", MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
	all_class(MPI_File_read(other, words, 1, MPI_INT, &status),
		  MPI_ERR_UNSUPPORTED_OPERATION,
		  "a sequential file is read at a file pointer");
	all_class(MPI_File_read_at(other, 0, words, 1, MPI_INT, &status),
		  MPI_ERR_UNSUPPORTED_OPERATION, "or at an offset");
	all_class(MPI_File_seek(other, 0, MPI_SEEK_SET),
		  MPI_ERR_UNSUPPORTED_OPERATION, "or positioned");
	all_class(MPI_File_set_view(other, 0, MPI_BYTE, MPI_BYTE, "native",
				    MPI_INFO_NULL),
		  MPI_ERR_DISP, "or seen from its begin");
	MPI_File_close(&other);
}

/* No space is an error; what was written before it counts. */
static void space(void)
{
	struct rlimit limit = { 0 }, less;
	char name[32];
	MPI_File other;
	int rc;

	rc = MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY,
			   MPI_INFO_NULL, &other);
	if (rc == MPI_SUCCESS) {
		status.MPI_internal[0] = 77;
		all_class(MPI_File_write_at(other, 0, words, 100, MPI_INT,
					    &status),
			  MPI_ERR_NO_SPACE, "there is no space");
		all_ok(status_bytes(&status) == 0, "nothing was written");
		MPI_File_close(&other);
	}
	snprintf(name, sizeof(name), "space-%d", rank);
	MPI_File_open(MPI_COMM_SELF, file_at(name), RW | MODE_DELETE,
		      MPI_INFO_NULL, &other);
	everybody();
	/* The limit and the signal belong to the process. */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	less = limit;
	less.rlim_cur = 10000;
	setrlimit(RLIMIT_FSIZE, &less);
	everybody();
	rc = MPI_File_write_at(other, 8000, words, 1000, MPI_INT, &status);
	everybody();
	setrlimit(RLIMIT_FSIZE, &limit);
	all_class(rc, MPI_ERR_NO_SPACE, "the file may not be that long");
	all_ok(status_bytes(&status) == 2000, "what was written is reported");
	MPI_File_close(&other);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	files_begin();
	file = file_open("file", RW | MODE_DELETE);
	opened();
	one_fails();
	views();
	arguments();
	ways();
	space();
	MPI_File_close(&file);
	files_end();
	return mtap_end();
}
