/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of options and the functions that take them.  argp reads the words
 * and prints the help; what it says about mistakes is for people who type
 * slowly, so it is kept quiet and mistake_say() finds the words.
 */
#include "options.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "introspect/nearest.h"
#include "overlap.h"
#include "profile.h"
#include "say.h"
#include "trace.h"
#include "tune.h"
#include "vmpi.h"

#define SECONDS_MAX 1e9

static const char program_doc[] =
	"Run PROGRAM as N ranks, which are user-level threads of one process "
	"per node; or, if it was not linked by vmpicc, processes."
	"\vLong options may also begin with one dash: -np 4, -wdir DIR.  "
	"vmpirun(1) describes signals and exit codes.";

/* Result: 0, or -VMPI_E... after one line. */
typedef int (*take_fn)(struct options *options, const char *text);

struct row {
	const char *name; /* long name */
	int letter;	  /* short name, or 0 */
	const char *value;
	int flags; /* of argp; an OPTION_ALIAS is taken as the row before */
	const char *doc;
	int group;
	take_fn take;
};

/* The number text consists of, or 0 for what is none; at most 9 digits. */
static int count_of(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits > 9 || text[digits] ? 0 : (int)strtol(text, NULL, 10);
}

static int ranks_take(struct options *options, const char *text)
{
	int ranks = count_of(text);

	if (ranks < 1 || ranks > VM_JOB_RANKS_MAX) {
		say("-n %s: a number of ranks from 1 to %d is needed", text,
		    VM_JOB_RANKS_MAX);
		return -VMPI_EINVAL;
	}
	options->job.ranks = ranks;
	return 0;
}

/* How many are too many, the variable knows. */
static int workers_take(struct options *options, const char *text)
{
	if (count_of(text) < 1) {
		say("--workers %s: a number of workers, at least 1, is needed",
		    text);
		return -VMPI_EINVAL;
	}
	return vm_job_set_add(&options->job, "sched_workers", text);
}

/* The range is that of the variable; here only what is no size at all. */
static int stack_take(struct options *options, const char *text)
{
	const char *unit = text + strspn(text, "0123456789");

	if (unit == text || strspn(unit, "kKmMgGtTiB") != strlen(unit)) {
		say("--stack %s: a size is needed, such as 65536, 256K or 1M",
		    text);
		return -VMPI_EINVAL;
	}
	return vm_job_set_add(&options->job, "sched_stack_bytes", text);
}

static int set_take(struct options *options, const char *text)
{
	const char *equals = strchr(text, '=');
	char name[64];

	if (!equals || equals == text ||
	    (size_t)(equals - text) >= sizeof(name) || strchr(text, '\n')) {
		say("--set %s: NAME=VALUE is needed; vmpi_info lists the names",
		    text);
		return -VMPI_EINVAL;
	}
	memcpy(name, text, (size_t)(equals - text));
	name[equals - text] = '\0';
	return vm_job_set_add(&options->job, name, equals + 1);
}

static int export_take(struct options *options, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!text[0] || equals == text) {
		say("-x %s: VAR or VAR=VALUE is needed", text);
		return -VMPI_EINVAL;
	}
	if (!strncmp(text, VM_JOB_PREFIX, strlen(VM_JOB_PREFIX))) {
		say("-x %s: names with " VM_JOB_PREFIX
		    " belong to vmpirun; use "
		    "its options",
		    text);
		return -VMPI_EINVAL;
	}
	/* One host: what is in the environment gets there by itself. */
	if (equals)
		options->exports[options->export_count++] = text;
	else if (!getenv(text))
		say("-x %s: there is no such variable in the environment",
		    text);
	return 0;
}

static int wdir_take(struct options *options, const char *text)
{
	options->wdir = text;
	return 0;
}

/* A path relative to where vmpirun was called, as the shell completes it. */
static int path_take(char **field, const char *option, const char *text)
{
	char *here, *path = NULL;
	int rc;

	if (text[0] == '/')
		return vm_job_text(field, text);
	here = getcwd(NULL, 0);
	if (!here || asprintf(&path, "%s/%s", here, text) < 0) {
		say("%s %s: %s", option, text, strerror(errno));
		free(here);
		return -VMPI_EIO;
	}
	rc = vm_job_text(field, path);
	free(path);
	free(here);
	return rc;
}

static int output_take(struct options *options, const char *text)
{
	if (!text[0]) {
		say("--output: the name of a directory is needed");
		return -VMPI_EINVAL;
	}
	return path_take(&options->job.output_dir, "--output", text);
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
		return path_take(&options->job.learn, "--balance=learn",
				 text + 6);
	say("--balance %s: off, auto, force, learn or learn=FILE is needed",
	    text);
	return -VMPI_EINVAL;
}

