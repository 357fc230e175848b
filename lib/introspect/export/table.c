/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows and texts are collected on the heap first, since the length of the texts
 * is known only at the end.
 */
#include "introspect/export/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/nearest.h"
#include "introspect/vars/cvar.h"

/* The collected rows and texts. */
struct tables {
	FILE *out; /* of the texts */
	char *texts;
	size_t text_bytes;
	uint32_t text_next;
	struct vm_export_pvar *pvars;
	struct vm_export_cvar *cvars;
	uint32_t *calls;
	unsigned pvar_count, cvar_count, strings;
	const struct vm_export_facts *facts;
};

static uint32_t text_put(struct tables *tables, const char *text)
{
	uint32_t at = tables->text_next;

	fputs(text, tables->out);
	fputc('\0', tables->out);
	tables->text_next += (uint32_t)strlen(text) + 1;
	return at;
}

static uint32_t table_place(const struct vm_export_facts *facts,
			    const struct vm_pvar_table *table)
{
	unsigned i = 0;

	while (i < facts->table_count && facts->tables[i].table != table)
		i++;
	return i; /* beyond the last one: nowhere */
}

/* The index of the row's first word in a block. */
static uint32_t row_word(const struct vm_pvar_table *table,
			 const struct vm_pvar *row)
{
	uint32_t word = 0;

	for (const struct vm_pvar *each = table->rows; each < row; each++)
		word += each->words;
	return word;
}

static const char *category_name(enum vm_category category)
{
	struct vm_category_view view;

	return vm_category_info(category, &view) ? view.name : "";
}

/* As vm_pvars_fold() does it. */
static enum vm_export_fold class_fold(enum vm_pvar_class class_)
{
	switch (class_) {
	case VM_PVAR_HIGHWATERMARK:
	case VM_PVAR_PERCENTAGE:
	case VM_PVAR_STATE:
	case VM_PVAR_GENERIC:
		return VM_EXPORT_HIGHEST;
	case VM_PVAR_LOWWATERMARK:
		return VM_EXPORT_LOWEST;
	default:
		return VM_EXPORT_SUM;
	}
}

static int pvar_put(const struct vm_pvar_view *view, void *arg)
{
	struct tables *tables = arg;
	const struct vm_pvar *row = view->row;
	struct vm_export_pvar *pvar = &tables->pvars[tables->pvar_count++];

	*pvar = (struct vm_export_pvar){
		.name = text_put(tables, view->name),
		.class_ = text_put(tables, vm_pvar_class_name(row->class_)),
		.of = text_put(tables, vm_pvar_of_name(row->of)),
		.unit = text_put(tables, row->unit),
		.level = text_put(tables, vm_level_name(row->level)),
		.category = text_put(tables, category_name(row->category)),
		.text = text_put(tables, row->text),
		.place = table_place(tables->facts, view->table),
		.word = row_word(view->table, row),
		.words = row->words,
		.fold = class_fold(row->class_),
	};
	return 0;
}

static int cvar_put(const struct vm_cvar_view *view, void *arg)
{
	struct tables *tables = arg;
	const struct vm_cvar *row = view->row;
	struct vm_export_cvar *cvar = &tables->cvars[tables->cvar_count++];

	*cvar = (struct vm_export_cvar){
		.name = text_put(tables, view->name),
		.type = text_put(tables, vm_var_type_name(row->type)),
		.when = text_put(tables, vm_var_when_name(row->when)),
		.unit = text_put(tables, row->unit),
		.level = text_put(tables, vm_level_name(row->level)),
		.category = text_put(tables, category_name(row->category)),
		.text = text_put(tables, row->text),
		.string = VM_EXPORT_NO_STRING,
		.min = row->min,
		.max = row->max,
	};
	if (row->type == VM_VAR_STRING)
		cvar->string = tables->strings++ * VM_EXPORT_STRING_BYTES;
	return 0;
}

static int cvar_count(const struct vm_cvar_view *view, void *arg)
{
	*(unsigned *)arg = view->index + 1;
	return 0;
}

static void tables_free(struct tables *tables)
{
	if (tables->out)
		fclose(tables->out);
	free(tables->texts);
	free(tables->pvars);
	free(tables->cvars);
	free(tables->calls);
}

static int tables_collect(struct tables *tables)
{
	unsigned cvars = 0, pvars = (unsigned)vm_pvar_count();
	uint32_t calls = tables->facts->call_count;

	vm_cvar_each(cvar_count, &cvars);
	tables->pvars = calloc(pvars + 1, sizeof(*tables->pvars));
	tables->cvars = calloc(cvars + 1, sizeof(*tables->cvars));
	tables->calls = calloc(calls + 1, sizeof(*tables->calls));
	tables->out = open_memstream(&tables->texts, &tables->text_bytes);
	if (!tables->pvars || !tables->cvars || !tables->calls || !tables->out)
		return -VMPI_ENOMEM;
	text_put(tables, "");
	vm_pvar_each(pvar_put, tables);
	vm_cvar_each(cvar_put, tables);
	for (uint32_t i = 0; i < calls; i++)
		tables->calls[i] =
			text_put(tables, tables->facts->call_name(i));
	return fflush(tables->out) ? -VMPI_ENOMEM : 0;
}

