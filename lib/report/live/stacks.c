/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of one program mostly wait in the same place: equal stacks are printed
 * once, with all their ranks.
 */
#include "report/live/stacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "report/live/unwind.h"

struct stacks {
	struct vm_stack_text **all; /* of all processes, sorted */
	unsigned count, room;
	unsigned ended;
};

/* The stacks of a process, which are freed later. */
struct part {
	struct vm_stack_text *stacks;
	unsigned count;
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
static int groups_say(const struct stacks *stacks, unsigned most,
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
static int part_take(struct stacks *stacks, const struct part *part, long rank)
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

/* Reads all processes; returns how many could be read, or -VMPI_ENOMEM. */
static int parts_read(struct part *parts, struct stacks *stacks,
		      const struct vm_live_job *job, long rank,
		      vm_states_line line, void *arg)
{
	int read = 0, rc = 0;

	for (unsigned f = 0; f < job->count && !rc; f++) {
		const struct vm_live_file *file = job->files[f];
		int pid = (int)vm_export_head(file)->pid;
		char why[256], text[320];

		if (rank >= 0 && vm_live_job_rank(job, (unsigned)rank) != file)
			continue;
		snprintf(why, sizeof(why), "it has died");
		if (vm_live_lives(file))
			parts[f].stacks = vm_unwind_process(
				pid, &parts[f].count, why, sizeof(why));
		if (!parts[f].stacks) {
			snprintf(text, sizeof(text),
				 "the stacks of process %d cannot be read: %s",
				 pid, why);
			line(text, arg);
			continue;
		}
		read++;
		rc = part_take(stacks, &parts[f], rank);
	}
	return rc ? rc : read;
}

int vm_stacks_say(const struct vm_live_job *job, long rank, unsigned most,
		  vm_states_line line, void *arg)
{
	struct part *parts = calloc((size_t)job->count + 1, sizeof(*parts));
	struct stacks stacks = { 0 };
	char text[64];
	int read, rc = -VMPI_ENOMEM;

	if (!parts)
		return -VMPI_ENOMEM;
	read = parts_read(parts, &stacks, job, rank, line, arg);
	if (read > 0) {
		qsort(stacks.all, stacks.count, sizeof(*stacks.all),
		      stack_compare);
		rc = groups_say(&stacks, most, line, arg);
		if (stacks.ended) {
			snprintf(text, sizeof(text),
				 "%u rank%s ended or just moving", stacks.ended,
				 stacks.ended == 1 ? " has" : "s have");
			line(text, arg);
		}
	} else if (!read) {
		rc = -VMPI_ENOTSUP;
	}
	for (unsigned f = 0; f < job->count; f++)
		vm_unwind_free(parts[f].stacks, parts[f].count);
	free(parts);
	free(stacks.all);
	return rc;
}