static int seconds_take(struct options *options, const char *option,
			const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	/* Not NaN, infinity, hexadecimal, or leading blanks. */
	if (strspn(text, "0123456789.") != strlen(text) || end == text ||
	    *end || !(seconds > 0) || seconds > SECONDS_MAX) {
		say("%s%s: a number of seconds above 0 is needed, such as 90 "
		    "or 0.5",
		    option, text);
		return -VMPI_EINVAL;
	}
	options->timeout_ns = (uint64_t)ceil(seconds * 1e9);
	options->timeout_text = text;
	return 0;
}

static int timeout_take(struct options *options, const char *text)
{
	return seconds_take(options, "--timeout ", text);
}

static int nodes_take(struct options *options, const char *text)
{
	options->nodes = count_of(text);
	if (options->nodes >= 1 && options->nodes <= VM_JOB_RANKS_MAX)
		return 0;
	say("--nodes %s: a number of nodes, at least 1, is needed", text);
	return -VMPI_EINVAL;
}

static int ppn_take(struct options *options, const char *text)
{
	options->ppn = count_of(text);
	if (options->ppn >= 1 && options->ppn <= VM_JOB_RANKS_MAX)
		return 0;
	say("--ppn %s: a number of ranks per node, at least 1, is needed",
	    text);
	return -VMPI_EINVAL;
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

static int launcher_take(struct options *options, const char *text)
{
	options->launcher = text;
	return 0;
}

static int agent_take(struct options *options, const char *text)
{
	options->agent = text;
	return 0;
}

#define FLAG_TAKE(name, field)                                            \
	static int name##_take(struct options *options, const char *text) \
	{                                                                 \
		options->field = true;                                    \
		return 0;                                                 \
	}

/* The variable travels with the job; vmpirun cleans up. */
static int control_take(struct options *options, const char *text)
{
	options->control = true;
	return vm_job_set_add(&options->job, "core_control", "1");
}

FLAG_TAKE(label, job.label)
FLAG_TAKE(summary, job.summary)
FLAG_TAKE(advise, job.advise)
FLAG_TAKE(bindings, job.report_bindings)
FLAG_TAKE(map, job.display_map)
FLAG_TAKE(dry_run, dry_run)
FLAG_TAKE(keep_going, keep_going)

/* What other launchers must be told is always so here. */
static int accept_take(struct options *options, const char *text)
{
	return 0;
}

static int version_take(struct options *options, const char *text)
{
	printf("vmpirun (vmpi) %s\n", vmpi_version());
	exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
}

static int help_take(struct options *options, const char *text);

#define ALIAS (OPTION_ALIAS | OPTION_HIDDEN)

static const struct row rows[] = {
	{ 0, 0, 0, 0, "The job:", 1, 0 },
	{ "np", 'n', "N", 0, "Start N ranks (default: one per allowed core)", 1,
	  ranks_take },
	{ "n", 0, 0, ALIAS, 0, 1, 0 },
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
	{ "wdir", 0, "DIR", 0, "Run in directory DIR", 1, wdir_take },
	{ "wd", 0, 0, ALIAS, 0, 1, 0 },
	{ "timeout", 0, "SECONDS", 0,
	  "End the job after this time with exit code 124 (default: "
	  "$MPIEXEC_TIMEOUT)",
	  1, timeout_take },
	{ 0, 0, 0, 0, "Output:", 2, 0 },
	{ "label", 'l', 0, 0, "Begin each line of output with its rank", 2,
	  label_take },
	{ "prepend-rank", 0, 0, ALIAS, 0, 2, 0 },
	{ "tag-output", 0, 0, ALIAS, 0, 2, 0 },
	{ "output", 0, "DIR", 0,
	  "Write the output of each rank to DIR/rank.N.out and DIR/rank.N.err",
	  2, output_take },
	{ "summary", 0, 0, 0, "Print a table of times and messages at the end",
	  2, summary_take },
	{ "advise", 0, 0, 0,
	  "Print at the end what would make the program faster, and why", 2,
	  advise_take },
	{ "overlap", 0, "DIR", OPTION_ARG_OPTIONAL,
	  "Measure how much of the messages' transfers was overlapped with "
	  "computing; reports go to DIR (default: vmpi-overlap)",
	  2, overlap_take },
	{ "control", 0, 0, 0,
	  "Take settings while the job runs, from vmpitop and vmpistat", 2,
	  control_take },
	{ "profile", 0, "NAMES", OPTION_ARG_OPTIONAL,
	  "Print at the end how much time passed and how much counters grew in "
	  "each function and section; NAMES of counters, with commas between "
	  "and * and ? for several (default: the usual ones)",
	  2, profile_take },
	{ "profile-json", 0, "FILE", 0, "Write the profile to FILE too", 2,
	  profile_json_take },
	{ "trace", 0, "FILE", 0,
	  "Record what ranks and workers do, and write it to FILE for Perfetto "
	  "or chrome://tracing",
	  2, trace_take },
	{ "report-bindings", 0, 0, 0, "Print the core of each worker", 2,
	  bindings_take },
	{ "display-map", 0, 0, 0, "Print the ranks of each worker", 2,
	  map_take },
	{ "dry-run", 0, 0, 0,
	  "Print the command that would be run, and do not run it", 2,
	  dry_run_take },
	{ 0, 0, 0, 0, "Tuning:", 6, 0 },
	{ "tune", 0, "LIST", 0,
	  "Let built-in policies set variables while the job runs: a list such "
	  "as eager,pool, or all; see vmpi-tuning(7)",
	  6, tune_take },
	{ "policy", 0, "FILE[=ARGUMENT]", 0,
	  "Let the policy in a shared object do so (vmpi_policy.h); may be "
	  "repeated",
	  6, policy_take },
	{ "tune-log", 0, 0, 0, "Print a line about each decision of a policy",
	  6, tune_log_take },
	{ 0, 0, 0, 0, "Nodes:", 3, 0 },
	{ "nodes", 'N', "N", 0,
	  "Run the ranks in N processes, one per host, or all on this one", 3,
	  nodes_take },
	{ "fake-nodes", 0, 0, ALIAS, 0, 3, 0 },
	{ "ppn", 0, "N", 0, "Give each node N ranks", 3, ppn_take },
	{ "ranks-per-node", 0, 0, ALIAS, 0, 3, 0 },
	{ "hosts", 'H', "LIST", 0,
	  "Use these hosts, such as a:4,b (with numbers of ranks)", 3,
	  hosts_take },
	{ "host", 0, 0, ALIAS, 0, 3, 0 },
	{ "hostfile", 'f', "FILE", 0,
	  "Use the hosts in FILE, one per line, such as: a slots=4", 3,
	  hostfile_take },
	{ "machinefile", 0, 0, ALIAS, 0, 3, 0 },
	{ "map", 0, "HOW", 0,
	  "Place the ranks: block (neighbours together, the default), cyclic, "
	  "or a file with lines such as: 0-3 0:1",
	  3, place_take },
	{ "balance", 0, "HOW", 0,
	  "Move ranks to workers with less to do: off (the default), auto, "
	  "force; or learn[=FILE]: write a file for --map",
	  3, balance_take },
	{ "launcher", 0, "NAME", 0,
	  "Who starts the nodes: auto, fork (vmpirun itself), srun, mpirun, "
	  "hydra",
	  3, launcher_take },
	{ "agent", 0, "COMMAND", 0,
	  "Put COMMAND before each node process; %h is its host, %n its number",
	  3, agent_take },
	{ "keep-going", 0, 0, 0, "Let the other nodes go on when one has died",
	  3, keep_going_take },
	{ "disable-auto-cleanup", 0, 0, ALIAS, 0, 3, 0 },
	{ 0, 0, 0, 0, "For scripts made for other launchers (no effect):", 4,
	  0 },
	{ "allow-run-as-root", 0, 0, 0, "Always allowed", 4, accept_take },
	{ "oversubscribe", 0, 0, 0, "Always allowed", 4, accept_take },
	{ 0, 0, 0, 0, "Help:", -1, 0 },
	{ "help", '?', 0, 0, "Print this text", -1, help_take },
	{ "version", 'V', 0, 0, "Print the version", -1, version_take },
	{ "h", 'h', 0, OPTION_HIDDEN, 0, 5, help_take },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))
