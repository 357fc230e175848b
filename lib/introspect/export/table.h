/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names, texts and places of all variables, written into the file.
 */
#ifndef INTROSPECT_EXPORT_TABLE_H
#define INTROSPECT_EXPORT_TABLE_H

#include "introspect/export/export.h"

/* The place where the values of control variables are copied for readers. */
struct vm_export_mirror {
	const struct vm_export_cvar *rows;
	int64_t *values;
	char *strings;
	unsigned count; /* 0: nowhere */
};

/* The offset of memory of vm_export_alloc() in the file; 0: not in it. */
uint64_t vm_export_offset(const void *memory);

/* Fills the head except for the fields that vm_export_open() has set.  0,
 * -VMPI_ENOMEM. */
int vm_export_tables(struct vm_export_head *head,
		     struct vm_export_mirror *mirror,
		     const struct vm_export_facts *facts);

/* Copies one value, or all current ones. */
void vm_export_mirror_set(const struct vm_export_mirror *mirror, unsigned index,
			  int64_t value, const char *text);
void vm_export_mirror_fill(const struct vm_export_mirror *mirror);

#endif
