/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: settings: configuration files, the text of --set, which also
 * describes links, the environment of a job, tables of transfer times, size
 * bins and lists of variables.
 *
 *	make fuzz TARGET=settings SECONDS=60
 *
 * The first byte says which of them the rest is.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boot/job.h"
#include "core/instrument/profiler.h"
#include "core/rank/vars.h"
#include "fabric/packet/link.h"
#include "fabric/packet/vars.h"
#include "input.h"
#include "introspect/measure/overlap.h"
#include "introspect/measure/vars.h"
#include "introspect/measure/xfer_table.h"
#include "introspect/vars/bulk.h"
#include "introspect/vars/config.h"
#include "mpi/call/vars.h"
#include "sched/vars.h"

extern char **environ;

static void variables_add(void)
{
	static bool added;

	if (added)
		return;
	added = true;
	vm_vars_add(&sched_cvar_table);
	vm_vars_add(&fabric_cvar_table);
	vm_pvars_add(&core_rank_pvar_table);
}

/* Any link that can be asked for can be reckoned with. */
static void link_use(void)
{
	struct vm_link link = { 0 };
	uint64_t left = 0;

	for (uint64_t now = 1; now < 4; now++) {
		if (vm_link_send(&link, &left, now, 1000000) < now)
			abort();
		vm_link_rma(&link, (enum vm_link_op)(now % 3), now, 8);
	}
}

static void file_try(const uint8_t *data, size_t bytes)
{
	const struct vm_var_files files = { .config = FUZZ_DIR "config" };

	fuzz_file("config", data, bytes);
	vm_vars_load_from(&files, NULL);
	link_use();
}

static void set_try(const char *text)
{
	const struct vm_var_files files = { 0 };

	vm_vars_load_from(&files, text);
	link_use();
}

/* The text has a variable in each line; those of no job are left alone. */
static void job_try(char *text)
{
	char *none[] = { NULL }, **before = environ;
	struct vm_job job;

	environ = none;
	for (char *line; (line = strsep(&text, "\n"));) {
		char *value = strchr(line, '=');

		if (!value || value == line)
			continue;
		*value++ = '\0';
		if (!strncmp(line, VM_JOB_PREFIX, strlen(VM_JOB_PREFIX)))
			setenv(line, value, 1);
	}
	if (!vm_job_from_env(&job)) {
		if (vm_job_to_env(&job) || job.ranks < 1 || job.nodes < 1)
			abort();
		vm_job_fini(&job);
		if (vm_job_from_env(&job))
			abort();
		vm_job_fini(&job);
	}
	clearenv();
	environ = before;
}

static void table_try(const uint8_t *data, size_t bytes)
{
	struct vm_xfer_table table;

	fuzz_file("table", data, bytes);
	if (vm_xfer_load(&table, FUZZ_DIR "table"))
		return;
	for (int path = 0; path < VM_PATHS; path++)
		for (int shift = 0; shift < 64; shift += 7)
			vm_xfer_time(&table, (enum vm_path)path,
				     UINT64_C(1) << shift);
}

static void bins_try(const char *text)
{
	struct vm_overlap_setup setup = { 0 };
	char why[200];

	if (vm_overlap_bins_parse(&setup, text, why, sizeof(why)))
		return;
	for (int shift = 0; shift < 64; shift++)
		if (vm_overlap_bin(&setup, UINT64_C(1) << shift) >= setup.bins)
			abort();
}

static void list_try(const char *text)
{
	struct vm_bulk bulk;

	if (!vm_profiler_vars(&bulk, text, "--profile"))
		vm_bulk_fini(&bulk);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text;

	if (!bytes)
		return 0;
	variables_add();
	text = fuzz_text(data + 1, bytes - 1);
	switch (data[0] % 6) {
	case 0:
		file_try(data + 1, bytes - 1);
		break;
	case 1:
		set_try(text);
		break;
	case 2:
		job_try(text);
		break;
	case 3:
		table_try(data + 1, bytes - 1);
		break;
	case 4:
		bins_try(text);
		break;
	default:
		list_try(text);
	}
	free(text);
	return 0;
}
