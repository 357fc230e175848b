/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Those of all programs are put into vmpirun's own environment before anything
 * is started; those of one program into its processes'.
 */
#include "exports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "boot/job.h"
#include "report/cli.h"
#include "report/option.h"
#include "vmpi.h"

int exports_add(struct command *exports, const char *text)
{
	const char *equals = strchr(text, '=');

	/* The name becomes a word of other programs' command lines. */
	if (!text[0] || equals == text || text[0] == '-' ||
	    strcspn(text, " \t\r\n,;") <
		    (equals ? (size_t)(equals - text) : strlen(text)))
		return vm_option_refuse("-x", text,
					"VAR or VAR=VALUE is needed");
	if (!strncmp(text, VM_JOB_PREFIX, strlen(VM_JOB_PREFIX)))
		return vm_option_refuse("-x", text,
					"names with " VM_JOB_PREFIX
					" belong to vmpirun; use its options");
	if (equals)
		command_add(exports, text);
	else if (getenv(text)) /* Other hosts have to be told. */
		command_addf(exports, "%s=%s", text, getenv(text));
	else
		vm_cli_say(
			"-x %s: there is no such variable in the environment",
			text);
	return exports->failed ? -VMPI_ENOMEM : 0;
}

int exports_add_list(struct command *exports, const char *text)
{
	char *copy = strdup(text), *rest = copy, *word;
	int rc = copy ? 0 : vm_cli_no_memory();

	while (!rc && (word = strsep(&rest, ",")))
		if (getenv(word))
			rc = exports_add(exports, word);
	free(copy);
	return rc;
}

int exports_set(const struct command *exports)
{
	for (size_t i = 0; i < exports->count; i++) {
		const char *equals = strchr(exports->list[i], '=');
		char *name = strndup(exports->list[i],
				     (size_t)(equals - exports->list[i]));
		int rc = name ? setenv(name, equals + 1, 1) : -1;

		free(name);
		if (rc) {
			vm_cli_say("-x %s: %s", exports->list[i],
				   strerror(errno));
			return -VMPI_ENOMEM;
		}
	}
	return 0;
}
