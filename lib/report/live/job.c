/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files are found by their names; their content is not needed for that, so that
 * one with false content cannot hide in another job.
 */
#include "report/live/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "introspect/export/alive.h"

/* The job of this name, a new one if there is none; NULL: out of memory. */
static struct vm_live_job *job_named(struct vm_live_jobs *jobs,
				     const char *name)
{
	struct vm_live_job *list;

	for (unsigned i = 0; i < jobs->count; i++)
		if (strcmp(jobs->list[i].name, name) == 0)
			return &jobs->list[i];
	list = realloc(jobs->list, (jobs->count + 1) * sizeof(*list));
	if (!list)
		return NULL;
	jobs->list = list;
	list = &list[jobs->count++];
	*list = (struct vm_live_job){ .files = NULL };
	snprintf(list->name, sizeof(list->name), "%s", name);
	return list;
}

static int file_add(struct vm_live_job *job, struct vm_live_file *file)
{
	size_t bytes = (job->count + 1) * sizeof(struct vm_live_file *);
	struct vm_live_file **files = realloc(job->files, bytes);

	if (!files)
		return -VMPI_ENOMEM;
	job->files = files;
	files[job->count++] = file;
	return 0;
}

struct finding {
	struct vm_live_jobs *jobs;
	const char *only;
	vm_live_refused refused;
};

static int file_visit(const struct vm_export_entry *entry, void *arg)
{
	struct finding *finding = arg;
	char why[VM_LIVE_WHY_MAX];
	struct vm_live_file *file;
	struct vm_live_job *job;
	int rc;

	if (finding->only && strcmp(finding->only, entry->job) != 0)
		return 0;
	rc = vm_export_map(&file, entry->path, why);
	if (rc == -VMPI_ENOMEM)
		return rc;
	/* It ends, or begins, just now. */
	if (rc == -VMPI_ENOENT || rc == -VMPI_EAGAIN)
		return 0;
	if (rc) {
		finding->jobs->unreadable++;
		if (finding->refused)
			finding->refused(entry->path, why);
		return 0;
	}
	job = job_named(finding->jobs, entry->job);
	if (job && file_add(job, file) == 0)
		return 0;
	vm_live_unmap(file);
	return -VMPI_ENOMEM;
}

static int file_compare(const void *a, const void *b)
{
	const struct vm_live_file *const *left = a, *const *right = b;
	unsigned one = vm_export_head(*left)->node;
	unsigned two = vm_export_head(*right)->node;

	return (one > two) - (one < two);
}

/* By number where names are numbers, which then come first. */
static int job_compare(const void *a, const void *b)
{
	const struct vm_live_job *left = a, *right = b;
	unsigned long one = strtoul(left->name, NULL, 10);
	unsigned long two = strtoul(right->name, NULL, 10);

	if (one != two && one && two)
		return one < two ? -1 : 1;
	return strcmp(left->name, right->name);
}

int vm_live_jobs_find(struct vm_live_jobs *jobs, const char *dir,
		      const char *only, vm_live_refused refused)
{
	struct finding finding = { jobs, only, refused };

	*jobs = (struct vm_live_jobs){ .list = NULL };
	if (vm_export_each(dir, file_visit, &finding)) {
		vm_live_jobs_free(jobs);
		return -VMPI_ENOMEM;
	}
	for (unsigned i = 0; i < jobs->count; i++)
		qsort(jobs->list[i].files, jobs->list[i].count,
		      sizeof(struct vm_live_file *), file_compare);
	if (jobs->count)
		qsort(jobs->list, jobs->count, sizeof(*jobs->list),
		      job_compare);
	return 0;
}

void vm_live_jobs_free(struct vm_live_jobs *jobs)
{
	for (unsigned i = 0; i < jobs->count; i++) {
		struct vm_live_job *job = &jobs->list[i];

		for (unsigned f = 0; f < job->count; f++)
			vm_live_unmap(job->files[f]);
		free(job->files);
	}
	free(jobs->list);
	*jobs = (struct vm_live_jobs){ .list = NULL };
}

/* From the best to the worst. */
static const char *const states[] = { "running", "stopped", "dead" };

static unsigned state_of(const struct vm_live_file *file)
{
	if (!vm_live_lives(file))
		return 2;
	return vm_export_pid_stopped((pid_t)vm_export_head(file)->pid);
}

const char *vm_live_file_state(const struct vm_live_file *file)
{
	return states[state_of(file)];
}

const char *vm_live_job_state(const struct vm_live_job *job)
{
	unsigned worst = 0;

	for (unsigned i = 0; i < job->count; i++) {
		unsigned state = state_of(job->files[i]);

		if (state > worst)
			worst = state;
	}
	return states[worst];
}

bool vm_live_job_lives(const struct vm_live_job *job)
{
	for (unsigned i = 0; i < job->count; i++)
		if (vm_live_lives(job->files[i]))
			return true;
	return false;
}

double vm_live_job_age(const struct vm_live_job *job)
{
	uint64_t first = UINT64_MAX;
	struct timespec now;

	for (unsigned i = 0; i < job->count; i++) {
		uint64_t started = vm_export_head(job->files[i])->started_ns;

		if (started < first)
			first = started;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 -
	       (double)first * 1e-9;
}

const struct vm_export_head *vm_live_job_head(const struct vm_live_job *job)
{
	return vm_export_head(job->files[0]);
}

const struct vm_live_file *vm_live_job_rank(const struct vm_live_job *job,
					    unsigned rank)
{
	for (unsigned i = 0; i < job->count; i++) {
		const struct vm_export_head *head =
			vm_export_head(job->files[i]);

		if (rank < head->ranks &&
		    vm_live_where(job->files[i], rank) == head->node)
			return job->files[i];
	}
	return NULL;
}
