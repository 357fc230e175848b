/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vmpi_info: what this installation is, what one can set, what it counts.
 *
 * It links the same library as programs do and asks its tables; it starts no
 * runtime.
 */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate.h"
#include "calls.h"
#include "categories.h"
#include "core/rank/vars.h"
#include "fabric.h"
#include "fabric/fabric.h"
#include "facts.h"
#include "report/cli.h"
#include "introspect/vars/config.h"
#include "manual.h"
#include "mpi/call/vars.h"
#include "text.h"
#include "variables.h"
#include "vmpi.h"

#define EXIT_MISTAKE 2 /* on the command line or in a setting */

enum key {
	KEY_NAMES = 0x100,
	KEY_CVARS,
	KEY_PVARS,
	KEY_CATEGORIES,
	KEY_CATEGORY,
	KEY_CALLS,
	KEY_FABRIC,
	KEY_CALIBRATE,
	KEY_OVERLAP,
	KEY_MAN
};

static const struct argp_option options[] = {
	{ "all", 'a', 0, 0, "Facts, variables and calls, with all details", 0 },
	{ "cvars", KEY_CVARS, 0, 0, "Control variables: what one can set", 0 },
	{ "pvars", KEY_PVARS, 0, 0,
	  "Performance variables: what the runtime counts", 0 },
	{ "categories", KEY_CATEGORIES, 0, 0,
	  "Categories of variables, and which are in them", 0 },
	{ "category", KEY_CATEGORY, "NAME", 0,
	  "Only what is in this category and those below it", 0 },
	{ "calls", KEY_CALLS, 0, 0, "MPI calls there are", 0 },
	{ "fabric", KEY_FABRIC, 0, 0,
	  "Networks between processes: which is taken, and why", 0 },
	{ "calibrate", KEY_CALIBRATE, 0, 0,
	  "Measure the times of transfers, and write the table for "
	  "vmpirun --overlap",
	  0 },
	{ "overlap", KEY_OVERLAP, "DIR", 0,
	  "The report of a job's measures of overlap in DIR", 0 },
	{ "names", KEY_NAMES, 0, 0, "Names alone, one per line", 1 },
	{ "parseable", 'p', 0, 0,
	  "One line each, fields separated by tabs, for programs", 1 },
	{ "man", KEY_MAN, 0, 0, "The manual page vmpi-variables(7), in mdoc",
	  1 },
	{ "help", 'h', 0, 0, "Print this text", 2 },
	{ "version", 'V', 0, 0, "Print the version", 2 },
	{ 0 },
};

/* What was asked for. */
struct request {
	enum form form;
	bool all, cvars, pvars, categories, calls, fabric, calibrate, man;
	bool help, version;
	const char *category; /* its name */
	const char *overlap;  /* directory */
	char **names;	      /* variables or patterns, up to name_count */
	int name_count;
	int seen; /* words before this one are understood */
};

static error_t option_parse(int key, char *text, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case 'a':
		request->all = true;
		break;
	case KEY_CVARS:
		request->cvars = true;
		break;
	case KEY_PVARS:
		request->pvars = true;
		break;
	case KEY_CATEGORIES:
		request->categories = true;
		break;
	case KEY_CATEGORY:
		request->category = text;
		break;
	case KEY_CALLS:
		request->calls = true;
		break;
	case KEY_FABRIC:
		request->fabric = true;
		break;
	case KEY_CALIBRATE:
		request->calibrate = true;
		break;
	case KEY_OVERLAP:
		request->overlap = text;
		break;
	case KEY_NAMES:
		request->form = FORM_NAMES;
		break;
	case 'p':
		request->form = FORM_PARSEABLE;
		break;
	case KEY_MAN:
		request->man = true;
		break;
	case 'h':
		request->help = true;
		break;
	case 'V':
		request->version = true;
		break;
	case ARGP_KEY_ARG:
		request->names[request->name_count++] = text;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	request->seen = state->next;
	return 0;
}

static const struct argp command_line = {
	.options = options,
	.parser = option_parse,
	.args_doc = "[NAME...]",
	.doc = "Show what this installation of vmpi is, what one can set and "
	       "what it counts."
	       "\vNAME is a variable or a shell pattern such as 'sched_*'.  "
	       "Without arguments: facts, and the values of all control "
	       "variables.  vmpi_info(1) describes the fields of --parseable.",
};

