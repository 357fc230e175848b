/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Querying libfabric and ranking its answers.
 */
#include "fabric/ofi/select.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

/*
 * Providers: name, use, what is to say.  Earlier rows are preferred.
 *	FAST	networks of several hosts, passed over on one host
 *	GOOD	everywhere
 *	NEVER	not unless fabric_provider names it
 */
#define PROVIDERS(X)                                           \
	X("cxi", FAST, "fast network")                         \
	X("opx", FAST, "fast network")                         \
	X("efa", FAST, "fast network")                         \
	X("verbs", FAST, "fast network")                       \
	X("verbs;ofi_rxm", FAST, "fast network")               \
	X("psm2", FAST, "fast network")                        \
	X("psm3", FAST, "fast network")                        \
	X("tcp", GOOD, "TCP")                                  \
	X("net", GOOD, "TCP")                                  \
	X("tcp;ofi_rxm", GOOD, "TCP by way of connections")    \
	X("net;ofi_rxm", NEVER, "net itself does the same")    \
	X("shm", NEVER,                                        \
	  "one host only, cannot be waited for, crashes with " \
	  "its peer")                                          \
	X("sm2", NEVER, "one host only, cannot be waited for") \
	X("lnx", NEVER, "links other providers, untried")      \
	X("sockets", NEVER, "obsolete and slow")               \
	X("UDP;ofi_rxd", NEVER, "slow")                        \
	X("udp;ofi_rxd", NEVER, "slow")

enum use { FAST, GOOD, NEVER };

static const struct provider {
	const char *name;
	enum use use;
	const char *what;
} providers[] = {
#define PROVIDER_ROW(name, use, what) { name, use, what },
	PROVIDERS(PROVIDER_ROW)
};

#define PROVIDER_COUNT (sizeof(providers) / sizeof(providers[0]))

static void address_text(char text[64], const struct sockaddr *address)
{
	socklen_t bytes = address->sa_family == AF_INET6 ?
				  sizeof(struct sockaddr_in6) :
				  sizeof(struct sockaddr_in);

	if ((address->sa_family != AF_INET && address->sa_family != AF_INET6) ||
	    getnameinfo(address, bytes, text, 64, NULL, 0, NI_NUMERICHOST))
		text[0] = '\0';
}

static bool is_address(const char *text)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, text, bytes) == 1 ||
	       inet_pton(AF_INET6, text, bytes) == 1;
}

/* A value of fabric_interface: an interface, or a network as 10.1.0.0/16,
 * because interfaces need not have the same name on all hosts. */
struct wanted {
	const char *name;
	int family; /* of the network; 0: none given */
	unsigned char network[sizeof(struct in6_addr)];
	unsigned bits;
};

static void wanted_read(struct wanted *wanted, const char *name)
{
	const char *slash = strchr(name, '/');
	char address[64], end;

	*wanted = (struct wanted){ .name = name };
	if (!slash || slash - name >= (ptrdiff_t)sizeof(address) ||
	    sscanf(slash, "/%3u%c", &wanted->bits, &end) != 1)
		return;
	snprintf(address, sizeof(address), "%.*s", (int)(slash - name), name);
	if (inet_pton(AF_INET, address, wanted->network) == 1 &&
	    wanted->bits <= 32)
		wanted->family = AF_INET;
	else if (inet_pton(AF_INET6, address, wanted->network) == 1 &&
		 wanted->bits <= 128)
		wanted->family = AF_INET6;
}

static bool is_wanted(const struct wanted *wanted, const struct ifaddrs *one)
{
	const struct sockaddr *a = one->ifa_addr;
	const unsigned char *bytes;
	unsigned whole = wanted->bits / 8, rest = wanted->bits % 8;

	if (!wanted->family)
		return strcmp(one->ifa_name, wanted->name) == 0;
	if (a->sa_family != wanted->family)
		return false;
	bytes = a->sa_family == AF_INET ?
			(const void *)&(
				(const struct sockaddr_in *)(const void *)a)
				->sin_addr :
			(const void *)&(
				(const struct sockaddr_in6 *)(const void *)a)
				->sin6_addr;
	return !memcmp(bytes, wanted->network, whole) &&
	       (!rest ||
		(bytes[whole] ^ wanted->network[whole]) >> (8 - rest) == 0);
}

