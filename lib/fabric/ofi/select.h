/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The choice of the libfabric provider that carries our packets, with the
 * reasons against the others.
 *
 * One query to libfabric, then a table of preference over its answers.  The
 * result is data: the fabric opens the chosen one, vmpi_info --fabric prints
 * all of them.
 */
#ifndef FABRIC_OFI_SELECT_H
#define FABRIC_OFI_SELECT_H

#include <stdbool.h>

#include "fabric/ofi/fi.h"

#define VM_CHOICES_MAX 64

/* One offer of libfabric. */
struct vm_choice {
	char provider[48];
	char domain[48];  /* interface or device, as the provider calls it */
	char address[64]; /* ours on it, or "" */
	bool taken;
	const char *why; /* why it was chosen, or not */
};

/* What is asked for by name; "" if nothing is. */
struct vm_wish {
	const char *provider, *interface; /* or an address of it */
};

struct vm_select {
	struct vm_wish wish;
	struct vm_choice choices[VM_CHOICES_MAX];
	unsigned count;
	char node[64];	      /* the address we asked for, or "" for any */
	const char *node_why; /* the source of that address */
	struct fi_info *info; /* of the chosen one, or NULL */
};

/*
 * Queries and chooses.  -VMPI_ENOTSUP: nothing fits (choices say why);
 * -VMPI_EINVAL: fabric_interface names none that fits.  Both are logged; the
 * choices are there in any case.  Call vm_select_fini() afterwards.
 */
int vm_select_init(struct vm_select *select, const struct vm_fi *fi,
		   struct vm_wish wish, bool one_host);
/* Whether the chosen offer leads to other hosts: 0, or -VMPI_EINVAL, logged. */
int vm_select_reaches(const struct vm_select *select);
void vm_select_fini(struct vm_select *select, const struct vm_fi *fi);

#endif
