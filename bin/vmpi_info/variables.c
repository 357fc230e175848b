/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Visits the registries and prints what fits.
 */
#include "variables.h"

#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "introspect/nearest.h"
#include "introspect/pvar.h"
#include "introspect/value.h"

VM_STATIC_ASSERT(NAME_BYTES == VM_NAME_MAX, "names are as long as theirs");

#define INDENT 8

/* What a visit needs to know. */
struct tour {
	enum form form;
	const char *pattern;
	unsigned found;
};

void value_show(char text[VALUE_BYTES], const struct vm_cvar *row,
		const char *value)
{
	char pretty[VM_NUMBER_MAX];

	if (row->type == VM_VAR_STRING) {
		snprintf(text, VALUE_BYTES, "\"%s\"", value);
	} else if (row->type == VM_VAR_BOOL) {
		snprintf(text, VALUE_BYTES, "%s",
			 value[0] == '0' ? "off" : "on");
	} else {
		vm_value_pretty(row, pretty, strtoll(value, NULL, 10));
		snprintf(text, VALUE_BYTES, "%s%s%s", pretty,
			 row->type == VM_VAR_CHOICE ? "" : " ",
			 row->type == VM_VAR_CHOICE ? "" : row->unit);
	}
}

void range_show(char text[VALUE_BYTES], const struct vm_cvar *row)
{
	char min[VM_NUMBER_MAX], max[VM_NUMBER_MAX];

	text[0] = '\0';
	if (row->type == VM_VAR_STRING || row->type == VM_VAR_BOOL)
		return;
	if (row->type == VM_VAR_CHOICE) {
		snprintf(text, VALUE_BYTES, "%s", row->unit);
		return;
	}
	vm_value_pretty(row, min, row->min);
	vm_value_pretty(row, max, row->max);
	snprintf(text, VALUE_BYTES, "%s to %s %s", min, max, row->unit);
}

void env_name(char out[NAME_BYTES + 8], const char *name)
{
	int n = snprintf(out, NAME_BYTES + 8, "VMPI_%s", name);

	for (int i = 0; i < n && out[i]; i++)
		out[i] = (char)toupper((unsigned char)out[i]);
}

/* What is to be known besides name, value and text, in a sentence. */
static void cvar_facts(const struct vm_cvar_view *view)
{
	char preset[VALUE_BYTES], range[VALUE_BYTES], env[NAME_BYTES + 8];
	char text[3 * VALUE_BYTES];

	value_show(preset, view->row, view->preset);
	range_show(range, view->row);
	env_name(env, view->name);
	snprintf(text, sizeof(text), "%s%s%s, default %s, %s, environment %s",
		 vm_var_type_name(view->row->type),
		 !range[0]			  ? "" :
		 view->row->type == VM_VAR_CHOICE ? " of " :
						    " from ",
		 range, preset,
		 view->row->when == VM_VAR_STARTUP ? "set before the start" :
						     "set at any time",
		 env);
	text_paragraph(INDENT, text);
}

static void cvar_for_programs(const struct vm_cvar_view *view)
{
	const struct vm_cvar *row = view->row;
	char min[VM_NUMBER_MAX] = "", max[VM_NUMBER_MAX] = "";

	if (row->type != VM_VAR_STRING) {
		vm_value_format(min, row->min);
		vm_value_format(max, row->max);
	}
	text_fields("cvar", view->name, view->value, view->preset, min, max,
		    row->unit, vm_var_type_name(row->type),
		    vm_var_when_name(row->when),
		    vm_var_source_name(view->source), view->place, row->text,
		    NULL);
}

static int cvar_visit(const struct vm_cvar_view *view, void *arg)
{
	char value[VALUE_BYTES];
	struct tour *tour = arg;

	if (tour->pattern && fnmatch(tour->pattern, view->name, 0) != 0)
		return 0;
	tour->found++;
	value_show(value, view->row, view->value);
	switch (tour->form) {
	case FORM_NAMES:
		puts(view->name);
		break;
	case FORM_PARSEABLE:
		cvar_for_programs(view);
		break;
	case FORM_BRIEF:
		printf("%-24s %-20s %s\n", view->name, value,
		       vm_var_source_name(view->source));
		break;
	case FORM_FULL:
		printf("%s = %s  (%s%s%s)\n", view->name, value,
		       vm_var_source_name(view->source),
		       view->place[0] ? ", " : "", view->place);
		text_paragraph(INDENT, view->row->text);
		cvar_facts(view);
		break;
	}
	return 0;
}

unsigned cvars_print(enum form form, const char *pattern)
{
	struct tour tour = { .form = form, .pattern = pattern };

	vm_cvar_each(cvar_visit, &tour);
	return tour.found;
}

static int pvar_visit(const struct vm_pvar_view *view, void *arg)
{
	const struct vm_pvar *row = view->row;
	struct tour *tour = arg;

	if (tour->pattern && fnmatch(tour->pattern, view->name, 0) != 0)
		return 0;
	tour->found++;
	switch (tour->form) {
	case FORM_NAMES:
		puts(view->name);
		break;
	case FORM_PARSEABLE:
		text_fields("pvar", view->name, vm_pvar_class_name(row->class_),
			    row->unit, vm_pvar_of_name(row->of), row->text,
			    NULL);
		break;
	case FORM_BRIEF:
	case FORM_FULL:
		printf("%s  (%s of each %s, in %s)\n", view->name,
		       vm_pvar_class_name(row->class_),
		       vm_pvar_of_name(row->of), row->unit);
		text_paragraph(INDENT, row->text);
		break;
	}
	return 0;
}

unsigned pvars_print(enum form form, const char *pattern)
{
	struct tour tour = { .form = form, .pattern = pattern };

	vm_pvar_each(pvar_visit, &tour);
	return tour.found;
}

static int cvar_offer(const struct vm_cvar_view *view, void *arg)
{
	vm_nearest_offer(arg, view->name);
	return 0;
}

static int pvar_offer(const struct vm_pvar_view *view, void *arg)
{
	vm_nearest_offer(arg, view->name);
	return 0;
}

const char *variables_nearest(char nearest[NAME_BYTES], const char *name)
{
	struct vm_nearest search;
	const char *meant;

	vm_nearest_init(&search, name);
	vm_cvar_each(cvar_offer, &search);
	vm_pvar_each(pvar_offer, &search);
	meant = vm_nearest_name(&search);
	if (!meant)
		return NULL;
	snprintf(nearest, NAME_BYTES, "%s", meant);
	return nearest;
}