/* The address of an interface: its first of IPv4, else of IPv6. */
static int interface_address(char address[64], const char *name)
{
	struct wanted wanted;
	struct ifaddrs *list, *one;
	const struct sockaddr *found = NULL;
	char known[256] = "";

	wanted_read(&wanted, name);
	if (getifaddrs(&list))
		return -VMPI_EIO;
	for (one = list; one; one = one->ifa_next) {
		const struct sockaddr *a = one->ifa_addr;
		size_t used = strlen(known);

		if (!a || (a->sa_family != AF_INET && a->sa_family != AF_INET6))
			continue;
		if (!strstr(known, one->ifa_name))
			snprintf(known + used, sizeof(known) - used, " %s",
				 one->ifa_name);
		if (is_wanted(&wanted, one) &&
		    (!found ||
		     (found->sa_family == AF_INET6 && a->sa_family == AF_INET)))
			found = a;
	}
	if (found)
		address_text(address, found);
	else
		vm_log(VM_ERROR,
		       "fabric_interface = %.32s: no such interface, address or "
		       "network; there are%s",
		       name, known);
	freeifaddrs(list);
	return found ? 0 : -VMPI_EINVAL;
}

/* Our address on the default route: a UDP socket that sends nothing. */
static void route_address(char address[64])
{
	struct sockaddr_in remote = { .sin_family = AF_INET,
				      .sin_port = htons(9),
				      .sin_addr = { htonl(0x01010101) } };
	struct sockaddr_in local;
	socklen_t bytes = sizeof(local);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	address[0] = '\0';
	if (fd < 0)
		return;
	if (connect(fd, (struct sockaddr *)&remote, sizeof(remote)) == 0 &&
	    getsockname(fd, (struct sockaddr *)&local, &bytes) == 0)
		address_text(address, (struct sockaddr *)&local);
	close(fd);
}

static int node_find(struct vm_select *select, bool one_host)
{
	const char *wanted = select->wish.interface;

	if (wanted[0] && is_address(wanted)) {
		snprintf(select->node, sizeof(select->node), "%s", wanted);
		select->node_why = "fabric_interface";
		return 0;
	}
	if (wanted[0]) {
		select->node_why = "fabric_interface";
		return interface_address(select->node, wanted);
	}
	if (one_host) {
		snprintf(select->node, sizeof(select->node), "127.0.0.1");
		select->node_why = "all processes are on one host";
		return 0;
	}
	route_address(select->node);
	select->node_why = select->node[0] ? "the default route" :
					     "there is no default route";
	return 0;
}

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
		hints->fabric_attr->prov_name = strdup(select->wish.provider);
	return hints;
}

/* The row of a provider, or one past the last. */
static unsigned provider_rank(const char *name)
{
	unsigned i = 0;

	while (i < PROVIDER_COUNT && strcmp(providers[i].name, name) != 0)
		i++;
	return i;
}

/* Whether an offer may be chosen; *why is the text about it. */
static bool offer_fits(const struct vm_select *select,
		       const struct fi_info *info, const char **why,
		       bool one_host)
{
	unsigned rank = provider_rank(info->fabric_attr->prov_name);

	if (info->domain_attr->mr_key_size > sizeof(uint64_t)) {
		*why = "its keys are too long";
		return false;
	}
	if (select->wish.provider[0]) {
		*why = "fabric_provider names it";
		return true;
	}
	if (rank == PROVIDER_COUNT) {
		*why = "unknown; fabric_provider can name it";
		return false;
	}
	*why = providers[rank].what;
	if (providers[rank].use == FAST && one_host) {
		*why = "all processes are on one host";
		return false;
	}
	return providers[rank].use != NEVER;
}

