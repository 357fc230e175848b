/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table that doubles, with a chain of free entries.
 */
#include "core/remote/op_table.h"

#include <stdlib.h>

#define FIRST_COUNT 64u

void vm_op_table_init(struct vm_op_table *op_table)
{
	*op_table = (struct vm_op_table){ 0 };
	vm_lock_init(&op_table->lock);
}

void vm_op_table_fini(struct vm_op_table *op_table)
{
	free(op_table->entries);
	*op_table = (struct vm_op_table){ 0 };
}

static uint64_t id_of(const struct vm_op_table *op_table, uint32_t index)
{
	return (uint64_t)op_table->entries[index].uses << 32 | index;
}

/* Doubles the table; false: out of memory. */
static bool op_table_grow(struct vm_op_table *op_table)
{
	uint32_t old = op_table->count;
	uint32_t count = old ? 2 * old : FIRST_COUNT;
	struct vm_op_table_entry *entries =
		realloc(op_table->entries, count * sizeof(*entries));

	if (!entries)
		return false;
	for (uint32_t i = old; i < count; i++)
		entries[i] = (struct vm_op_table_entry){ .next = i + 1 < count ?
									 i + 1 :
									 0 };
	op_table->entries = entries;
	op_table->count = count;
	op_table->free = old ? old : 1;
	return true;
}

uint64_t vm_op_table_new(struct vm_op_table *op_table, void *op, uint64_t *id)
{
	uint64_t new = 0;

	vm_lock_take(&op_table->lock);
	if (op_table->free || op_table_grow(op_table)) {
		uint32_t index = op_table->free;
		struct vm_op_table_entry *entry = &op_table->entries[index];

		op_table->free = entry->next;
		entry->op = op;
		entry->uses++;
		new = id_of(op_table, index);
	}
	*id = new;
	vm_lock_give(&op_table->lock);
	return new;
}

static struct vm_op_table_entry *entry_of(struct vm_op_table *op_table,
					  uint64_t id)
{
	uint32_t index = (uint32_t)id;

	if (!index || index >= op_table->count || id_of(op_table, index) != id)
		return NULL;
	return &op_table->entries[index];
}

void *vm_op_table_find(struct vm_op_table *op_table, uint64_t id)
{
	struct vm_op_table_entry *entry;
	void *op;

	vm_lock_take(&op_table->lock);
	entry = entry_of(op_table, id);
	op = entry ? entry->op : NULL;
	vm_lock_give(&op_table->lock);
	return op;
}

void *vm_op_table_take(struct vm_op_table *op_table, uint64_t id)
{
	struct vm_op_table_entry *entry;
	void *op = NULL;

	vm_lock_take(&op_table->lock);
	entry = entry_of(op_table, id);
	if (entry && entry->op) {
		op = entry->op;
		entry->op = NULL;
		entry->next = op_table->free;
		op_table->free = (uint32_t)id;
	}
	vm_lock_give(&op_table->lock);
	return op;
}

uint64_t vm_op_table_each(struct vm_op_table *op_table,
			  uint64_t (*each)(uint64_t id, void *op, void *arg),
			  void *arg)
{
	uint64_t result = 0;

	vm_lock_take(&op_table->lock);
	for (uint32_t i = 1; i < op_table->count && !result; i++)
		if (op_table->entries[i].op)
			result = each(id_of(op_table, i),
				      op_table->entries[i].op, arg);
	vm_lock_give(&op_table->lock);
	return result;
}
