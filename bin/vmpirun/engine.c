/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One row per engine.  Each is given: the number of processes per host; not to
 * bind them, workers do that; to pass our variables on; that rank 0 gets
 * standard input.  The job itself goes through the environment alone.
 */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot/job.h"
#include "plan.h"
#include "program.h"
#include "report/cli.h"
#include "vmpi.h"

extern char **environ;

struct engine {
	const char *name;
	const char *programs[3]; /* tried in this order */
	const char *needs;	 /* for auto: a variable that has to be set */
	void (*options)(struct command *words, const struct engine_job *job);
};

/* How hosts are written: "a,b", "a:2,b:1", or one for each process, "a,b,a". */
enum host_style { HOST_NAME, HOST_COUNT, HOST_EACH };

/* Adds those that are used. */
static void host_words(struct command *words, const struct engine_job *job,
		       const char *option, enum host_style style)
{
	const struct plan *plan = job->plan;
	int count = style == HOST_EACH ? plan->nodes : plan->hosts;
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	if (!stream) {
		command_add(words, option);
		return;
	}
	for (int i = 0; i < count; i++) {
		int host = style == HOST_EACH ? plan->host[i] : i;

		fprintf(stream, "%s%s", i ? "," : "",
			job->options->hosts.list[host].name);
		if (style == HOST_COUNT)
			fprintf(stream, ":%d", plan->on[host]);
	}
	fclose(stream);
	command_addf(words, "%s%s", option, text);
	free(text);
}

static void srun_options(struct command *words, const struct engine_job *job)
{
	const struct plan *plan = job->plan;
	int most = 1;
	bool equal = true;
	bool in_order;

	for (int i = 0; i < plan->hosts; i++) {
		equal &= plan->on[i] == plan->on[0];
		if (plan->on[i] > most)
			most = plan->on[i];
	}
	/* Slurm sorts its hosts; only so the first stays the first. */
	in_order = job->options->hosts.count &&
		   (job->options->job.blocks || !equal || plan->mixed);
	command_addf(words, "--ntasks=%d", plan->nodes);
	if (in_order) {
		command_add(words, "--distribution=arbitrary");
	} else {
		command_addf(words, "--nodes=%d", plan->hosts);
		command_addf(words, "--ntasks-per-node=%d", most);
		if (plan->mixed)
			command_add(words, "--distribution=cyclic");
	}
	if (job->options->hosts.count)
		host_words(words, job,
			   "--nodelist=", in_order ? HOST_EACH : HOST_NAME);
	if (job->label)
		command_add(words, "--label");
	command_add(words, "--mpi=pmix");
	command_add(words, "--cpu-bind=none");
	command_add(words, "--export=ALL");
	command_add(words, "--input=0");
	command_addf(words, "--kill-on-bad-exit=%d",
		     !job->options->job.keep_going);
}

static const char *const export_begins[] = { "VMPI_", "FI_" };

/* Whether variables of this name are passed on without being asked for. */
static bool is_exported(const char *name)
{
	for (size_t i = 0; i < sizeof(export_begins) / sizeof(char *); i++)
		if (!strncmp(name, export_begins[i], strlen(export_begins[i])))
			return true;
	return false;
}

static void export_add(struct command *words, const char *name)
{
	command_add(words, "-x");
	command_addf(words, "%.*s", (int)strcspn(name, "="), name);
}

static int job_export(const char *name, const char *value, void *arg)
{
	if (value)
		export_add(arg, name);
	return 0;
}

/* Adds the variables that processes on other hosts have to get: those of the
 * job, of vmpi and libfabric, and of -x.  Open MPI passes only those it is
 * given. */
static void variables_add(struct command *words, const struct options *options)
{
	const size_t prefix = strlen(VM_JOB_PREFIX);

	vm_job_each(&options->job, job_export, words);
	for (char **entry = environ; entry && *entry; entry++)
		if (is_exported(*entry) &&
		    strncmp(*entry, VM_JOB_PREFIX, prefix) != 0)
			export_add(words, *entry);
	for (size_t i = 0; i < options->exports.count; i++)
		if (!is_exported(options->exports.list[i]))
			export_add(words, options->exports.list[i]);
	if (!options->job.processes)
		return;
	export_add(words, LIBRARY_PATH);
	export_add(words, PYTHON_ABI);
}

