/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry of performance variables: tables, nothing else.  They are added
 * and never taken away, so that only adding takes the lock.
 */
#include "introspect/vars/pvar.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/nearest.h"

/* The place of a variable. */
struct spot {
	unsigned char table;
	unsigned short row, word;
};

static struct {
	struct vm_lock lock; /* orders those who add */
	const struct vm_pvar_table *tables[VM_PVAR_TABLES_MAX];
	unsigned table_count; /* under lock */
	/* By number.  A spot and its table are there before the release store
	 * of the count; pairs with the acquire load in vm_pvar_count(). */
	struct spot spots[VM_PVARS_MAX];
	_Atomic unsigned count;
	/* By table; pairs with the acquire load in find(). */
	_Atomic(const struct vm_pvar_place *) places[VM_PVAR_TABLES_MAX];
} pvars;

_Atomic uint64_t vm_pvar_moves = 1;

/* "sched_worker" and "switches" make sched_switches: the owner is no part of
 * the name, users see it in a column of its own. */
static void pvar_name(char name[VM_NAME_MAX], const struct vm_pvar_table *table,
		      const struct vm_pvar *row)
{
	snprintf(name, VM_NAME_MAX, "%.*s_%.*s",
		 (int)strcspn(table->prefix, "_"), table->prefix,
		 (int)strcspn(row->field, "["), row->field);
}

/* Whether that is the name, without making it: each new row is compared with
 * all others. */
static bool name_is(const struct vm_pvar_table *table,
		    const struct vm_pvar *row, const char *name)
{
	size_t layer = strcspn(table->prefix, "_");
	size_t field = strcspn(row->field, "[");

	return strncmp(name, table->prefix, layer) == 0 && name[layer] == '_' &&
	       strncmp(name + layer + 1, row->field, field) == 0 &&
	       name[layer + 1 + field] == '\0';
}

static void row_check(const struct vm_pvar_table *table,
		      const struct vm_pvar *row)
{
	char name[VM_NAME_MAX];

	pvar_name(name, table, row);
	if (vm_pvar_find(name) >= 0)
		vm_panic("two performance variables are called %s", name);
	if (!row->text[0])
		vm_panic("the performance variable %s has no text", name);
	if (!row->words || row->words > VM_PVAR_WORDS_MAX)
		vm_panic("the performance variable %s has %u words", name,
			 row->words);
}

