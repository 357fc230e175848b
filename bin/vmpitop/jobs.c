/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file is called vmpi.UID.JOB.NODE; what it says of its job counts, not its
 * name.
 */
#include "jobs.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "figure.h"
#include "introspect/nearest.h"
#include "introspect/share.h"
#include "introspect/share_read.h"

/* "vmpi.1000.4711.0": of this user, and ends with a number. */
static bool name_fits(const char *name, const char *id)
{
	char begin[32 + VM_SHARE_JOB_MAX];
	const char *last = strrchr(name, '.');
	size_t bytes;

	snprintf(begin, sizeof(begin), "vmpi.%u.%s%s", (unsigned)getuid(),
		 id ? id : "", id ? "." : "");
	bytes = strlen(begin);
	return !strncmp(name, begin, bytes) &&
	       isdigit((unsigned char)last[1]) &&
	       !last[1 + strspn(last + 1, "0123456789")] &&
	       (!id || last == name + bytes - 1);
}

int jobs_files(const char *directory, const char *id,
	       int (*visit)(const char *path, void *arg), void *arg)
{
	struct dirent **entries;
	int count = scandir(directory, &entries, NULL, versionsort), rc = 0;

	if (count < 0)
		return -VMPI_EIO;
	for (int i = 0; i < count; i++) {
		char path[VM_SHARE_PATH_MAX + sizeof(entries[i]->d_name)];

		snprintf(path, sizeof(path), "%s/%s", directory,
			 entries[i]->d_name);
		if (!rc && name_fits(entries[i]->d_name, id))
			rc = visit(path, arg);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

/* Texts of a file go to a terminal. */
static void text_take(char to[64], const char *from)
{
	snprintf(to, 64, "%s", from);
	for (; *to; to++)
		if (*to < ' ' || *to > '~')
			*to = '?';
}

static struct job *job_of(struct jobs *jobs, const struct vm_share_head *head)
{
	struct job *all, *job;

	for (int i = 0; i < jobs->count; i++)
		if (!strcmp(jobs->jobs[i].id, head->job))
			return &jobs->jobs[i];
	all = realloc(jobs->jobs, (size_t)(jobs->count + 1) * sizeof(*all));
	if (!all)
		return NULL;
	jobs->jobs = all;
	job = &all[jobs->count++];
	*job = (struct job){ .ranks = (int)head->ranks,
			     .nodes = (int)head->nodes,
			     .started = (double)head->started_ns / 1e9 };
	text_take(job->id, head->job);
	text_take(job->program, head->program);
	return job;
}

static int file_visit(const char *path, void *arg)
{
	struct jobs *jobs = arg;
	struct vm_share_file *file;
	char why[VM_SHARE_WHY_MAX];
	struct job *job;
	int rc = vm_share_map(&file, path, why);

	if (rc)
		return rc == -VMPI_ENOMEM ? rc : 0;
	job = job_of(jobs, vm_share_head(file));
	if (job) {
		job->nodes_here++;
		if (vm_share_lives(file)) {
			jobs->living += !job->lives;
			job->lives = true;
		}
	}
	vm_share_unmap(file);
	return job ? 0 : -VMPI_ENOMEM;
}

int jobs_find(struct jobs *jobs, const char *directory)
{
	*jobs = (struct jobs){ 0 };
	return jobs_files(directory, NULL, file_visit, jobs);
}

void jobs_fini(struct jobs *jobs)
{
	free(jobs->jobs);
	*jobs = (struct jobs){ 0 };
}

void jobs_print(const struct jobs *jobs, FILE *out)
{
	for (int i = 0; i < jobs->count; i++) {
		const struct job *job = &jobs->jobs[i];
		char age[FIGURE_MAX];

		figure_text(age, FIGURE_NS,
			    ((double)time(NULL) - job->started) * 1e9);
		fprintf(out,
			"%-12s %s, %d rank%s on %d node%s, started %s ago%s\n",
			job->id, job->program, job->ranks,
			job->ranks == 1 ? "" : "s", job->nodes,
			job->nodes == 1 ? "" : "s", age,
			job->lives ? "" : ", does not run any more");
	}
}

/* No job has this id. */
static const struct job *unknown(const struct jobs *jobs, const char *id)
{
	struct vm_nearest nearest;
	const char *meant;

	vm_nearest_init(&nearest, id);
	for (int i = 0; i < jobs->count; i++)
		vm_nearest_offer(&nearest, jobs->jobs[i].id);
	meant = vm_nearest_name(&nearest);
	if (meant)
		fprintf(stderr,
			"vmpitop: no job of yours here is called '%.60s'; did "
			"you mean %s?\n",
			id, meant);
	else
		fprintf(stderr,
			"vmpitop: no job of yours here is called '%.60s'; "
			"vmpitop --list lists them\n",
			id);
	return NULL;
}

const struct job *jobs_choose(const struct jobs *jobs, const char *id)
{
	const struct job *only = NULL;

	for (int i = 0; i < jobs->count; i++) {
		if (id ? !strcmp(jobs->jobs[i].id, id) : jobs->jobs[i].lives)
			only = &jobs->jobs[i];
	}
	if (id)
		return only ? only : unknown(jobs, id);
	if (jobs->living == 1)
		return only;
	if (!jobs->count)
		fputs("vmpitop: no job of yours runs on this host\n", stderr);
	else
		fprintf(stderr,
			"vmpitop: %s of your jobs run on this host; choose "
			"one by vmpitop JOB:\n",
			jobs->living ? "several" : "none");
	jobs_print(jobs, stderr);
	return NULL;
}