#define KEY_BASE 0x100 /* keys of rows without a letter: not printable */

static int row_key(size_t i)
{
	if (!rows[i].name)
		return 0;
	return rows[i].letter ? rows[i].letter : KEY_BASE + (int)i;
}

/* The row whose function takes the option of row i. */
static const struct row *row_real(size_t i)
{
	while (rows[i].flags & OPTION_ALIAS)
		i--;
	return &rows[i];
}

struct parse {
	struct options *options;
	int seen;    /* words before this one are understood */
	int rc;	     /* of the function that took an option */
	bool failed; /* the mistake has been said */
};

static error_t option_parse(int key, char *text, struct argp_state *state)
{
	struct parse *parse = state->input;

	if (key == ARGP_KEY_ARG) {
		parse->options->program = state->argv + state->next - 1;
		state->next = state->argc;
		parse->seen = state->argc;
		return 0;
	}
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *row = row_real(i);

		if (!rows[i].name || row_key(i) != key)
			continue;
		parse->rc = row->take(parse->options, text);
		parse->failed = parse->rc != 0;
		parse->seen = state->next;
		return parse->rc ? EINVAL : 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static struct argp_option argp_options[ROWS + 1];

static const struct argp command_line = {
	.options = argp_options,
	.parser = option_parse,
	.args_doc = "PROGRAM [ARG...]",
	.doc = program_doc,
};

static void argp_options_make(void)
{
	for (size_t i = 0; i < ROWS; i++)
		argp_options[i] = (struct argp_option){
			.name = rows[i].name,
			.key = row_key(i),
			.arg = rows[i].value,
			.flags = rows[i].flags,
			.doc = rows[i].doc,
			.group = rows[i].group,
		};
}

static int help_take(struct options *options, const char *text)
{
	static char name[] = "vmpirun";

	argp_help(&command_line, stdout,
		  ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, name);
	exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
}

static const struct row *row_find(const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].name && (!strcmp(rows[i].name, name) ||
				     (name[0] == rows[i].letter && !name[1])))
			return row_real(i);
	return NULL;
}