static void mpirun_options(struct command *words, const struct engine_job *job)
{
	if (geteuid() == 0)
		command_add(words, "--allow-run-as-root");
	command_add(words, "-np");
	command_addf(words, "%d", job->plan->nodes);
	if (job->options->hosts.count) {
		command_add(words, "--host");
		host_words(words, job, "", HOST_COUNT);
		command_add(words, "--map-by");
		if (job->plan->mixed)
			command_add(words, "node");
		else if (job->options->job.processes)
			command_add(words, "slot");
		else
			command_addf(words, "ppr:%d:node", job->plan->per_host);
	} else {
		command_add(words, "--oversubscribe");
	}
	command_add(words, "--bind-to");
	command_add(words, "none");
	if (job->label)
		command_add(words, "--tag-output");
	variables_add(words, job->options);
}

static void hydra_options(struct command *words, const struct engine_job *job)
{
	command_add(words, "-n");
	command_addf(words, "%d", job->plan->nodes);
	if (job->options->hosts.count) {
		command_add(words, "-hosts");
		host_words(words, job, "",
			   job->plan->mixed	       ? HOST_EACH :
			   job->options->job.processes ? HOST_COUNT :
							 HOST_NAME);
		if (!job->plan->mixed && !job->options->job.processes) {
			command_add(words, "-ppn");
			command_addf(words, "%d", job->plan->per_host);
		}
	}
	if (job->label)
		command_add(words, "-prepend-rank");
	command_add(words, "-bind-to");
	command_add(words, "none");
	if (job->options->job.keep_going)
		command_add(words, "-disable-auto-cleanup");
}

static const struct engine engines[] = {
	{ "srun", { "srun" }, "SLURM_JOB_ID", srun_options },
	{ "mpirun",
	  { "mpirun", "mpirun.openmpi", "prterun" },
	  NULL,
	  mpirun_options },
	{ "hydra", { "mpiexec.hydra" }, NULL, hydra_options },
};

#define ENGINES (sizeof(engines) / sizeof(engines[0]))

const char *engine_name(const struct engine *engine)
{
	return engine->name;
}

/* MPICH's mpirun is Hydra with another name. */
static bool is_hydra(const char *path)
{
	char *real = realpath(path, NULL);
	const char *slash = real ? strrchr(real, '/') : NULL;
	bool hydra = slash &&
		     (strstr(slash, "hydra") || strstr(slash, "mpich"));

	free(real);
	return hydra;
}

/* The path of a program in PATH, or NULL; to be freed. */
static char *path_find(const char *name)
{
	const char *at = getenv("PATH");

	while (at) {
		size_t length = strcspn(at, ":");
		char *path = NULL;

		if (length &&
		    asprintf(&path, "%.*s/%s", (int)length, at, name) > 0 &&
		    access(path, X_OK) == 0)
			return path;
		free(length ? path : NULL);
		at = at[length] ? at + length + 1 : NULL;
	}
	return NULL;
}

static char *engine_path(const struct engine *engine)
{
	for (size_t i = 0; i < 3 && engine->programs[i]; i++) {
		char *path = path_find(engine->programs[i]);

		if (path && (!strcmp(engine->name, "hydra") || !is_hydra(path)))
			return path;
		free(path);
	}
	return NULL;
}

/* Finds an engine that is available here, if none was named; *engine is NULL if
 * it is ssh.  What the batch system demands comes first, other MPIs last: they
 * print more than a line when a host is not reached. */
static int auto_find(const struct engine **engine, char **program)
{
	for (int needed = 1; needed >= 0; needed--) {
		for (size_t i = 0; i < ENGINES; i++) {
			const char *needs = engines[i].needs;

			if (!needs != !needed || (needs && !getenv(needs)))
				continue;
			*engine = &engines[i];
			*program = engine_path(*engine);
			if (*program)
				return 0;
		}
		*engine = NULL;
		*program = needed ? path_find("ssh") : NULL;
		if (*program)
			return 0;
	}
	vm_cli_say("starting on other hosts needs one of these in PATH: srun "
		   "(in a Slurm job), ssh, mpirun (Open MPI), mpiexec.hydra "
		   "(MPICH)");
	return -VMPI_ENOENT;
}

int engine_find(const struct engine **engine, char **program, const char *name)
{
	if (!strcmp(name, "auto"))
		return auto_find(engine, program);
	for (size_t i = 0; i < ENGINES; i++) {
		if (strcmp(engines[i].name, name) != 0)
			continue;
		*program = engine_path(&engines[i]);
		if (!*program) {
			vm_cli_say("--launcher %s: there is no %s in PATH",
				   name, engines[i].programs[0]);
			return -VMPI_ENOENT;
		}
		*engine = &engines[i];
		return 0;
	}
	vm_cli_say("--launcher %s: auto, fork, ssh, srun, mpirun or hydra is "
		   "needed",
		   name);
	return -VMPI_EINVAL;
}

void engine_words(struct command *words, const struct engine_job *job)
{
	command_add(words, job->plan->program);
	job->plan->engine->options(words, job);
}