static uint64_t hash_add(uint64_t hash, const void *bytes, size_t length)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t tables_hash(const struct tables *tables)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	hash = hash_add(hash, tables->pvars,
			tables->pvar_count * sizeof(*tables->pvars));
	hash = hash_add(hash, tables->cvars,
			tables->cvar_count * sizeof(*tables->cvars));
	return hash_add(hash, tables->texts, tables->text_bytes);
}

/* Copies bytes (NULL: zeros) into one piece of the file; each begins at a
 * multiple of 8. */
static void *span_put(char **at, struct vm_export_span *span, const void *bytes,
		      size_t length)
{
	char *to = *at;

	if (bytes)
		memcpy(to, bytes, length);
	*span = (struct vm_export_span){ vm_export_offset(to), length };
	*at += (length + 7) & ~(size_t)7;
	return to;
}

static int tables_put(struct vm_export_head *head,
		      struct vm_export_mirror *mirror,
		      const struct tables *tables)
{
	size_t pvars = tables->pvar_count * sizeof(*tables->pvars);
	size_t cvars = tables->cvar_count * sizeof(*tables->cvars);
	size_t values = tables->cvar_count * sizeof(int64_t);
	size_t strings = tables->strings * (size_t)VM_EXPORT_STRING_BYTES;
	size_t calls = tables->facts->call_count * sizeof(*tables->calls);
	size_t bytes =
		pvars + cvars + values + strings + tables->text_bytes + calls;
	char *at = vm_export_alloc(bytes + 8 * 8, 64);

	if (!at)
		return -VMPI_ENOMEM;
	if (!vm_export_offset(at)) {
		vm_export_free(at);
		return -VMPI_ENOMEM;
	}
	span_put(&at, &head->pvars, tables->pvars, pvars);
	mirror->rows = span_put(&at, &head->cvars, tables->cvars, cvars);
	mirror->values = span_put(&at, &head->values, NULL, values);
	mirror->strings = span_put(&at, &head->strings, NULL, strings);
	mirror->count = tables->cvar_count;
	span_put(&at, &head->texts, tables->texts, tables->text_bytes);
	span_put(&at, &head->calls, tables->calls, calls);
	return 0;
}

static struct vm_export_place place_put(const struct vm_pvar_place *place,
					bool ranked)
{
	uint64_t offset = place->count ? vm_export_offset(place->base) : 0;

	if (!offset)
		return (struct vm_export_place){ 0 };
	return (struct vm_export_place){ .offset = offset,
					 .stride = place->stride,
					 .also = place->also,
					 .count = place->count,
					 .ranked = ranked };
}

static void places_put(struct vm_export_head *head,
		       const struct vm_export_facts *facts)
{
	head->waits = place_put(&facts->waits, true);
	head->asleep = place_put(&facts->asleep, false);
	for (unsigned i = 0; i < facts->table_count; i++) {
		const struct vm_pvar_table *table = facts->tables[i].table;

		head->places[i] = place_put(facts->tables[i].place,
					    table->rows[0].of == VM_PVAR_RANK);
	}
}

int vm_export_tables(struct vm_export_head *head,
		     struct vm_export_mirror *mirror,
		     const struct vm_export_facts *facts)
{
	struct tables tables = { .facts = facts };
	int rc = tables_collect(&tables);

	if (rc == 0)
		rc = tables_put(head, mirror, &tables);
	if (rc == 0) {
		head->layout = tables_hash(&tables);
		head->nodes = facts->nodes;
		head->ranks = facts->ranks;
		head->ranks_here = facts->ranks_here;
		head->workers = facts->workers;
		head->where = (struct vm_export_span){
			vm_export_offset(facts->where),
			facts->ranks * sizeof(uint32_t),
		};
		if (!head->where.offset)
			head->where.bytes = 0;
		places_put(head, facts);
	}
	tables_free(&tables);
	return rc;
}

void vm_export_mirror_set(const struct vm_export_mirror *mirror, unsigned index,
			  int64_t value, const char *text)
{
	uint32_t at;

	if (index >= mirror->count)
		return;
	at = mirror->rows[index].string;
	if (at == VM_EXPORT_NO_STRING)
		__atomic_store_n(&mirror->values[index], value,
				 __ATOMIC_RELAXED);
	else
		snprintf(mirror->strings + at, VM_EXPORT_STRING_BYTES, "%s",
			 text);
}

static int value_put(const struct vm_cvar_view *view, void *arg)
{
	bool text = view->row->type == VM_VAR_STRING;
	int64_t value = text ? 0 : strtoll(view->value, NULL, 10);

	vm_export_mirror_set(arg, view->index, value, view->value);
	return 0;
}

void vm_export_mirror_fill(const struct vm_export_mirror *mirror)
{
	struct vm_export_mirror copy = *mirror;

	vm_cvar_each(value_put, &copy);
}
