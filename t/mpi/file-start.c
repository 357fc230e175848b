/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses to files that are only started: nonblocking and split collective
 * ones, short and long.
 */
#include "file.h"

#define LONG 300000 /* words: a helper does it */

static int out[LONG], in[LONG];
static MPI_File file;
static MPI_Status status;

static void fill(int seed)
{
	for (int i = 0; i < LONG; i++)
		out[i] = seed + rank * LONG + i;
	memset(in, 0, sizeof(in));
}

static bool is_same(int words)
{
	return memcmp(in, out, (size_t)words * sizeof(int)) == 0;
}

static bool counts(int words)
{
	int count = -1;

	MPI_Get_count(&status, MPI_INT, &count);
	return count == words;
}

static void offsets(int words)
{
	const MPI_Offset mine = (MPI_Offset)rank * words * 4;
	MPI_Request request;
	int flag = 0, rc;

	fill(1);
	rc = MPI_File_iwrite_at(file, mine, out, words, MPI_INT, &request);
	all_class(rc, MPI_SUCCESS, "%d words are written at an offset", words);
	MPI_Wait(&request, &status);
	all_ok(request == MPI_REQUEST_NULL && counts(words), "all of them");
	MPI_File_iread_at(file, mine, in, words, MPI_INT, &request);
	while (!flag)
		MPI_Test(&request, &flag, &status);
	all_ok(is_same(words) && counts(words), "and read, by tests");
	fill(2);
	MPI_File_iwrite_at_all(file, mine, out, words, MPI_INT, &request);
	MPI_Wait(&request, &status);
	all_ok(counts(words), "and by all");
	MPI_File_iread_at_all(file, mine, in, words, MPI_INT, &request);
	MPI_Wait(&request, &status);
	all_ok(is_same(words) && counts(words), "and read by all");
}

static void pointers(int words)
{
	MPI_Request requests[4];
	MPI_Status statuses[4];
	MPI_Offset position;
	MPIO_Request old;
	bool held = true;
	int index, n = words / 4;

	fill(3);
	MPI_File_set_view(file, (MPI_Offset)rank * words * 4, MPI_INT, MPI_INT,
			  "native", MPI_INFO_NULL);
	for (int i = 0; i < 4; i++)
		MPI_File_iwrite(file, out + i * n, n, MPI_INT, &requests[i]);
	MPI_File_get_position(file, &position);
	all_ok(position == 4 * n, "file pointers move on at once");
	MPI_Waitall(4, requests, statuses);
	for (int i = 0; i < 4; i++)
		held = held && status_bytes(&statuses[i]) == n * 4;
	all_ok(held, "four writes of %d words", n);
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	for (int i = 0; i < 4; i++)
		MPI_File_iread(file, in + i * n, n, MPI_INT, &requests[i]);
	for (int i = 0; i < 4; i++) {
		MPI_Waitany(4, requests, &index, &status);
		held = held && index >= 0 && counts(n);
	}
	all_ok(held && is_same(4 * n), "four reads, one after the other");
	fill(4);
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	MPI_File_iwrite_all(file, out, words, MPI_INT, &requests[0]);
	MPI_Waitsome(1, requests, &index, &(int){ 0 }, &status);
	all_ok(index == 1 && counts(words), "one write of all");
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	MPI_File_iread_all(file, in, words, MPI_INT, &requests[0]);
	MPI_Cancel(&requests[0]);
	MPI_Wait(&requests[0], &status);
	MPI_Test_cancelled(&status, &index);
	all_ok(!index && is_same(words), "a read is not cancelled");
	MPI_File_seek(file, 0, MPI_SEEK_SET);
	MPI_File_iread(file, in, words, MPI_INT, &old);
	MPIO_Wait(&old, &status);
	all_ok(old == MPIO_REQUEST_NULL && counts(words),
	       "a read under its old name");
	MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
}

/* Collective ones wait for nobody when they start, and come in turn; so does a
 * blocking one behind them. */
