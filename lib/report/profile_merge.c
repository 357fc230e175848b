/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the rows of ranks to functions and sections of the job.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/whole.h"
#include "report/profile_report.h"

#define PATH_BYTES 4096
#define PARTS_MAX 1024 /* sections of a job */

/* Numbers of one rank's calls, before they are added up. */
struct rank_line {
	uint64_t count, time, had, idle, values[VM_PROFILE_WORDS];
};

static uint64_t to_ns(const struct vm_profile_file *file, uint64_t ticks)
{
	return vm_whole((double)ticks * file->tick_ns);
}

static struct vm_profile_line *line_find(struct vm_profile_job *job,
					 uint32_t call)
{
	unsigned i = 0;

	while (i < job->line_count && job->lines[i].call != call)
		i++;
	if (i == job->line_count)
		job->lines[job->line_count++].call = call;
	return &job->lines[i];
}

/* Of the `seen`th rank that is added. */
static void spread_add(struct vm_profile_spread *spread, uint64_t value,
		       int seen)
{
	spread->sum += value;
	if (!seen || value < spread->min)
		spread->min = value;
	if (value > spread->max)
		spread->max = value;
}

/* A word of a row that is no variable. */
static uint64_t own_ns(const struct vm_profile_job *job,
		       const struct vm_profile_file *file,
		       const struct vm_profile_row *row, unsigned word)
{
	return to_ns(file, row->values[job->words + word]);
}

/* All functions that occur in any rank; so that those without it count as 0. */
static int lines_make(struct vm_profile_job *job)
{
	size_t most = 0;

	for (int f = 0; f < job->file_count; f++)
		for (int i = 0; i < job->files[f]->rank_count; i++)
			most += job->files[f]->rank[i].rows;
	job->lines = calloc(most + 1, sizeof(*job->lines));
	if (!job->lines)
		return -VMPI_ENOMEM;
	for (int f = 0; f < job->file_count; f++)
		for (int i = 0; i < job->files[f]->rank_count; i++) {
			const struct vm_profile *rank = &job->files[f]->rank[i];

			for (uint32_t r = 0; r < rank->rows; r++)
				line_find(job, rank->table[r].call);
		}
	return 0;
}

static void rank_lines_add(struct vm_profile_job *job,
			   const struct vm_profile_file *file,
			   const struct vm_profile *rank, int seen)
{
	for (unsigned l = 0; l < job->line_count; l++) {
		struct vm_profile_line *line = &job->lines[l];
		struct rank_line mine = { 0 };

		for (uint32_t r = 0; r < rank->rows; r++) {
			const struct vm_profile_row *row = &rank->table[r];

			if (row->call != line->call)
				continue;
			mine.count += row->count;
			mine.time += to_ns(file, row->time);
			mine.had += own_ns(job, file, row, VM_PROFILE_HAD);
			mine.idle += own_ns(job, file, row, VM_PROFILE_IDLE);
			for (uint32_t w = 0; w < job->words; w++)
				mine.values[w] += row->values[w];
		}
		spread_add(&line->count, mine.count, seen);
		spread_add(&line->time, mine.time, seen);
		line->had += mine.had;
		line->idle += mine.idle;
		for (uint32_t w = 0; w < job->words; w++)
			spread_add(&line->values[w], mine.values[w], seen);
	}
}

/* The section of that name in parent; the parent itself if there is no room. */
static int part_find(struct vm_profile_job *job, int parent, const char *name)
{
	struct vm_profile_part *part;

	for (unsigned p = 0; p < job->part_count; p++)
		if (job->parts[p].parent == parent &&
		    !strcmp(job->parts[p].name, name))
			return (int)p;
	if (job->part_count == PARTS_MAX) {
		job->lost++;
		return parent;
	}
	part = &job->parts[job->part_count];
	part->parent = parent;
	part->name = name;
	return (int)job->part_count++;
}

static void part_add(struct vm_profile_job *job, int index,
		     const struct vm_profile_file *file,
		     const struct vm_profile_row *row)
{
	struct vm_profile_part *part = &job->parts[index];
	uint64_t time = to_ns(file, row->time);

	part->own += time;
	if (row->call) {
		part->calls += row->count;
		part->time_calls += time;
		part->idle += own_ns(job, file, row, VM_PROFILE_IDLE);
	}
	for (uint32_t w = 0; w < job->words; w++)
		part->own_values[w] += row->values[w];
	/* The sections around it get them, too. */
	for (; index >= 0; index = job->parts[index].parent) {
		job->parts[index].time += time;
		for (uint32_t w = 0; w < job->words; w++)
			job->parts[index].values[w] += row->values[w];
	}
}

