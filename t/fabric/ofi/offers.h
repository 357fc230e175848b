/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Providers of libfabric as they describe themselves, on machines that are only
 * described: fi_getinfo() with nothing behind it.
 */
#ifndef T_FABRIC_OFI_OFFERS_H
#define T_FABRIC_OFI_OFFERS_H

#include "fabric/ofi/fi.h"
#include "fabric/ofi/nets.h"

/* One offer of a machine: a provider of the table in offers.c on a device. */
struct offer {
	const char *provider, *domain, *fabric;
	const char *address; /* of IP, or NULL */
	unsigned gbps;	     /* that it tells itself; 0: it does not */
	bool down;
};

struct machine {
	const char *name;
	struct vm_nets nets;
	struct offer offers[40];
	unsigned offer_count;
};

/* An interface with an address; kind, Mb/s and NUMA node; flags as letters: r
 * the default route goes there, d down. */
void machine_net(struct machine *machine, const char *name,
		 enum vm_net_kind kind, unsigned mbps, int numa,
		 const char *address, const char *flags);
void machine_offer(struct machine *machine, const char *provider,
		   const char *domain, const char *fabric, const char *address,
		   unsigned gbps);
/* TCP on all interfaces that are up, and UDP, as version 1.17 or 2 of libfabric
 * offers them: native is the provider with endpoints of its own. */
void machine_tcp(struct machine *machine, const char *native);

/* A fi_getinfo() that looks at one machine. */
extern const struct machine *offers_machine;
extern const struct vm_fi offers_fi;
extern unsigned offers_open; /* descriptions that are not freed */

#endif
