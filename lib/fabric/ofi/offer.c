/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order among providers, and among the networks of one of them.
 */
#include "fabric/ofi/offer.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/*
 * Providers: name, use, what is to say.  Earlier rows are preferred; the native
 * ones stand in libfabric's own order.
 *	NATIVE	hardware that moves memory; passed over on one host
 *	GOOD	everywhere
 *	HOST	between processes of one host only, and not by itself
 *	NEVER	not unless fabric_provider names it
 *	REFUSED	not even then
 */
#define PROVIDERS(X)                                                       \
	X("cxi", NATIVE, "Slingshot")                                      \
	X("efa", NATIVE, "Elastic Fabric Adapter")                         \
	X("psm2", NATIVE, "Omni-Path")                                     \
	X("opx", NATIVE, "Omni-Path Express")                              \
	X("verbs", NATIVE, "InfiniBand or RoCE")                           \
	X("verbs;ofi_rxm", NATIVE, "InfiniBand or RoCE")                   \
	X("psm3", NATIVE, "Ethernet or InfiniBand by PSM")                 \
	X("ucx", NATIVE, "InfiniBand by UCX")                              \
	X("tcp", GOOD, "TCP")                                              \
	X("net", GOOD, "TCP")                                              \
	X("tcp;ofi_rxm", GOOD, "TCP by way of connections")                \
	X("net;ofi_rxm", REFUSED, "crashes; net does the same without it") \
	X("shm", HOST, "cannot be waited for, crashes with its peer")      \
	X("sm2", HOST, "cannot be waited for")                             \
	X("lnx", NEVER, "links other providers, untried")                  \
	X("verbs;ofi_rxd", NEVER, "slower than connections")               \
	X("sockets", REFUSED,                                              \
	  "obsolete, and stops with messages on their way; "               \
	  "tcp does the same")                                             \
	X("UDP;ofi_rxd", REFUSED, "loses its peers under load; use tcp")   \
	X("udp;ofi_rxd", REFUSED, "loses its peers under load; use tcp")

enum use { NATIVE, GOOD, HOST, NEVER, REFUSED };

static const struct provider {
	const char *name;
	enum use use;
	const char *what;
} providers[] = {
#define PROVIDER_ROW(name, use, what) { name, use, what },
	PROVIDERS(PROVIDER_ROW)
};

#define PROVIDER_COUNT (sizeof(providers) / sizeof(providers[0]))
#define WHY_BYTES sizeof(((struct vm_choice *)0)->why)

unsigned vm_offer_row(const char *provider)
{
	unsigned i = 0;

	while (i < PROVIDER_COUNT && strcmp(providers[i].name, provider) != 0)
		i++;
	return i;
}

static bool is_native(const struct vm_choice *choice)
{
	return choice->row < PROVIDER_COUNT &&
	       providers[choice->row].use == NATIVE;
}

bool vm_offer_wanted(const struct vm_choice *choice, const struct vm_wish *wish)
{
	const struct vm_net_address *wanted, *at;
	size_t length = strlen(wish->interface);

	if (!strncmp(choice->domain, wish->interface, length) &&
	    (!choice->domain[length] || choice->domain[length] == '-'))
		return true;
	if (vm_net_is_address(wish->interface))
		return !strcmp(choice->address, wish->interface);
	wanted = vm_nets_wanted(wish->nets, wish->interface);
	at = vm_nets_at(wish->nets, choice->address);
	return wanted && at && wanted->net == at->net &&
	       (!strchr(wish->interface, '/') || wanted == at);
}

/* Why an offer may not be chosen, or NULL. */
static const char *fault(const struct vm_choice *choice,
			 const struct vm_wish *wish)
{
	const struct provider *row = &providers[choice->row];
	bool named = wish->provider[0] != '\0';

	if (wish->interface[0] && !vm_offer_wanted(choice, wish))
		return "fabric_interface names another one";
	if (choice->row == PROVIDER_COUNT)
		return named ? NULL : "unknown; fabric_provider can name it";
	if (row->use == REFUSED)
		return row->what;
	if (row->use == HOST && !wish->one_host)
		return "reaches processes of its own host only";
	if (!choice->up)
		return "its link is down";
	if (named)
		return NULL;
	if (row->use == NEVER || row->use == HOST)
		return row->what;
	if (row->use == NATIVE && wish->one_host)
		return "all processes are on one host";
	if (choice->kind == VM_NET_EMULATED && !wish->interface[0])
		return "software imitates the device; TCP is faster";
	if (row->use == NATIVE && choice->net && choice->kind < VM_NET_LOOPBACK)
		return "no hardware for it; TCP does the same";
	return NULL;
}

bool vm_offer_fits(struct vm_choice *choice, const struct vm_wish *wish)
{
	const char *text = fault(choice, wish);

	snprintf(choice->why, WHY_BYTES, "%s", text ? text : "");
	return !text;
}

