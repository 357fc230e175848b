/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that take options, and below them the table.
 */
#include "options_table.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "check.h"
#include "compat.h"
#include "exports.h"
#include "introspect/policy/policies.h"
#include "overlap.h"
#include "profile.h"
#include "report/option.h"
#include "trace.h"
#include "tune.h"
#include "vmpi.h"

#define SECONDS_MIN 0.0001
#define SECONDS_MAX 1e9

static int ranks_take(struct options *options, const char *text)
{
	text += text[0] == 'p'; /* -np4 */
	return vm_option_number(&options->job.ranks, "-n", text,
				"a number of ranks", 1, VM_JOB_RANKS_MAX);
}

/* The variable checks the upper limit. */
static int workers_take(struct options *options, const char *text)
{
	int workers;

	if (vm_option_number(&workers, "--workers", text, "a number of workers",
			     1, INT_MAX))
		return -VMPI_EINVAL;
	return vm_job_set_add(&options->job, "sched_workers", text);
}

/* The range is that of the variable; here only what is no size at all. */
static int stack_take(struct options *options, const char *text)
{
	int64_t bytes;

	if (vm_option_size(&bytes, "--stack", text, 0, INT64_MAX))
		return -VMPI_EINVAL;
	return vm_job_set_add(&options->job, "sched_stack_bytes", text);
}

static int set_take(struct options *options, const char *text)
{
	const char *equals = strchr(text, '=');
	char name[64];

	if (!equals || equals == text ||
	    (size_t)(equals - text) >= sizeof(name) || strchr(text, '\n'))
		return vm_option_refuse("--set", text,
					"NAME=VALUE is needed; vmpi_info lists "
					"the names");
	memcpy(name, text, (size_t)(equals - text));
	name[equals - text] = '\0';
	return vm_job_set_add(&options->job, name, equals + 1);
}

static int export_take(struct options *options, const char *text)
{
	return exports_add(&options->own, text);
}

static int exports_take(struct options *options, const char *text)
{
	return exports_add_list(&options->own, text);
}

static int general_take(struct options *options, const char *text)
{
	return exports_add(&options->exports, text);
}

static int general_list_take(struct options *options, const char *text)
{
	return exports_add_list(&options->exports, text);
}

static int libs_take(char **field, const char *option, const char *text)
{
	char *both;

	if (!text[0] || text[0] == ',' || strstr(text, ",,") ||
	    strpbrk(text, "/ ") || text[strlen(text) - 1] == ',')
		return vm_option_refuse(option, text,
					"names of libraries such as "
					"libone,libtwo are needed");
	if (!*field)
		return vm_job_text(field, text);
	if (asprintf(&both, "%s,%s", *field, text) < 0)
		return vm_cli_no_memory();
	free(*field);
	*field = both;
	return 0;
}

static int private_take(struct options *options, const char *text)
{
	return libs_take(&options->job.private, "--private", text);
}

static int shared_take(struct options *options, const char *text)
{
	return libs_take(&options->job.shared, "--shared", text);
}

static int wdir_take(struct options *options, const char *text)
{
	free(options->wdir);
	options->wdir = NULL;
	return vm_option_path(&options->wdir, "-wdir", text, "a directory");
}

VM_CLI_TEXT(path, path)

VM_CLI_TEXT(configfile, configfile)

static int stdin_take(struct options *options, const char *text)
{
	options->no_input = !strcmp(text, "none");
	if (options->no_input || !strcmp(text, "0"))
		return 0;
	return vm_option_refuse("--stdin", text,
				"0 or none is needed: only rank 0 reads");
}

static int file_take(char **field, const char *option, const char *text,
		     const char *what)
{
	char *path;
	int rc = check_not_program(option, text);

	if (!rc)
		rc = vm_option_path(&path, option, text, what);
	if (rc)
		return rc;
	rc = vm_job_text(field, path);
	free(path);
	return rc;
}

static int output_take(struct options *options, const char *text)
{
	if (compat_is_tag(text)) {
		options->job.label = true;
		return 0;
	}
	if (!strncmp(text, "dir=", 4))
		text += 4;
	return file_take(&options->job.output_dir, "--output", text,
			 "a directory");
}

#define LEARN_FILE "vmpi.map"

