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

void vm_pvars_fold(const struct vm_pvar_table *table, void *total,
		   const void *block)
{
	uint64_t *sum = total;

	for (unsigned i = 0; i < table->count; i++) {
		uint64_t value = vm_pvar_read(block, i);
		enum vm_pvar_class class_ = table->rows[i].class_;

		if (class_ != VM_PVAR_HIGHWATERMARK && class_ != VM_PVAR_STATE)
			sum[i] += value;
		else if (value > sum[i])
			sum[i] = value;
	}
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
