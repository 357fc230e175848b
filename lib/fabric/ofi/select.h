/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of the libfabric provider that carries our packets, and of its
 * networks, with the reasons against the others.
 *
 * Libfabric is asked without an address, which not all providers understand,
 * and a table of preference ranks its answers.  The result is data: the fabric
 * opens the chosen one, vmpi_info --fabric prints all of them.
 */
#ifndef FABRIC_OFI_SELECT_H
#define FABRIC_OFI_SELECT_H

#include <stdbool.h>

#include "fabric/ofi/fi.h"
#include "fabric/ofi/nets.h"

#define VM_CHOICES_MAX 512
#define VM_RAILS_MAX 16

/* One offer of libfabric. */
struct vm_choice {
	char provider[48];
	char domain[48];  /* interface or device, as the provider calls it */
	char fabric[64];  /* all on the same one reach each other */
	char address[64]; /* ours on it, or "" */
	unsigned row;	  /* in the table of preference */
	const struct vm_net *net; /* or NULL */
	enum vm_net_kind kind;
	bool up, rma;
	unsigned mbps; /* 0: unknown */
	int numa;      /* -1: unknown */
	struct fi_info *info;
	bool taken;
	char why[112]; /* it was chosen, or not */
};

/* What is asked for. */
struct vm_wish {
	const char *provider;	    /* "" if none is named */
	const char *interface;	    /* or an address or a network; "" */
	bool one_host;		    /* all processes are on this host */
	const struct vm_nets *nets; /* NULL: those of this machine */
};

/* One of several equal networks, each used by the ports next to it. */
struct vm_rail {
	struct fi_info *info;
	int numa;
};

struct vm_select {
	struct vm_wish wish;
	struct vm_nets *own; /* as they were read */
	bool renamed;	     /* the provider has another name here */
	bool warned;	     /* of networks that do not meet */
	struct vm_choice *choices;
	unsigned count;
	struct fi_info *answers[3];
	struct fi_info *info; /* of the first rail, or NULL */
	struct vm_rail rails[VM_RAILS_MAX];
	unsigned rail_count;
};

/*
 * Queries and chooses.  -VMPI_ENOTSUP: nothing fits (choices say why);
 * -VMPI_EINVAL: what fabric_interface or fabric_provider names; -VMPI_ENOMEM.  All are
 * logged; the choices are there in any case.  Call vm_select_fini() afterwards.
 */
int vm_select_init(struct vm_select *select, const struct vm_fi *fi,
		   const struct vm_wish *wish);
/* Whether the chosen offer leads to other hosts: 0, or -VMPI_EINVAL, logged. */
int vm_select_reaches(const struct vm_select *select);
/* Opens what has been chosen: 0, or -VMPI_EIO, logged. */
int vm_select_open(const struct vm_select *select, const struct vm_fi *fi,
		   struct fid_fabric **fabric);
/* Whether its provider stands on another one, such as tcp;ofi_rxm. */
bool vm_select_layered(const struct vm_select *select);
/* Whether it moves data by sockets of the system. */
bool vm_select_sockets(const struct vm_select *select);
/* Up to which length a packet gains from going in one message with others, of
 * which the longest has `most` bytes. */
uint32_t vm_select_batch_bytes(const struct vm_select *select, uint32_t most);
void vm_select_fini(struct vm_select *select, const struct vm_fi *fi);

/* The offer that is taken first, or NULL. */
const struct vm_choice *vm_select_taken(const struct vm_select *select);

/*
 * The rail of a port whose worker is on a NUMA node (-1: unknown or on all): the
 * nearest, as distance() says; equal ones take turns by number.
 */
struct fi_info *vm_select_rail(const struct vm_select *select, int numa,
			       unsigned number,
			       unsigned (*distance)(int from, int to));

/* So many ports, or as many as the provider can have; without one, too. */
unsigned vm_select_ports(const struct vm_select *select, unsigned ports);

#endif