static int balance_take(struct options *options, const char *text)
{
	if (!strcmp(text, "auto") || !strcmp(text, "off") ||
	    !strcmp(text, "force")) {
		options->balanced = strcmp(text, "off") != 0;
		return vm_job_set_add(&options->job, "core_balance", text);
	}
	if (!strcmp(text, "learn"))
		text = "learn=" LEARN_FILE;
	if (!strncmp(text, "learn=", 6) && text[6])
		return file_take(&options->job.learn, "--balance=learn",
				 text + 6, "a file");
	return vm_option_refuse("--balance", text,
				"off, auto, force, learn or learn=FILE is "
				"needed");
}

int options_seconds_take(struct options *options, const char *option,
			 const char *text)
{
	double seconds;

	if (vm_option_seconds(&seconds, option, text, SECONDS_MIN, SECONDS_MAX))
		return -VMPI_EINVAL;
	options->timeout_ns = (uint64_t)ceil(seconds * 1e9);
	options->timeout_text = text;
	return 0;
}

static int timeout_take(struct options *options, const char *text)
{
	return options_seconds_take(options, "--timeout", text);
}

static int deadlock_take(struct options *options, const char *text)
{
	if (strcmp(text, "end") && strcmp(text, "report") &&
	    strcmp(text, "off"))
		return vm_option_refuse("--deadlock", text,
					"report, end or off is needed");
	return vm_job_set_add(&options->job, "core_deadlock", text);
}

static int nodes_take(struct options *options, const char *text)
{
	return vm_option_number(&options->nodes, "--nodes", text,
				"a number of nodes", 1, VM_JOB_RANKS_MAX);
}

static int ppn_take(struct options *options, const char *text)
{
	return vm_option_number(&options->ppn, "--ppn", text,
				"a number of ranks per node", 1,
				VM_JOB_RANKS_MAX);
}

static int pernode_take(struct options *options, const char *text)
{
	options->ppn = 1;
	return 0;
}

static int iface_take(struct options *options, const char *text)
{
	return vm_job_set_add(&options->job, "fabric_interface", text);
}

static int hosts_take(struct options *options, const char *text)
{
	return hosts_add_list(&options->hosts, text);
}

static int hostfile_take(struct options *options, const char *text)
{
	return hosts_add_file(&options->hosts, text);
}

static int place_take(struct options *options, const char *text)
{
	return map_take_word(&options->map, text);
}

VM_CLI_TEXT(launcher, launcher)

VM_CLI_TEXT(agent, agent)

VM_CLI_TEXT(launcher_exec, launcher_exec)
VM_CLI_FLAG(everything, everything)
VM_CLI_FLAG(quiet, quiet)

/* The variable travels with the job; vmpirun cleans up. */
static int control_take(struct options *options, const char *text)
{
	options->control = true;
	return vm_job_set_add(&options->job, "core_control", "1");
}

VM_CLI_FLAG(processes, processes)
VM_CLI_FLAG(verbose, verbose)
VM_CLI_FLAG(label, job.label)
VM_CLI_FLAG(summary, job.summary)
VM_CLI_FLAG(advise, job.advise)
VM_CLI_FLAG(bindings, job.report_bindings)
VM_CLI_FLAG(map, job.display_map)
VM_CLI_FLAG(merge, merge)
VM_CLI_FLAG(dry_run, dry_run)
VM_CLI_FLAG(gdb, gdb)

/* Without a word: processes. */
static int keep_going_take(struct options *options, const char *text)
{
	if (text && strcmp(text, "ranks") != 0 &&
	    strcmp(text, "processes") != 0) {
		vm_cli_say("--keep-going=%s: may be processes or ranks", text);
		return -VMPI_EINVAL;
	}
	options->job.keep_going = true;
	options->job.apart = text && !strcmp(text, "ranks");
	return 0;
}

/* Accepts, without effect, options that other launchers need: they always apply
 * here. */
static int accept_take(struct options *options, const char *text)
{
	return 0;
}

#define ALIAS (OPTION_ALIAS | OPTION_HIDDEN)

