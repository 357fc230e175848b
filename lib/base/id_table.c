/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table that doubles, with a chain of free entries.
 */
#include "base/id_table.h"

#include <stdlib.h>

#define FIRST_COUNT 64u
#define SHORT_BITS 24 /* of the index; the rest counts uses */

void vm_id_table_init(struct vm_id_table *table)
{
	*table = (struct vm_id_table){ 0 };
	vm_lock_init(&table->lock);
}

void vm_id_table_fini(struct vm_id_table *table)
{
	free(table->entries);
	*table = (struct vm_id_table){ 0 };
}

static uint64_t id_of(const struct vm_id_table *table, uint32_t index)
{
	return (uint64_t)table->entries[index].uses << 32 | index;
}

/* Doubles the table; false: out of memory. */
static bool op_table_grow(struct vm_id_table *table)
{
	uint32_t old = table->count;
	uint32_t count = old ? 2 * old : FIRST_COUNT;
	struct vm_id_table_entry *entries =
		realloc(table->entries, count * sizeof(*entries));

	if (!entries)
		return false;
	for (uint32_t i = old; i < count; i++)
		entries[i] = (struct vm_id_table_entry){ .next = i + 1 < count ?
									 i + 1 :
									 0 };
	table->entries = entries;
	table->count = count;
	table->free = old ? old : 1;
	return true;
}

uint64_t vm_id_table_new(struct vm_id_table *table, void *op, uint64_t *id)
{
	uint64_t new = 0;

	vm_lock_take(&table->lock);
	if (table->free || op_table_grow(table)) {
		uint32_t index = table->free;
		struct vm_id_table_entry *entry = &table->entries[index];

		table->free = entry->next;
		entry->op = op;
		entry->uses++;
		new = id_of(table, index);
	}
	*id = new;
	vm_lock_give(&table->lock);
	return new;
}

static struct vm_id_table_entry *entry_of(struct vm_id_table *table,
					  uint64_t id)
{
	uint32_t index = (uint32_t)id;

	if (!index || index >= table->count || id_of(table, index) != id)
		return NULL;
	return &table->entries[index];
}

void *vm_id_table_find(struct vm_id_table *table, uint64_t id)
{
	struct vm_id_table_entry *entry;
	void *op;

	vm_lock_take(&table->lock);
	entry = entry_of(table, id);
	op = entry ? entry->op : NULL;
	vm_lock_give(&table->lock);
	return op;
}

void *vm_id_table_take(struct vm_id_table *table, uint64_t id)
{
	struct vm_id_table_entry *entry;
	void *op = NULL;

	vm_lock_take(&table->lock);
	entry = entry_of(table, id);
	if (entry && entry->op) {
		op = entry->op;
		entry->op = NULL;
		entry->next = table->free;
		table->free = (uint32_t)id;
	}
	vm_lock_give(&table->lock);
	return op;
}

uint32_t vm_id_table_short(uint64_t id)
{
	uint32_t index = (uint32_t)id;

	return index >> SHORT_BITS ? 0 :
				     index | (uint32_t)(id >> 32) << SHORT_BITS;
}

uint64_t vm_id_table_long(struct vm_id_table *table, uint32_t bits)
{
	uint32_t index = bits & ((1u << SHORT_BITS) - 1);
	uint64_t id = 0;

	vm_lock_take(&table->lock);
	if (index && index < table->count && table->entries[index].op)
		id = id_of(table, index);
	vm_lock_give(&table->lock);
	return vm_id_table_short(id) == bits ? id : 0;
}

uint64_t vm_id_table_each(struct vm_id_table *table,
			  uint64_t (*each)(uint64_t id, void *op, void *arg),
			  void *arg)
{
	uint64_t result = 0;

	vm_lock_take(&table->lock);
	for (uint32_t i = 1; i < table->count && !result; i++)
		if (table->entries[i].op)
			result = each(id_of(table, i), table->entries[i].op,
				      arg);
	vm_lock_give(&table->lock);
	return result;
}
