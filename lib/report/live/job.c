/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files are found by their names; what they say of their job is not needed for
 * that, so that one which lies cannot hide in another job.
 */
#include "report/live/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "introspect/export/alive.h"

/* The job of this name, a new one if there is none; NULL: out of memory. */
static struct vm_share_job *job_named(struct vm_share_jobs *jobs,
				      const char *name)
{
	struct vm_share_job *list;

	for (unsigned i = 0; i < jobs->count; i++)
		if (strcmp(jobs->list[i].name, name) == 0)
			return &jobs->list[i];
	list = realloc(jobs->list, (jobs->count + 1) * sizeof(*list));
	if (!list)
		return NULL;
	jobs->list = list;
	list = &list[jobs->count++];
	*list = (struct vm_share_job){ .files = NULL };
	snprintf(list->name, sizeof(list->name), "%s", name);
	return list;
}

static int file_add(struct vm_share_job *job, struct vm_share_file *file)
{
	size_t bytes = (job->count + 1) * sizeof(struct vm_share_file *);
	struct vm_share_file **files = realloc(job->files, bytes);

	if (!files)
		return -VMPI_ENOMEM;
	job->files = files;
	files[job->count++] = file;
	return 0;
}

struct finding {
	struct vm_share_jobs *jobs;
	const char *only;
	vm_share_refused refused;
};

static int file_visit(const struct vm_share_entry *entry, void *arg)
{
	struct finding *finding = arg;
	char why[VM_SHARE_WHY_MAX];
	struct vm_share_file *file;
	struct vm_share_job *job;
	int rc;

	if (finding->only && strcmp(finding->only, entry->job) != 0)
		return 0;
	rc = vm_share_map(&file, entry->path, why);
	if (rc == -VMPI_ENOMEM)
		return rc;
	/* It ends, or begins, while we look. */
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
	vm_share_unmap(file);
	return -VMPI_ENOMEM;
}

static int file_compare(const void *a, const void *b)
{
	const struct vm_share_file *const *left = a, *const *right = b;
	unsigned one = vm_share_head(*left)->node;
	unsigned two = vm_share_head(*right)->node;

	return (one > two) - (one < two);
}

/* By number where names are numbers, which then come first. */
static int job_compare(const void *a, const void *b)
{
	const struct vm_share_job *left = a, *right = b;
	unsigned long one = strtoul(left->name, NULL, 10);
	unsigned long two = strtoul(right->name, NULL, 10);

	if (one != two && one && two)
		return one < two ? -1 : 1;
	return strcmp(left->name, right->name);
}

int vm_share_jobs_find(struct vm_share_jobs *jobs, const char *dir,
		       const char *only, vm_share_refused refused)
{
	struct finding finding = { jobs, only, refused };

	*jobs = (struct vm_share_jobs){ .list = NULL };
	if (vm_share_each(dir, file_visit, &finding)) {
		vm_share_jobs_free(jobs);
		return -VMPI_ENOMEM;
	}
	for (unsigned i = 0; i < jobs->count; i++)
		qsort(jobs->list[i].files, jobs->list[i].count,
		      sizeof(struct vm_share_file *), file_compare);
	if (jobs->count)
		qsort(jobs->list, jobs->count, sizeof(*jobs->list),
		      job_compare);
	return 0;
}

void vm_share_jobs_free(struct vm_share_jobs *jobs)
{
	for (unsigned i = 0; i < jobs->count; i++) {
		struct vm_share_job *job = &jobs->list[i];

		for (unsigned f = 0; f < job->count; f++)
			vm_share_unmap(job->files[f]);
		free(job->files);
	}
	free(jobs->list);
	*jobs = (struct vm_share_jobs){ .list = NULL };
}

/* From the best to the worst. */
static const char *const states[] = { "running", "stopped", "dead" };

static unsigned state_of(const struct vm_share_file *file)
{
	if (!vm_share_lives(file))
		return 2;
	return vm_share_pid_stopped((pid_t)vm_share_head(file)->pid);
}

const char *vm_share_file_state(const struct vm_share_file *file)
{
	return states[state_of(file)];
}

const char *vm_share_job_state(const struct vm_share_job *job)
{
	unsigned worst = 0;

	for (unsigned i = 0; i < job->count; i++) {
		unsigned state = state_of(job->files[i]);

		if (state > worst)
			worst = state;
	}
	return states[worst];
}

bool vm_share_job_lives(const struct vm_share_job *job)
{
	for (unsigned i = 0; i < job->count; i++)
		if (vm_share_lives(job->files[i]))
			return true;
	return false;
}

double vm_share_job_age(const struct vm_share_job *job)
{
	uint64_t first = UINT64_MAX;
	struct timespec now;

	for (unsigned i = 0; i < job->count; i++) {
		uint64_t started = vm_share_head(job->files[i])->started_ns;

		if (started < first)
			first = started;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 -
	       (double)first * 1e-9;
}

const struct vm_share_head *vm_share_job_head(const struct vm_share_job *job)
{
	return vm_share_head(job->files[0]);
}

const struct vm_share_file *vm_share_job_rank(const struct vm_share_job *job,
					      unsigned rank)
{
	for (unsigned i = 0; i < job->count; i++) {
		const struct vm_share_head *head = vm_share_head(job->files[i]);

		if (rank < head->ranks &&
		    vm_share_where(job->files[i], rank) == head->node)
			return job->files[i];
	}
	return NULL;
}
