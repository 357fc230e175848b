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
#include "base/nearest.h"
#include "introspect/vars/pvar.h"
#include "introspect/vars/value.h"

VM_STATIC_ASSERT(NAME_BYTES == VM_NAME_MAX, "names are as long as theirs");

#define INDENT 8

/* The data of a visit. */
struct tour {
	enum form form;
	const struct choice *choice;
	unsigned found;
};

bool choice_has(const struct choice *choice, const char *name,
		enum vm_category category)
{
	if (!vm_category_in(category, choice->category))
		return false;
	return !choice->pattern || fnmatch(choice->pattern, name, 0) == 0;
}

const char *category_name(enum vm_category category)
{
	struct vm_category_view view;

	vm_category_info((int)category, &view);
	return view.name;
}

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

/* The time when a variable can be set, as part of a sentence. */
static const char *when_show(enum vm_var_when when)
{
	static const char *const texts[] = {
		[VM_VAR_STARTUP] = "set before the start",
		[VM_VAR_ANYTIME] = "set at any time",
		[VM_VAR_ALIKE] = "set at any time, the same in all processes",
		[VM_VAR_RANK] = "set at any time, also for one rank",
	};

	return texts[when];
}

/* Prints the facts besides name, value and text, in a sentence. */
static void cvar_facts(const struct vm_cvar_view *view)
{
	char preset[VALUE_BYTES], range[VALUE_BYTES], env[NAME_BYTES + 8];
	char text[3 * VALUE_BYTES];

	value_show(preset, view->row, view->preset);
	range_show(range, view->row);
	env_name(env, view->name);
	snprintf(text, sizeof(text),
		 "%s%s%s, default %s, %s, environment %s, category %s, %s",
		 vm_var_type_name(view->row->type),
		 !range[0]			  ? "" :
		 view->row->type == VM_VAR_CHOICE ? " of " :
						    " from ",
		 range, preset, when_show(view->row->when), env,
		 category_name(view->row->category),
		 vm_level_name(view->row->level));
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
		    vm_level_name(row->level), category_name(row->category),
		    NULL);
}

static int cvar_visit(const struct vm_cvar_view *view, void *arg)
{
	char value[VALUE_BYTES];
	struct tour *tour = arg;

	if (!choice_has(tour->choice, view->name, view->row->category))
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

unsigned cvars_print(enum form form, const struct choice *choice)
{
	struct tour tour = { .form = form, .choice = choice };

	vm_cvar_each(cvar_visit, &tour);
	return tour.found;
}

void pvar_facts(char text[VALUE_BYTES], const struct vm_pvar *row)
{
	char words[32] = "";

	if (row->words > 1)
		snprintf(words, sizeof(words), "%u of ", row->words);
	snprintf(text, VALUE_BYTES, "%s%s of each %s, in %s, %s, %s%s", words,
		 vm_pvar_class_name(row->class_), vm_pvar_of_name(row->of),
		 row->unit, category_name(row->category),
		 vm_level_name(row->level),
		 VM_PVARS_COUNTED ? "" : "; not counted in this build");
}

static void pvar_for_programs(const struct vm_pvar_view *view)
{
	const struct vm_pvar *row = view->row;
	char words[VM_NUMBER_MAX];

	vm_value_format(words, row->words);
	text_fields("pvar", view->name, vm_pvar_class_name(row->class_),
		    row->unit, vm_pvar_of_name(row->of), row->text,
		    vm_level_name(row->level), category_name(row->category),
		    words, NULL);
}

static int pvar_visit(const struct vm_pvar_view *view, void *arg)
{
	char facts[VALUE_BYTES];
	struct tour *tour = arg;

	if (!choice_has(tour->choice, view->name, view->row->category))
		return 0;
	tour->found++;
	switch (tour->form) {
	case FORM_NAMES:
		puts(view->name);
		break;
	case FORM_PARSEABLE:
		pvar_for_programs(view);
		break;
	case FORM_BRIEF:
	case FORM_FULL:
		pvar_facts(facts, view->row);
		printf("%s  (%s)\n", view->name, facts);
		text_paragraph(INDENT, view->row->text);
		break;
	}
	return 0;
}

unsigned pvars_print(enum form form, const struct choice *choice)
{
	struct tour tour = { .form = form, .choice = choice };

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
