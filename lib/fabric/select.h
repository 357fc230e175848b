/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which provider of libfabric carries our packets, and why not the others.
 *
 * One question to libfabric, then a table of preference over its answers.  The
 * result is data: the fabric opens the one that was taken, vmpi_info --fabric
 * prints all of them.
 */
#ifndef FABRIC_SELECT_H
#define FABRIC_SELECT_H

#include <stdbool.h>

#include "fabric/ofi/fi.h"

#define VM_CHOICES_MAX 64

/* One thing that libfabric offers. */
struct vm_choice {
	char provider[48];
	char domain[48];  /* interface or device, as the provider calls it */
	char address[64]; /* ours on it, or "" */
	bool taken;
	const char *why; /* it is taken, or not */
};

struct vm_select {
	struct vm_choice choices[VM_CHOICES_MAX];
	unsigned count;
	char node[64];	      /* the address we asked for, or "" for any */
	const char *node_why; /* where that comes from */
	struct fi_info *info; /* of the one that is taken, or NULL */
};

/*
 * Asks and chooses.  -VMPI_ENOTSUP: nothing fits (choices say why);
 * -VMPI_EINVAL: fabric_interface names none that fits.  Both are logged; the
 * choices are there in any case.  vm_select_fini() afterwards.
 */
int vm_select_init(struct vm_select *select, const struct vm_fi *fi,
		   bool one_host);
/* Whether what was taken leads to other hosts: 0, or -VMPI_EINVAL, logged. */
int vm_select_reaches(const struct vm_select *select);
void vm_select_fini(struct vm_select *select, const struct vm_fi *fi);

#endif