/* No option has this name. */
static void unknown_say(const char *word, const char *name)
{
	struct vm_nearest nearest;
	const char *meant;

	vm_nearest_init(&nearest, name);
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].name && !(rows[i].flags & OPTION_HIDDEN))
			vm_nearest_offer(&nearest, rows[i].name);
	meant = vm_nearest_name(&nearest);
	if (meant)
		say("%s: no such option; did you mean --%s?", word, meant);
	else
		say("%s: no such option; vmpirun --help lists them", word);
}

/* Whether name is the beginning of several options; they are put into list. */
static bool rows_begin(char *list, size_t bytes, const char *name)
{
	unsigned found = 0;
	size_t length = 0;

	list[0] = '\0';
	for (size_t i = 0; name[0] && i < ROWS; i++) {
		if (!rows[i].name || rows[i].flags & OPTION_HIDDEN ||
		    strncmp(rows[i].name, name, strlen(name)) != 0)
			continue;
		length += (size_t)snprintf(list + length, bytes - length,
					   "%s--%s", found++ ? ", " : "",
					   rows[i].name);
		if (length >= bytes)
			break;
	}
	return found > 1;
}

/* getopt could not take this word. */
static void mistake_say(const char *word)
{
	char name[64], list[256];
	const char *bare = word + strspn(word, "-");
	size_t length = strcspn(bare, "=");
	const struct row *row;

	snprintf(name, sizeof(name), "%.*s",
		 (int)(length < sizeof(name) ? length : sizeof(name) - 1),
		 bare);
	row = row_find(name);
	if (row && row->value && !bare[length])
		say("%s: a value is needed: %s %s", word, word, row->value);
	else if (row && !row->value && bare[length])
		say("%s: this option takes no value", word);
	else if (rows_begin(list, sizeof(list), name))
		say("%s: which option is meant: %s?", word, list);
	else
		unknown_say(word, name);
}

/* What the words did not say, and what they did not say rightly. */
static int options_finish(struct options *options)
{
	const char *limit = getenv("MPIEXEC_TIMEOUT");

	if (!options->program) {
		say("no program given; usage: vmpirun [OPTION...] PROGRAM "
		    "[ARG...]");
		return -VMPI_EINVAL;
	}
	for (char **word = options->program; *word; word++) {
		if (strcmp(*word, ":") != 0)
			continue;
		say("a second program after ':' is not supported yet: all ranks "
		    "run one program");
		return -VMPI_EINVAL;
	}
	if (!options->timeout_ns && limit && limit[0])
		return seconds_take(options, "MPIEXEC_TIMEOUT=", limit);
	return 0;
}

int options_parse(struct options *options, int argc, char **argv)
{
	struct parse parse = { .options = options, .seen = 1 };
	const unsigned flags = ARGP_IN_ORDER | ARGP_LONG_ONLY | ARGP_NO_HELP |
			       ARGP_NO_ERRS;

	*options = (struct options){ 0 };
	vm_job_init(&options->job);
	options->job.ranks = 0;
	options->exports = calloc((size_t)argc + 1, sizeof(char *));
	if (!options->exports) {
		say("out of memory");
		return -VMPI_ENOMEM;
	}
	argp_options_make();
	if (!argp_parse(&command_line, argc, argv, flags, NULL, &parse))
		return options_finish(options);
	if (!parse.failed)
		mistake_say(argv[parse.seen]);
	return parse.rc ? parse.rc : -VMPI_EINVAL;
}

void options_fini(struct options *options)
{
	vm_job_fini(&options->job);
	hosts_fini(&options->hosts);
	map_fini(&options->map);
	free(options->exports);
	free(options->overlap);
	/* Gone already, unless the job has not started. */
	if (options->profile_dir)
		rmdir(options->profile_dir);
	free(options->profile_dir);
	free(options->trace);
	free(options->plugins);
	options->exports = NULL;
}
