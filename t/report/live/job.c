/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs are found by the files of their processes, which run, are stopped, or
 * have been killed; whatever else lies in the directory is none.
 */
#include "report/live/job.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "introspect/export/export.h"
#include "tap.h"

#define NODES 2
#define RANKS 4

static char dir[] = "/tmp/vmpi-jobs-XXXXXX";

/* Node `node` of a job of two nodes: rank r is on node r % 2. */
static void publish(const char *job, unsigned node)
{
	struct vm_export_facts facts = { .node = node,
					 .nodes = NODES,
					 .ranks = RANKS,
					 .ranks_here = RANKS / NODES,
					 .workers = 1 };
	const char *why = "";
	uint32_t *where;

	if (vm_export_open(dir, job, node, &why))
		bail("no file in %s: %s", dir, why);
	where = vm_export_alloc(RANKS * sizeof(*where), 64);
	for (unsigned r = 0; r < RANKS; r++)
		where[r] = r % NODES;
	facts.where = where;
	if (vm_export_publish(&facts))
		bail("the file cannot be published");
}

/* A process with such a file that waits to be killed. */
static pid_t process_new(const char *job, unsigned node)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		bail("no pipe");
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		if (!freopen("/dev/null", "w", stdout)) /* checks are ours */
			_exit(1);
		publish(job, node);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 0)
		bail("process %s.%u says something", job, node);
	close(ready[0]);
	return pid;
}

