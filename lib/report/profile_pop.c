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
	double had = (double)row->values[job->words + VM_PROFILE_HAD] *
		     file->tick_ns;

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
static void rank_add(struct vm_profile_job *job, const struct rank_time *times,
		     unsigned core)
{
	for (unsigned p = 0; p < job->part_count; p++) {
		struct vm_profile_part *part = &job->parts[p];
		struct vm_pop_core *at =
			&job->cores[p * job->core_count + core];

		if (times[p].elapsed <= 0)
			continue;
		part->ranks++;
		if (part->pop.elapsed < times[p].elapsed)
			part->pop.elapsed = times[p].elapsed;
		at->useful += times[p].had.useful;
		at->calls += times[p].had.calls;
	}
}

static void files_add(struct vm_profile_job *job, struct rank_time *times)
{
	unsigned first = 0;

	for (int f = 0; f < job->file_count; f++) {
		const struct vm_profile_file *file = job->files[f];

		for (int i = 0; i < file->rank_count; i++) {
			const struct vm_profile *rank = &file->rank[i];

			if (!rank->rows || rank->worker >= file->workers)
				continue;
			rank_read(job, times, file, rank);
			rank_add(job, times, first + rank->worker);
		}
		first += file->workers;
	}
}

int vm_profile_job_pop(struct vm_profile_job *job)
{
	struct rank_time *times;

	for (int f = 0; f < job->file_count; f++)
		job->core_count += job->files[f]->workers;
	job->cores = calloc((size_t)job->core_count * job->part_count + 1,
			    sizeof(*job->cores));
	times = calloc(job->part_count + 1, sizeof(*times));
	if (!job->cores || !times) {
		free(times);
		return -VMPI_ENOMEM;
	}
	files_add(job, times);
	for (unsigned p = 0; p < job->part_count; p++)
		vm_pop_of(&job->parts[p].pop, &job->cores[p * job->core_count],
			  job->core_count, job->parts[p].pop.elapsed, p == 0);
	free(times);
	return 0;
}
