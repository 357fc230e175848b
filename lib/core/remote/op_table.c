/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table that doubles, with a chain of free entries.
 */
#include "core/remote/op_table.h"

#include <stdlib.h>

#define FIRST_COUNT 64u

void vm_opids_init(struct vm_opids *opids)
{
	*opids = (struct vm_opids){ 0 };
	vm_lock_init(&opids->lock);
}

void vm_opids_fini(struct vm_opids *opids)
{
	free(opids->entries);
	*opids = (struct vm_opids){ 0 };
}

static uint64_t id_of(const struct vm_opids *opids, uint32_t index)
{
	return (uint64_t)opids->entries[index].uses << 32 | index;
}

/* Doubles the table; false: out of memory. */
static bool opids_grow(struct vm_opids *opids)
{
	uint32_t old = opids->count;
	uint32_t count = old ? 2 * old : FIRST_COUNT;
	struct vm_opid_entry *entries =
		realloc(opids->entries, count * sizeof(*entries));

	if (!entries)
		return false;
	for (uint32_t i = old; i < count; i++)
		entries[i] = (struct vm_opid_entry){ .next = i + 1 < count ?
								     i + 1 :
								     0 };
	opids->entries = entries;
	opids->count = count;
	opids->free = old ? old : 1;
	return true;
}

uint64_t vm_opid_new(struct vm_opids *opids, void *op, uint64_t *id)
{
	uint64_t new = 0;

	vm_lock_take(&opids->lock);
	if (opids->free || opids_grow(opids)) {
		uint32_t index = opids->free;
		struct vm_opid_entry *entry = &opids->entries[index];

		opids->free = entry->next;
		entry->op = op;
		entry->uses++;
		new = id_of(opids, index);
	}
	*id = new;
	vm_lock_give(&opids->lock);
	return new;
}

static struct vm_opid_entry *entry_of(struct vm_opids *opids, uint64_t id)
{
	uint32_t index = (uint32_t)id;

	if (!index || index >= opids->count || id_of(opids, index) != id)
		return NULL;
	return &opids->entries[index];
}

void *vm_opid_find(struct vm_opids *opids, uint64_t id)
{
	struct vm_opid_entry *entry;
	void *op;

	vm_lock_take(&opids->lock);
	entry = entry_of(opids, id);
	op = entry ? entry->op : NULL;
	vm_lock_give(&opids->lock);
	return op;
}

void *vm_opid_take(struct vm_opids *opids, uint64_t id)
{
	struct vm_opid_entry *entry;
	void *op = NULL;

	vm_lock_take(&opids->lock);
	entry = entry_of(opids, id);
	if (entry && entry->op) {
		op = entry->op;
		entry->op = NULL;
		entry->next = opids->free;
		opids->free = (uint32_t)id;
	}
	vm_lock_give(&opids->lock);
	return op;
}

uint64_t vm_opid_each(struct vm_opids *opids,
		      uint64_t (*each)(uint64_t id, void *op, void *arg),
		      void *arg)
{
	uint64_t result = 0;

	vm_lock_take(&opids->lock);
	for (uint32_t i = 1; i < opids->count && !result; i++)
		if (opids->entries[i].op)
			result = each(id_of(opids, i), opids->entries[i].op,
				      arg);
	vm_lock_give(&opids->lock);
	return result;
}
