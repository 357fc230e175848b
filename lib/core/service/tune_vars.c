/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policies see and set the same variables as everybody: introspect/vars/cvar.h,
 * pvar.h.
 *
 * Tables of variables can be added while the job runs, so names are kept in
 * arrays that grow; the texts themselves stay where they are.
 */
#include "core/service/tune.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/nearest.h"
#include "introspect/vars/pvar.h"
#include "introspect/vars/cvar.h"

/* The kept name of variable `number`; NULL: out of memory. */
static const char *name_keep(char ***names, int *count, int number,
			     const char *name)
{
	if (number >= *count) {
		size_t more = (size_t)number + 64;
		char **grown = realloc(*names, more * sizeof(*grown));

		if (!grown)
			return NULL;
		memset(grown + *count, 0,
		       (more - (size_t)*count) * sizeof(*grown));
		*names = grown;
		*count = (int)more;
	}
	if (!(*names)[number])
		(*names)[number] = strdup(name);
	return (*names)[number];
}

static void names_free(char **names, int count)
{
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

void vm_tune_names_free(struct vm_tune *tune)
{
	names_free(tune->control_names, tune->control_count);
	names_free(tune->counter_names, tune->counter_count);
	tune->control_names = tune->counter_names = NULL;
	tune->control_count = tune->counter_count = 0;
}

static int control_count(void *arg)
{
	return vm_cvar_count();
}

static int control_find(void *arg, const char *name)
{
	int number = vm_cvar_find(name);

	return number < 0 ? -VMPI_ENOENT : number;
}

static enum vmpi_policy_when policy_when(enum vm_var_when when)
{
	return when == VM_VAR_STARTUP ? VMPI_POLICY_STARTUP :
	       when == VM_VAR_ALIKE   ? VMPI_POLICY_ALIKE :
					VMPI_POLICY_ANYTIME;
}

static int control_info(void *arg, int number, struct vmpi_policy_var *var)
{
	struct vm_tune *tune = arg;
	struct vm_cvar_view view;
	char name[VM_NAME_MAX];
	const char *kept;

	if (number < 0 || !vm_cvar_info(number, &view, name))
		return -VMPI_ENOENT;
	kept = name_keep(&tune->control_names, &tune->control_count, number,
			 name);
	if (!kept)
		return -VMPI_ENOMEM;
	*var = (struct vmpi_policy_var){ .name = kept,
					 .unit = view.row->unit,
					 .text = view.row->text,
					 .when = policy_when(view.row->when),
					 .preset = view.row->number,
					 .min = view.row->min,
					 .max = view.row->max,
					 .of = VMPI_POLICY_NODE,
					 .blocks = 1,
					 .words = 1 };
	return 0;
}

static int control_read(void *arg, int number, int64_t *value)
{
	return vm_cvar_load(value, number);
}

static int control_write(void *arg, int number, int64_t value)
{
	return vm_cvar_store(number, value, VM_SOURCE_RUNTIME);
}

static int counter_count(void *arg)
{
	return vm_pvar_count();
}

static int counter_find(void *arg, const char *name)
{
	int number = vm_pvar_find(name);

	return number < 0 ? -VMPI_ENOENT : number;
}

static int counter_info(void *arg, int number, struct vmpi_policy_var *var)
{
	static const enum vmpi_policy_of of[] = {
		[VM_PVAR_RANK] = VMPI_POLICY_RANKS,
		[VM_PVAR_WORKER] = VMPI_POLICY_WORKERS,
		[VM_PVAR_NODE] = VMPI_POLICY_NODE,
		[VM_PVAR_CHAN] = VMPI_POLICY_NODE, /* no blocks */
	};
	struct vm_tune *tune = arg;
	struct vm_pvar_view view;
	char name[VM_NAME_MAX];
	const char *kept;

	if (number < 0 || !vm_pvar_info(number, &view, name))
		return -VMPI_ENOENT;
	kept = name_keep(&tune->counter_names, &tune->counter_count, number,
			 name);
	if (!kept)
		return -VMPI_ENOMEM;
	*var = (struct vmpi_policy_var){ .name = kept,
					 .unit = view.row->unit,
					 .text = view.row->text,
					 .of = of[view.row->of],
					 .blocks = vm_pvar_blocks(number),
					 .words = view.row->words };
	return 0;
}

/* Whether a counter has so many words; false: there is none of that number. */
static bool counter_has(int number, unsigned words)
{
	struct vm_pvar_spot spot;

	return vm_pvar_spot(&spot, number) && words <= spot.row->words;
}

static int counter_read(void *arg, int number, unsigned block, uint64_t *values,
			unsigned words)
{
	uint64_t all[VM_PVAR_WORDS_MAX];
	int rc;

	if (!counter_has(number, words))
		return -VMPI_ENOENT;
	rc = vm_pvar_value(all, number, block);
	if (!rc)
		memcpy(values, all, words * sizeof(all[0]));
	return rc;
}

static int counter_total(void *arg, int number, uint64_t *values,
			 unsigned words)
{
	uint64_t all[VM_PVAR_WORDS_MAX];
	int rc;

	if (!counter_has(number, words))
		return -VMPI_ENOENT;
	rc = vm_pvar_total(all, number);
	if (!rc)
		memcpy(values, all, words * sizeof(all[0]));
	return rc;
}

void vm_tune_vars(struct vm_policy_vars *vars, struct vm_tune *tune)
{
	vars->control_count = control_count;
	vars->control_find = control_find;
	vars->control_info = control_info;
	vars->control_read = control_read;
	vars->control_write = control_write;
	vars->counter_count = counter_count;
	vars->counter_find = counter_find;
	vars->counter_info = counter_info;
	vars->read = counter_read;
	vars->total = counter_total;
	vars->arg = tune;
}
