/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What providers publish about themselves (their fi_info), and libfabric's rules
 * by which hints leave offers out.
 */
#include "offers.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MSG_RMA (FI_MSG | FI_RMA)
#define BASIC (FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

/* Name; caps; mode; registration; bytes of a key; order; format of addresses.
 * As their sources say. */
static const struct published {
	const char *name;
	uint64_t caps, mode;
	int mr_mode;
	size_t key;
	uint64_t order;
	uint32_t format;
} published[] = {
	{ "cxi", MSG_RMA, 0, FI_MR_PROV_KEY | FI_MR_ALLOCATED | FI_MR_ENDPOINT,
	  8, FI_ORDER_SAS, FI_ADDR_CXI },
	{ "efa", MSG_RMA, 0, BASIC | FI_MR_LOCAL, 4, FI_ORDER_SAS,
	  FI_ADDR_EFA },
	{ "psm2", MSG_RMA, FI_CONTEXT, 0, 8, FI_ORDER_SAS, FI_ADDR_PSMX2 },
	{ "opx", MSG_RMA, FI_CONTEXT2, 0, 8, FI_ORDER_SAS, FI_FORMAT_UNSPEC },
	{ "verbs;ofi_rxm", MSG_RMA, 0, BASIC | FI_MR_LOCAL, 4, FI_ORDER_SAS,
	  FI_SOCKADDR_IN },
	{ "verbs;ofi_rxd", MSG_RMA, 0, FI_MR_LOCAL, 8, FI_ORDER_SAS,
	  FI_ADDR_IB_UD },
	{ "psm3", MSG_RMA, FI_CONTEXT, 0, 8, FI_ORDER_SAS, FI_FORMAT_UNSPEC },
	/* Its keys are packed by UCX: without FI_MR_RAW no remote memory. */
	{ "ucx", MSG_RMA, 0, BASIC | FI_MR_RAW, 256, FI_ORDER_SAS,
	  FI_FORMAT_UNSPEC },
	{ "tcp", MSG_RMA, 0, 0, 8, FI_ORDER_SAS, FI_SOCKADDR_IN },
	{ "net", MSG_RMA, 0, 0, 8, FI_ORDER_SAS, FI_SOCKADDR_IN },
	{ "tcp;ofi_rxm", MSG_RMA, 0, 0, 8, FI_ORDER_SAS, FI_SOCKADDR_IN },
	{ "net;ofi_rxm", MSG_RMA, 0, 0, 8, FI_ORDER_SAS, FI_SOCKADDR_IN },
	{ "udp;ofi_rxd", MSG_RMA, 0, 0, 8, FI_ORDER_SAS, FI_SOCKADDR_IN },
	{ "sockets", MSG_RMA, 0, 0, 8, FI_ORDER_SAS, FI_SOCKADDR_IN },
	{ "shm", MSG_RMA, 0, FI_MR_VIRT_ADDR, 8, FI_ORDER_SAS, FI_ADDR_STR },
	{ "newer", MSG_RMA, 0, 0, 8, FI_ORDER_SAS, FI_FORMAT_UNSPEC },
};

const struct machine *offers_machine;
unsigned offers_open;

void machine_net(struct machine *machine, const char *name,
		 enum vm_net_kind kind, unsigned mbps, int numa,
		 const char *address, const char *flags)
{
	struct vm_net *net = vm_nets_add(&machine->nets, name, kind);

	net->mbps = mbps;
	net->numa = numa;
	net->route = strchr(flags, 'r') != NULL;
	net->up = !strchr(flags, 'd');
	if (address)
		vm_nets_address(&machine->nets, net, address,
				strchr(address, ':') ? 64 : 24);
}

void machine_offer(struct machine *machine, const char *provider,
		   const char *domain, const char *fabric, const char *address,
		   unsigned gbps)
{
	machine->offers[machine->offer_count++] =
		(struct offer){ .provider = provider,
				.domain = domain,
				.fabric = fabric,
				.address = address,
				.gbps = gbps };
}

void machine_tcp(struct machine *machine, const char *native)
{
	const char *const providers[] = { "tcp;ofi_rxm", "udp;ofi_rxd",
					  native };

	for (unsigned p = 0; p < 3; p++)
		for (unsigned i = 0; i < machine->nets.address_count; i++) {
			const struct vm_net_address *a =
				&machine->nets.addresses[i];
			const struct vm_net *net = &machine->nets.list[a->net];

			if (net->up)
				machine_offer(machine, providers[p], net->name,
					      a->text, a->text, 0);
		}
}

static const struct published *published_find(const char *name)
{
	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++)
		if (!strcmp(published[i].name, name))
			return &published[i];
	abort();
}

