/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An open hash table, at most half full.
 */
#include "core/libc/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct vm_names {
	size_t slots; /* a power of 2 */
	struct vm_name table[];
};

static uint32_t hash(const char *name)
{
	uint32_t value = 2166136261u;

	for (; *name; name++)
		value = (value ^ (unsigned char)*name) * 16777619u;
	return value;
}

/* The entry of a name, or the free one where it belongs. */
static size_t slot_find(const struct vm_names *names, const char *name)
{
	size_t at = hash(name) & (names->slots - 1);

	while (names->table[at].name &&
	       strcmp(names->table[at].name, name) != 0)
		at = (at + 1) & (names->slots - 1);
	return at;
}

struct vm_names *vm_names_new(size_t symbols)
{
	struct vm_names *names;
	size_t slots = 64;

	while (slots < 2 * symbols)
		slots *= 2;
	names = calloc(1, sizeof(*names) + slots * sizeof(*names->table));
	if (names)
		names->slots = slots;
	return names;
}

void vm_names_free(struct vm_names *names)
{
	free(names);
}

void vm_names_add(struct vm_names *names, const char *name, size_t file,
		  const ElfW(Sym) * symbol)
{
	struct vm_name *entry = &names->table[slot_find(names, name)];

	if (!entry->name)
		*entry = (struct vm_name){ name, file, symbol };
}

const struct vm_name *vm_names_find(const struct vm_names *names,
				    const char *name)
{
	const struct vm_name *entry = &names->table[slot_find(names, name)];

	return entry->name ? entry : NULL;
}
