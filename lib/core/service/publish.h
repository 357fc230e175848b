/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Publishing the counters of this process: registers the blocks of ranks,
 * workers, ports and the node with introspect/vars/pvar.h while the runtime
 * runs, and with the readers of the shared-memory file.
 */
#ifndef CORE_SERVICE_PUBLISH_H
#define CORE_SERVICE_PUBLISH_H

#include "introspect/vars/pvar.h"

struct vm_boot;
struct vm_node;

#define VM_PUBLISH_TABLES 16

struct vm_publish {
	struct vm_publish_row {
		const struct vm_pvar_table *table;
		struct vm_pvar_place place;
	} rows[VM_PUBLISH_TABLES];
	unsigned count;
	uint32_t *where;	       /* the node of each rank, for the file */
	void *kept[VM_PUBLISH_TABLES]; /* what vm_publish_leave() has copied */
};

/* First of all: opens the file that the memory of all of them comes from
 * (introspect/export/export.h), unless core_export says no.  boot may be
 * NULL. */
void vm_publish_share(const struct vm_boot *boot);

/* The path of that file, whether there is one or not. */
void vm_publish_path(char *path, size_t bytes, const struct vm_boot *boot);

/* The ranks are there, no worker runs yet.  0, -VMPI_ENOMEM. */
int vm_publish_open(struct vm_node *node);

/*
 * Before the fabric is closed while the node stays: the counters of what goes
 * with it stay readable, and are what they are now.  Without memory for that
 * there are none from now on.  The file has its own: the part of it that they
 * lie in remains.
 */
void vm_publish_leave(void);

/* Before any of it is freed. */
void vm_publish_close(void);

#endif
