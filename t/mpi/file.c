/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files as a whole: opening, closing, size, info, group, error handlers.
 */
#include "file.h"

static void modes(void)
{
	MPI_File file = file_open("modes", RW);
	MPI_Offset bytes, position;
	int amode, word = 7;
	MPI_Status status;

	MPI_File_get_amode(file, &amode);
	all_ok(amode == RW, "the mode is found again");
	MPI_File_write_at(file, rank * 4, &word, 1, MPI_INT, &status);
	all_ok(status_bytes(&status) == 4, "a word is written");
	MPI_File_close(&file);
	all_ok(file == MPI_FILE_NULL, "the handle is gone");
	all_ok(file_size("modes") == 4 * size, "the file is as long as that");

	file = file_open("modes", MPI_MODE_WRONLY | MPI_MODE_APPEND);
	MPI_File_get_position(file, &position);
	all_ok(position == 4 * size, "file pointers begin at the end");
	MPI_File_close(&file);

	file = file_open("modes",
			 MPI_MODE_RDONLY | MODE_DELETE | MPI_MODE_UNIQUE_OPEN);
	MPI_File_get_size(file, &bytes);
	all_ok(bytes == 4 * size, "so says its size");
	word = 0;
	MPI_File_read_at(file, rank * 4, &word, 1, MPI_INT, &status);
	all_ok(word == 7 && status_bytes(&status) == 4, "the word is read");
	MPI_File_close(&file);
	all_ok(file_size("modes") == -1, "it is deleted when it is closed");
}

static void sizes(void)
{
	MPI_File file = file_open("sizes", RW | MPI_MODE_EXCL | MODE_DELETE);
	MPI_Offset bytes = -1;

	MPI_File_get_size(file, &bytes);
	all_ok(bytes == 0, "a new file is empty");
	all_class(MPI_File_set_size(file, 10000), MPI_SUCCESS, "it grows");
	MPI_File_get_size(file, &bytes);
	all_ok(bytes == 10000, "to this size");
	MPI_File_set_size(file, 100);
	MPI_File_get_size(file, &bytes);
	all_ok(bytes == 100, "it shrinks");
	all_class(MPI_File_preallocate(file, 5000), MPI_SUCCESS,
		  "space is made");
	MPI_File_get_size(file, &bytes);
	all_ok(bytes == 5000, "the file has it");
	MPI_File_preallocate(file, 50);
	MPI_File_get_size(file, &bytes);
	all_ok(bytes == 5000, "less space leaves it as it is");
	all_class(MPI_File_sync(file), MPI_SUCCESS, "it is synchronised");
	MPI_File_close(&file);
}

static void infos(void)
{
	char value[MPI_MAX_INFO_VAL + 1];
	MPI_Info info, used;
	MPI_File file;
	int there;

	MPI_Info_create(&info);
	MPI_Info_set(info, "cb_buffer_size", "1048576");
	MPI_Info_set(info, "romio_ds_write", "disable");
	MPI_Info_set(info, "access_style", "write_once,random");
	MPI_Info_set(info, "cb_nodes", "many");
	MPI_Info_set(info, "unknown", "ignored");
	MPI_Info_set(info, "file_perm", "0640");
	MPI_File_open(MPI_COMM_WORLD, file_at("info"), RW | MODE_DELETE, info,
		      &file);
	MPI_File_get_info(file, &used);
	MPI_Info_get(used, "cb_buffer_size", MPI_MAX_INFO_VAL, value, &there);
	all_ok(there && !strcmp(value, "1048576"), "a number is taken");
	MPI_Info_get(used, "romio_ds_write", MPI_MAX_INFO_VAL, value, &there);
	all_ok(there && !strcmp(value, "disable"), "a word too");
	MPI_Info_get(used, "access_style", MPI_MAX_INFO_VAL, value, &there);
	all_ok(there && !strcmp(value, "write_once,random"), "a text too");
	MPI_Info_get(used, "cb_nodes", MPI_MAX_INFO_VAL, value, &there);
	all_ok(there && !strcmp(value, "0"), "nonsense is not");
	MPI_Info_get(used, "unknown", MPI_MAX_INFO_VAL, value, &there);
	all_ok(!there, "nor is what has no meaning");
	MPI_Info_get(used, "filename", MPI_MAX_INFO_VAL, value, &there);
	all_ok(there && !strcmp(value, file_at("info")), "the name is there");
	MPI_Info_free(&used);
	MPI_Info_set(info, "romio_ds_write", "enable");
	all_class(MPI_File_set_info(file, info), MPI_SUCCESS, "info is set");
	MPI_File_get_info(file, &used);
	MPI_Info_get(used, "romio_ds_write", MPI_MAX_INFO_VAL, value, &there);
	all_ok(there && !strcmp(value, "enable"), "and found again");
	MPI_Info_free(&used);
	MPI_Info_free(&info);
	MPI_File_close(&file);
}

