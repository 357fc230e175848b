/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash table of fixed size: a job of a thousand processes has some ten
 * thousand names, each is looked up a thousand times.
 */
#include "boot/kvs.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vmpi.h"

struct vm_kvs_entry {
	struct vm_kvs_entry *next;
	size_t length;
	char *name; /* both lie behind the entry */
	char *bytes;
};

/* FNV-1a. */
static unsigned bin_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return (hash ^ hash >> 16) % VM_KVS_BINS;
}

void vm_kvs_init(struct vm_kvs *kvs)
{
	memset(kvs, 0, sizeof(*kvs));
}

void vm_kvs_fini(struct vm_kvs *kvs)
{
	for (int i = 0; i < VM_KVS_BINS; i++) {
		struct vm_kvs_entry *entry = kvs->bins[i];

		while (entry) {
			struct vm_kvs_entry *next = entry->next;

			free(entry);
			entry = next;
		}
	}
	vm_kvs_init(kvs);
}

static struct vm_kvs_entry *find(const struct vm_kvs *kvs, const char *name)
{
	struct vm_kvs_entry *entry = kvs->bins[bin_of(name)];

	while (entry && strcmp(entry->name, name) != 0)
		entry = entry->next;
	return entry;
}

int vm_kvs_put(struct vm_kvs *kvs, const char *name, const void *bytes,
	       size_t length)
{
	size_t name_bytes = strlen(name) + 1;
	struct vm_kvs_entry **bin = &kvs->bins[bin_of(name)];
	struct vm_kvs_entry *entry;

	if (find(kvs, name))
		return -VMPI_EINVAL;
	entry = malloc(sizeof(*entry) + name_bytes + length + 1);
	if (!entry)
		return -VMPI_ENOMEM;
	entry->name = (char *)(entry + 1);
	entry->bytes = entry->name + name_bytes;
	entry->length = length;
	memcpy(entry->name, name, name_bytes);
	if (length)
		memcpy(entry->bytes, bytes, length);
	entry->bytes[length] = '\0';
	entry->next = *bin;
	*bin = entry;
	return 0;
}

const char *vm_kvs_get(const struct vm_kvs *kvs, size_t *length,
		       const char *name)
{
	const struct vm_kvs_entry *entry = find(kvs, name);

	if (entry && length)
		*length = entry->length;
	return entry ? entry->bytes : NULL;
}
