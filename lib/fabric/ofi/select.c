/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Querying libfabric and ranking its answers.
 */
#include "fabric/ofi/select.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "fabric/ofi/offer.h"

/* TCP with endpoints of its own is the provider net up to libfabric 1.17, and tcp
 * from 1.18 on; before, tcp has none.  Either name gives what is there. */
#define OLD_NAME "net"
#define NEW_NAME "tcp"
#define SMALL_BYTES 1024 /* a packet that is cheap to copy */
#define RXM_BYTES 4096

/* Our requirements.  Modes that cost us something are accepted, not
 * required. */
static struct fi_info *hints_new(const struct vm_select *select,
				 const struct vm_fi *fi, uint64_t caps)
{
	struct fi_info *hints = fi->dupinfo(NULL);

	if (!hints)
		return NULL;
	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = caps;
	hints->mode = FI_CONTEXT | FI_CONTEXT2;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR |
				      FI_MR_ALLOCATED | FI_MR_PROV_KEY |
				      FI_MR_ENDPOINT;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
	hints->tx_attr->msg_order = FI_ORDER_SAS;
	hints->rx_attr->msg_order = FI_ORDER_SAS;
	if (select->wish.provider[0])
		hints->fabric_attr->prov_name = strdup(
			select->renamed ? NEW_NAME : select->wish.provider);
	return hints;
}

static void address_text(char text[64], const struct fi_info *info)
{
	const struct sockaddr *address = info->src_addr;
	socklen_t bytes = sizeof(struct sockaddr_in);

	text[0] = '\0';
	if (!address || info->addr_format > FI_SOCKADDR_IN6 ||
	    (address->sa_family != AF_INET && address->sa_family != AF_INET6))
		return;
	if (address->sa_family == AF_INET6)
		bytes = sizeof(struct sockaddr_in6);
	if (getnameinfo(address, bytes, text, 64, NULL, 0, NI_NUMERICHOST))
		text[0] = '\0';
}

/* What the offer itself says about its device goes before what the kernel
 * says. */
static void place_find(struct vm_choice *choice, const struct vm_nets *nets)
{
	const struct fi_info *info = choice->info;
	const struct vm_net_address *at = vm_nets_at(nets, choice->address);
	const struct fi_link_attr *link = info->nic ? info->nic->link_attr :
						      NULL;

	choice->net = vm_nets_find(nets, choice->domain);
	if (!choice->net && at)
		choice->net = &nets->list[at->net];
	choice->up = true;
	choice->numa = -1;
	choice->kind = VM_NET_WIRED;
	if (choice->net) {
		choice->kind = choice->net->kind;
		choice->up = choice->net->up;
		choice->mbps = choice->net->mbps;
		choice->numa = choice->net->numa;
	} else if (!strncmp(choice->address, "127.", 4) ||
		   !strcmp(choice->address, "::1")) {
		choice->kind = VM_NET_LOOPBACK;
	}
	if (choice->kind == VM_NET_INNER && choice->net->route)
		choice->kind = VM_NET_VIRTUAL;
	if (link && link->speed && choice->kind >= VM_NET_DEVICE)
		choice->mbps = (unsigned)(link->speed / 1000000);
	if (link && link->state == FI_LINK_DOWN)
		choice->up = false;
}

/* The same provider is often offered several times, for each of its
 * protocols. */
static bool is_known(const struct vm_select *select,
		     const struct vm_choice *choice)
{
	for (unsigned i = 0; i < select->count; i++) {
		const struct vm_choice *other = &select->choices[i];

		if (!strcmp(other->provider, choice->provider) &&
		    !strcmp(other->domain, choice->domain) &&
		    !strcmp(other->fabric, choice->fabric) &&
		    !strcmp(other->address, choice->address))
			return true;
	}
	return false;
}

static void choice_add(struct vm_select *select, struct fi_info *info)
{
	const struct vm_nets *nets = select->wish.nets;
	struct vm_choice *choice = &select->choices[select->count];

	if (select->count == VM_CHOICES_MAX ||
	    (select->renamed &&
	     strcmp(info->fabric_attr->prov_name, NEW_NAME) != 0))
		return;
	*choice = (struct vm_choice){ .info = info };
	snprintf(choice->provider, sizeof(choice->provider), "%s",
		 info->fabric_attr->prov_name);
	snprintf(choice->domain, sizeof(choice->domain), "%s",
		 info->domain_attr->name ? info->domain_attr->name : "");
	snprintf(choice->fabric, sizeof(choice->fabric), "%s",
		 info->fabric_attr->name ? info->fabric_attr->name : "");
	address_text(choice->address, info);
	choice->row = vm_offer_row(choice->provider);
	choice->rma = info->caps & FI_RMA &&
		      info->domain_attr->mr_key_size <= sizeof(uint64_t);
	place_find(choice, nets);
	if (!is_known(select, choice))
		select->count++;
}

