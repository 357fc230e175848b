/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The files of a job, and the reports of its ranks.
 */
#include "report/overlap_report.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/whole.h"
#include "report/json.h"
#include "report/overlap_merge.h"

static int file_read(struct vm_overlap_job *job, const char *dir, int process)
{
	char path[PATH_MAX];
	int rc = vm_overlap_file_path(path, sizeof(path), dir, process);

	return rc ? rc : vm_overlap_file_read(&job->files[process], path);
}

int vm_overlap_job_read(struct vm_overlap_job *job, const char *dir,
			int processes)
{
	struct vm_overlap_file *first = NULL;
	int found = 0, rc;

	job->count = processes > 0 ? processes : 1;
	job->files = calloc((size_t)job->count, sizeof(*job->files));
	if (!job->files)
		return -VMPI_ENOMEM;
	rc = file_read(job, dir, 0);
	first = job->files[0];
	if (!rc && processes <= 0 && first->processes > 1) {
		struct vm_overlap_file **more =
			realloc(job->files,
				(size_t)first->processes * sizeof(*job->files));

		if (!more)
			return -VMPI_ENOMEM;
		memset(more + 1, 0,
		       ((size_t)first->processes - 1) * sizeof(*more));
		job->files = more;
		job->count = first->processes;
	}
	found += !rc;
	for (int i = 1; i < job->count && (!rc || rc == -VMPI_ENOENT); i++) {
		rc = file_read(job, dir, i);
		found += !rc;
	}
	if (rc == -VMPI_ENOENT && found)
		return 0; /* one that died before it began to measure */
	return rc;
}

void vm_overlap_job_fini(struct vm_overlap_job *job)
{
	for (int i = 0; job->files && i < job->count; i++)
		vm_overlap_file_free(job->files[i]);
	free(job->files);
	job->files = NULL;
}

/* A writer of the report of one rank, in one of two formats. */
struct writer {
	FILE *file;
	const struct vm_overlap_job *job;
	const struct vm_overlap_file *process;
	const struct vm_overlap *rank;
	unsigned lines; /* of the list that is being written */
};

static uint64_t ns(const struct writer *writer, uint64_t ticks)
{
	return vm_whole((double)ticks * writer->process->tick_ns);
}

/* Writes a name without blanks, which would split it. */
static void name_text(FILE *file, const char *name)
{
	for (; *name; name++)
		fputc((unsigned char)*name <= ' ' ? '_' : *name, file);
}

static const char *const side_names[VM_SIDES] = {
	[VM_SIDE_SEND] = "send",
	[VM_SIDE_RECEIVE] = "receive",
};

const char *vm_overlap_side_name(enum vm_side side)
{
	return side_names[side];
}

/* The numbers of a row, of a section and of a call, by their names in JSON; the
 * text has them in the same order. */
enum { NUMBERS_MAX = 16 };

struct numbers {
	unsigned count;
	const char *name[NUMBERS_MAX];
	uint64_t value[NUMBERS_MAX];
};

static void number_add(struct numbers *numbers, const char *name,
		       uint64_t value)
{
	VM_ASSERT(numbers->count < NUMBERS_MAX);
	numbers->name[numbers->count] = name;
	numbers->value[numbers->count++] = value;
}

static void section_numbers(struct numbers *numbers,
			    const struct writer *writer, unsigned s)
{
	const struct vm_overlap_section *section = &writer->rank->list[s];

	number_add(numbers, "entered", section->entered);
	number_add(numbers, "user_ns", ns(writer, section->user));
	number_add(numbers, "call_ns", ns(writer, section->call));
}

static void row_numbers(struct numbers *numbers, const struct writer *writer,
			const struct vm_overlap_row *row)
{
	number_add(numbers, "transfers", row->transfers);
	number_add(numbers, "bytes", row->bytes);
	number_add(numbers, "data_ns", ns(writer, row->data));
	number_add(numbers, "min_ns", ns(writer, row->min));
	number_add(numbers, "max_ns", ns(writer, row->max));
	number_add(numbers, "core_min_ns", ns(writer, row->core_min));
	number_add(numbers, "core_max_ns", ns(writer, row->core_max));
	number_add(numbers, "same_call", row->same_call);
	number_add(numbers, "half", row->half);
	number_add(numbers, "capped", row->capped);
	number_add(numbers, "open", row->open);
}

