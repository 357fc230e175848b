/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks libfabric as a job would, and prints all of its offers.
 */
#include "fabric.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/ofi/select.h"
#include "fabric/packet/vars.h"
#include "report/cli.h"

/* The same provider is often offered several times, for each of its protocols:
 * one line is enough. */
static bool seen_before(const struct vm_select *select, unsigned index)
{
	const struct vm_choice *choice = &select->choices[index];

	for (unsigned i = 0; i < index; i++) {
		const struct vm_choice *other = &select->choices[i];

		if (other->taken == choice->taken &&
		    strcmp(other->provider, choice->provider) == 0 &&
		    strcmp(other->domain, choice->domain) == 0 &&
		    strcmp(other->address, choice->address) == 0)
			return true;
	}
	return false;
}

static void choice_print(enum form form, const char *scope,
			 const struct vm_choice *choice)
{
	if (form == FORM_PARSEABLE)
		text_fields("provider", scope, choice->provider, choice->domain,
			    choice->address, choice->taken ? "taken" : "left",
			    choice->why, NULL);
	else if (form == FORM_NAMES)
		puts(choice->provider);
	else
		printf("  %s %-14s %-10s %-15s %s\n", choice->taken ? "*" : " ",
		       choice->provider, choice->domain, choice->address,
		       choice->why);
}

/* One kind of job. */
static int scope_print(enum form form, const char *scope, bool one_host)
{
	struct vm_select *select = malloc(sizeof(*select));
	int rc;

	if (!select) {
		vm_cli_no_memory();
		return EXIT_FAILURE;
	}
	rc = vm_select_init(select, &vm_fi_real,
			    (struct vm_wish){ fabric_cvar.provider,
					      fabric_cvar.interface },
			    one_host);
	if (form == FORM_BRIEF || form == FORM_FULL)
		printf("Node processes on %s, address %s (%s):\n", scope,
		       select->node[0] ? select->node : "any",
		       select->node_why);
	for (unsigned i = 0; i < select->count; i++)
		if (!seen_before(select, i))
			choice_print(form, scope, &select->choices[i]);
	vm_select_fini(select, &vm_fi_real);
	free(select);
	return rc < 0 ? EXIT_FAILURE : 0;
}

int fabric_print(enum form form)
{
	int status;

	if (vm_fi_load() < 0)
		return EXIT_FAILURE;
	status = scope_print(form, "one host", true);
	return scope_print(form, "several hosts", false) | status;
}
