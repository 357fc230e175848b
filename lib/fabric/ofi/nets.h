/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The networks that this machine has: interfaces of IP with their addresses,
 * and devices of remote memory; how fast they are, and where they are.
 *
 * It is data, so that the choice of a network can be tried on machines that are
 * only described.
 */
#ifndef FABRIC_OFI_NETS_H
#define FABRIC_OFI_NETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Better ones first, among interfaces of IP. */
enum vm_net_kind {
	VM_NET_WIRED, /* hardware: Ethernet, InfiniBand's IPoIB, a bond of them */
	VM_NET_RADIO,
	VM_NET_VIRTUAL, /* of a container or a tunnel */
	VM_NET_INNER,	/* bridges of containers and virtual machines */
	VM_NET_LOOPBACK,
	VM_NET_DEVICE,	 /* of remote memory, such as mlx5_0 and cxi0 */
	VM_NET_EMULATED, /* ... that software imitates: rxe0, siw0 */
};

struct vm_net {
	char name[32];
	enum vm_net_kind kind;
	bool up;       /* and has a carrier */
	bool route;    /* the default route goes there */
	unsigned mbps; /* 0: unknown */
	int numa;      /* node next to which it is; -1: unknown */
};

struct vm_net_address {
	unsigned net; /* index in list */
	int family;
	unsigned bits; /* of its network */
	unsigned char bytes[16];
	char text[64];
};

#define VM_NETS_MAX 96
#define VM_NET_ADDRESSES_MAX 192

struct vm_nets {
	struct vm_net list[VM_NETS_MAX];
	unsigned count;
	struct vm_net_address addresses[VM_NET_ADDRESSES_MAX];
	unsigned address_count;
};

/* Reads those of this machine; sys: where sysfs is, "/sys". */
void vm_nets_read(struct vm_nets *nets, const char *sys);

/* How far NUMA nodes are from each other: 10 within one, more to others. */
unsigned vm_net_distance(int from, int to);

/* Adds one, or an address to it; whatever is too much is left out.  The result
 * of vm_nets_add() is NULL then. */
struct vm_net *vm_nets_add(struct vm_nets *nets, const char *name,
			   enum vm_net_kind kind);
void vm_nets_address(struct vm_nets *nets, const struct vm_net *net,
		     const char *text, unsigned bits);

/* By its name, which may be that of a domain such as mlx5_0-xrc; or by the text
 * of an address of it.  NULL: there is none. */
const struct vm_net *vm_nets_find(const struct vm_nets *nets, const char *name);
const struct vm_net_address *vm_nets_at(const struct vm_nets *nets,
					const char *address);

/*
 * The address that is meant by an interface, an address or a network such as
 * 10.1.0.0/16: the first of IPv4, else of IPv6.  NULL: there is none.
 */
const struct vm_net_address *vm_nets_wanted(const struct vm_nets *nets,
					    const char *wanted);
bool vm_net_is_address(const char *text);

/* Whether two addresses are in the same network, by that of the first. */
bool vm_net_same(const struct vm_net_address *a,
		 const struct vm_net_address *b);

/* "100 Gb/s", "wireless", ... and more than that, for people. */
void vm_net_speed(char text[24], unsigned mbps);
const char *vm_net_kind_text(enum vm_net_kind kind);

#endif
