/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A write reaches the copies after the layer's struct, a new copy is made under
 * the lock that the writer needs for that: so none is missed.
 */
#include "introspect/vars/cvar_copy.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/nearest.h"
#include "introspect/vars/cvar.h"

struct vm_cvar_copy {
	struct vm_list link;
	const struct vm_cvar_table *table;
	bool *own; /* by row */
	int64_t values[];
};

static struct {
	struct vm_lock lock; /* after that of the registry */
	struct vm_list all;
	unsigned count; /* all is a list while it is not 0 */
} copies;

/* As in cvar.c: who reads it reads plainly. */
__attribute__((no_sanitize("thread"))) static void word_store(int64_t *word,
							      int64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static int64_t word_load(const struct vm_cvar_table *table, unsigned row)
{
	return __atomic_load_n((const int64_t *)table->values + row,
			       __ATOMIC_RELAXED);
}

struct vm_cvar_copy *vm_cvar_copy_new(const struct vm_cvar_table *table)
{
	struct vm_cvar_copy *copy =
		calloc(1, sizeof(*copy) + table->count * sizeof(int64_t));
	bool *own = calloc(table->count, sizeof(*own));

	if (!copy || !own) {
		free(copy);
		free(own);
		return NULL;
	}
	copy->table = table;
	copy->own = own;
	vm_lock_take(&copies.lock);
	if (copies.count++ == 0)
		vm_list_init(&copies.all);
	vm_list_append(&copies.all, &copy->link);
	for (unsigned i = 0; i < table->count; i++)
		copy->values[i] = word_load(table, i);
	vm_lock_give(&copies.lock);
	return copy;
}

void vm_cvar_copy_free(struct vm_cvar_copy *copy)
{
	if (!copy)
		return;
	vm_lock_take(&copies.lock);
	vm_list_remove(&copy->link);
	copies.count--;
	vm_lock_give(&copies.lock);
	free(copy->own);
	free(copy);
}

const void *vm_cvar_copy_values(const struct vm_cvar_copy *copy)
{
	return copy->values;
}

/* The row of a variable that ranks may have of their own. */
static int row_find(const struct vm_cvar_copy *copy, int number, unsigned *row)
{
	struct vm_cvar_view view;
	char name[VM_NAME_MAX];

	if (!vm_cvar_info(number, &view, name))
		return -VMPI_ENOENT;
	*row = (unsigned)(view.row - copy->table->rows);
	if (*row >= copy->table->count || view.row->when != VM_VAR_RANK)
		return -VMPI_EINVAL;
	return 0;
}

int vm_cvar_copy_store(struct vm_cvar_copy *copy, int number, int64_t value)
{
	unsigned row;
	int rc = row_find(copy, number, &row);

	if (rc)
		return rc;
	if (value < copy->table->rows[row].min ||
	    value > copy->table->rows[row].max)
		return -VMPI_EINVAL;
	vm_lock_take(&copies.lock);
	copy->own[row] = true;
	word_store(&copy->values[row], value);
	vm_lock_give(&copies.lock);
	return 0;
}

int vm_cvar_copy_follow(struct vm_cvar_copy *copy, int number)
{
	unsigned row;
	int rc = row_find(copy, number, &row);

	if (rc)
		return rc;
	vm_lock_take(&copies.lock);
	copy->own[row] = false;
	word_store(&copy->values[row], word_load(copy->table, row));
	vm_lock_give(&copies.lock);
	return 0;
}

void vm_cvar_copies_write(const struct vm_cvar_table *table, unsigned row,
			  int64_t value)
{
	struct vm_list *link;

	vm_lock_take(&copies.lock);
	if (copies.count) {
		vm_list_each(link, &copies.all) {
			struct vm_cvar_copy *copy = vm_container_of(
				link, struct vm_cvar_copy, link);

			if (copy->table == table && !copy->own[row])
				word_store(&copy->values[row], value);
		}
	}
	vm_lock_give(&copies.lock);
}
