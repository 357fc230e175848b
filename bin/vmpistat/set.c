/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process after the other: the first that refuses ends it, and those before
 * it have taken the value.
 */
#include "set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "report/cli.h"
#include "report/live/control.h"
#include "report/option.h"

#define ANSWER_MS 5000

static int process_set(const struct vm_live_job *job,
		       const struct vm_live_file *file, const char *request)
{
	char share[VM_EXPORT_PATH_MAX], path[2 * VM_EXPORT_PATH_MAX];
	char answer[VM_CONTROL_LINE_MAX];
	unsigned node = vm_export_head(file)->node;
	int rc;

	vm_export_path(share, sizeof(share), VM_EXPORT_DIR, job->name, node);
	vm_control_path(path, sizeof(path), share);
	rc = vm_control_ask(answer, path, request, ANSWER_MS);
	if (!rc)
		return 0;
	vm_cli_say("--set: node %u: %.300s", node, answer);
	return rc == -VMPI_EINVAL || rc == -VMPI_ENOENT ? VM_EXIT_MISTAKE :
							  EXIT_FAILURE;
}

int job_set(const struct vm_live_job *job, const char *setting, long rank)
{
	const char *equals = strchr(setting, '=');
	char request[VM_CONTROL_LINE_MAX], which[32] = "";
	int status = 0, length;

	if (!equals || equals == setting) {
		vm_option_refuse("--set", setting,
				 "NAME=VALUE is needed; vmpi_info --cvars "
				 "lists the names");
		return VM_EXIT_MISTAKE;
	}
	if (rank >= 0)
		snprintf(which, sizeof(which), "rank %ld ", rank);
	length = snprintf(request, sizeof(request), "%sset %.*s %s", which,
			  (int)(equals - setting), setting, equals + 1);
	if (length >= (int)sizeof(request)) {
		vm_cli_say("--set %.60s...: the value is too long", setting);
		return VM_EXIT_MISTAKE;
	}
	if (rank >= 0)
		return process_set(job, vm_live_job_rank(job, (unsigned)rank),
				   request);
	for (unsigned i = 0; i < job->count && !status; i++)
		status = process_set(job, job->files[i], request);
	return status;
}
