/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports of a made-up job of two processes and three ranks.
 */
#include "report/overlap_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static char dir[] = "/tmp/vmpi-overlap-XXXXXX";

static const char *call_name(uint32_t call)
{
	return call == 1 ? "MPI_Send" : "MPI_Wait";
}

static void rank_fill(struct vm_overlap *rank, int number)
{
	struct vm_overlap_row *row = &rank->rows[1][VM_SIDE_SEND][0];

	rank->rank = number;
	rank->sections = 2;
	rank->list[0].parent = -1;
	rank->list[0].entered = 1;
	rank->list[1].entered = 5;
	rank->list[1].user = 300000;
	rank->list[1].call = 700000;
	snprintf(rank->list[1].name, VM_SECTION_NAME_MAX,
		 "a \"b\" \xc3\xa4\xff");
	row->transfers = 10;
	row->bytes = 640;
	row->data = 1000000;
	row->min = 100000;
	row->max = 200000;
	row->core_max = 900000;
	row->capped = row->half = 2;
	rank->rows[0][VM_SIDE_RECEIVE][1].open = 1;
	rank->rows[0][VM_SIDE_RECEIVE][1].open_bytes = 5000;
	rank->rows[0][VM_SIDE_RECEIVE][1].open_data = 4000;
	rank->by_call[1].count = 10;
	rank->by_call[1].time = 700000;
}

static void process_write(int process, int first, int count)
{
	struct vm_overlap_file head = { .process = process,
					.processes = 2,
					.rank_first = first,
					.rank_count = count,
					.ranks = 3,
					.workers = 1,
					.tick_ns = 2 };
	struct vm_overlap_file *file;
	char why[200];

	if (vm_overlap_bins_parse(&head.setup, "1K", why, sizeof(why)) ||
	    vm_overlap_file_new(&file, dir, &head))
		bail("the file of process %d", process);
	for (int i = 0; i < count; i++)
		rank_fill(&file->rank[i], first + i);
	vm_overlap_file_free(file);
}

/* The file of this name in dir, which is removed; "": there is none. */
static const char *text_of(const char *name)
{
	static char text[20000];
	char path[100];
	size_t bytes;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "r");
	bytes = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	text[bytes] = '\0';
	if (file)
		fclose(file);
	unlink(path);
	return text;
}

static void has(const char *text, const char *part, const char *why)
{
	if (!ok(strstr(text, part) != NULL, "%s", why))
		diag("%s", text);
}

static void test_ranks(void)
{
	const char *text = text_of("rank.2.txt");

	has(text, "vmpi-overlap 1\nrank 2 of 3\nprocess 1 worker 0\n",
	    "each rank has a report");
	has(text, "section / 1 0 0\n", "... of the whole program");
	has(text, "_\"b\"_\xc3\xa4\xff 5 600000 1400000\n",
	    "... of a section, without blanks in its name");
	has(text, " send 1K 10 640 2000000 200000 400000 0 1800000 0 2 2 0\n",
	    "... of transfers by side and size");
	has(text, "call MPI_Send 10 1400000\n", "... and of calls");
	text = text_of("rank.0.json");
	has(text,
	    "{\"format\": \"vmpi-overlap 1\", \"rank\": 0, \"ranks\": 3, ",
	    "the same in JSON");
	has(text, "a \\\"b\\\" \xc3\xa4\\ufffd\", \"entered\": 5, ",
	    "... with names in UTF-8");
	has(text,
	    "\"side\": \"receive\", \"bytes_max\": null, \"transfers\": 1",
	    "... and no limit of the last size");
	has(text, "{\"call\": \"MPI_Send\", \"count\": 10, ", "... and calls");
	has(text_of("rank.1.txt"), "rank 1 of 3", "the second rank has one");
	has(text_of("rank.1.json"), "\"rank\": 1", "... two");
	has(text_of("rank.0.txt"), "rank 0 of 3", "and so has the first");
	has(text_of("rank.2.json"), "\"rank\": 2", "and the last");
}

static void test_merged(const struct vm_overlap_job *job)
{
	const char *text = text_of("overlap.txt");
	char *printed;
	size_t bytes;
	FILE *out;

	has(text, "overlap of 3 ranks on 2 workers in 2 processes",
	    "all ranks have one together");
	has(text, " 30 ", "... with the sums of their transfers");
	text = text_of("overlap.json");
	has(text, "\"ranks\": 3, \"measured\": 3, \"processes\": 2",
	    "... in JSON");
	has(text, "\"transfers\": 30, \"bytes\": 1920",
	    "... with the same sums");
	has(text, "\"advice\": \"", "... and advice");
	out = open_memstream(&printed, &bytes);
	vm_overlap_job_print(job, out, "prog: ");
	fclose(out);
	has(printed, "prog: overlap of 3 ranks",
	    "it is printed after a prefix");
	free(printed);
}

static void remove_raw(int process)
{
	char path[100];

	if (!vm_overlap_file_path(path, sizeof(path), dir, process))
		unlink(path);
}

int main(void)
{
	struct vm_overlap_job job = { .call_name = call_name };

	if (!mkdtemp(dir))
		bail("a directory in /tmp");
	is_int(vm_overlap_job_read(&job, dir, 0), -VMPI_ENOENT,
	       "there may be no measures");
	vm_overlap_job_fini(&job);
	process_write(0, 0, 2);
	process_write(1, 2, 1);
	is_int(vm_overlap_job_read(&job, dir, 0), 0, "the files are read");
	is_int(job.count, 2, "... as many as the first says");
	is_int(vm_overlap_job_write(&job, dir), 0, "reports are written");
	test_ranks();
	test_merged(&job);
	vm_overlap_job_fini(&job);
	remove_raw(1);
	is_int(vm_overlap_job_read(&job, dir, 2), 0,
	       "a process may have left nothing");
	ok(job.files[0] && !job.files[1], "... which is known");
	is_int(vm_overlap_job_write(&job, "/dev/null"), -VMPI_EIO,
	       "a report needs a directory");
	vm_overlap_job_fini(&job);
	remove_raw(0);
	is_int(rmdir(dir), 0, "no other file was written");
	return done_testing();
}
