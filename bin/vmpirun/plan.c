/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers that are not given follow from the others: hosts give nodes, slots
 * give ranks, and -n fills slots or, if it is more or --nodes says how many
 * hosts, is divided in proportion to them.  It is planned as if each host were a
 * node; where there are several on each, or each rank is a process, the hosts'
 * blocks of ranks are divided at the end.
 */
#include "plan.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "boot/place.h"
#include "host_name.h"
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
	/* A filter of system calls may refuse to say which. */
	return sysconf(_SC_NPROCESSORS_ONLN) > 0 ?
		       (int)sysconf(_SC_NPROCESSORS_ONLN) :
		       1;
}

/* Other launchers write a number of processes behind an address. */
static int names_check(const struct plan *plan, const struct options *options)
{
	for (int i = 0; plan->engine && i < options->hosts.count; i++) {
		const char *name = options->hosts.list[i].name;

		if (!host_name_is_ipv6(name))
			continue;
		vm_cli_say(
			"--hosts: '%s': %s takes names or addresses of IPv4; "
			"--launcher ssh takes this one",
			name, engine_name(plan->engine));
		return -VMPI_EINVAL;
	}
	return 0;
}

static int launcher_choose(struct plan *plan, const struct options *options)
{
	const char *name = options->launcher ? options->launcher : "auto";
	bool automatic = !strcmp(name, "auto");
	bool remote = hosts_remote(&options->hosts);
	int rc;

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
	rc = engine_find(&plan->engine, &plan->program, name);
	plan->ssh = !rc && !plan->engine;
	return rc ? rc : names_check(plan, options);
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

/* More nodes than hosts: as many on each. */
static int hosts_share(struct plan *plan, const struct options *options,
		       int hosts)
{
	bool may_share = !options->job.processes && !options->map.path;

	plan->per_host = 1;
	if (!hosts || plan->nodes <= hosts)
		return 0;
	if (!may_share || plan->nodes % hosts) {
		vm_cli_say("--nodes %d: there are only %d hosts%s", plan->nodes,
			   hosts,
			   may_share ? ", with as many nodes on each" : "");
		return -VMPI_EINVAL;
	}
	plan->per_host = plan->nodes / hosts;
	plan->nodes = hosts;
	return 0;
}

static int nodes_choose(struct plan *plan, const struct options *options)
{
	int ranks = options->job.ranks;
	int most = hosts_offered(plan, options);

	if (!most && options->job.processes)
		most = 1;
	plan->nodes = options->nodes ? options->nodes : most ? most : 1;
	if (!options->nodes && !most && options->map.nodes)
		plan->nodes = options->map.nodes;
	if (hosts_share(plan, options, most))
		return -VMPI_EINVAL;
	if (options->ppn && ranks) {
		int64_t room = (int64_t)options->ppn * plan->per_host;
		int needed = (int)((ranks + room - 1) / room);

		if ((options->nodes || most) && needed > plan->nodes) {
			vm_cli_say(
				"-n %d: %d nodes with --ppn %d have room for %lld "
				"ranks",
				ranks, plan->nodes * plan->per_host,
				options->ppn, (long long)(plan->nodes * room));
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
	int nodes = plan->nodes * plan->per_host;
	long ranks = plan->engine || plan->ssh ? (long)cores * plan->nodes :
						 cores;

	if (options->job.ranks)
		return;
	if (options->map.path)
		ranks = options->map.map.ranks;
	else if (options->ppn)
		ranks = (long)options->ppn * nodes;
	else if (options->hosts.slots_given)
		ranks = hosts_slots(&options->hosts);
	if (ranks < nodes)
		ranks = nodes;
	if (ranks > VM_JOB_RANKS_MAX)
		ranks = VM_JOB_RANKS_MAX;
	options->job.ranks = (int)ranks;
}

/* The first rank of a host whose nodes have --ppn ranks each. */
static int ppn_first(const struct plan *plan, const struct options *options,
		     int host)
{
	int64_t before = (int64_t)host * plan->per_host;

	return before * options->ppn < options->job.ranks ?
		       (int)before * options->ppn :
		       options->job.ranks;
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

/* The ranks of the first `parts` of `all` equal parts, the larger ones first. */
static int share(int ranks, int all, int parts)
{
	return (int)(((int64_t)parts * ranks + all - 1) / all);
}

/* Writes the sizes of the blocks into the job, unless they are equal ones. */
static int blocks_give(const struct plan *plan, struct options *options)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream;
	bool same = true;

	for (int i = 0; i < plan->nodes; i++)
		same &= plan->first[i] ==
			share(options->job.ranks, plan->nodes, i);
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

	if (!rc)
		counts_add_up(plan->first, plan->nodes, ranks);
	return rc;
}

/* The host of process i: the next with room, from that of the one before on, or
 * from the one behind it. */
static int host_next(const struct plan *plan, const struct options *options,
		     const int *room, int i)
{
	int host = i ? plan->host[i - 1] : 0;

	if (i && options->map.cyclic)
		host = (host + 1) % plan->hosts;
	while (plan->on[host] == room[host])
		host = (host + 1) % plan->hosts;
	return host;
}

/* How many processes each host gets. */
static int rooms_make(const struct plan *plan, const struct options *options,
		      int *room)
{
	for (int i = 0; i < plan->hosts; i++) {
		int ranks = plan->first[i + 1] - plan->first[i];

		room[i] = options->job.processes ? ranks : plan->per_host;
		if (room[i] <= ranks)
			continue;
		vm_cli_say("%d ranks are too few: host %s would get %d for "
			   "%d nodes",
			   options->job.ranks,
			   options->hosts.count ? options->hosts.list[i].name :
						  "",
			   ranks, room[i]);
		return -VMPI_EINVAL;
	}
	return 0;
}

/* Makes processes of the hosts' blocks, which are divided evenly. */
static void blocks_divide(struct plan *plan, const struct options *options,
			  const int *room, int *first)
{
	for (int i = 0; i < plan->nodes; i++) {
		int at = host_next(plan, options, room, i);
		int ranks = plan->first[at + 1] - plan->first[at];
		int number = plan->on[at]++;

		plan->host[i] = at;
		plan->mixed |= i && at < plan->host[i - 1];
		first[i + 1] = first[i] + share(ranks, room[at], number + 1) -
			       share(ranks, room[at], number);
	}
}

static int processes_make(struct plan *plan, struct options *options)
{
	int nodes = options->job.processes ? options->job.ranks :
					     plan->nodes * plan->per_host;
	int *first = calloc((size_t)nodes + 1, sizeof(*first));
	int *room = calloc((size_t)plan->nodes, sizeof(*room));
	int rc;

	plan->hosts = plan->nodes;
	plan->host = calloc((size_t)nodes, sizeof(*plan->host));
	plan->on = calloc((size_t)plan->hosts, sizeof(*plan->on));
	rc = first && room && plan->host && plan->on ?
		     rooms_make(plan, options, room) :
		     vm_cli_no_memory();
	if (rc) {
		free(first);
	} else {
		plan->nodes = options->job.nodes = nodes;
		blocks_divide(plan, options, room, first);
		free(plan->first);
		plan->first = first;
	}
	free(room);
	return rc;
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
	if (options->map.path && map_blocks(plan, options))
		return -VMPI_EINVAL;
	if (suffice) {
		slots_count(options, plan->first, plan->nodes);
		counts_add_up(plan->first, plan->nodes, ranks);
	}
	for (int i = 0; i < plan->nodes; i++) {
		if (options->ppn)
			plan->first[i] = ppn_first(plan, options, i);
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
	return 0;
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
	plan->nodes = options->job.processes ? options->job.ranks :
					       parts->count;
	options->job.nodes = plan->nodes;
	plan->hosts = 1;
	plan->first = calloc((size_t)plan->nodes + 1, sizeof(*plan->first));
	plan->host = calloc((size_t)plan->nodes, sizeof(*plan->host));
	plan->on = calloc(1, sizeof(*plan->on));
	if (!plan->first || !plan->host || !plan->on)
		return vm_cli_no_memory();
	plan->on[0] = plan->nodes;
	for (int i = 0; i < plan->nodes; i++) {
		plan->first[i] = rank;
		rank += options->job.processes ? 1 : parts->list[i].ranks;
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
		rc = processes_make(plan, options);
	if (!rc)
		rc = blocks_give(plan, options);
	/* Each process has one rank then. */
	if (!rc && !options->job.processes)
		rc = map_give(&options->map, &options->job.map, plan->first,
			      plan->nodes);
	return rc;
}

const char *plan_host(const struct plan *plan, const struct options *options,
		      int number)
{
	static char own[256];

	if (options->hosts.count)
		return options->hosts.list[plan->host[number]].name;
	if (!own[0] && gethostname(own, sizeof(own) - 1))
		snprintf(own, sizeof(own), "localhost");
	return own;
}

void plan_fini(struct plan *plan)
{
	free(plan->program);
	free(plan->host);
	free(plan->on);
	free(plan->first);
}
