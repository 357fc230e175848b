/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What batch systems write into the environment of a job's script.
 */
#include "batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cli.h"
#include "vmpi.h"

/* Numbers of steps from here on are Slurm's own: interactive shells. */
#define STEP_SPECIAL 0xffff0000ul
#define NAME_BYTES 256

int batch_slurm_nodes(void)
{
	const char *step = getenv("SLURM_STEP_ID");
	const char *nodes = getenv("SLURM_JOB_NUM_NODES");

	if (!getenv("SLURM_JOB_ID") || !nodes)
		return 0;
	if (step && strtoul(step, NULL, 10) < STEP_SPECIAL)
		return 0;
	return (int)strtol(nodes, NULL, 10);
}

/* Takes the next number of "2(x3),1"; *left is how often it still comes. */
static int number_next(const char **at, long *left, long *number)
{
	char *end;

	if (*left > 0) {
		--*left;
		return 0;
	}
	*number = strtol(*at, &end, 10);
	if (end == *at || *number < 1 || *number > VM_JOB_RANKS_MAX)
		return -VMPI_EINVAL;
	*left = 0;
	if (!strncmp(end, "(x", 2)) {
		*left = strtol(end + 2, &end, 10) - 1;
		if (*end++ != ')' || *left < 0)
			return -VMPI_EINVAL;
	}
	*at = *end == ',' ? end + 1 : end;
	return 0;
}

/* The hosts of one name, which may have one [1-3,07] in it. */
static int name_expand(struct hosts *hosts, const char *name, size_t length,
		       const char **numbers, long *left, long *number)
{
	const char *open = memchr(name, '[', length);
	const char *close = open ? memchr(open, ']', length) : NULL;
	const char *at = open ? open + 1 : NULL;
	char text[NAME_BYTES + 64];

	do {
		char *end = NULL;
		long from = at ? strtol(at, &end, 10) : 0, to = from;
		int digits = at ? (int)(end - at) : 0;

		if (at && *end == '-')
			to = strtol(end + 1, &end, 10);
		if (at && (!close || digits < 1 || to < from ||
			   (*end != ',' && end != close)))
			return -VMPI_EINVAL;
		for (long i = from; i <= to; i++) {
			if (number_next(numbers, left, number))
				return -VMPI_EINVAL;
			if (at)
				snprintf(text, sizeof(text),
					 "%.*s%0*ld%.*s:%ld",
					 (int)(open - name), name, digits, i,
					 (int)(name + length - close - 1),
					 close + 1, *number);
			else
				snprintf(text, sizeof(text), "%.*s:%ld",
					 (int)length, name, *number);
			if (hosts_add_list(hosts, text))
				return -VMPI_EINVAL;
		}
		at = at && *end == ',' ? end + 1 : NULL;
	} while (at);
	return 0;
}

int batch_slurm_hosts(struct hosts *hosts, const char *names,
		      const char *numbers)
{
	long left = 0, number = 0;

	while (*names) {
		size_t length = 0;
		bool inside = false;

		for (; names[length] && (inside || names[length] != ',');
		     length++)
			inside = names[length] == '[' ||
				 (inside && names[length] != ']');
		if (!length || length >= NAME_BYTES ||
		    name_expand(hosts, names, length, &numbers, &left,
				&number)) {
			vm_cli_say("SLURM_JOB_NODELIST, SLURM_TASKS_PER_NODE: "
				   "%s, %s are not understood; use -H",
				   names, numbers);
			return -VMPI_EINVAL;
		}
		names += length + (names[length] == ',');
	}
	return 0;
}

/* Ranks, where the user of Slurm has said how many tasks there are. */
static int slurm_take(struct options *options)
{
	const char *names = getenv("SLURM_JOB_NODELIST");
	const char *counts = getenv("SLURM_TASKS_PER_NODE");
	const char *tasks = getenv("SLURM_NTASKS");
	int nodes = batch_slurm_nodes();

	if (!tasks || !counts || options->job.ranks || options->ppn ||
	    options->nodes || options->map.path)
		return 0;
	if (nodes > 1 && names && !strchr(names, ' '))
		return batch_slurm_hosts(&options->hosts, names, counts);
	options->job.ranks = (int)strtol(tasks, NULL, 10);
	if (options->job.ranks > 0 && options->job.ranks <= VM_JOB_RANKS_MAX)
		return 0;
	vm_cli_say("SLURM_NTASKS=%s is no number of ranks; use -n", tasks);
	return -VMPI_EINVAL;
}

/* "a 2 b 4" of LSF. */
static int lsf_take(struct options *options, const char *text)
{
	char name[NAME_BYTES];
	int slots, used, rc = 0;

	while (!rc && sscanf(text, " %255s %d%n", name, &slots, &used) == 2) {
		char word[NAME_BYTES + 16];

		snprintf(word, sizeof(word), "%s:%d", name, slots);
		rc = hosts_add_list(&options->hosts, word);
		text += used;
	}
	if (rc || !text[strspn(text, " ")])
		return rc;
	vm_cli_say("LSB_MCPU_HOSTS: '%s' is not understood; use -H", text);
	return -VMPI_EINVAL;
}

int batch_take(struct options *options)
{
	const char *pbs = getenv("PBS_NODEFILE");
	const char *lsf = getenv("LSB_MCPU_HOSTS");
	int rc = 0;

	if (options->hosts.count || options->agent ||
	    (options->launcher && !strcmp(options->launcher, "fork")))
		return 0;
	if (batch_slurm_nodes())
		return slurm_take(options);
	if (pbs && pbs[0]) {
		rc = hosts_add_file(&options->hosts, pbs);
		/* A line is a slot. */
		options->hosts.slots_given = true;
	} else if (lsf && lsf[0]) {
		rc = lsf_take(options, lsf);
	}
	return rc;
}