/* A speed that is not known is that of common hardware. */
static int64_t speed_of(const struct vm_choice *choice)
{
	if (choice->mbps)
		return choice->mbps;
	return choice->kind == VM_NET_WIRED ? 1000 :
	       choice->kind == VM_NET_RADIO ? 100 :
					      0;
}

/* What is compared, in this order; smaller is better. */
enum criterion { ROW, KIND, LINK, SPEED, MEMORY, ROUTE, FAMILY, CRITERIA };

static bool is_link_local(const char *address)
{
	return !strncmp(address, "fe80:", 5) ||
	       !strncmp(address, "169.254.", 8);
}

static int64_t value(const struct vm_choice *choice, enum criterion criterion,
		     const struct vm_wish *wish)
{
	switch (criterion) {
	case ROW:
		return choice->row;
	case KIND:
		if (choice->kind == VM_NET_LOOPBACK && wish->one_host)
			return -1;
		return choice->kind;
	case LINK:
		return is_link_local(choice->address);
	case SPEED:
		return -speed_of(choice);
	case MEMORY:
		return !choice->rma;
	case ROUTE:
		return !(choice->net && choice->net->route);
	case FAMILY:
		return strchr(choice->address, ':') != NULL;
	default:
		return 0;
	}
}

static const char *place_of(const struct vm_choice *choice)
{
	return choice->domain[0] ? choice->domain : choice->provider;
}

/* Says what speaks against an offer, beside the better one. */
static void reason(char why[112], enum criterion criterion,
		   const struct vm_choice *better,
		   const struct vm_choice *worse)
{
	char speeds[2][24];

	vm_net_speed(speeds[0], (unsigned)speed_of(worse));
	vm_net_speed(speeds[1], (unsigned)speed_of(better));
	if (criterion == ROW)
		snprintf(why, WHY_BYTES, "%s comes first", better->provider);
	else if (criterion == KIND)
		snprintf(why, WHY_BYTES, "%s",
			 worse->kind == VM_NET_LOOPBACK ?
				 "loopback, which does not leave this host" :
			 better->kind == VM_NET_LOOPBACK ?
				 "all processes are on one host" :
				 vm_net_kind_text(worse->kind));
	else if (criterion == LINK)
		snprintf(why, WHY_BYTES, "an address of its link only");
	else if (criterion == SPEED)
		snprintf(why, WHY_BYTES, "%s; %.40s has %s", speeds[0],
			 place_of(better), speeds[1]);
	else if (criterion == MEMORY)
		snprintf(why, WHY_BYTES, "without remote memory");
	else if (criterion == ROUTE)
		snprintf(why, WHY_BYTES, "%.40s has the default route",
			 place_of(better));
	else if (criterion == FAMILY)
		snprintf(why, WHY_BYTES, "IPv4 comes first");
	else
		snprintf(why, WHY_BYTES, "%.48s comes first",
			 better->address[0] && !strcmp(better->domain,
						       worse->domain) ?
				 better->address :
				 place_of(better));
}

bool vm_offer_better(const struct vm_choice *choice,
		     const struct vm_choice *than, const struct vm_wish *wish,
		     char why[112])
{
	enum criterion i = ROW;

	while (i < CRITERIA && value(choice, i, wish) == value(than, i, wish))
		i++;
	if (why)
		reason(why, i, choice, than);
	return i < CRITERIA && value(choice, i, wish) < value(than, i, wish);
}

bool vm_offer_twins(const struct vm_choice *best, const struct vm_choice *other,
		    const struct vm_wish *wish)
{
	const struct vm_net_address *a = vm_nets_at(wish->nets, best->address);
	const struct vm_net_address *b = vm_nets_at(wish->nets, other->address);

	if (!is_native(best) || best->row != other->row || fault(other, wish) ||
	    best->kind != other->kind || best->rma != other->rma ||
	    speed_of(best) != speed_of(other))
		return false;
	if (!strcmp(best->domain, other->domain) || !best->fabric[0] ||
	    strcmp(best->fabric, other->fabric) != 0 ||
	    best->info->addr_format != other->info->addr_format ||
	    best->info->domain_attr->mr_mode !=
		    other->info->domain_attr->mr_mode)
		return false;
	return !a == !b && (!a || vm_net_same(a, b));
}

void vm_offer_praise(struct vm_choice *choice, const struct vm_wish *wish,
		     unsigned rails)
{
	const struct provider *row = &providers[choice->row];
	char speed[24], numa[32] = "";

	vm_net_speed(speed, choice->mbps);
	if (choice->numa >= 0)
		snprintf(numa, sizeof(numa), ", NUMA node %d", choice->numa);
	snprintf(choice->why, WHY_BYTES, "%s%s%s%s%s%s",
		 wish->provider[0]	      ? "fabric_provider names it" :
		 choice->row < PROVIDER_COUNT ? row->what :
						"",
		 choice->mbps ? ", " : "", choice->mbps ? speed : "",
		 choice->net && choice->net->route ? ", default route" : "",
		 numa, rails > 1 ? ", for the workers next to it" : "");
}
