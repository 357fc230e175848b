/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is in the memory of a process, and its children, are in /proc; where that
 * is not there, nothing is found.
 */
#include "other_mpi.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/last_word.h"
#include "core/image/lib_rule.h"
#include "report/cli.h"

#define MS_NS UINT64_C(1000000)
#define REST_MIN_NS (10 * MS_NS)
#define REST_MAX_NS (500 * MS_NS)
#define SURE_NS (1000 * MS_NS)
#define DEPTH_MAX 32 /* of processes that have started each other */

void other_mpi_begin(struct other_mpi *other)
{
	*other = (struct other_mpi){ .begin_ns = vm_clock_ns() };
	other->next_ns = other->begin_ns + REST_MIN_NS;
}

void other_mpi_stop(struct other_mpi *other)
{
	other->next_ns = UINT64_MAX;
	other->path[0] = '\0';
}

/* All have been looked at, which began at now_ns: when again. */
static void rest(struct other_mpi *other, uint64_t now_ns)
{
	uint64_t after_ns = vm_clock_ns();
	uint64_t rest_ns = (now_ns - other->begin_ns) / 10;

	if (rest_ns < REST_MIN_NS)
		rest_ns = REST_MIN_NS;
	if (rest_ns > REST_MAX_NS)
		rest_ns = REST_MAX_NS;
	if (rest_ns < 20 * (after_ns - now_ns))
		rest_ns = 20 * (after_ns - now_ns);
	other->next_ns = after_ns + rest_ns;
}

/* Looks at the files that the process has mapped. */
static bool maps_look(struct other_mpi *other, long pid)
{
	char name[64], *line = NULL;
	size_t room = 0;
	FILE *maps;
	bool found = false;

	snprintf(name, sizeof(name), "/proc/%ld/maps", pid);
	maps = fopen(name, "re");
	while (maps && !found && getline(&line, &room, maps) > 0) {
		const char *path = strchr(line, '/');

		line[strcspn(line, "\n")] = '\0';
		found = path && vm_lib_is_foreign(strrchr(path, '/') + 1);
		if (found)
			snprintf(other->path, sizeof(other->path), "%s", path);
	}
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

static bool tree_look(struct other_mpi *other, long pid, int depth);

/* Looks at the processes that a thread has started. */
static bool children_look(struct other_mpi *other, long pid, const char *thread,
			  int depth)
{
	char name[320];
	FILE *children;
	bool found = false;
	long child;

	snprintf(name, sizeof(name), "/proc/%ld/task/%s/children", pid, thread);
	children = fopen(name, "re");
	while (children && !found && fscanf(children, "%ld", &child) == 1)
		found = tree_look(other, child, depth - 1);
	if (children)
		fclose(children);
	return found;
}

static bool tree_look(struct other_mpi *other, long pid, int depth)
{
	bool found = maps_look(other, pid);
	struct dirent *thread;
	char name[64];
	DIR *threads;

	if (found || depth == 0)
		return found;
	snprintf(name, sizeof(name), "/proc/%ld/task", pid);
	threads = opendir(name);
	while (threads && !found && (thread = readdir(threads)))
		if (thread->d_name[0] != '.')
			found = children_look(other, pid, thread->d_name,
					      depth);
	if (threads)
		closedir(threads);
	return found;
}

bool other_mpi_look(struct other_mpi *other, const pid_t *pids, int count)
{
	uint64_t now_ns = vm_clock_ns();

	if (now_ns < other->next_ns)
		return false;
	other->next_ns = UINT64_MAX;
	if (other->path[0])
		return true;
	for (int i = 0; i < count; i++) {
		if (pids[i] <= 0 || !tree_look(other, pids[i], DEPTH_MAX))
			continue;
		/* It may only try which libraries there are. */
		other->next_ns = now_ns + SURE_NS;
		other->number = i;
		return false;
	}
	rest(other, now_ns);
	return false;
}

void other_mpi_say(const char *process, const char *path)
{
	if (!vm_last_word_take())
		return;
	vm_cli_say("%s has loaded another MPI, %s, and has not joined the job: "
		   "each process is rank 0 of 1; what it runs has to be built "
		   "with vmpicc, or for libmpi_abi.so.1",
		   process, path);
	vm_last_word_give();
}
