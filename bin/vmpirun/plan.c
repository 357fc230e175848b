/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers that are not given follow from the others: hosts give nodes, slots
 * give ranks, and -n fills slots or, if it is more or --nodes says how many
 * hosts, is divided in proportion to them.  A block of ranks is a node process, or
 * as many processes as ranks: then it is planned as if hosts were nodes, and the
 * blocks are divided at the end.
 */
#include "plan.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "boot/place.h"
#include "report/cli.h"
#include "vmpi.h"

/* The number of cores this process may use; they need not be the first ones. */
static int cores_allowed(void)
{
	for (int cpus = CPU_SETSIZE; cpus <= 1 << 20; cpus *= 2) {
		size_t bytes = CPU_ALLOC_SIZE(cpus);
		cpu_set_t *set = CPU_ALLOC(cpus);
		int count = 0;

		if (!set)
			return 1;
		if (!sched_getaffinity(0, bytes, set))
			count = CPU_COUNT_S(bytes, set);
		CPU_FREE(set);
		if (count > 0)
			return count;
	}
	return 1;
}

static int launcher_choose(struct plan *plan, const struct options *options)
{
	const char *name = options->launcher ? options->launcher : "auto";
	bool automatic = !strcmp(name, "auto");
	bool remote = hosts_remote(&options->hosts);

	if (options->agent && !automatic && strcmp(name, "fork") != 0) {
		vm_cli_say(
			"--agent works only with --launcher fork, not with %s",
			name);
		return -VMPI_EINVAL;
	}
	if (!automatic && !strcmp(name, "fork") && remote && !options->agent) {
		vm_cli_say(
			"--launcher fork starts nodes on this host only; use "
			"ssh, srun, mpirun or hydra for other hosts");
		return -VMPI_EINVAL;
	}
	if (!strcmp(name, "fork") || (automatic && options->agent))
		return 0;
	plan->ssh = !strcmp(name, "ssh") ||
		    (automatic && remote && options->launcher_exec);
	if (plan->ssh)
		return 0;
	if (automatic && batch_slurm_nodes() > 1 &&
	    (!options->hosts.count || remote))
		name = "srun";
	else if (automatic && !remote)
		return 0;
	if (automatic && !engine_there() && engine_ssh_there()) {
		plan->ssh = true;
		return 0;
	}
	return engine_find(&plan->engine, &plan->program, name);
}

/* The hosts there are to choose from, or 0: this one. */
static int hosts_offered(const struct plan *plan, const struct options *options)
{
	int hosts = options->hosts.count;

	return plan->engine && !hosts ? batch_slurm_nodes() : hosts;
}

/* On this host --nodes is a number of processes, and that of the ranks. */
static int processes_check(const struct plan *plan, struct options *options)
{
	int ranks = options->job.ranks;

	if (!options->nodes || hosts_offered(plan, options))
		return 0;
	if (ranks && ranks != options->nodes) {
		vm_cli_say(
			"--nodes %d: each of the %d ranks of %s is a process (%s); "
			"omit --nodes",
			options->nodes, ranks, options->program[0],
			options->why);
		return -VMPI_EINVAL;
	}
	options->job.ranks = options->nodes;
	options->nodes = 0;
	return 0;
}

/* Whether -n takes as many slots as it needs; else it is divided among hosts. */
static bool slots_suffice(const struct options *options)
{
	return options->hosts.slots_given && options->job.ranks &&
	       options->job.ranks <= hosts_slots(&options->hosts) &&
	       !options->nodes && !options->ppn && !options->map.path;
}

/* The hosts that are needed if slots are filled one host after the other. */
static int hosts_filled(const struct options *options)
{
	int hosts = 0;

	for (int left = options->job.ranks; left > 0; hosts++)
		left -= options->hosts.list[hosts].slots;
	return hosts;
}