static void info_free(struct fi_info *info)
{
	while (info) {
		struct fi_info *next = info->next;

		free(info->fabric_attr->prov_name);
		free(info->fabric_attr->name);
		free(info->domain_attr->name);
		free(info->fabric_attr);
		free(info->domain_attr);
		free(info->ep_attr);
		free(info->tx_attr);
		free(info->rx_attr);
		free(info->src_addr);
		if (info->nic)
			free(info->nic->link_attr);
		free(info->nic);
		free(info);
		offers_open--;
		info = next;
	}
}

static void *copy(const void *from, size_t bytes)
{
	void *to = calloc(1, bytes);

	if (from)
		memcpy(to, from, bytes);
	return to;
}

static struct fi_info *info_dup(const struct fi_info *from)
{
	struct fi_info *info = copy(from, sizeof(*info));

#define PART(field) \
	info->field = copy(from ? from->field : NULL, sizeof(*info->field))
	PART(fabric_attr);
	PART(domain_attr);
	PART(ep_attr);
	PART(tx_attr);
	PART(rx_attr);
#undef PART
	info->next = NULL;
	offers_open++;
	if (!from)
		return info;
	if (from->fabric_attr->prov_name)
		info->fabric_attr->prov_name =
			strdup(from->fabric_attr->prov_name);
	if (from->fabric_attr->name)
		info->fabric_attr->name = strdup(from->fabric_attr->name);
	if (from->domain_attr->name)
		info->domain_attr->name = strdup(from->domain_attr->name);
	if (from->src_addr)
		info->src_addr = copy(from->src_addr, from->src_addrlen);
	if (from->nic) {
		info->nic = copy(from->nic, sizeof(*info->nic));
		info->nic->link_attr = copy(from->nic->link_attr,
					    sizeof(*info->nic->link_attr));
	}
	return info;
}

static void address_give(struct fi_info *info, const char *text)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
	struct sockaddr_in four = { .sin_family = AF_INET };

	if (inet_pton(AF_INET, text, &four.sin_addr) == 1) {
		info->src_addr = copy(&four, sizeof(four));
		info->src_addrlen = sizeof(four);
		info->addr_format = FI_SOCKADDR_IN;
	} else if (inet_pton(AF_INET6, text, &six.sin6_addr) == 1) {
		info->src_addr = copy(&six, sizeof(six));
		info->src_addrlen = sizeof(six);
		info->addr_format = FI_SOCKADDR_IN6;
	}
}

static struct fi_info *info_new(const struct offer *offer,
				const struct published *is, uint64_t caps)
{
	struct fi_info *info = info_dup(NULL);

	info->caps = caps;
	info->mode = is->mode;
	info->addr_format = is->format;
	info->fabric_attr->prov_name = strdup(offer->provider);
	info->fabric_attr->name = strdup(offer->fabric);
	info->domain_attr->name = strdup(offer->domain);
	info->domain_attr->mr_mode = caps & FI_RMA ? is->mr_mode : 0;
	info->domain_attr->mr_key_size = is->key;
	if (offer->address)
		address_give(info, offer->address);
	if (offer->gbps || offer->down) {
		info->nic = copy(NULL, sizeof(*info->nic));
		info->nic->link_attr =
			copy(NULL, sizeof(*info->nic->link_attr));
		info->nic->link_attr->speed = (size_t)offer->gbps * 1000000000;
		info->nic->link_attr->state = offer->down ? FI_LINK_DOWN :
							    FI_LINK_UP;
	}
	return info;
}

/* Providers are asked by their name, and by that of the one below. */
static bool is_named(const char *provider, const char *wanted)
{
	size_t length = strlen(wanted);

	return !strncmp(provider, wanted, length) &&
	       (!provider[length] || provider[length] == ';');
}

static bool is_left_out(const struct offer *offer, const struct published *is,
			const char *node, const struct fi_info *hints)
{
	const char *wanted = hints->fabric_attr->prov_name;

	/* An address of IP means nothing to those without. */
	if (node && (!offer->address || strcmp(node, offer->address) != 0))
		return true;
	return hints->caps & ~is->caps || is->mode & ~hints->mode ||
	       (hints->caps & FI_RMA &&
		is->mr_mode & ~hints->domain_attr->mr_mode) ||
	       hints->tx_attr->msg_order & ~is->order ||
	       (wanted && !is_named(offer->provider, wanted));
}

static int offers_getinfo(const char *node, uint64_t flags,
			  const struct fi_info *hints, struct fi_info **result)
{
	struct fi_info **end = result;

	*result = NULL;
	(void)flags;
	for (unsigned i = 0; i < offers_machine->offer_count; i++) {
		const struct offer *offer = &offers_machine->offers[i];
		const struct published *is = published_find(offer->provider);

		if (is_left_out(offer, is, node, hints))
			continue;
		*end = info_new(offer, is, hints->caps);
		end = &(*end)->next;
	}
	return *result ? 0 : -FI_ENODATA;
}

const struct vm_fi offers_fi = {
	.getinfo = offers_getinfo,
	.freeinfo = info_free,
	.dupinfo = info_dup,
};
