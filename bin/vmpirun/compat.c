/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI's and Hydra's words for places, and Open MPI's variables.
 */
#include "compat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cli.h"
#include "report/option.h"
#include "vmpi.h"

int compat_ignore(struct options *options, const char *option, const char *text)
{
	char *old = options->ignored;
	int length = strcmp(option, "--mca") ? (int)strlen(text) :
					       (int)strcspn(text, "=");

	if (asprintf(&options->ignored, "%s%s%s%s%.*s", old ? old : "",
		     old ? ", " : "", option, length ? " " : "", length,
		     text) < 0) {
		options->ignored = old;
		return vm_cli_no_memory();
	}
	free(old);
	return 0;
}

int compat_bind_to(struct options *options, const char *text)
{
	if (!strcmp(text, "none"))
		return vm_job_set_add(&options->job, "sched_bind", "0");
	/* Workers are bound to cores, or processors where they are more. */
	if (!strncmp(text, "core", 4) || !strncmp(text, "hwthread", 8))
		return 0;
	return compat_ignore(options, "--bind-to", text);
}

int compat_by_node(struct options *options, const char *text)
{
	options->map.cyclic = true;
	return 0;
}

int compat_map_by(struct options *options, const char *text)
{
	const char *digits = text + 4;
	int ppn;

	if (!strncmp(text, "ppr:", 4) && vm_option_digits(&ppn, &digits) &&
	    ppn > 0 && ppn <= VM_JOB_RANKS_MAX &&
	    !strncmp(digits, ":node", 5) && (!digits[5] || digits[5] == ':')) {
		options->ppn = ppn;
		return 0;
	}
	if (!strncmp(text, "ppr:", 4))
		return vm_option_refuse("--map-by", text,
					"only ppr:N:node says how many ranks a "
					"node has");
	if (!strcmp(text, "node"))
		return compat_by_node(options, text);
	/* As it is without the option. */
	if (!strncmp(text, "slot", 4) || !strncmp(text, "core", 4))
		return 0;
	return compat_ignore(options, "--map-by", text);
}

int compat_ppr(struct options *options, const char *text)
{
	char *both;
	int rc;

	if (asprintf(&both, "ppr:%s", text) < 0)
		return vm_cli_no_memory();
	rc = compat_map_by(options, both);
	free(both);
	return rc;
}

int compat_with_ft(struct options *options, const char *text)
{
	if (!strcmp(text, "none") || !strcmp(text, "no") ||
	    !strcmp(text, "false"))
		return 0;
	if (strcmp(text, "ulfm") && strcmp(text, "mpi") &&
	    strcmp(text, "yes") && strcmp(text, "true"))
		return vm_option_refuse("--with-ft", text,
					"ulfm or none is needed");
	options->job.keep_going = options->job.apart = true;
	return 0;
}

int compat_rank_by(struct options *options, const char *text)
{
	if (!strcmp(text, "slot") || !strcmp(text, "core"))
		return 0;
	return compat_ignore(options, "--rank-by", text);
}

int compat_cpu_set(struct options *options, const char *text)
{
	return compat_ignore(options, "--cpu-set", text);
}

bool compat_is_tag(const char *text)
{
	return !strcmp(text, "tag") || !strcmp(text, "rank") ||
	       !strcmp(text, "tag-detailed") || !strcmp(text, "tag-fullname");
}

/* "map,bind" of Open MPI 5. */
int compat_display(struct options *options, const char *text)
{
	char *copy = strdup(text), *rest = copy, *word;
	int rc = copy ? 0 : vm_cli_no_memory();

	while (!rc && (word = strsep(&rest, ","))) {
		if (!strncmp(word, "map", 3))
			options->job.display_map = true;
		else if (!strncmp(word, "bind", 4))
			options->job.report_bindings = true;
		else
			rc = compat_ignore(options, "--display", word);
	}
	free(copy);
	return rc;
}

/* Hydra's names. */
int compat_bootstrap(struct options *options, const char *text)
{
	if (!strcmp(text, "ssh") || !strcmp(text, "fork"))
		options->launcher = text;
	else if (!strcmp(text, "slurm"))
		options->launcher = "srun";
	else
		return compat_ignore(options, "--bootstrap", text);
	return 0;
}

/* What starts processes on other hosts. */
int compat_mca(struct options *options, const char *text)
{
	static const char *const agents[] = { "plm_rsh_agent=",
					      "plm_ssh_agent=" };

	for (size_t i = 0; i < sizeof(agents) / sizeof(agents[0]); i++) {
		size_t length = strlen(agents[i]);

		if (strncmp(text, agents[i], length) != 0)
			continue;
		options->launcher_exec = NULL;
		if (vm_job_text(&options->rsh_agent, text + length))
			return -VMPI_ENOMEM;
		options->launcher_exec = options->rsh_agent;
		return 0;
	}
	return compat_ignore(options, "--mca", text);
}

void compat_say(const struct options *options)
{
	if (options->ignored && !options->quiet)
		vm_cli_say("without effect here: %s", options->ignored);
}