static int nodes_choose(struct plan *plan, const struct options *options)
{
	int hosts = options->hosts.count;
	int ranks = options->job.ranks;
	int most = hosts_offered(plan, options);

	if (!most && options->job.processes)
		most = 1;
	plan->nodes = options->nodes ? options->nodes : most ? most : 1;
	if (!options->nodes && !most && options->map.nodes)
		plan->nodes = options->map.nodes;
	if (hosts && plan->nodes > hosts) {
		vm_cli_say("--nodes %d: there are only %d hosts", plan->nodes,
			   hosts);
		return -VMPI_EINVAL;
	}
	if (options->ppn && ranks) {
		int needed = (ranks + options->ppn - 1) / options->ppn;

		if ((options->nodes || most) && needed > plan->nodes) {
			vm_cli_say(
				"-n %d: %d nodes with --ppn %d have room for %lld "
				"ranks",
				ranks, plan->nodes, options->ppn,
				(long long)plan->nodes * options->ppn);
			return -VMPI_EINVAL;
		}
		plan->nodes = needed;
	}
	if (slots_suffice(options) && !options->map.cyclic)
		plan->nodes = hosts_filled(options);
	/* Hosts are an offer, --nodes is an order. */
	if (ranks && plan->nodes > ranks && !options->nodes)
		plan->nodes = ranks;
	return 0;
}

static void ranks_choose(const struct plan *plan, struct options *options)
{
	int cores = cores_allowed();
	long ranks = plan->engine || plan->ssh ? (long)cores * plan->nodes :
						 cores;

	if (options->job.ranks)
		return;
	if (options->map.path)
		ranks = options->map.map.ranks;
	else if (options->ppn)
		ranks = (long)options->ppn * plan->nodes;
	else if (options->hosts.slots_given)
		ranks = hosts_slots(&options->hosts);
	if (ranks < plan->nodes)
		ranks = plan->nodes;
	if (ranks > VM_JOB_RANKS_MAX)
		ranks = VM_JOB_RANKS_MAX;
	options->job.ranks = (int)ranks;
}

/* The first rank of a node, in proportion to the slots of the hosts before it. */
static int slots_first(const struct options *options, int nodes, int node)
{
	int64_t before = 0, all = 0;

	for (int i = 0; i < nodes; i++) {
		all += options->hosts.list[i].slots;
		if (i < node)
			before += options->hosts.list[i].slots;
	}
	return (int)((before * options->job.ranks + all - 1) / all);
}

/* Counts the ranks of hosts that have slots for all: host by host, or each in
 * turn. */
static void slots_count(const struct options *options, int *counts, int nodes)
{
	int left = options->job.ranks;

	memset(counts, 0, (size_t)nodes * sizeof(*counts));
	while (left > 0)
		for (int i = 0; i < nodes && left > 0; i++) {
			int room = options->hosts.list[i].slots - counts[i];

			if (options->map.cyclic && room > 1)
				room = 1;
			if (room > left)
				room = left;
			counts[i] += room;
			left -= room;
		}
}

/* Numbers of ranks become the first rank of each. */
static void counts_add_up(int *counts, int nodes, int ranks)
{
	counts[nodes] = ranks;
	for (int i = nodes - 1; i >= 0; i--)
		counts[i] = counts[i + 1] - counts[i];
}

/* Writes the sizes of the blocks into the job, unless they are equal ones. */
static int blocks_give(const struct plan *plan, struct options *options)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream;
	int equal[2];
	bool same = true;

	for (int i = 0; i < plan->nodes; i++) {
		equal[0] = (int)(((int64_t)i * options->job.ranks +
				  plan->nodes - 1) /
				 plan->nodes);
		same &= plan->first[i] == equal[0];
	}
	if (same)
		return 0;
	stream = open_memstream(&text, &bytes);
	for (int i = 0; stream && i < plan->nodes; i++)
		fprintf(stream, "%s%d", i ? "," : "",
			plan->first[i + 1] - plan->first[i]);
	if (!stream || fclose(stream)) {
		return vm_cli_no_memory();
	}
	free(options->job.blocks);
	options->job.blocks = text;
	return 0;
}

/* The blocks are as large as the file of --map makes them. */
static int map_blocks(struct plan *plan, struct options *options)
{
	int ranks = options->job.ranks;
	int rc = map_count(&options->map, plan->first, plan->nodes, ranks);

	if (rc)
		return rc;
	counts_add_up(plan->first, plan->nodes, ranks);
	return blocks_give(plan, options);
}