static void in_turn(void)
{
	const MPI_Offset mine = (MPI_Offset)rank * 800;
	int last = rank == size - 1, token = 0;
	MPI_Request requests[2];
	int rc;

	fill(8);
	if (rank)
		MPI_Recv(&token, 1, MPI_INT, rank - 1, 9, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
	MPI_File_iwrite_at_all(file, mine, out, 100, MPI_INT, &requests[0]);
	MPI_File_iwrite_at_all(file, mine + 400, out + 100, 100, MPI_INT,
			       &requests[1]);
	if (!last)
		MPI_Send(&token, 1, MPI_INT, rank + 1, 9, MPI_COMM_WORLD);
	MPI_File_read_at_all(file, mine, in, 200, MPI_INT, &status);
	all_ok(counts(200) && is_same(200),
	       "a blocking access comes behind two that were started");
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	all_ok(requests[0] == MPI_REQUEST_NULL, "which are complete");
	rc = MPI_File_iwrite_at_all(file, mine, out, last ? -1 : 100, MPI_INT,
				    &requests[0]);
	all_class(rc, last ? MPI_ERR_COUNT : MPI_SUCCESS,
		  "wrong arguments of one rank");
	if (!last)
		rc = MPI_Wait(&requests[0], &status);
	all_ok(last || (rc == MPI_SUCCESS && counts(100)), "hold nobody up");
}

static void split(int words)
{
	const MPI_Offset mine = (MPI_Offset)rank * words * 4;

	fill(5);
	all_class(MPI_File_write_at_all_begin(file, mine, out, words, MPI_INT),
		  MPI_SUCCESS, "a split write of %d words begins", words);
	all_class(MPI_File_write_at_all_end(file, out, &status), MPI_SUCCESS,
		  "and ends");
	all_ok(counts(words), "with all words");
	MPI_File_read_at_all_begin(file, mine, in, words, MPI_INT);
	MPI_File_read_at_all_end(file, in, &status);
	all_ok(counts(words) && is_same(words), "a split read");
	fill(6);
	MPI_File_seek(file, mine, MPI_SEEK_SET);
	MPI_File_write_all_begin(file, out, words, MPI_INT);
	MPI_File_write_all_end(file, out, &status);
	MPI_File_seek(file, mine, MPI_SEEK_SET);
	MPI_File_read_all_begin(file, in, words, MPI_INT);
	MPI_File_read_all_end(file, in, &status);
	all_ok(counts(words) && is_same(words), "at the file pointer");
}

static void split_errors(void)
{
	MPI_File other = file;

	all_class(MPI_File_read_all_end(file, in, &status), MPI_ERR_OTHER,
		  "an end without a begin");
	MPI_File_write_all_begin(file, out, 10, MPI_INT);
	all_class(MPI_File_write_all_begin(file, out, 10, MPI_INT),
		  MPI_ERR_OTHER, "a begin after a begin");
	all_class(MPI_File_write_all(file, out, 10, MPI_INT, &status),
		  MPI_ERR_OTHER, "a collective write between the two");
	all_class(MPI_File_read_all_end(file, in, &status), MPI_ERR_OTHER,
		  "the end of something else");
	all_class(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native",
				    MPI_INFO_NULL),
		  MPI_ERR_OTHER, "another view");
	all_class(MPI_File_close(&other), MPI_ERR_OTHER, "the file is closed");
	all_class(MPI_File_write_at(file, 0, out, 10, MPI_INT, &status),
		  MPI_SUCCESS, "an access of one rank is all right");
	all_class(MPI_File_write_all_end(file, out, &status), MPI_SUCCESS,
		  "the end");
}

static int raised;

static void handler(MPI_File *which, int *code, ...)
{
	if (*which == file)
		raised = *code;
}

/* The error of a started access goes to the file's handler when it ends. */
static void errors(void)
{
	MPI_Errhandler mine;
	MPI_Request request;
	MPI_File saved = file;
	int rc;

	rc = MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY,
			   MPI_INFO_NULL, &file);
	if (rc != MPI_SUCCESS) {
		file = saved;
		return;
	}
	all_class(MPI_File_iwrite_at(file, 0, out, LONG, MPI_INT, &request),
		  MPI_SUCCESS, "a write without space begins");
	all_class(MPI_Wait(&request, &status), MPI_ERR_NO_SPACE,
		  "and fails when it ends");
	MPI_File_create_errhandler(handler, &mine);
	MPI_File_set_errhandler(file, mine);
	MPI_File_iwrite_at(file, 0, out, 10, MPI_INT, &request);
	all_class(MPI_Waitall(1, &request, &status), MPI_ERR_IN_STATUS,
		  "one of several");
	all_ok(raised == MPI_ERR_IN_STATUS &&
		       status.MPI_ERROR == MPI_ERR_NO_SPACE,
	       "the file's handler is called");
	raised = 0;
	MPI_File_iwrite_at(file, 0, out, 10, MPI_DATATYPE_NULL, &request);
	all_ok(raised == MPI_ERR_TYPE, "wrong arguments fail at once");
	MPI_Errhandler_free(&mine);
	MPI_File_close(&file);
	file = saved;
}

/* The type may be freed, and the request given up. */
static void freed(void)
{
	MPI_Datatype column;
	MPI_Request request;

	fill(7);
	MPI_Type_vector(LONG / 4, 1, 2, MPI_INT, &column);
	MPI_Type_commit(&column);
	MPI_File_iwrite_at(file, (MPI_Offset)rank * LONG * 4, out, 1, column,
			   &request);
	MPI_Type_free(&column);
	MPI_Wait(&request, &status);
	MPI_File_read_at(file, (MPI_Offset)rank * LONG * 4, in, LONG / 4,
			 MPI_INT, &status);
	all_ok(in[1] == out[2] && in[LONG / 4 - 1] == out[LONG / 2 - 2],
	       "a type is freed while it is used");
	MPI_File_iwrite_at(file, 0, out, LONG, MPI_INT, &request);
	all_class(MPI_Request_free(&request), MPI_SUCCESS,
		  "a request is given up");
	all_class(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native",
				    MPI_INFO_NULL),
		  MPI_SUCCESS, "another view waits until it is done");
	MPI_File_iwrite_all(file, out, 100, MPI_INT, &request);
	all_class(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native",
				    MPI_INFO_NULL),
		  MPI_SUCCESS, "also for what all have started");
	MPI_Wait(&request, &status);
	all_ok(counts(100), "which is complete");
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	files_begin();
	file = file_open("start", RW | MODE_DELETE);
	offsets(100);
	offsets(LONG);
	pointers(100);
	pointers(LONG);
	in_turn();
	split(100);
	split(LONG);
	split_errors();
	errors();
	freed();
	MPI_File_close(&file);
	files_end();
	return mtap_end();
}
