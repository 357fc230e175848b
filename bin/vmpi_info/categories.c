/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A category's paragraph lists its variables by a visit of each registry.
 */
#include "categories.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "report/cli.h"
#include "variables.h"

#define INDENT 8

/* The names of the variables of one category, with blanks between them. */
struct names {
	enum vm_category category;
	char text[32768];
	size_t used;
};

static void name_add(struct names *names, const char *name)
{
	size_t room = sizeof(names->text) - names->used;
	int n = snprintf(names->text + names->used, room, "%s%s",
			 names->used ? " " : "", name);

	if ((size_t)n < room)
		names->used += (size_t)n;
}

static int cvar_name(const struct vm_cvar_view *view, void *arg)
{
	struct names *names = arg;

	if (view->row->category == names->category)
		name_add(names, view->name);
	return 0;
}

static int pvar_name(const struct vm_pvar_view *view, void *arg)
{
	struct names *names = arg;

	if (view->row->category == names->category)
		name_add(names, view->name);
	return 0;
}

static void for_people(const struct vm_category_view *view,
		       const struct names *cvars, const struct names *pvars)
{
	printf("%s%s%s\n", view->name,
	       view->parent == VM_CATEGORY_none ? "" : ", in ",
	       view->parent == VM_CATEGORY_none ? "" :
						  category_name(view->parent));
	text_paragraph(INDENT, view->text);
	if (cvars->used) {
		printf("%*s%s\n", INDENT, "", "set:");
		text_words(INDENT + 2, cvars->text);
	}
	if (pvars->used) {
		printf("%*s%s\n", INDENT, "", "read:");
		text_words(INDENT + 2, pvars->text);
	}
}

static void category_print(enum form form, int number)
{
	static struct names cvars, pvars;
	struct vm_category_view view;

	vm_category_info(number, &view);
	cvars = (struct names){ .category = (enum vm_category)number };
	pvars = cvars;
	vm_cvar_each(cvar_name, &cvars);
	vm_pvar_each(pvar_name, &pvars);
	if (form == FORM_NAMES)
		puts(view.name);
	else if (form == FORM_PARSEABLE)
		text_fields("category", view.name,
			    view.parent == VM_CATEGORY_none ?
				    "" :
				    category_name(view.parent),
			    view.text, cvars.text, pvars.text, NULL);
	else
		for_people(&view, &cvars, &pvars);
}

void categories_print(enum form form, enum vm_category outer)
{
	for (int i = 0; i < VM_CATEGORY_end; i++) {
		if (vm_category_in((enum vm_category)i, outer))
			category_print(form, i);
	}
}

int category_named(const char *name)
{
	struct vm_category_view view;
	struct vm_nearest nearest;
	char text[VM_CLI_MISTAKE_MAX];
	int number = vm_category_find(name);

	if (number >= 0)
		return number;
	vm_nearest_init(&nearest, name);
	for (int i = 0; vm_category_info(i, &view); i++)
		vm_nearest_offer(&nearest, view.name);
	vm_cli_say("no category is called '%.60s'; %s", name,
		   vm_cli_meant(text, &nearest,
				"vmpi_info --categories lists them"));
	return -1;
}
