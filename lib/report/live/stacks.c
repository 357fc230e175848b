/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of one program mostly wait in the same place: equal stacks are printed
 * once, with all their ranks.
 */
#include "report/live/stacks.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "report/live/unwind.h"

#define ERROR_MAX 320

/* The stacks of a process, or why there are none. */
struct part {
	struct vm_stack_text *stacks;
	unsigned count;
	char error[ERROR_MAX];
};

struct vm_stacks {
	struct vm_stack_text **all; /* of all processes, sorted */
	unsigned count, room;
	unsigned ended;
	struct part *parts;
	unsigned part_count, read;
};

static int frames_compare(const struct vm_stack_text *a,
			  const struct vm_stack_text *b)
{
	unsigned count = a->count < b->count ? a->count : b->count;

	for (unsigned i = 0; i < count; i++) {
		/* From main on: who is in the same function stands together. */
		int order = strcmp(a->frames[a->count - 1 - i],
				   b->frames[b->count - 1 - i]);

		if (order)
			return order;
	}
	return (a->count > b->count) - (a->count < b->count);
}

static int stack_compare(const void *left, const void *right)
{
	const struct vm_stack_text *const *a = left, *const *b = right;
	int order = frames_compare(*a, *b);

	return order ? order :
		       ((*a)->index > (*b)->index) -
			       ((*a)->index < (*b)->index);
}

/* A run of equal stacks. */
struct group {
	struct vm_stack_text **first;
	unsigned count;
};

static int group_compare(const void *left, const void *right)
{
	const struct group *a = left, *b = right;

	return (*a->first)->index - (*b->first)->index;
}

#define RANGES_MAX 60 /* characters */

/* "ranks 0-2, 7, at:" */
static void group_say(const struct group *group, vm_states_line line, void *arg)
{
	char text[RANGES_MAX + 64], frame[VM_UNWIND_TEXT_MAX + 8];
	size_t used = (size_t)snprintf(text, sizeof(text), "rank%s ",
				       group->count == 1 ? "" : "s");

	for (unsigned i = 0, n; i < group->count; i += n) {
		int from = group->first[i]->index;

		for (n = 1; i + n < group->count &&
			    group->first[i + n]->index == from + (int)n;
		     n++)
			;
		if (used > RANGES_MAX) {
			used += (size_t)snprintf(text + used,
						 sizeof(text) - used,
						 ", ... (%u)", group->count);
			break;
		}
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 n == 1 ? "%s%d" : "%s%d-%d",
					 i ? ", " : "", from,
					 from + (int)n - 1);
	}
	snprintf(text + used, sizeof(text) - used, ", at:");
	line(text, arg);
	for (unsigned i = 0; i < (*group->first)->count; i++) {
		snprintf(frame, sizeof(frame), "    %s",
			 (*group->first)->frames[i]);
		line(frame, arg);
	}
	if (!(*group->first)->count)
		line("    (no function is known)", arg);
}

/* Prints the groups; the array is sorted by stacks. */
static int groups_say(const struct vm_stacks *stacks, unsigned most,
		      vm_states_line line, void *arg)
{
	struct group *groups =
		calloc((size_t)stacks->count + 1, sizeof(*groups));
	unsigned count = 0, rest = 0;
	char text[96];

	if (!groups)
		return -VMPI_ENOMEM;
	for (unsigned i = 0; i < stacks->count; i++) {
		if (!i || frames_compare(stacks->all[i - 1], stacks->all[i]))
			groups[count++].first = &stacks->all[i];
		groups[count - 1].count++;
	}
	qsort(groups, count, sizeof(*groups), group_compare);
	for (unsigned i = 0; i < count; i++) {
		if (!most || i < most)
			group_say(&groups[i], line, arg);
		else
			rest += groups[i].count;
	}
	if (rest) {
		snprintf(text, sizeof(text),
			 "and %u more rank%s with %u other stacks", rest,
			 rest == 1 ? "" : "s", count - most);
		line(text, arg);
	}
	free(groups);
	return 0;
}

/* Takes those of one process that are wanted. */
static int part_take(struct vm_stacks *stacks, const struct part *part,
		     long rank)
{
	for (unsigned i = 0; i < part->count; i++) {
		struct vm_stack_text *stack = &part->stacks[i];

		if (rank >= 0 && stack->index != rank)
			continue;
		if (!stack->known) {
			stacks->ended++;
			continue;
		}
		if (stacks->count == stacks->room) {
			size_t room = stacks->room ? 2 * (size_t)stacks->room :
						     64;
			struct vm_stack_text **all =
				reallocarray(stacks->all, room, sizeof(*all));

			if (!all)
				return -VMPI_ENOMEM;
			stacks->all = all;
			stacks->room = (unsigned)room;
		}
		stacks->all[stacks->count++] = stack;
	}
	return 0;
}

/* Reads all processes.  0 or -VMPI_ENOMEM. */
static int parts_read(struct vm_stacks *stacks, const struct vm_live_job *job,
		      long rank)
{
	int rc = 0;

	for (unsigned f = 0; f < job->count && !rc; f++) {
		const struct vm_live_file *file = job->files[f];
		int pid = (int)vm_export_head(file)->pid;
		struct part *part = &stacks->parts[f];
		char why[256] = "it has died";

		if (rank >= 0 && vm_live_job_rank(job, (unsigned)rank) != file)
			continue;
		if (vm_live_lives(file))
			part->stacks = vm_unwind_process(pid, &part->count, why,
							 sizeof(why));
		if (!part->stacks) {
			snprintf(part->error, sizeof(part->error),
				 "the stacks of process %d cannot be read: %s",
				 pid, why);
			continue;
		}
		stacks->read++;
		rc = part_take(stacks, part, rank);
	}
	return rc;
}

