/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libc's one hash table: here one per program.
 */
#include <search.h>

static struct hsearch_data table;

int hcreate(size_t entries)
{
	return hcreate_r(entries, &table);
}

void hdestroy(void)
{
	hdestroy_r(&table);
}

ENTRY *hsearch(ENTRY item, ACTION action)
{
	ENTRY *found;

	hsearch_r(item, action, &found, &table);
	return found;
}