static struct vm_choice *choice_add(struct vm_select *select,
				    const struct fi_info *info)
{
	struct vm_choice *choice;

	if (select->count == VM_CHOICES_MAX)
		return NULL;
	choice = &select->choices[select->count++];
	snprintf(choice->provider, sizeof(choice->provider), "%s",
		 info->fabric_attr->prov_name);
	snprintf(choice->domain, sizeof(choice->domain), "%s",
		 info->domain_attr->name ? info->domain_attr->name : "");
	if (info->src_addr && info->addr_format <= FI_SOCKADDR_IN6)
		address_text(choice->address, info->src_addr);
	return choice;
}

/* Lists the offers and takes the best. */
static void offers_rank(struct vm_select *select, const struct vm_fi *fi,
			struct fi_info *offers, bool one_host)
{
	unsigned best = PROVIDER_COUNT + 1;
	struct vm_choice *taken = NULL;
	struct fi_info *found = NULL;

	for (struct fi_info *info = offers; info; info = info->next) {
		unsigned rank = provider_rank(info->fabric_attr->prov_name);
		struct vm_choice *choice = choice_add(select, info);

		if (!choice)
			break;
		if (!offer_fits(select, info, &choice->why, one_host))
			continue;
		if (rank >= best) {
			choice->why = "a preferred one comes first";
			continue;
		}
		if (taken)
			taken->why = "a preferred one is there";
		best = rank;
		taken = choice;
		found = info;
	}
	if (!found)
		return;
	taken->taken = true;
	select->info = fi->dupinfo(found);
}

/* Queries once; returns whether there was an answer that fits. */
static bool ask(struct vm_select *select, const struct vm_fi *fi, uint64_t caps,
		bool one_host)
{
	struct fi_info *hints = hints_new(select, fi, caps), *offers = NULL;
	const char *node = select->node[0] ? select->node : NULL;
	int rc;

	if (!hints)
		return false;
	select->count = 0;
	memset(select->choices, 0, sizeof(select->choices));
	rc = fi->getinfo(node, node ? FI_SOURCE : 0, hints, &offers);
	fi->freeinfo(hints);
	if (rc)
		return false;
	offers_rank(select, fi, offers, one_host);
	fi->freeinfo(offers);
	return select->info != NULL;
}

int vm_select_init(struct vm_select *select, const struct vm_fi *fi,
		   struct vm_wish wish, bool one_host)
{
	int rc;

	*select = (struct vm_select){ .wish = wish, .node_why = "" };
	rc = node_find(select, one_host);
	if (rc < 0)
		return rc;
	if (ask(select, fi, FI_MSG | FI_RMA, one_host) ||
	    ask(select, fi, FI_MSG, one_host))
		return 0;
	if (select->wish.provider[0])
		vm_log(VM_ERROR,
		       "fabric_provider = %.32s: libfabric offers no such "
		       "provider%s%s that vmpi can use",
		       select->wish.provider, select->node[0] ? " at " : "",
		       select->node);
	else
		vm_log(VM_ERROR,
		       "libfabric offers no provider%s%s that vmpi can use; "
		       "vmpi_info --fabric says why",
		       select->node[0] ? " at " : "", select->node);
	return -VMPI_ENOTSUP;
}

int vm_select_reaches(const struct vm_select *select)
{
	const char *address = "";

	for (unsigned i = 0; i < select->count; i++)
		if (select->choices[i].taken)
			address = select->choices[i].address;
	if (strncmp(address, "127.", 4) != 0 && strcmp(address, "::1") != 0)
		return 0;
	if (select->wish.interface[0])
		vm_log(VM_ERROR,
		       "fabric_interface = %.32s: %s is loopback, which cannot "
		       "reach the other hosts of the job",
		       select->wish.interface, address);
	else
		vm_log(VM_ERROR,
		       "no network interface but loopback is up, which cannot "
		       "reach the other hosts of the job");
	return -VMPI_EINVAL;
}

void vm_select_fini(struct vm_select *select, const struct vm_fi *fi)
{
	if (select->info)
		fi->freeinfo(select->info);
	select->info = NULL;
}