/* Queries once; the answers belong to select. */
static void ask(struct vm_select *select, const struct vm_fi *fi,
		unsigned index, uint64_t caps, const char *node)
{
	struct fi_info *hints = hints_new(select, fi, caps);

	if (!hints)
		return;
	if (fi->getinfo(node, node ? FI_SOURCE : 0, hints,
			&select->answers[index]))
		select->answers[index] = NULL;
	fi->freeinfo(hints);
	for (struct fi_info *info = select->answers[index]; info;
	     info = info->next)
		choice_add(select, info);
}

/* Takes the best offer; the others learn why they are not. */
static struct vm_choice *best_take(struct vm_select *select)
{
	struct vm_choice *best = NULL;

	for (unsigned i = 0; i < select->count; i++) {
		struct vm_choice *choice = &select->choices[i];

		if (!vm_offer_fits(choice, &select->wish))
			continue;
		if (!best || vm_offer_better(choice, best, &select->wish, NULL))
			best = choice;
	}
	for (unsigned i = 0; best && i < select->count; i++) {
		struct vm_choice *choice = &select->choices[i];

		if (choice != best && !choice->why[0])
			vm_offer_better(best, choice, &select->wish,
					choice->why);
	}
	return best;
}

static void rail_add(struct vm_select *select, const struct vm_fi *fi,
		     struct vm_choice *choice)
{
	struct fi_info *info = fi->dupinfo(choice->info);

	if (!info)
		return;
	choice->taken = true;
	if (!choice->rma)
		info->caps &= ~(uint64_t)FI_RMA;
	select->rails[select->rail_count++] =
		(struct vm_rail){ .info = info, .numa = choice->numa };
	select->info = select->rails[0].info;
}

/* Takes the best one, and all that are as good and reach each other. */
static void take(struct vm_select *select, const struct vm_fi *fi,
		 struct vm_choice *best)
{
	rail_add(select, fi, best);
	for (unsigned i = 0; i < select->count; i++) {
		struct vm_choice *choice = &select->choices[i];

		if (select->rail_count < VM_RAILS_MAX && !choice->taken &&
		    vm_offer_twins(best, choice, &select->wish))
			rail_add(select, fi, choice);
	}
	for (unsigned i = 0; i < select->count; i++)
		if (select->choices[i].taken)
			vm_offer_praise(&select->choices[i], &select->wish,
					select->rail_count);
}

/* Logs why nothing was found. */
static int refuse(const struct vm_select *select)
{
	const struct vm_wish *wish = &select->wish;
	char known[256] = "";

	for (unsigned i = 0; i < wish->nets->count; i++) {
		size_t used = strlen(known);

		snprintf(known + used, sizeof(known) - used, " %s",
			 wish->nets->list[i].name);
	}
	if (wish->interface[0] &&
	    !vm_nets_wanted(wish->nets, wish->interface) &&
	    !vm_nets_find(wish->nets, wish->interface)) {
		vm_log(VM_ERROR,
		       "fabric_interface = %.32s: no such interface, address or "
		       "network; there are%s",
		       wish->interface, known);
		return -VMPI_EINVAL;
	}
	for (unsigned i = 0; wish->provider[0] && i < select->count; i++) {
		const struct vm_choice *choice = &select->choices[i];

		if (wish->interface[0] && !vm_offer_wanted(choice, wish))
			continue;
		vm_log(VM_ERROR, "fabric_provider = %.32s: %s", wish->provider,
		       choice->why);
		return -VMPI_EINVAL;
	}
	if (wish->provider[0])
		vm_log(VM_ERROR,
		       "fabric_provider = %.32s: libfabric offers no such "
		       "provider%s%s that vmpi can use",
		       wish->provider, wish->interface[0] ? " at " : "",
		       wish->interface);
	else
		vm_log(VM_ERROR,
		       "libfabric offers no provider%s%s that vmpi can use; "
		       "vmpi_info --fabric says why",
		       wish->interface[0] ? " at " : "", wish->interface);
	return wish->provider[0] ? -VMPI_EINVAL : -VMPI_ENOTSUP;
}

static int own_read(struct vm_select *select)
{
	if (select->wish.nets)
		return 0;
	select->own = malloc(sizeof(*select->own));
	if (!select->own)
		return -VMPI_ENOMEM;
	vm_nets_read(select->own, "/sys");
	select->wish.nets = select->own;
	return 0;
}

/* The address that fabric_interface means, or that of loopback; or NULL.  Some
 * are offered only to those who ask for them. */
static const char *node_find(const struct vm_select *select)
{
	const struct vm_wish *wish = &select->wish;
	const struct vm_net_address *address;

	if (!wish->interface[0])
		return wish->one_host ? "127.0.0.1" : NULL;
	address = vm_nets_wanted(wish->nets, wish->interface);
	if (address)
		return address->text;
	return vm_net_is_address(wish->interface) ? wish->interface : NULL;
}

