/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libc's one hash table: here one per program.
 */
#include <search.h>

#include "image.h"

OURS(hcreate);
OURS(hdestroy);
OURS(hsearch);

static struct hsearch_data table;

int vm_image_hcreate(size_t entries)
{
	return LIBC(hcreate_r)(entries, &table);
}

void vm_image_hdestroy(void)
{
	LIBC(hdestroy_r)(&table);
}

ENTRY *vm_image_hsearch(ENTRY item, ACTION action)
{
	ENTRY *found;

	LIBC(hsearch_r)(item, action, &found, &table);
	return found;
}