static void groups(void)
{
	MPI_Group all, group;
	MPI_File file;
	int result;

	file = file_open("group", RW | MODE_DELETE);
	MPI_File_get_group(file, &group);
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_compare(all, group, &result);
	all_ok(result == MPI_IDENT, "the group is the communicator's");
	MPI_Group_free(&group);
	MPI_Group_free(&all);
	MPI_File_close(&file);
}

/* Each rank has a file of its own, and all have many at a time. */
static void many(void)
{
	MPI_File files[40];
	char name[32];
	bool held = true;

	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "many-%d-%d", rank, i);
		MPI_File_open(MPI_COMM_SELF, file_at(name), RW | MODE_DELETE,
			      MPI_INFO_NULL, &files[i]);
		MPI_File_write(files[i], &i, 1, MPI_INT, MPI_STATUS_IGNORE);
	}
	for (int i = 0; i < 40; i++) {
		int got = -1;

		MPI_File_read_at(files[i], 0, &got, 1, MPI_INT,
				 MPI_STATUS_IGNORE);
		held = held && got == i;
		MPI_File_close(&files[i]);
	}
	all_ok(held, "each rank has forty files of its own");
}

static int raised, raised_null;

static void handler(MPI_File *file, int *code, ...)
{
	if (*file == MPI_FILE_NULL)
		raised_null = *code;
	else
		raised = *code;
}

static void handlers(void)
{
	MPI_Errhandler mine, got;
	MPI_File file, none;

	MPI_File_get_errhandler(MPI_FILE_NULL, &got);
	all_ok(got == MPI_ERRORS_RETURN, "errors of files are returned");
	MPI_File_create_errhandler(handler, &mine);
	all_class(MPI_File_set_errhandler(MPI_FILE_NULL, mine), MPI_SUCCESS,
		  "the handler of MPI_FILE_NULL is set");
	MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY,
		      MPI_INFO_NULL, &none);
	all_ok(raised_null == MPI_ERR_NO_SUCH_FILE && none == MPI_FILE_NULL,
	       "it is called when a file cannot be opened");
	file = file_open("handler", RW | MODE_DELETE);
	MPI_File_get_errhandler(file, &got);
	all_ok(got == mine, "files that are opened have it");
	MPI_Errhandler_free(&got);
	MPI_File_seek(file, -1, MPI_SEEK_SET);
	all_ok(raised == MPI_ERR_ARG, "it is called with their errors");
	MPI_File_call_errhandler(file, MPI_ERR_OTHER);
	all_ok(raised == MPI_ERR_OTHER, "also by the program");
	MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
	raised = 0;
	MPI_File_seek(file, -1, MPI_SEEK_SET);
	all_ok(raised == 0, "another handler takes its place");
	MPI_Errhandler_free(&mine);
	MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
	MPI_File_close(&file);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	files_begin();
	modes();
	sizes();
	infos();
	groups();
	many();
	handlers();
	files_end();
	return mtap_end();
}