void vm_stacks_free(struct vm_stacks *stacks)
{
	if (!stacks)
		return;
	for (unsigned f = 0; stacks->parts && f < stacks->part_count; f++)
		vm_unwind_free(stacks->parts[f].stacks, stacks->parts[f].count);
	free(stacks->parts);
	free(stacks->all);
	free(stacks);
}

struct vm_stacks *vm_stacks_read(const struct vm_live_job *job, long rank)
{
	struct vm_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->part_count = job->count;
	stacks->parts = calloc((size_t)job->count + 1, sizeof(*stacks->parts));
	if (!stacks->parts || parts_read(stacks, job, rank)) {
		vm_stacks_free(stacks);
		return NULL;
	}
	if (stacks->count)
		qsort(stacks->all, stacks->count, sizeof(*stacks->all),
		      stack_compare);
	return stacks;
}

/* Where the program is: the innermost function whose line is known, behind the
 * call of MPI if it is in one. */
static void place_take(char *place, size_t bytes,
		       const struct vm_stack_text *stack)
{
	for (unsigned i = 0; i < stack->count; i++) {
		const char *at = strstr(stack->frames[i], " at ");

		if (!at || !strncmp(stack->frames[i], "MPI_", 4))
			continue;
		snprintf(place, bytes, "%s", at + 4);
		return;
	}
}

#define TEAM_FRAMES 3 /* of libgomp's own */

/* What a rank does that waits in no call of ours. */
static void does_take(char *does, size_t bytes,
		      const struct vm_stack_text *stack)
{
	for (unsigned i = 0; i < stack->count && i < TEAM_FRAMES; i++) {
		if (!strstr(stack->frames[i], "libgomp"))
			continue;
		snprintf(does, bytes, "in libgomp");
		return;
	}
	if (stack->system_call[0])
		snprintf(does, bytes, "in the kernel (%s)", stack->system_call);
}

/* The threads of the process that run or could. */
static unsigned threads_running(unsigned pid)
{
	char path[64], text[512];
	unsigned running = 0;
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		const char *name_end = NULL;
		FILE *stat;

		snprintf(path, sizeof(path), "/proc/%u/task/%.16s/stat", pid,
			 entry->d_name);
		stat = fopen(path, "re");
		if (stat && fgets(text, sizeof(text), stat))
			name_end = strrchr(text, ')');
		running += name_end && !strncmp(name_end, ") R", 3);
		if (stat)
			fclose(stat);
	}
	if (tasks)
		closedir(tasks);
	return running;
}

/* Whether a rank of the file seems to run. */
static bool has_running(const struct vm_states *states,
			const struct vm_live_file *file)
{
	for (unsigned r = 0; r < states->count; r++)
		if (states->known[r] &&
		    states->doing[r].state == VM_EXPORT_RUNNING &&
		    vm_live_job_rank(states->job, r) == file)
			return true;
	return false;
}

bool vm_stacks_tell(const struct vm_states *states)
{
	const struct vm_live_job *job = states->job;

	if (!vm_live_job_lives(job))
		return false;
	for (unsigned f = 0; f < job->count; f++) {
		const struct vm_live_file *file = job->files[f];
		unsigned awake = vm_live_awake(file);

		if (has_running(states, file) &&
		    threads_running(vm_export_head(file)->pid) <
			    (awake ? awake : 1))
			return true;
	}
	return false;
}

void vm_stacks_notes(const struct vm_stacks *stacks,
		     struct vm_stack_note *notes, unsigned count)
{
	for (unsigned i = 0; i < stacks->count; i++) {
		const struct vm_stack_text *stack = stacks->all[i];
		struct vm_stack_note *note = &notes[stack->index];

		if (stack->index < 0 || (unsigned)stack->index >= count)
			continue;
		place_take(note->place, sizeof(note->place), stack);
		does_take(note->does, sizeof(note->does), stack);
	}
}

int vm_stacks_print(const struct vm_stacks *stacks, unsigned most,
		    vm_states_line line, void *arg)
{
	char text[64];
	int rc;

	for (unsigned f = 0; f < stacks->part_count; f++)
		if (stacks->parts[f].error[0])
			line(stacks->parts[f].error, arg);
	if (!stacks->read)
		return stacks->part_count ? -VMPI_ENOTSUP : 0;
	rc = groups_say(stacks, most, line, arg);
	if (stacks->ended) {
		snprintf(text, sizeof(text), "%u rank%s ended or just moving",
			 stacks->ended, stacks->ended == 1 ? " has" : "s have");
		line(text, arg);
	}
	return rc;
}

int vm_stacks_say(const struct vm_live_job *job, long rank, unsigned most,
		  vm_states_line line, void *arg)
{
	struct vm_stacks *stacks = vm_stacks_read(job, rank);
	int rc = -VMPI_ENOMEM;

	if (stacks)
		rc = vm_stacks_print(stacks, most, line, arg);
	vm_stacks_free(stacks);
	return rc;
}