static void process_kill(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static char refused[4][2 * VM_EXPORT_PATH_MAX];
static unsigned refused_count;

static void refuse_note(const char *path, const char *why)
{
	if (refused_count < 4)
		snprintf(refused[refused_count++], sizeof(refused[0]), "%s: %s",
			 strrchr(path, '/') + 1, why);
}

static void file_put(const char *job, const char *text, char *path)
{
	int fd;

	vm_export_path(path, VM_EXPORT_PATH_MAX, dir, job, 0);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		bail("%s cannot be written", path);
	close(fd);
}

static void names(void)
{
	char broken[VM_EXPORT_PATH_MAX];
	char want[VM_EXPORT_PATH_MAX + 40];
	struct vm_live_jobs jobs;
	pid_t pids[4] = { process_new("12", 1), process_new("12", 0),
			  process_new("7", 0), process_new("night", 0) };

	file_put("broken", "no file of a process", broken);
	is_int(vm_live_jobs_find(&jobs, dir, NULL, refuse_note), 0,
	       "all jobs are found");
	is_int(jobs.count, 3, "there are three");
	if (jobs.count == 3) {
		is_string(jobs.list[0].name, "7", "by number: the first");
		is_string(jobs.list[1].name, "12", "... the second");
		is_string(jobs.list[2].name, "night", "... and by name");
		is_int(jobs.list[1].count, 2, "one has two processes");
		is_int(vm_export_head(jobs.list[1].files[0])->node, 0,
		       "... by node: the first");
		is_int(vm_export_head(jobs.list[1].files[1])->node, 1,
		       "... the second");
		ok(vm_live_job_head(&jobs.list[1]) ==
			   vm_export_head(jobs.list[1].files[0]),
		   "what the first says of the job, the job says");
	}
	is_int(jobs.unreadable, 1, "one file cannot be read");
	snprintf(want, sizeof(want), "%s: it is too short",
		 strrchr(broken, '/') + 1);
	is_int(refused_count, 1, "which is said once");
	is_string(refused[0], want, "... and why");
	vm_live_jobs_free(&jobs);
	is_int(jobs.count, 0, "then they are gone");
	is_int(vm_live_jobs_find(&jobs, dir, "broken", NULL), 0,
	       "nobody need hear of what cannot be read");
	ok(jobs.unreadable == 1 && jobs.count == 0, "... it is counted");
	vm_live_jobs_free(&jobs);
	is_int(vm_live_jobs_find(&jobs, dir, "7", refuse_note), 0,
	       "one job is looked for by name");
	ok(jobs.count == 1 && jobs.unreadable == 0 && refused_count == 1 &&
		   strcmp(jobs.list[0].name, "7") == 0,
	   "... and no other is looked at");
	vm_live_jobs_free(&jobs);
	for (int i = 0; i < 4; i++)
		process_kill(pids[i]);
	unlink(broken);
}

/* All files that are left are of dead processes. */
static int file_remove(const struct vm_export_entry *entry, void *arg)
{
	++*(int *)arg;
	return unlink(entry->path);
}

static void others(void)
{
	struct vm_live_jobs jobs;
	const char *why = "";
	int count = 0;

	is_int(vm_export_each(dir, file_remove, &count), 0, "files go");
	is_int(count, 4, "there was one for each process");
	if (vm_export_open(dir, "early", 0, &why))
		bail("no file in %s: %s", dir, why);
	is_int(vm_live_jobs_find(&jobs, dir, NULL, refuse_note), 0,
	       "a process has just begun");
	ok(jobs.count == 0 && jobs.unreadable == 0,
	   "... and is neither a job nor broken");
	vm_live_jobs_free(&jobs);
	vm_export_close(false);
	is_int(vm_live_jobs_find(&jobs, "/nonexistent", NULL, NULL), 0,
	       "a directory that is not there has no jobs");
	is_int(jobs.count, 0, "... none");
	vm_live_jobs_free(&jobs);
}

static void job_is(const char *state, bool lives, const char *name)
{
	struct vm_live_jobs jobs;

	if (vm_live_jobs_find(&jobs, dir, "life", NULL) || jobs.count != 1 ||
	    jobs.list[0].count != 2)
		bail("the job of two processes is not found");
	is_string(vm_live_job_state(&jobs.list[0]), state, "%s", name);
	is_int(vm_live_job_lives(&jobs.list[0]), lives, "... whether it lives");
	is_string(vm_live_file_state(jobs.list[0].files[1]), state,
		  "... what its second process does");
	vm_live_jobs_free(&jobs);
}

static void ranks(const struct vm_live_job *job)
{
	double age = vm_live_job_age(job);

	ok(age >= 0 && age < 3600, "its age is that of its processes: %.3f s",
	   age);
	ok(vm_live_job_rank(job, 2) == job->files[0],
	   "a rank has its node's file");
	ok(vm_live_job_rank(job, 3) == job->files[1], "... another one, too");
	ok(!vm_live_job_rank(job, RANKS), "there are no more ranks");
}

static void life(void)
{
	pid_t pids[NODES];
	struct vm_live_jobs jobs;
	int count = 0;

	pids[0] = process_new("life", 0);
	pids[1] = process_new("life", 1);
	job_is("running", true, "both processes run");
	kill(pids[1], SIGSTOP);
	waitpid(pids[1], NULL, WUNTRACED);
	job_is("stopped", true, "one is stopped");
	process_kill(pids[1]);
	job_is("dead", true, "one is dead, the other lives");
	if (vm_live_jobs_find(&jobs, dir, "life", NULL))
		bail("out of memory");
	is_string(vm_live_file_state(jobs.list[0].files[0]), "running",
		  "each process has a state of its own");
	ranks(&jobs.list[0]);
	vm_live_jobs_free(&jobs);
	process_kill(pids[0]);
	job_is("dead", false, "both are dead");
	vm_export_each(dir, file_remove, &count);
	publish("part", 1);
	if (vm_live_jobs_find(&jobs, dir, "part", NULL) || jobs.count != 1)
		bail("the job of this process is not found");
	ok(!vm_live_job_rank(&jobs.list[0], 0),
	   "a rank may be on another host");
	vm_live_jobs_free(&jobs);
	vm_export_close(false);
}

int main(void)
{
	if (!mkdtemp(dir))
		bail("no directory");
	names();
	others();
	life();
	ok(rmdir(dir) == 0, "nothing is left behind");
	return done_testing();
}
