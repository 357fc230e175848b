/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash table with lists.
 */
#include "report/trace/names.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096 /* ranks and calls have names */

struct name {
	struct name *next;
	uint64_t number;
	char text[];
};

struct vm_trace_names {
	uint64_t count;
	struct name *buckets[BUCKETS];
};

struct vm_trace_names *vm_trace_names_new(void)
{
	return calloc(1, sizeof(struct vm_trace_names));
}

void vm_trace_names_free(struct vm_trace_names *names)
{
	for (int i = 0; names && i < BUCKETS; i++)
		while (names->buckets[i]) {
			struct name *name = names->buckets[i];

			names->buckets[i] = name->next;
			free(name);
		}
	free(names);
}

static struct name **bucket(struct vm_trace_names *names, const char *text)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 16777619u;
	return &names->buckets[hash % BUCKETS];
}

uint64_t vm_trace_name(struct vm_trace_names *names, const char *text,
		       bool *fresh)
{
	struct name **list = bucket(names, text), *name;
	size_t bytes = strlen(text) + 1;

	*fresh = false;
	for (name = *list; name; name = name->next)
		if (!strcmp(name->text, text))
			return name->number;
	name = malloc(sizeof(*name) + bytes);
	if (!name)
		return 0;
	name->next = *list;
	name->number = ++names->count;
	memcpy(name->text, text, bytes);
	*list = name;
	*fresh = true;
	return name->number;
}