static void rank_parts_add(struct vm_profile_job *job,
			   const struct vm_profile_file *file,
			   const struct vm_profile *rank)
{
	int index[VM_PROFILE_SECTIONS];

	for (uint32_t s = 0; s < rank->sections && rank->rows; s++) {
		const struct vm_profile_section *section = &rank->list[s];

		/* There is one whole, for which there always is room. */
		index[s] = s ? part_find(job, index[section->parent],
					 section->name) :
			       part_find(job, -1, "");
		job->parts[index[s]].count += section->count;
	}
	for (uint32_t r = 0; r < rank->rows; r++)
		part_add(job, index[rank->table[r].section], file,
			 &rank->table[r]);
}

static int by_time(const void *a, const void *b)
{
	const struct vm_profile_line *one = a, *two = b;

	if (one->time.sum != two->time.sum)
		return one->time.sum < two->time.sum ? 1 : -1;
	return one->call < two->call ? -1 : one->call > two->call;
}

static int job_add_up(struct vm_profile_job *job)
{
	int rc = lines_make(job);

	job->parts = calloc(PARTS_MAX, sizeof(*job->parts));
	if (rc || !job->parts)
		return -VMPI_ENOMEM;
	for (int f = 0; f < job->file_count; f++) {
		const struct vm_profile_file *file = job->files[f];

		for (int i = 0; i < file->rank_count; i++) {
			const struct vm_profile *rank = &file->rank[i];

			rank_lines_add(job, file, rank, job->rank_count++);
			rank_parts_add(job, file, rank);
			job->lost += rank->lost_rows + rank->lost_sections;
		}
	}
	for (unsigned l = 0; l < job->line_count; l++) {
		job->time += job->lines[l].time.sum;
		if (!job->lines[l].call)
			continue;
		job->time_calls += job->lines[l].time.sum;
		job->had_calls += job->lines[l].had;
		job->idle_calls += job->lines[l].idle;
	}
	qsort(job->lines, job->line_count, sizeof(*job->lines), by_time);
	return 0;
}

/* Whether all processes were asked for the same variables. */
static bool alike(const struct vm_profile_job *job,
		  const struct vm_profile_file *file)
{
	const struct vm_profile_file *first = job->files[0];

	return file->words == first->words &&
	       !memcmp(file->vars, first->vars,
		       file->words * sizeof(*file->vars));
}

static int files_read(struct vm_profile_job *job, const char *dir,
		      int processes)
{
	char path[PATH_BYTES];
	int rc = 0;

	for (int p = 0; p < processes && !rc; p++) {
		struct vm_profile_file **file = &job->files[job->file_count];

		rc = vm_profile_file_path(path, sizeof(path), dir, p);
		if (!rc)
			rc = vm_profile_file_read(file, path);
		if (!rc) {
			job->file_count++;
			rc = alike(job, *file) ? 0 : -VMPI_EINVAL;
		} else if (rc == -VMPI_ENOENT) {
			rc = 0; /* it has not got that far */
		}
	}
	return rc;
}

static int job_make(struct vm_profile_job *job)
{
	int rc;

	job->words = job->files[0]->words - VM_PROFILE_OWN;
	job->vars = job->files[0]->vars;
	rc = job_add_up(job);
	return rc ? rc : vm_profile_job_pop(job);
}

int vm_profile_job_read(struct vm_profile_job *job, const char *dir,
			int processes)
{
	int rc;

	job->files = calloc((size_t)processes + 1, sizeof(*job->files));
	if (!job->files)
		return -VMPI_ENOMEM;
	rc = files_read(job, dir, processes);
	if (!rc && !job->file_count)
		rc = -VMPI_ENOENT;
	return rc ? rc : job_make(job);
}

int vm_profile_job_of(struct vm_profile_job *job, struct vm_profile_file *file)
{
	job->files = calloc(1, sizeof(*job->files));
	if (!job->files)
		return -VMPI_ENOMEM;
	job->files[job->file_count++] = file;
	job->lent = true;
	return job_make(job);
}

void vm_profile_job_fini(struct vm_profile_job *job)
{
	for (int f = 0; f < job->file_count && !job->lent; f++)
		vm_profile_file_free(job->files[f]);
	free(job->files);
	free(job->cores);
	free(job->lines);
	free(job->parts);
}
