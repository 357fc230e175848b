/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared file pointers: each record is written and read once; ordered accesses.
 */
#include "file.h"

#define N 50

static MPI_File file;
static MPI_Status status;

/* A record: who wrote it, and its number there. */
struct record {
	int rank, number;
};

static void records(void)
{
	struct record mine, *all = calloc((size_t)size * N, sizeof(*all));
	char *seen = calloc((size_t)size * N, 1);
	MPI_Request request;
	MPI_Offset position = -1;
	bool held = true;
	int got = 0, sum = 0;

	file = file_open("records", RW | MODE_DELETE);
	MPI_File_set_view(file, 0, MPI_2INT, MPI_2INT, "native", MPI_INFO_NULL);
	for (int i = 0; i < N; i++) {
		mine = (struct record){ rank, i };
		if (i % 2) {
			MPI_File_write_shared(file, &mine, 1, MPI_2INT,
					      &status);
			held = held && status_bytes(&status) == 8;
			continue;
		}
		MPI_File_iwrite_shared(file, &mine, 1, MPI_2INT, &request);
		MPI_Wait(&request, &status);
		held = held && status_bytes(&status) == 8;
	}
	all_ok(held, "all ranks write records");
	everybody();
	MPI_File_get_position_shared(file, &position);
	all_ok(position == (MPI_Offset)size * N, "the pointer is behind them");
	MPI_File_read_at(file, 0, all, size * N, MPI_2INT, &status);
	for (int i = 0; i < size * N; i++) {
		int at = all[i].rank * N + all[i].number;

		held = held && at >= 0 && at < size * N && !seen[at];
		if (held)
			seen[at] = 1;
	}
	all_ok(held, "each record is there once");
	all_class(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_SUCCESS,
		  "the pointer goes back");
	for (;;) {
		if (got % 2) {
			MPI_File_read_shared(file, &mine, 1, MPI_2INT, &status);
		} else {
			MPI_File_iread_shared(file, &mine, 1, MPI_2INT,
					      &request);
			MPI_Wait(&request, &status);
		}
		if (status_bytes(&status) == 0)
			break;
		got++;
	}
	MPI_Allreduce(&got, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	all_ok(sum == size * N, "all ranks together read each once");
	MPI_File_close(&file);
	free(all);
	free(seen);
}

/* Rank r accesses r + 1 words. */
static void ordered(void)
{
	int words[64], got[64], before = rank * (rank + 1) / 2;
	int all = size * (size + 1) / 2;
	MPI_Offset position = -1;
	bool held = true;

	for (int i = 0; i <= rank; i++)
		words[i] = 1000 + before + i;
	file = file_open("ordered", RW | MODE_DELETE);
	MPI_File_set_view(file, 12, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	all_class(MPI_File_write_ordered(file, words, rank + 1, MPI_INT,
					 &status),
		  MPI_SUCCESS, "words are written in the order of the ranks");
	all_ok(status_bytes(&status) == 4 * (rank + 1), "all of them");
	MPI_File_get_position_shared(file, &position);
	all_ok(position == all, "the pointer is behind all");
	for (int i = 0; i <= rank; i++)
		words[i] += all;
	MPI_File_write_ordered_begin(file, words, rank + 1, MPI_INT);
	MPI_File_write_ordered_end(file, words, &status);
	everybody();
	for (int i = 0; i < 2 * all; i++) {
		int word = 0;

		MPI_File_read_at(file, i, &word, 1, MPI_INT, &status);
		held = held && word == 1000 + i;
	}
	all_ok(held, "each is where it belongs");
	MPI_File_seek_shared(file, -2 * all, MPI_SEEK_END);
	MPI_File_read_ordered(file, got, rank + 1, MPI_INT, &status);
	held = got[0] == 1000 + before && got[rank] == 1000 + before + rank;
	MPI_File_read_ordered_begin(file, got, rank + 1, MPI_INT);
	MPI_File_read_ordered_end(file, got, &status);
	held = held && got[0] == words[0] && got[rank] == words[rank];
	all_ok(held, "they are read likewise");
	MPI_File_seek_shared(file, -rank * 0 - 1, MPI_SEEK_CUR);
	MPI_File_get_position_shared(file, &position);
	all_ok(position == 2 * all - 1, "the pointer goes back by one");
	/* One with wrong arguments holds nobody up. */
	all_class(MPI_File_write_ordered(file, words, rank == size - 1 ? -1 : 0,
					 MPI_INT, &status),
		  rank == size - 1 ? MPI_ERR_COUNT : MPI_SUCCESS,
		  "wrong arguments of one rank");
	MPI_File_close(&file);
}

static void errors(void)
{
	MPI_Offset position;

	file = file_open("errors", RW | MODE_DELETE);
	all_class(MPI_File_seek_shared(file, -1, MPI_SEEK_SET), MPI_ERR_ARG,
		  "a negative position");
	all_class(MPI_File_seek_shared(file, 0, 12345), MPI_ERR_ARG,
		  "a seek from nowhere");
	if (size > 1) {
		all_class(MPI_File_seek_shared(file, rank, MPI_SEEK_SET),
			  MPI_ERR_NOT_SAME, "ranks seek different positions");
		all_class(MPI_File_seek_shared(
				  file, 0, rank ? MPI_SEEK_SET : MPI_SEEK_CUR),
			  MPI_ERR_NOT_SAME, "or from different ones");
	}
	MPI_File_get_position_shared(file, &position);
	all_ok(position == 0, "the pointer has not moved");
	MPI_File_close(&file);
}

/* A file that has only the shared pointer. */
static void sequential(void)
{
	int word = 0, sum = 0;

	file = file_open("sequential", MPI_MODE_WRONLY | MPI_MODE_CREATE |
					       MPI_MODE_SEQUENTIAL);
	word = size;
	if (rank == 0)
		MPI_File_write_shared(file, &word, 1, MPI_INT, &status);
	everybody();
	word = rank;
	MPI_File_write_ordered(file, &word, 1, MPI_INT, &status);
	MPI_File_close(&file);
	file = file_open("sequential",
			 MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MODE_DELETE);
	if (rank == 0)
		MPI_File_read_shared(file, &word, 1, MPI_INT, &status);
	MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
	all_ok(word == size, "a header is read");
	all_class(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT,
				    MPI_INT, "native", MPI_INFO_NULL),
		  MPI_SUCCESS, "then a view begins");
	MPI_File_read_shared(file, &word, 1, MPI_INT, &status);
	MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	all_ok(sum == size * (size - 1) / 2, "each rank has another word");
	MPI_File_close(&file);
}

int main(int argc, char **argv)
{
	mtap_init(&argc, &argv);
	files_begin();
	records();
	ordered();
	errors();
	sequential();
	files_end();
	return mtap_end();
}
