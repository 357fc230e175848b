/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks libfabric as a job would, and prints all of its offers.
 */
#include "fabric.h"

#include <stdio.h>
#include <stdlib.h>

#include "fabric/ofi/select.h"
#include "fabric/packet/vars.h"
#include "report/cli.h"

/* An interface, or a device of remote memory. */
static void net_print(enum form form, const struct vm_nets *nets,
		      const struct vm_net *net)
{
	const char *address = "", *kind = vm_net_kind_text(net->kind);
	char speed[24], numa[16] = "-";

	for (unsigned i = nets->address_count; i > 0; i--)
		if (&nets->list[nets->addresses[i - 1].net] == net)
			address = nets->addresses[i - 1].text;
	vm_net_speed(speed, net->mbps);
	if (net->numa >= 0)
		snprintf(numa, sizeof(numa), "%d", net->numa);
	if (form == FORM_PARSEABLE)
		text_fields("net", net->name, speed, address,
			    net->up ? "up" : "down", numa, kind,
			    net->route ? "default route" : "", NULL);
	else
		printf("    %-14s %-10s %-15s %s%s%s%s%s\n", net->name, speed,
		       address, kind, net->numa >= 0 ? ", NUMA node " : "",
		       net->numa >= 0 ? numa : "",
		       net->route ? ", default route" : "",
		       net->up ? "" : ", down");
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

/* What was chosen, in a few words. */
static void heading_print(const char *scope, const struct vm_select *select)
{
	const struct vm_choice *taken = vm_select_taken(select);
	const char *between = " ";

	printf("Node processes on %s:", scope);
	if (!taken) {
		puts(" no network fits");
		return;
	}
	printf(" %s on", taken->provider);
	for (unsigned i = 0; i < select->count; i++) {
		const struct vm_choice *choice = &select->choices[i];

		if (!choice->taken)
			continue;
		printf("%s%s", between,
		       choice->domain[0] ? choice->domain : choice->provider);
		between = ", ";
	}
	puts("");
}

/* One kind of job. */
static int scope_print(enum form form, const char *scope, bool one_host,
		       const struct vm_nets *nets)
{
	struct vm_select select;
	int rc = vm_select_init(
		&select, &vm_fi_real,
		&(struct vm_wish){ .provider = fabric_cvar.provider,
				   .interface = fabric_cvar.interface,
				   .one_host = one_host,
				   .nets = nets });

	if (form == FORM_BRIEF || form == FORM_FULL)
		heading_print(scope, &select);
	for (unsigned i = 0; i < select.count; i++)
		choice_print(form, scope, &select.choices[i]);
	vm_select_fini(&select, &vm_fi_real);
	return rc < 0 ? EXIT_FAILURE : 0;
}

int fabric_print(enum form form)
{
	struct vm_nets *nets = malloc(sizeof(*nets));
	int status;

	if (!nets) {
		vm_cli_no_memory();
		return EXIT_FAILURE;
	}
	if (vm_fi_load() < 0) {
		free(nets);
		return EXIT_FAILURE;
	}
	vm_nets_read(nets, "/sys");
	if (form == FORM_BRIEF || form == FORM_FULL)
		puts("This machine has:");
	for (unsigned i = 0; form != FORM_NAMES && i < nets->count; i++)
		net_print(form, nets, &nets->list[i]);
	status = scope_print(form, "one host", true, nets);
	status |= scope_print(form, "several hosts", false, nets);
	free(nets);
	return status;
}