int vm_select_init(struct vm_select *select, const struct vm_fi *fi,
		   const struct vm_wish *wish)
{
	struct vm_choice *best;
	const char *node;

	*select = (struct vm_select){ .wish = *wish };
	select->choices = calloc(VM_CHOICES_MAX, sizeof(*select->choices));
	if (!select->choices || own_read(select)) {
		vm_log(VM_ERROR, "not enough memory to choose a network");
		return -VMPI_ENOMEM;
	}
	ask(select, fi, 0, FI_MSG | FI_RMA, NULL);
	if (!select->answers[0] && !strcmp(wish->provider, OLD_NAME)) {
		select->renamed = true;
		ask(select, fi, 0, FI_MSG | FI_RMA, NULL);
	}
	ask(select, fi, 1, FI_MSG, NULL);
	best = best_take(select);
	node = node_find(select);
	if (node && (!best || (wish->one_host && !wish->interface[0] &&
			       best->net && best->kind != VM_NET_LOOPBACK))) {
		ask(select, fi, 2, FI_MSG | FI_RMA, node);
		best = best_take(select);
	}
	if (!best)
		return refuse(select);
	take(select, fi, best);
	return select->info ? 0 : -VMPI_ENOMEM;
}

const struct vm_choice *vm_select_taken(const struct vm_select *select)
{
	for (unsigned i = 0; i < select->count; i++)
		if (select->choices[i].info && select->choices[i].taken)
			return &select->choices[i];
	return NULL;
}

int vm_select_reaches(const struct vm_select *select)
{
	const struct vm_choice *taken = vm_select_taken(select);

	if (!taken || taken->kind != VM_NET_LOOPBACK)
		return 0;
	if (select->wish.interface[0])
		vm_log(VM_ERROR,
		       "fabric_interface = %.32s: %s is loopback, which cannot "
		       "reach the other hosts of the job",
		       select->wish.interface, taken->address);
	else
		vm_log(VM_ERROR,
		       "no network interface but loopback is up, which cannot "
		       "reach the other hosts of the job");
	return -VMPI_EINVAL;
}

struct fi_info *vm_select_rail(const struct vm_select *select, int numa,
			       unsigned number,
			       unsigned (*distance)(int from, int to))
{
	unsigned least = UINT_MAX, equal = 0, far[VM_RAILS_MAX];

	for (unsigned i = 0; i < select->rail_count; i++) {
		int at = select->rails[i].numa;

		far[i] = numa < 0 || at < 0 ? 0 : distance(numa, at);
		if (far[i] < least) {
			least = far[i];
			equal = 0;
		}
		equal += far[i] == least;
	}
	number %= equal ? equal : 1;
	for (unsigned i = 0; i < select->rail_count; i++)
		if (far[i] == least && number-- == 0)
			return select->rails[i].info;
	return select->info;
}

int vm_select_open(const struct vm_select *select, const struct vm_fi *fi,
		   struct fid_fabric **fabric)
{
	struct fi_fabric_attr *attr = select->info->fabric_attr;
	int rc = fi->fabric(attr, fabric);

	if (rc == 0)
		return 0;
	vm_log(VM_ERROR, "cannot open provider %s: %s", attr->prov_name,
	       vm_fi_text(-rc));
	return -VMPI_EIO;
}

bool vm_select_sockets(const struct vm_select *select)
{
	const char *provider = select->info->fabric_attr->prov_name;
	size_t length = strcspn(provider, ";");

	return length == 3 && (strncmp(provider, "tcp", length) == 0 ||
			       strncmp(provider, "net", length) == 0);
}

bool vm_select_layered(const struct vm_select *select)
{
	return strchr(select->info->fabric_attr->prov_name, ';') != NULL;
}

uint32_t vm_select_batch_bytes(const struct vm_select *select, uint32_t most)
{
	if (!vm_select_sockets(select))
		return SMALL_BYTES;
	/* A system call takes longer than copying what it sends; but rxm
	 * announces messages of more than 16 KiB. */
	return vm_select_layered(select) ? RXM_BYTES : most / 2;
}

void vm_select_fini(struct vm_select *select, const struct vm_fi *fi)
{
	for (unsigned i = 0; i < select->rail_count; i++)
		fi->freeinfo(select->rails[i].info);
	for (unsigned i = 0; i < 3; i++)
		if (select->answers[i])
			fi->freeinfo(select->answers[i]);
	free(select->choices);
	free(select->own);
	*select = (struct vm_select){ 0 };
}

unsigned vm_select_ports(const struct vm_select *select, unsigned ports)
{
	const struct fi_domain_attr *attr;

	if (!select->info)
		return ports;
	attr = select->info->domain_attr;
	if (attr->ep_cnt && ports > attr->ep_cnt)
		ports = (unsigned)attr->ep_cnt;
	if (attr->cq_cnt && ports > attr->cq_cnt)
		ports = (unsigned)attr->cq_cnt;
	return ports;
}