/* Under lock. */
static int table_add(const struct vm_pvar_table *table)
{
	unsigned t = pvars.table_count, word = 0;
	unsigned count =
		atomic_load_explicit(&pvars.count, memory_order_relaxed);

	for (unsigned i = 0; i < t; i++) {
		if (pvars.tables[i] == table)
			return 0;
	}
	if (t == VM_PVAR_TABLES_MAX || table->count > VM_PVARS_MAX - count)
		return -VMPI_ELIMIT;
	pvars.tables[pvars.table_count++] = table;
	for (unsigned i = 0; i < table->count; i++) {
		row_check(table, &table->rows[i]);
		pvars.spots[count] =
			(struct spot){ .table = (unsigned char)t,
				       .row = (unsigned short)i,
				       .word = (unsigned short)word };
		word += table->rows[i].words;
		atomic_store_explicit(&pvars.count, ++count,
				      memory_order_release);
	}
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

void vm_pvar_fold(uint64_t *sum, enum vm_pvar_class class_, uint64_t value)
{
	switch (class_) {
	case VM_PVAR_COUNTER:
	case VM_PVAR_LEVEL:
	case VM_PVAR_SIZE:
	case VM_PVAR_TIMER:
	case VM_PVAR_AGGREGATE:
		*sum += value;
		break;
	case VM_PVAR_HIGHWATERMARK:
	case VM_PVAR_PERCENTAGE:
	case VM_PVAR_STATE:
	case VM_PVAR_GENERIC:
		if (value > *sum)
			*sum = value;
		break;
	case VM_PVAR_LOWWATERMARK:
		if (value < *sum)
			*sum = value;
		break;
	}
}

/* The value that a sum begins with. */
static void row_clear(const struct vm_pvar *row, uint64_t *words)
{
	for (unsigned w = 0; w < row->words; w++)
		vm_pvar_set(words[w], row->class_ == VM_PVAR_LOWWATERMARK ?
					      VM_PVAR_NONE :
					      0);
}

static void row_fold(const struct vm_pvar *row, uint64_t *sum,
		     const uint64_t *words)
{
	for (unsigned w = 0; w < row->words; w++)
		vm_pvar_fold(&sum[w], row->class_, vm_pvar_read(words, w));
}

void vm_pvars_clear(const struct vm_pvar_table *table, void *block)
{
	uint64_t *words = block;

	for (unsigned i = 0; i < table->count; i++) {
		row_clear(&table->rows[i], words);
		words += table->rows[i].words;
	}
}

void vm_pvars_fold(const struct vm_pvar_table *table, void *total,
		   const void *block)
{
	const uint64_t *words = block;
	uint64_t *sum = total;

	for (unsigned i = 0; i < table->count; i++) {
		row_fold(&table->rows[i], sum, words);
		sum += table->rows[i].words;
		words += table->rows[i].words;
	}
}

void vm_pvar_raise(uint64_t *word, bool low, uint64_t mark)
{
	uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);

	while ((low ? mark < seen : mark > seen) &&
	       !__atomic_compare_exchange_n(word, &seen, mark, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

void vm_pvars_show(const struct vm_pvar_table *table, void *block,
		   const void *now)
{
	const uint64_t *words = now;
	uint64_t *shown = block;

	for (unsigned i = 0; i < table->count; i++) {
		const struct vm_pvar *row = &table->rows[i];
		bool low = row->class_ == VM_PVAR_LOWWATERMARK;

		for (unsigned w = 0; w < row->words; w++) {
			if (low || row->class_ == VM_PVAR_HIGHWATERMARK)
				vm_pvar_raise(&shown[w], low, words[w]);
			else
				__atomic_store_n(&shown[w], words[w],
						 __ATOMIC_RELAXED);
		}
		shown += row->words;
		words += row->words;
	}
}

int vm_pvar_count(void)
{
	return (int)atomic_load_explicit(&pvars.count, memory_order_acquire);
}

bool vm_pvar_info(int number, struct vm_pvar_view *view, char *name)
{
	const struct spot *spot;

	if (number < 0 || number >= vm_pvar_count())
		return false;
	spot = &pvars.spots[number];
	view->table = pvars.tables[spot->table];
	view->row = &view->table->rows[spot->row];
	view->name = name;
	view->index = (unsigned)number;
	view->word = spot->word;
	pvar_name(name, view->table, view->row);
	return true;
}

int vm_pvar_each(int (*visit)(const struct vm_pvar_view *view, void *arg),
		 void *arg)
{
	char name[VM_NAME_MAX];
	struct vm_pvar_view view;
	int rc = 0;

	for (int i = 0; rc == 0 && vm_pvar_info(i, &view, name); i++)
		rc = visit(&view, arg);
	return rc;
}

int vm_pvar_find(const char *name)
{
	int count = vm_pvar_count();

	for (int i = 0; i < count; i++) {
		const struct spot *spot = &pvars.spots[i];
		const struct vm_pvar_table *table = pvars.tables[spot->table];

		if (name_is(table, &table->rows[spot->row], name))
			return i;
	}
	return -1;
}

void vm_pvars_place(const struct vm_pvar_table *table,
		    const struct vm_pvar_place *place)
{
	unsigned t = 0;

	vm_lock_take(&pvars.lock);
	while (t < pvars.table_count && pvars.tables[t] != table)
		t++;
	VM_ASSERT(t < pvars.table_count);
	atomic_store_explicit(&pvars.places[t], place, memory_order_release);
	vm_pvars_moved();
	vm_lock_give(&pvars.lock);
}

void vm_pvars_moved(void)
{
	/* Pairs with the acquire loads of vm_shortcut_read() and shortcut_set(). */
	atomic_fetch_add_explicit(&vm_pvar_moves, 1, memory_order_acq_rel);
}

/* A variable by its number. */
struct found {
	const struct vm_pvar *row;
	const struct vm_pvar_place *place; /* NULL: there are no blocks */
	unsigned word;
};

static bool find(struct found *found, int number)
{
	const struct spot *spot;

	if (number < 0 || number >= vm_pvar_count())
		return false;
	spot = &pvars.spots[number];
	found->row = &pvars.tables[spot->table]->rows[spot->row];
	found->word = spot->word;
	found->place = atomic_load_explicit(&pvars.places[spot->table],
					    memory_order_acquire);
	return true;
}

bool vm_pvar_spot(struct vm_pvar_spot *spot, int number)
{
	const struct spot *at;

	if (number < 0 || number >= vm_pvar_count())
		return false;
	at = &pvars.spots[number];
	spot->table = pvars.tables[at->table];
	spot->row = &spot->table->rows[at->row];
	spot->word = at->word;
	spot->place = &pvars.places[at->table];
	return true;
}

unsigned vm_pvar_blocks(int number)
{
	struct found found;

	return find(&found, number) && found.place ? found.place->count : 0;
}

int vm_pvar_owner(enum vm_pvar_of *of, int number)
{
	struct found found;

	if (!find(&found, number))
		return -VMPI_ENOENT;
	*of = found.row->of;
	return 0;
}

static bool place_has(const struct vm_pvar_place *place, unsigned i)
{
	return i < place->count && (!place->here || place->here(i));
}

/* Adds block i to a sum. */
static void block_fold(const struct found *found, uint64_t *sum, unsigned i)
{
	const struct vm_pvar_place *place = found->place;
	const char *block = place->base + i * place->stride;

	if (place->refresh)
		place->refresh(i);
	row_fold(found->row, sum, (const uint64_t *)block + found->word);
	/* A mark that is lowered is raised in the second block before. */
	atomic_thread_fence(memory_order_acquire);
	if (place->also)
		row_fold(found->row, sum,
			 (const uint64_t *)(block + place->also) + found->word);
}

int vm_pvar_value(uint64_t *value, int number, unsigned i)
{
	struct found found;

	if (!find(&found, number))
		return -VMPI_ENOENT;
	if (!found.place || !place_has(found.place, i))
		return -VMPI_ERANK;
	row_clear(found.row, value);
	block_fold(&found, value, i);
	return 0;
}

/* Whether values of that class are added up; most are. */
static bool class_sums(enum vm_pvar_class class_)
{
	return (1u << class_) & (1u << VM_PVAR_COUNTER | 1u << VM_PVAR_LEVEL |
				 1u << VM_PVAR_SIZE | 1u << VM_PVAR_TIMER |
				 1u << VM_PVAR_AGGREGATE);
}

/* As row_fold() of both blocks, for frequent readers: also may be words
 * itself. */
static inline void row_read(const struct vm_pvar *row, uint64_t *values,
			    const uint64_t *words, const uint64_t *also)
{
	if (VM_UNLIKELY(!class_sums(row->class_))) {
		row_clear(row, values);
		row_fold(row, values, words);
		row_fold(row, values, also);
	} else if (also == words) {
		for (unsigned w = 0; w < row->words; w++)
			values[w] = vm_pvar_read(words, w);
	} else {
		for (unsigned w = 0; w < row->words; w++)
			values[w] =
				vm_pvar_read(words, w) + vm_pvar_read(also, w);
	}
}

/* The rows of a table lie one after the other, as their words do in a block. */
int vm_pvar_values(uint64_t *values, int number, unsigned count, unsigned i)
{
	const struct vm_pvar_place *place;
	const uint64_t *words, *also;
	struct found found;

	if (!find(&found, number))
		return -VMPI_ENOENT;
	place = found.place;
	if (!place || !place_has(place, i))
		return -VMPI_ERANK;
	if (place->refresh)
		place->refresh(i);
	words = (const uint64_t *)(place->base + i * place->stride) +
		found.word;
	also = words + place->also / sizeof(uint64_t);
	for (const struct vm_pvar *row = found.row; row < found.row + count;
	     row++) {
		row_read(row, values, words, also);
		values += row->words;
		words += row->words;
		also += row->words;
	}
	return 0;
}

int vm_pvar_total(uint64_t *value, int number)
{
	struct found found;

	if (!find(&found, number))
		return -VMPI_ENOENT;
	if (!found.place)
		return -VMPI_ESTATE;
	row_clear(found.row, value);
	for (unsigned i = 0; i < found.place->count; i++) {
		if (place_has(found.place, i))
			block_fold(&found, value, i);
	}
	return 0;
}

const char *vm_pvar_class_name(enum vm_pvar_class class_)
{
	static const char *const names[] = {
		[VM_PVAR_COUNTER] = "counter",
		[VM_PVAR_LEVEL] = "level",
		[VM_PVAR_HIGHWATERMARK] = "high-water mark",
		[VM_PVAR_LOWWATERMARK] = "low-water mark",
		[VM_PVAR_SIZE] = "size",
		[VM_PVAR_PERCENTAGE] = "percentage",
		[VM_PVAR_TIMER] = "timer",
		[VM_PVAR_AGGREGATE] = "aggregate",
		[VM_PVAR_STATE] = "state",
		[VM_PVAR_GENERIC] = "generic",
	};

	return names[class_];
}

const char *vm_pvar_of_name(enum vm_pvar_of of)
{
	static const char *const names[] = {
		[VM_PVAR_RANK] = "rank",
		[VM_PVAR_WORKER] = "worker",
		[VM_PVAR_NODE] = "node",
		[VM_PVAR_CHAN] = "communicator",
	};

	return names[of];
}
