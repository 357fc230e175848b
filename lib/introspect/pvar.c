/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry of performance variables: tables, nothing else.  They are added
 * and never taken away, so that only adding takes the lock.
 */
#include "introspect/pvar.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/lock.h"
#include "base/log.h"
#include "introspect/nearest.h"

static struct {
	struct vm_lock lock; /* orders those who add */
	/* A table is there before the release store of the count; pairs with
	 * the acquire load in vm_pvar_each(). */
	const struct vm_pvar_table *tables[VM_PVAR_TABLES_MAX];
	_Atomic unsigned count;
	/* By table; pairs with the acquire load in place_of(). */
	_Atomic(const struct vm_pvar_place *) places[VM_PVAR_TABLES_MAX];
} pvars;

/* "sched_worker" and "switches" make sched_switches: the owner is no part of
 * the name, users see it in the last column. */
static void pvar_name(char name[VM_NAME_MAX], const struct vm_pvar_table *table,
		      const struct vm_pvar *row)
{
	snprintf(name, VM_NAME_MAX, "%.*s_%s", (int)strcspn(table->prefix, "_"),
		 table->prefix, row->field);
}

static int name_compare(const struct vm_pvar_view *view, void *arg)
{
	return strcmp(view->name, arg) == 0;
}

static void names_check(const struct vm_pvar_table *table)
{
	char name[VM_NAME_MAX];

	for (unsigned i = 0; i < table->count; i++) {
		pvar_name(name, table, &table->rows[i]);
		if (vm_pvar_each(name_compare, name))
			vm_panic("two performance variables are called %s",
				 name);
		if (!table->rows[i].text[0])
			vm_panic("the performance variable %s has no text",
				 name);
	}
}

/* Under lock. */
static int table_add(const struct vm_pvar_table *table)
{
	unsigned count =
		atomic_load_explicit(&pvars.count, memory_order_relaxed);

	for (unsigned t = 0; t < count; t++) {
		if (pvars.tables[t] == table)
			return 0;
	}
	if (count == VM_PVAR_TABLES_MAX)
		return -VMPI_ELIMIT;
	names_check(table);
	pvars.tables[count] = table;
	atomic_store_explicit(&pvars.count, count + 1, memory_order_release);
	return 0;
}

int vm_pvars_add(const struct vm_pvar_table *table)
{
	int rc;

	vm_lock_take(&pvars.lock);
	rc = table_add(table);
	vm_lock_give(&pvars.lock);
	if (rc < 0)
		vm_log(VM_ERROR, "no room for the performance variables of %s",
		       table->prefix);
	return rc;
}

/* Puts value to *sum. */
static void class_fold(uint64_t *sum, enum vm_pvar_class class_, uint64_t value)
{
	if (class_ != VM_PVAR_HIGHWATERMARK && class_ != VM_PVAR_STATE)
		*sum += value;
	else if (value > *sum)
		*sum = value;
}

void vm_pvars_fold(const struct vm_pvar_table *table, void *total,
		   const void *block)
{
	uint64_t *sum = total;

	for (unsigned i = 0; i < table->count; i++)
		class_fold(&sum[i], table->rows[i].class_,
			   vm_pvar_read(block, i));
}

int vm_pvar_each(int (*visit)(const struct vm_pvar_view *view, void *arg),
		 void *arg)
{
	char name[VM_NAME_MAX];
	struct vm_pvar_view view = { .name = name };
	unsigned count =
		atomic_load_explicit(&pvars.count, memory_order_acquire);
	int rc = 0;

	for (unsigned t = 0; t < count; t++) {
		view.table = pvars.tables[t];
		for (unsigned i = 0; rc == 0 && i < view.table->count; i++) {
			view.row = &view.table->rows[i];
			pvar_name(name, view.table, view.row);
			rc = visit(&view, arg);
			view.index++;
		}
	}
	return rc;
}

void vm_pvars_place(const struct vm_pvar_table *table,
		    const struct vm_pvar_place *place)
{
	unsigned count =
		atomic_load_explicit(&pvars.count, memory_order_acquire);
	unsigned t = 0;

	while (t < count && pvars.tables[t] != table)
		t++;
	VM_ASSERT(t < count);
	atomic_store_explicit(&pvars.places[t], place, memory_order_release);
}

