/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policies of the command line become variables of the job.
 */
#include "tune.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "introspect/policy/policies.h"
#include "report/cli.h"
#include "report/option.h"
#include "vmpi.h"

int tune_take(struct options *options, const char *list)
{
	for (const char *name = list; *name || name == list;) {
		size_t length = strcspn(name, ",");

		if (!vm_policies_builtin_find(name, length) &&
		    !(length == 3 && !memcmp(name, "all", 3)))
			return vm_option_refuse("--tune", list,
						"there is no policy '%.*s'; "
						"known are %sand all",
						(int)length, name,
						VM_POLICIES_BUILTIN);
		name += length;
		if (*name == ',' && name[1])
			name++;
	}
	return vm_job_set_add(&options->job, "tune_policies", list);
}

/* Whether the file can be read; prints a line if not. */
static bool plugin_there(const char *plugin, const char *text)
{
	char *path = strndup(plugin, strcspn(plugin, "="));
	bool there = path && !access(path, R_OK);

	if (!there)
		vm_cli_say("--policy %s: %s", text,
			   strerror(path ? errno : ENOMEM));
	free(path);
	return there;
}

int policy_take(struct options *options, const char *text)
{
	char *plugin, *all = NULL;
	int rc;

	if (!text[0] || text[0] == '=' || strpbrk(text, ":\n"))
		return vm_option_refuse("--policy", text,
					"FILE or FILE=ARGUMENT is needed, "
					"without colons");
	rc = vm_option_path(&plugin, "--policy", text, "a file");
	if (rc)
		return rc;
	if (!plugin_there(plugin, text)) {
		free(plugin);
		return -VMPI_EINVAL;
	}
	if (asprintf(&all, "%s%s%s", options->plugins ? options->plugins : "",
		     options->plugins ? ":" : "", plugin) < 0)
		all = NULL;
	free(plugin);
	if (!all)
		return -VMPI_ENOMEM;
	free(options->plugins);
	options->plugins = all;
	return vm_job_set_add(&options->job, "tune_plugins", all);
}

int tune_log_take(struct options *options, const char *text)
{
	return vm_job_set_add(&options->job, "tune_log", "1");
}
