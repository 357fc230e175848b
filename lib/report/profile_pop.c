/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The efficiencies of sections: what the ranks of each core have had of it, from
 * their rows.
 */
#include <stdlib.h>
#include <string.h>

#include "report/profile_report.h"

/* Of one rank: its time in each section, with those within it. */
struct rank_time {
	double elapsed;
	struct vm_pop_core had;
};

/* The section of that name in parent; the parent itself if it is not there, as it
 * had no room. */
static int part_of(const struct vm_profile_job *job, int parent,
		   const char *name)
{
	for (unsigned p = 0; p < job->part_count; p++)
		if (job->parts[p].parent == parent &&
		    !strcmp(job->parts[p].name, name))
			return (int)p;
	return parent;
}

static void row_add(const struct vm_profile_job *job, struct rank_time *times,
		    const struct vm_profile_file *file,
		    const struct vm_profile_row *row, int part)
{
	double had = (double)row->values[job->words] * file->tick_ns;

	for (; part >= 0; part = job->parts[part].parent) {
		times[part].elapsed += (double)row->time * file->tick_ns;
		if (row->call)
			times[part].had.calls += had;
		else
			times[part].had.useful += had;
	}
}

static void rank_read(const struct vm_profile_job *job, struct rank_time *times,
		      const struct vm_profile_file *file,
		      const struct vm_profile *rank)
{
	int index[VM_PROFILE_SECTIONS];

	memset(times, 0, job->part_count * sizeof(*times));
	for (uint32_t s = 0; s < rank->sections; s++)
		index[s] = s ? part_of(job, index[rank->list[s].parent],
				       rank->list[s].name) :
			       0;
	for (uint32_t r = 0; r < rank->rows; r++)
		row_add(job, times, file, &rank->table[r],
			index[rank->table[r].section]);
}

/* Adds a rank to its core, in the sections in which it was. */
static void rank_add(struct vm_profile_job *job, struct vm_pop_core *cores,
		     unsigned all, const struct rank_time *times, unsigned core)
{
	for (unsigned p = 0; p < job->part_count; p++) {
		struct vm_profile_part *part = &job->parts[p];
		struct vm_pop_core *at = &cores[p * all + core];

		if (times[p].elapsed <= 0)
			continue;
		part->ranks++;
		if (part->pop.elapsed < times[p].elapsed)
			part->pop.elapsed = times[p].elapsed;
		at->useful += times[p].had.useful;
		at->calls += times[p].had.calls;
	}
}

static void files_add(struct vm_profile_job *job, struct vm_pop_core *cores,
		      unsigned all, struct rank_time *times)
{
	unsigned first = 0;

	for (int f = 0; f < job->file_count; f++) {
		const struct vm_profile_file *file = job->files[f];

		for (int i = 0; i < file->rank_count; i++) {
			const struct vm_profile *rank = &file->rank[i];

			if (!rank->rows || rank->worker >= file->workers)
				continue;
			rank_read(job, times, file, rank);
			rank_add(job, cores, all, times, first + rank->worker);
		}
		first += file->workers;
	}
}

/* The whole has all cores, a section those on which a rank was in it. */
static void part_compute(struct vm_profile_part *part,
			 struct vm_pop_core *cores, unsigned all, bool whole)
{
	unsigned used = 0;

	for (unsigned c = 0; c < all; c++)
		if (whole || cores[c].useful > 0 || cores[c].calls > 0)
			cores[used++] = cores[c];
	if (!vm_pop_of(&part->pop, cores, used, part->pop.elapsed))
		part->pop.cores = 0;
}

int vm_profile_job_pop(struct vm_profile_job *job)
{
	struct vm_pop_core *cores;
	struct rank_time *times;
	unsigned all = 0;
	int rc;

	for (int f = 0; f < job->file_count; f++)
		all += job->files[f]->workers;
	if (!all || !job->part_count)
		return 0;
	cores = calloc((size_t)all * job->part_count, sizeof(*cores));
	times = calloc(job->part_count, sizeof(*times));
	if (cores && times) {
		files_add(job, cores, all, times);
		for (unsigned p = 0; p < job->part_count; p++)
			part_compute(&job->parts[p], &cores[p * all], all,
				     p == 0);
	}
	rc = cores && times ? 0 : -VMPI_ENOMEM;
	free(times);
	free(cores);
	return rc;
}