/* argp could not take this word; its own words would be two lines. */
static int mistake_say(const char *word)
{
	char text[VM_CLI_MISTAKE_MAX];

	vm_cli_mistake(text, "vmpi_info", word, options);
	fprintf(stderr, "vmpi_info: %s\n", text);
	return EXIT_MISTAKE;
}

/* Variables by name; every name that fits none is a mistake. */
static int names_print(const struct request *request, enum vm_category category)
{
	enum form form = request->form == FORM_BRIEF ? FORM_FULL :
						       request->form;
	bool both = request->cvars == request->pvars;
	char nearest[NAME_BYTES];
	const char *meant;
	int status = 0;

	for (int i = 0; i < request->name_count; i++) {
		const char *name = request->names[i];
		const struct choice choice = { name, category };
		unsigned found = 0;

		if (both || request->cvars)
			found += cvars_print(form, &choice);
		if (both || request->pvars)
			found += pvars_print(form, &choice);
		if (found)
			continue;
		status = EXIT_MISTAKE;
		meant = variables_nearest(nearest, name);
		fprintf(stderr,
			"vmpi_info: no variable%s%s is called '%.90s'; ",
			request->category ? " of category " : "",
			request->category ? request->category : "", name);
		if (meant && strcmp(meant, name) == 0)
			fputs("it is in another one\n", stderr);
		else if (meant)
			fprintf(stderr, "did you mean %s?\n", meant);
		else
			fputs("vmpi_info --names lists them\n", stderr);
	}
	return status;
}

/* All of the kinds that were asked for; of none in particular: what most want
 * to see. */
static void kinds_print(const struct request *request,
			enum vm_category category)
{
	const struct choice choice = { NULL, category };
	bool none = !request->cvars && !request->pvars && !request->calls &&
		    !request->categories;
	bool facts = none && category == VM_CATEGORY_none;
	enum form form = request->form;
	bool apart;

	if (form == FORM_BRIEF && (request->all || !facts))
		form = FORM_FULL;
	if ((request->all || facts) && form != FORM_NAMES)
		facts_print(form);
	apart = form == FORM_BRIEF || (request->all && form == FORM_FULL);
	if (apart)
		putchar('\n');
	if (request->all || request->cvars || none)
		cvars_print(form, &choice);
	if (apart && request->all)
		putchar('\n');
	if (request->all || request->pvars || (none && form != FORM_BRIEF))
		pvars_print(form, &choice);
	if (apart && request->all)
		putchar('\n');
	if (request->categories)
		categories_print(form, category);
	if (request->all || request->calls)
		calls_print(form);
}

static int request_answer(const struct request *request)
{
	static char program[] = "vmpi_info";
	int category = VM_CATEGORY_none;
	int status = 0;

	if (request->help) {
		argp_help(&command_line, stdout,
			  ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, program);
		return 0;
	}
	if (request->version) {
		printf("vmpi_info (vmpi) %s\n", vmpi_version());
		return 0;
	}
	vm_core_vars_add();
	vm_fabric_vars_add();
	vm_mpi_vars_add();
	/* The manual shows defaults, whoever has it made. */
	if (request->man) {
		manual_print();
		return 0;
	}
	if (request->category) {
		category = category_named(request->category);
		if (category < 0)
			return EXIT_MISTAKE;
	}
	if (vm_vars_load(NULL) < 0)
		status = EXIT_MISTAKE;
	if (request->overlap)
		return overlap_print(request->overlap) | status;
	if (request->calibrate)
		return status ? status : calibrate();
	if (request->name_count)
		return names_print(request, (enum vm_category)category) |
		       status;
	if (request->fabric)
		status |= fabric_print(request->form);
	if (!request->fabric || request->all || request->cvars ||
	    request->pvars || request->calls || request->categories)
		kinds_print(request, (enum vm_category)category);
	return status;
}

int main(int argc, char **argv)
{
	const unsigned flags = ARGP_IN_ORDER | ARGP_NO_HELP | ARGP_NO_ERRS;
	struct request request = { .form = FORM_BRIEF, .seen = 1 };
	int status;

	if (calibrate_is_node())
		return calibrate_node();
	request.names = calloc((size_t)argc + 1, sizeof(char *));
	if (!request.names) {
		fputs("vmpi_info: out of memory\n", stderr);
		return EXIT_FAILURE;
	}
	if (argp_parse(&command_line, argc, argv, flags, NULL, &request) != 0)
		status = mistake_say(argv[request.seen]);
	else
		status = request_answer(&request);
	free(request.names);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		perror("vmpi_info: standard output");
		return EXIT_FAILURE;
	}
	return status;
}