static void call_numbers(struct numbers *numbers, const struct writer *writer,
			 const struct vm_overlap_call *sum)
{
	number_add(numbers, "count", sum->count);
	number_add(numbers, "time_ns", ns(writer, sum->time));
}

static void numbers_text(struct writer *writer, const struct numbers *numbers)
{
	for (unsigned i = 0; i < numbers->count; i++)
		fprintf(writer->file, " %" PRIu64, numbers->value[i]);
	fputc('\n', writer->file);
}

static void numbers_json(struct writer *writer, const struct numbers *numbers)
{
	for (unsigned i = 0; i < numbers->count; i++)
		fprintf(writer->file, ", \"%s\": %" PRIu64, numbers->name[i],
			numbers->value[i]);
	fputc('}', writer->file);
}

static void begin_text(struct writer *writer, const char *what, unsigned s)
{
	char path[512];

	vm_overlap_section_path(writer->rank, s, path, sizeof(path));
	fprintf(writer->file, "%s ", what);
	name_text(writer->file, path[0] ? path : "/");
}

static void begin_json(struct writer *writer, unsigned s)
{
	char path[512];

	vm_overlap_section_path(writer->rank, s, path, sizeof(path));
	fprintf(writer->file,
		"%s\n  {\"section\": ", writer->lines++ ? "," : "");
	vm_json_string(writer->file, path);
}

static void section_text(struct writer *writer, unsigned s,
			 const struct numbers *numbers)
{
	begin_text(writer, "section", s);
	numbers_text(writer, numbers);
}

static void row_text(struct writer *writer, unsigned s, enum vm_side side,
		     unsigned bin, const struct numbers *numbers)
{
	char edge[24];

	vm_overlap_edge_text(edge, writer->process->setup.edge[bin]);
	begin_text(writer, "row", s);
	fprintf(writer->file, " %s %s", side_names[side], edge);
	numbers_text(writer, numbers);
}

static void call_text(struct writer *writer, const char *name,
		      const struct numbers *numbers)
{
	fprintf(writer->file, "call %s", name);
	numbers_text(writer, numbers);
}

static void section_json(struct writer *writer, unsigned s,
			 const struct numbers *numbers)
{
	begin_json(writer, s);
	numbers_json(writer, numbers);
}

static void row_json(struct writer *writer, unsigned s, enum vm_side side,
		     unsigned bin, const struct numbers *numbers)
{
	uint64_t edge = writer->process->setup.edge[bin];
	char number[24] = "null";

	if (edge != UINT64_MAX)
		snprintf(number, sizeof(number), "%" PRIu64, edge);
	begin_json(writer, s);
	fprintf(writer->file, ", \"side\": \"%s\", \"bytes_max\": %s",
		side_names[side], number);
	numbers_json(writer, numbers);
}

static void call_json(struct writer *writer, const char *name,
		      const struct numbers *numbers)
{
	fprintf(writer->file, "%s\n  {\"call\": ", writer->lines++ ? "," : "");
	vm_json_string(writer->file, name);
	numbers_json(writer, numbers);
}

struct format {
	const char *ending, *begin, *sections, *rows, *calls, *end;
	void (*section)(struct writer *writer, unsigned section,
			const struct numbers *numbers);
	void (*row)(struct writer *writer, unsigned section, enum vm_side side,
		    unsigned bin, const struct numbers *numbers);
	void (*call)(struct writer *writer, const char *name,
		     const struct numbers *numbers);
};