/* Makes a process of each rank. */
static int blocks_divide(struct plan *plan, struct options *options)
{
	int ranks = options->job.ranks;

	plan->first = calloc((size_t)ranks + 1, sizeof(*plan->first));
	if (!plan->first) {
		return vm_cli_no_memory();
	}
	for (int i = 0; i <= ranks; i++)
		plan->first[i] = i;
	plan->nodes = options->job.nodes = ranks;
	return 0;
}

static int blocks_make(struct plan *plan, struct options *options)
{
	int ranks = options->job.ranks;
	bool suffice = slots_suffice(options);

	plan->first = calloc((size_t)plan->nodes + 1, sizeof(*plan->first));
	if (!plan->first) {
		return vm_cli_no_memory();
	}
	if (vm_place_fill(plan->first, plan->nodes, ranks, NULL)) {
		vm_cli_say(
			"%d ranks are too few for %d nodes: each has at least one",
			ranks, plan->nodes);
		return -VMPI_EINVAL;
	}
	if (options->map.path)
		return map_blocks(plan, options);
	if (suffice) {
		slots_count(options, plan->first, plan->nodes);
		counts_add_up(plan->first, plan->nodes, ranks);
	}
	for (int i = 0; i < plan->nodes; i++) {
		if (options->ppn)
			plan->first[i] = i * options->ppn;
		else if (options->hosts.slots_given && !suffice)
			plan->first[i] = slots_first(options, plan->nodes, i);
	}
	for (int i = 0; i < plan->nodes; i++) {
		if (plan->first[i] < plan->first[i + 1])
			continue;
		vm_cli_say("%d ranks are too few: host %s would get none",
			   ranks,
			   options->hosts.count ? options->hosts.list[i].name :
						  "");
		return -VMPI_EINVAL;
	}
	plan->hosts = plan->nodes;
	plan->blocks = plan->first;
	return options->job.processes ? blocks_divide(plan, options) :
					blocks_give(plan, options);
}

/* A process for each program, or for each rank of it. */
static int parts_plan(struct plan *plan, struct options *options)
{
	const struct parts *parts = &options->parts;
	int rank = 0;

	if (plan->engine || plan->ssh) {
		vm_cli_say("several programs run on this host only; --launcher "
			   "fork starts them here");
		return -VMPI_EINVAL;
	}
	plan->nodes = options->job.nodes = parts->count;
	plan->hosts = 1;
	plan->blocks = calloc(2, sizeof(*plan->blocks));
	if (!plan->blocks)
		return vm_cli_no_memory();
	plan->blocks[1] = options->job.ranks;
	if (options->job.processes)
		return blocks_divide(plan, options);
	plan->first = calloc((size_t)plan->nodes + 1, sizeof(*plan->first));
	if (!plan->first)
		return vm_cli_no_memory();
	for (int i = 0; i < parts->count; i++) {
		plan->first[i] = rank;
		rank += parts->list[i].ranks;
	}
	plan->first[plan->nodes] = rank;
	return blocks_give(plan, options);
}

int plan_make(struct plan *plan, struct options *options)
{
	int rc;

	*plan = (struct plan){ 0 };
	rc = batch_take(options);
	if (!rc)
		rc = launcher_choose(plan, options);
	if (!rc && options->parts.count > 1)
		return parts_plan(plan, options);
	if (!rc && options->job.processes)
		rc = processes_check(plan, options);
	if (!rc)
		rc = nodes_choose(plan, options);
	if (rc)
		return rc;
	ranks_choose(plan, options);
	options->job.nodes = plan->nodes;
	rc = blocks_make(plan, options);
	if (!rc)
		rc = map_give(&options->map, &options->job.map, plan->first,
			      plan->nodes);
	return rc;
}

const char *plan_host(const struct plan *plan, const struct options *options,
		      int number)
{
	static char own[256];
	int host = 0;

	while (host + 1 < plan->hosts &&
	       plan->blocks[host + 1] <= plan->first[number])
		host++;
	if (options->hosts.count)
		return options->hosts.list[host].name;
	if (!own[0] && gethostname(own, sizeof(own) - 1))
		snprintf(own, sizeof(own), "localhost");
	return own;
}

void plan_fini(struct plan *plan)
{
	free(plan->program);
	if (plan->blocks != plan->first)
		free(plan->blocks);
	free(plan->first);
}
