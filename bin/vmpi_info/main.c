/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi_info: what this installation is, what one can set, what it counts.
 *
 * It links the same library as programs do and asks its tables; it starts no
 * runtime.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/standard.h"
#include "calibrate.h"
#include "calls.h"
#include "categories.h"
#include "core/rank/vars.h"
#include "fabric.h"
#include "fabric/packet/vars.h"
#include "facts.h"
#include "report/cli.h"
#include "introspect/vars/config.h"
#include "manual.h"
#include "mpi/call/vars.h"
#include "text.h"
#include "variables.h"
#include "vmpi.h"

const char vm_cli_program[] = "vmpi_info";

/* The user's request. */
struct options {
	enum form form;
	bool all, cvars, pvars, categories, calls, fabric, calibrate, man;
	const char *category; /* its name */
	const char *overlap;  /* directory */
	char **names;	      /* variables or patterns, up to name_count */
	int name_count;
};

VM_CLI_FLAG(all, all)
VM_CLI_FLAG(cvars, cvars)
VM_CLI_FLAG(pvars, pvars)
VM_CLI_FLAG(categories, categories)
VM_CLI_TEXT(category, category)
VM_CLI_FLAG(calls, calls)
VM_CLI_FLAG(fabric, fabric)
VM_CLI_FLAG(calibrate, calibrate)
VM_CLI_TEXT(overlap, overlap)
VM_CLI_FLAG(man, man)

static int names_take(struct options *options, const char *text)
{
	options->form = FORM_NAMES;
	return 0;
}

static int parseable_take(struct options *options, const char *text)
{
	options->form = FORM_PARSEABLE;
	return 0;
}

static int operand_take(struct options *options, char **words)
{
	options->names[options->name_count++] = words[0];
	return 0;
}

static const struct vm_cli_row option_rows[] = {
	{ "all", 'a', 0, 0, "Facts, variables and calls, with all details", 0,
	  all_take },
	{ "cvars", 0, 0, 0, "Control variables", 0, cvars_take },
	{ "pvars", 0, 0, 0, "Performance variables", 0, pvars_take },
	{ "categories", 0, 0, 0, "Categories and their variables", 0,
	  categories_take },
	{ "category", 0, "NAME", 0,
	  "Only variables of this category and its subcategories", 0,
	  category_take },
	{ "calls", 0, 0, 0, "MPI calls that are implemented", 0, calls_take },
	{ "fabric", 0, 0, 0, "Network providers: which one is used, and why", 0,
	  fabric_take },
	{ "calibrate", 0, 0, 0,
	  "Measure transfer times and write the table for vmpirun "
	  "--overlap",
	  0, calibrate_take },
	{ "overlap", 0, "DIR", 0,
	  "Print the report of the overlap measurements in DIR", 0,
	  overlap_take },
	{ "names", 0, 0, 0, "Names only, one per line", 1, names_take },
	{ "parseable", 'p', 0, 0,
	  "One line each, fields separated by tabs, for programs", 1,
	  parseable_take },
	{ "man", 0, 0, 0, "The manual page vmpi-variables(7), in mdoc", 1,
	  man_take },
	{ "help", 'h', 0, 0, "Print this text", 2, vm_cli_help },
	{ "version", 'V', 0, 0, "Print the version", 2, vm_cli_version },
};

static const struct vm_cli command_line = {
	VM_CLI_ROWS(option_rows),
	.operands = "[NAME...]",
	.doc = "Show facts, control variables and performance variables "
	       "of this installation of vmpi.\vNAME is a variable or a "
	       "shell pattern such as 'sched_*'.  Without arguments: "
	       "facts, and the values of all control variables.  "
	       "vmpi_info(1) describes the fields of --parseable.",
	.operand = operand_take,
};

static void unknown_say(const struct options *options, const char *name)
{
	char nearest[NAME_BYTES];
	const char *meant = variables_nearest(nearest, name);
	const char *category = options->category;
	bool other = meant && strcmp(meant, name) == 0;

	vm_cli_say("no variable%s%s is called '%.90s'; %s%s%s",
		   category ? " of category " : "", category ? category : "",
		   name,
		   other ? "it is in another one" :
		   meant ? "did you mean " :
			   "vmpi_info --names lists them",
		   meant && !other ? meant : "", meant && !other ? "?" : "");
}

/* Variables by name; every name that fits none is a mistake. */
static int names_print(const struct options *options, enum vm_category category)
{
	enum form form = options->form == FORM_BRIEF ? FORM_FULL :
						       options->form;
	bool both = options->cvars == options->pvars;
	int status = 0;

	for (int i = 0; i < options->name_count; i++) {
		const char *name = options->names[i];
		const struct choice choice = { name, category };
		unsigned found = 0;

		if (both || options->cvars)
			found += cvars_print(form, &choice);
		if (both || options->pvars)
			found += pvars_print(form, &choice);
		if (found)
			continue;
		status = VM_EXIT_MISTAKE;
		unknown_say(options, name);
	}
	return status;
}

/* All of the kinds that were asked for; of none in particular: what most want
 * to see. */
static void kinds_print(const struct options *options,
			enum vm_category category)
{
	const struct choice choice = { NULL, category };
	bool none = !options->cvars && !options->pvars && !options->calls &&
		    !options->categories;
	bool facts = none && category == VM_CATEGORY_none;
	enum form form = options->form;
	bool apart;

	if (form == FORM_BRIEF && (options->all || !facts))
		form = FORM_FULL;
	if ((options->all || facts) && form != FORM_NAMES)
		facts_print(form);
	apart = form == FORM_BRIEF || (options->all && form == FORM_FULL);
	if (apart)
		putchar('\n');
	if (options->all || options->cvars || none)
		cvars_print(form, &choice);
	if (apart && options->all)
		putchar('\n');
	if (options->all || options->pvars || (none && form != FORM_BRIEF))
		pvars_print(form, &choice);
	if (apart && options->all)
		putchar('\n');
	if (options->categories)
		categories_print(form, category);
	if (options->all || options->calls)
		calls_print(form);
}

static int options_answer(const struct options *options)
{
	int category = VM_CATEGORY_none;
	int status = 0;

	vm_core_vars_add();
	vm_fabric_vars_add();
	vm_mpi_vars_add();
	/* The manual shows defaults, for whichever user it is made. */
	if (options->man) {
		manual_print();
		return 0;
	}
	if (options->category) {
		category = category_named(options->category);
		if (category < 0)
			return VM_EXIT_MISTAKE;
	}
	if (vm_vars_load(NULL) < 0)
		status = VM_EXIT_MISTAKE;
	if (options->overlap)
		return overlap_print(options->overlap) | status;
	if (options->calibrate)
		return status ? status : calibrate();
	if (options->name_count)
		return names_print(options, (enum vm_category)category) |
		       status;
	if (options->fabric)
		status |= fabric_print(options->form);
	if (!options->fabric || options->all || options->cvars ||
	    options->pvars || options->calls || options->categories)
		kinds_print(options, (enum vm_category)category);
	return status;
}

int main(int argc, char **argv)
{
	struct options options = { .form = FORM_BRIEF };
	int status = VM_EXIT_MISTAKE;

	vm_standard_open();
	if (calibrate_is_node())
		return calibrate_node();
	options.names = calloc((size_t)argc + 1, sizeof(char *));
	if (!options.names) {
		vm_cli_no_memory();
		return EXIT_FAILURE;
	}
	if (!vm_cli_parse(&command_line, &options, argc, argv))
		status = options_answer(&options);
	free(options.names);
	return vm_cli_end(status);
}