/* begin: the numbers of the rank, of all ranks, of its process, its worker. */
static const struct format formats[] = {
	{ "txt", "vmpi-overlap 1\nrank %d of %d\nprocess %d worker %d\n", "",
	  "", "", "", section_text, row_text, call_text },
	{ "json",
	  "{\"format\": \"vmpi-overlap 1\", \"rank\": %d, \"ranks\": %d, "
	  "\"process\": %d, \"worker\": %d,\n",
	  " \"sections\": [", "],\n \"rows\": [", "],\n \"calls\": [", "]}\n",
	  section_json, row_json, call_json },
};

static void rows_write(struct writer *writer, const struct format *format)
{
	const struct vm_overlap *rank = writer->rank;

	for (unsigned s = 0; s < rank->sections; s++)
		for (int side = 0; side < VM_SIDES; side++)
			for (unsigned bin = 0;
			     bin < writer->process->setup.bins; bin++) {
				struct vm_overlap_row row = { 0 };
				struct numbers numbers = { 0 };

				vm_overlap_row_add(&row,
						   &rank->rows[s][side][bin]);
				if (!row.transfers)
					continue;
				row_numbers(&numbers, writer, &row);
				format->row(writer, s, (enum vm_side)side, bin,
					    &numbers);
			}
}

static void rank_write(struct writer *writer, const struct format *format)
{
	const struct vm_overlap *rank = writer->rank;

	fprintf(writer->file, format->begin, rank->rank, writer->process->ranks,
		writer->process->process, rank->worker);
	fputs(format->sections, writer->file);
	writer->lines = 0;
	for (unsigned s = 0; s < rank->sections; s++) {
		struct numbers numbers = { 0 };

		section_numbers(&numbers, writer, s);
		format->section(writer, s, &numbers);
	}
	fputs(format->rows, writer->file);
	writer->lines = 0;
	rows_write(writer, format);
	fputs(format->calls, writer->file);
	writer->lines = 0;
	for (uint32_t call = 0; call < VM_OVERLAP_CALLS; call++) {
		struct numbers numbers = { 0 };

		if (!rank->by_call[call].count)
			continue;
		call_numbers(&numbers, writer, &rank->by_call[call]);
		format->call(writer, writer->job->call_name(call), &numbers);
	}
	fputs(format->end, writer->file);
}

/* Closes what was written to path: 0 or -VMPI_EIO, logged. */
static int file_end(FILE *file, const char *path)
{
	bool failed = !file || ferror(file);

	if (file)
		failed |= fclose(file) != 0;
	if (failed)
		vm_log(VM_ERROR, "%s: %s", path, strerror(errno));
	return failed ? -VMPI_EIO : 0;
}

static int rank_report(struct writer *writer, const char *dir,
		       const struct format *format)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/rank.%d.%s", dir, writer->rank->rank,
		 format->ending);
	writer->file = fopen(path, "we");
	if (writer->file)
		rank_write(writer, format);
	return file_end(writer->file, path);
}

static int ranks_report(const struct vm_overlap_job *job, const char *dir,
			const struct vm_overlap_file *process)
{
	struct writer writer = { .job = job, .process = process };
	int rc = 0;

	for (int i = 0; i < process->rank_count && !rc; i++) {
		writer.rank = &process->rank[i];
		if (!writer.rank->sections)
			continue; /* it never started */
		for (int f = 0; f < 2 && !rc; f++)
			rc = rank_report(&writer, dir, &formats[f]);
	}
	return rc;
}

int vm_overlap_job_write(const struct vm_overlap_job *job, const char *dir)
{
	char path[PATH_MAX];
	FILE *file;
	int rc = 0;

	for (int i = 0; i < job->count && !rc; i++)
		if (job->files[i])
			rc = ranks_report(job, dir, job->files[i]);
	if (rc)
		return rc;
	snprintf(path, sizeof(path), "%s/overlap.txt", dir);
	file = fopen(path, "we");
	if (file)
		vm_overlap_job_print(job, file, "");
	rc = file_end(file, path);
	if (rc)
		return rc;
	snprintf(path, sizeof(path), "%s/overlap.json", dir);
	file = fopen(path, "we");
	if (file)
		vm_overlap_job_json(job, file);
	return file_end(file, path);
}
