/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What batch systems write into the environment of a job's script.
 */
#include "batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_name.h"
#include "report/cli.h"
#include "report/option.h"
#include "vmpi.h"

/* Numbers of steps from here on are Slurm's own: interactive shells. */
#define STEP_SPECIAL 0xffff0000ul

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

/* Names, and the numbers of their ranks. */
struct slurm {
	struct hosts *hosts;
	const char *numbers;
	long left, number;
	bool understood; /* the numbers are */
};

static int slurm_add(void *arg, const char *name)
{
	struct slurm *slurm = arg;

	if (number_next(&slurm->numbers, &slurm->left, &slurm->number)) {
		slurm->understood = false;
		return -VMPI_EINVAL;
	}
	return hosts_add(slurm->hosts, "SLURM_JOB_NODELIST", name,
			 (int)slurm->number);
}

int batch_slurm_hosts(struct hosts *hosts, const char *names,
		      const char *numbers)
{
	struct slurm slurm = { hosts, numbers, .understood = true };

	while (*names) {
		size_t length = 0;
		bool inside = false, understood = false;
		int rc = -VMPI_EINVAL;

		for (; names[length] && (inside || names[length] != ',');
		     length++)
			inside = names[length] == '[' ||
				 (inside && names[length] != ']');
		if (length)
			rc = host_name_each(names, length, &understood,
					    slurm_add, &slurm);
		if (!understood || !slurm.understood)
			vm_cli_say("SLURM_JOB_NODELIST, SLURM_TASKS_PER_NODE: "
				   "%s, %s are not understood; use -H",
				   names, slurm.numbers);
		if (rc)
			return rc;
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
	char *copy = strdup(text), *rest = copy, *name;
	int rc = copy ? 0 : vm_cli_no_memory();

	while (!rc && (name = strtok_r(rest, " ", &rest))) {
		const char *word = strtok_r(rest, " ", &rest);
		int slots;

		if (!word || !vm_option_digits(&slots, &word) || *word ||
		    slots < 1) {
			vm_cli_say("LSB_MCPU_HOSTS: '%s' is not understood, a "
				   "number of slots has to follow '%s'; use -H",
				   text, name);
			rc = -VMPI_EINVAL;
		} else {
			rc = hosts_add(&options->hosts, "LSB_MCPU_HOSTS", name,
				       slots);
		}
	}
	free(copy);
	return rc;
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