const struct vm_cli_row option_rows[] = {
	{ 0, 0, 0, 0, "Job:", 1, 0 },
	{ "np", 'n', "N", 0, "Start N ranks (default: one per allowed core)", 1,
	  ranks_take },
	{ "n", 0, 0, ALIAS, 0, 1, 0 },
	{ "c", 0, 0, ALIAS, 0, 1, 0 },
	{ "ntasks", 0, 0, ALIAS, 0, 1, 0 },
	{ "nprocs", 0, 0, ALIAS, 0, 1, 0 },
	{ "nproc", 0, 0, ALIAS, 0, 1, 0 },
	{ "numprocs", 0, 0, ALIAS, 0, 1, 0 },
	{ "workers", 0, "N", 0,
	  "Run them on N worker threads (default: one per allowed core)", 1,
	  workers_take },
	{ "stack", 0, "SIZE", 0,
	  "Stack of each rank, such as 256K; the same as --set "
	  "sched_stack_bytes=SIZE",
	  1, stack_take },
	{ "set", 0, "NAME=VALUE", 0,
	  "Set a variable of vmpi-variables(7); may be repeated", 1, set_take },
	{ "x", 'x', "VAR[=VALUE]", 0,
	  "Set an environment variable; may be repeated", 1, export_take },
	{ "env", 0, "VAR VALUE", 0, "The same as -x VAR=VALUE", 1,
	  export_take },
	{ "envlist", 0, "NAMES", 0,
	  "The same as -x for each of these variables that there is", 1,
	  exports_take },
	{ "genv", 0, "VAR VALUE", 0,
	  "The same as -env, for all programs if there are several", 1,
	  general_take },
	{ "genvlist", 0, "NAMES", 0,
	  "The same as -envlist, for all programs if there are several", 1,
	  general_list_take },
	{ "wdir", 0, "DIR", 0, "Run in directory DIR", 1, wdir_take },
	{ "wd", 0, 0, ALIAS, 0, 1, 0 },
	{ "path", 0, "DIRS", 0,
	  "Look for PROGRAM in these directories, separated by colons, and "
	  "then in $PATH",
	  1, path_take },
	{ "configfile", 0, "FILE", 0,
	  "Run the programs on the lines of FILE, such as: -n 2 PROGRAM ARG", 1,
	  configfile_take },
	{ "stdin", 0, "WHO", 0,
	  "Who reads standard input: 0 (rank 0, the default) or none", 1,
	  stdin_take },
	{ "s", 0, 0, ALIAS, 0, 1, 0 },
	{ "private", 0, "LIBS", 0,
	  "Give each rank its own copy of these shared libraries, such as "
	  "libone,libtwo",
	  1, private_take },
	{ "shared", 0, "LIBS", 0,
	  "Let ranks share these libraries (default: only those of the "
	  "system that do not call MPI)",
	  1, shared_take },
	{ "processes", 0, 0, 0, "Make each rank a process of its own", 1,
	  processes_take },
	{ "timeout", 0, "SECONDS", 0,
	  "End the job after this time with exit code 124 (default: "
	  "$MPIEXEC_TIMEOUT)",
	  1, timeout_take },
	{ "deadlock", 0, "HOW", 0,
	  "When all ranks wait and nothing can wake them, report that and end "
	  "the job with exit code 86 (end, the default), only report it "
	  "(report), or do not look (off)",
	  1, deadlock_take },
	{ 0, 0, 0, 0, "Output:", 2, 0 },
	{ "label", 'l', 0, 0, "Begin each line of output with its rank", 2,
	  label_take },
	{ "prepend-rank", 0, 0, ALIAS, 0, 2, 0 },
	{ "tag-output", 0, 0, ALIAS, 0, 2, 0 },
	{ "output", 0, "DIR", 0,
	  "Write the output of each rank to DIR/rank.N.out and DIR/rank.N.err",
	  2, output_take },
	{ "output-filename", 0, 0, ALIAS, 0, 2, 0 },
	{ "merge-stderr-to-stdout", 0, 0, 0,
	  "Write to standard output what goes to standard error, as 2>&1 does",
	  2, merge_take },
	{ "summary", 0, 0, 0, "Print times, messages, efficiencies at the end",
	  2, summary_take },
	{ "advise", 0, 0, 0,
	  "Print suggestions at the end, each with the counts "
	  "behind it and the option to use",
	  2, advise_take },
	{ "overlap", 0, "DIR", OPTION_ARG_OPTIONAL,
	  "Measure how much of the data transfer time was "
	  "overlapped with computation; write reports to DIR "
	  "(default: vmpi-overlap)",
	  2, overlap_take },
	{ "control", 0, 0, 0,
	  "Allow vmpitop and vmpistat to set variables while the "
	  "job runs",
	  2, control_take },
	{ "profile", 0, "NAMES", OPTION_ARG_OPTIONAL,
	  "Print a profile at the end: time and counters by "
	  "function and section; NAMES are counters or patterns "
	  "with * and ?, separated by commas (default: the usual "
	  "ones)",
	  2, profile_take },
	{ "profile-json", 0, "FILE", 0,
	  "Write the profile to FILE too, as JSON", 2, profile_json_take },
	{ "trace", 0, "FILE", 0,
	  "Record what ranks and workers do and write it to FILE, "
	  "for Perfetto; as JSON if its name ends in .json",
	  2, trace_take },
	{ "report-bindings", 0, 0, 0, "Print the core of each worker", 2,
	  bindings_take },
	{ "verbose", 'v', 0, 0, "Say whether each rank is a process, and why",
	  2, verbose_take },
	{ "display-map", 0, 0, 0, "Print the ranks of each worker", 2,
	  map_take },
	{ "print-rank-map", 0, 0, ALIAS, 0, 2, 0 },
	{ "display", 0, "WHAT", 0,
	  "map: --display-map, bindings: --report-bindings", 2,
	  compat_display },
	{ "gdb", 0, 0, 0,
	  "Start the job in gdb, which then knows the commands info ranks, "
	  "rank and rank apply; see vmpi-tools(7)",
	  2, gdb_take },
	{ "dry-run", 0, 0, 0, "Print the command instead of running it", 2,
	  dry_run_take },
	{ "do-not-launch", 0, 0, ALIAS, 0, 2, 0 },
	{ 0, 0, 0, 0, "Tuning:", 6, 0 },
	{ "tune", 0, "LIST", 0,
	  "Let built-in policies set variables while the job runs: "
	  "all, or a list such as eager,pool; see vmpi-tuning(7)",
	  6, tune_take },
	{ "policy", 0, "FILE[=ARGUMENT]", 0,
	  "Load a policy from a shared object (vmpi_policy.h); may "
	  "be repeated",
	  6, policy_take },
	{ "tune-log", 0, 0, 0, "Print a line for each decision of a policy", 6,
	  tune_log_take },
	{ 0, 0, 0, 0, "Nodes:", 3, 0 },
	{ "nodes", 'N', "N", 0,
	  "Run the ranks in N processes: on N hosts, several on each if "
	  "there are fewer, or all on this host",
	  3, nodes_take },
	{ "fake-nodes", 0, 0, ALIAS, 0, 3, 0 },
	{ "ppn", 0, "N", 0, "Run N ranks on each node", 3, ppn_take },
	{ "ranks-per-node", 0, 0, ALIAS, 0, 3, 0 },
	{ "npernode", 0, 0, ALIAS, 0, 3, 0 },
	{ "perhost", 0, 0, ALIAS, 0, 3, 0 },
	{ "ntasks-per-node", 0, 0, ALIAS, 0, 3, 0 },
	{ "grr", 0, 0, ALIAS, 0, 3, 0 },
	{ "pernode", 0, 0, 0, "The same as --ppn 1", 3, pernode_take },
	{ "hosts", 'H', "LIST", 0,
	  "Use these hosts, such as a:4,b (optionally with numbers "
	  "of ranks)",
	  3, hosts_take },
	{ "host", 0, 0, ALIAS, 0, 3, 0 },
	{ "hostfile", 'f', "FILE", 0,
	  "Use the hosts in FILE, one per line, such as: a slots=4", 3,
	  hostfile_take },
	{ "machinefile", 0, 0, ALIAS, 0, 3, 0 },
	{ "default-hostfile", 0, 0, ALIAS, 0, 3, 0 },
	{ "iface", 0, "NAME", 0,
	  "Use this network interface; the same as --set "
	  "fabric_interface=NAME",
	  3, iface_take },
	{ "map", 0, "HOW", 0,
	  "Place the ranks: block (consecutive ranks together, the "
	  "default), cyclic, or a file with lines such as: 0-3 0:1",
	  3, place_take },
	{ "map-by", 0, "WHAT", 0,
	  "slot: block; node: cyclic over hosts; ppr:N:node: the same as --ppn "
	  "N",
	  3, compat_map_by },
	{ "bynode", 0, 0, 0, "The same as --map-by node", 3, compat_by_node },
	{ "rr", 0, 0, ALIAS, 0, 3, 0 },
	{ "rank-by", 0, "WHAT", 0, "slot, as it always is", 3, compat_rank_by },
	{ "bind-to", 0, "WHAT", 0,
	  "core: bind workers to cores, as they are; none: do not", 3,
	  compat_bind_to },
	{ "cpu-bind", 0, 0, ALIAS, 0, 3, 0 },
	{ "cpu-set", 0, "LIST", 0, "No effect; see --workers", 3,
	  compat_cpu_set },
	{ "cpu-list", 0, 0, ALIAS, 0, 3, 0 },
	{ "balance", 0, "HOW", 0,
	  "Move ranks to less busy workers: off (the default), "
	  "auto, force; or learn[=FILE]: write a file for --map",
	  3, balance_take },
	{ "launcher", 0, "NAME", 0,
	  "Start the nodes with auto, fork (vmpirun itself), ssh, srun, "
	  "mpirun or hydra",
	  3, launcher_take },
	{ "launcher-exec", 0, "COMMAND", 0,
	  "Use COMMAND in place of ssh; it gets the host and a command", 3,
	  launcher_exec_take },
	{ "bootstrap-exec", 0, 0, ALIAS, 0, 3, 0 },
	{ "bootstrap", 0, "NAME", 0,
	  "ssh, fork or slurm: --launcher ssh, fork or srun", 3,
	  compat_bootstrap },
	{ "envall", 0, 0, 0,
	  "With --launcher ssh: pass all environment variables on", 3,
	  everything_take },
	{ "genvall", 0, 0, ALIAS, 0, 3, 0 },
	{ "mca", 0, "NAME VALUE", 0,
	  "A variable of Open MPI: plm_rsh_agent is --launcher-exec, the others "
	  "have no effect",
	  3, compat_mca },
	{ "gmca", 0, 0, ALIAS, 0, 3, 0 },
	{ "omca", 0, 0, ALIAS, 0, 3, 0 },
	{ "pmixmca", 0, 0, ALIAS, 0, 3, 0 },
	{ "prtemca", 0, 0, ALIAS, 0, 3, 0 },
	{ "agent", 0, "COMMAND", 0,
	  "Run each node process under COMMAND, in which %h is the "
	  "host and %n the number of the node",
	  3, agent_take },
	{ "keep-going", 0, "WHAT", OPTION_ARG_OPTIONAL,
	  "Let the other nodes continue when one dies; WHAT=ranks: and the "
	  "other ranks of its process when a rank fails",
	  3, keep_going_take },
	{ "disable-auto-cleanup", 0, 0, ALIAS, 0, 3, 0 },
	{ "enable-recovery", 0, 0, ALIAS, 0, 3, 0 },
	{ 0, 0, 0, 0,
	  "Of other launchers (those without effect are named in one line):", 4,
	  0 },
	{ "allow-run-as-root", 0, 0, 0, "Always allowed", 4, accept_take },
	{ "oversubscribe", 0, 0, 0, "Always allowed", 4, accept_take },
	{ "bind-to-core", 0, 0, 0, "As it always is", 4, accept_take },
	{ "byslot", 0, 0, 0, "As it always is", 4, accept_take },
	{ "bycore", 0, 0, ALIAS, 0, 4, 0 },
	{ "ppr", 0, "N:node", 0, "The same as --map-by ppr:N:node", 4,
	  compat_ppr },
	{ "with-ft", 0, "KIND", 0,
	  "ulfm: the same as --keep-going=ranks; none: as it always is", 4,
	  compat_with_ft },
	{ "quiet", 'q', 0, 0,
	  "Do not say which options of other launchers have no effect", 2,
	  quiet_take },
	{ 0, 0, 0, 0, "Help:", -1, 0 },
	{ "help", '?', 0, 0, "Print this text", -1, vm_cli_help },
	{ "version", 'V', 0, 0, "Print the version", -1, vm_cli_version },
	{ "h", 'h', 0, OPTION_HIDDEN, 0, 5, vm_cli_help },
};

const size_t option_row_count = sizeof(option_rows) / sizeof(option_rows[0]);

const struct vm_cli_words option_words[] = {
	{ "deadlock", "report end off" },
	{ "map", "block cyclic" },
	{ "balance", "off auto force learn" },
	{ "keep-going", "processes ranks" },
	{ "launcher", "auto fork ssh srun mpirun hydra" },
	{ "tune", "all " VM_POLICIES_BUILTIN },
	{ 0 },
};