/* A variable by its number. */
struct spot {
	const struct vm_pvar_table *table;
	const struct vm_pvar_place *place; /* NULL: there are no blocks */
	unsigned row;
};

static bool spot_find(struct spot *spot, int number)
{
	unsigned count =
		atomic_load_explicit(&pvars.count, memory_order_acquire);
	unsigned rest = (unsigned)number, t = 0;

	while (t < count && rest >= pvars.tables[t]->count)
		rest -= pvars.tables[t++]->count;
	if (number < 0 || t == count)
		return false;
	spot->table = pvars.tables[t];
	spot->place =
		atomic_load_explicit(&pvars.places[t], memory_order_acquire);
	spot->row = rest;
	return true;
}

int vm_pvar_count(void)
{
	unsigned tables =
		atomic_load_explicit(&pvars.count, memory_order_acquire);
	unsigned count = 0;

	for (unsigned t = 0; t < tables; t++)
		count += pvars.tables[t]->count;
	return (int)count;
}

struct wanted {
	const char *name;
	unsigned index;
};

static int name_find(const struct vm_pvar_view *view, void *arg)
{
	struct wanted *wanted = arg;

	wanted->index = view->index;
	return strcmp(view->name, wanted->name) == 0;
}

int vm_pvar_find(const char *name)
{
	struct wanted wanted = { .name = name };

	return vm_pvar_each(name_find, &wanted) ? (int)wanted.index : -1;
}

bool vm_pvar_info(int number, struct vm_pvar_view *view, char *name)
{
	struct spot spot;

	if (!spot_find(&spot, number))
		return false;
	view->table = spot.table;
	view->row = &spot.table->rows[spot.row];
	view->name = name;
	view->index = (unsigned)number;
	pvar_name(name, view->table, view->row);
	return true;
}

unsigned vm_pvar_blocks(int number)
{
	struct spot spot;

	return spot_find(&spot, number) && spot.place ? spot.place->count : 0;
}

static bool place_has(const struct vm_pvar_place *place, unsigned i)
{
	return i < place->count && (!place->here || place->here(i));
}

static uint64_t spot_read(const struct spot *spot, unsigned i)
{
	const struct vm_pvar_place *place = spot->place;
	const char *block = place->base + i * place->stride;
	uint64_t value;

	if (place->refresh)
		place->refresh(i);
	value = vm_pvar_read(block, spot->row);
	if (place->also)
		class_fold(&value, spot->table->rows[spot->row].class_,
			   vm_pvar_read(block + place->also, spot->row));
	return value;
}

int vm_pvar_value(uint64_t *value, int number, unsigned i)
{
	struct spot spot;

	if (!spot_find(&spot, number))
		return -VMPI_ENOENT;
	if (!spot.place || !place_has(spot.place, i))
		return -VMPI_ERANK;
	*value = spot_read(&spot, i);
	return 0;
}

int vm_pvar_total(uint64_t *value, int number)
{
	uint64_t sum = 0;
	struct spot spot;

	if (!spot_find(&spot, number))
		return -VMPI_ENOENT;
	if (!spot.place)
		return -VMPI_ESTATE;
	for (unsigned i = 0; i < spot.place->count; i++) {
		if (place_has(spot.place, i))
			class_fold(&sum, spot.table->rows[spot.row].class_,
				   spot_read(&spot, i));
	}
	*value = sum;
	return 0;
}

const char *vm_pvar_class_name(enum vm_pvar_class class_)
{
	static const char *const names[] = {
		[VM_PVAR_COUNTER] = "counter",
		[VM_PVAR_LEVEL] = "level",
		[VM_PVAR_HIGHWATERMARK] = "high-water mark",
		[VM_PVAR_SIZE] = "size",
		[VM_PVAR_TIMER] = "timer",
		[VM_PVAR_AGGREGATE] = "aggregate",
		[VM_PVAR_STATE] = "state",
	};

	return names[class_];
}

const char *vm_pvar_of_name(enum vm_pvar_of of)
{
	static const char *const names[] = {
		[VM_PVAR_RANK] = "rank",
		[VM_PVAR_WORKER] = "worker",
		[VM_PVAR_NODE] = "node",
	};

	return names[of];
}
